//! The whole as the checker sees it, at one moment.

mod act;
mod calls;
mod explore;

use std::collections::BTreeSet;
use std::sync::Arc;

use anteroom::gate::memory::Memory;
use anteroom::gate::token::Standing;
use anteroom::room::ledger::EXPIRY_GRACE;
use anteroom::room::message::Message;
use anteroom::room::relay::Relay;
use anteroom::time::{Instant, Span};

use super::edge::Edge;
use super::network::{Bundle, Call, Stage};
use super::printed::Printed;
use super::room::Room;
use super::scenario::{Budget, Scenario};
use super::witness::Witness;

/// The true time at which everything begins.
const START: Instant = Instant::from_secs(1_800_000_000);

pub(crate) const PATIENCE: &str = "a visitor who keeps asking is in before long";

const STEP_BACK: Span = Span::from_secs(10);
const PAUSE: Span = Span::from_secs(2);

/// Everything there is at one moment.
#[derive(Clone, Debug, Hash, PartialEq)]
pub(crate) struct World {
    /// The true time. The room's clock is behind it by `room_behind`.
    pub(crate) now: Instant,
    room_behind: Span,
    /// The latest time that the room's clock has shown.
    room_latest: Instant,
    pub(crate) room: Room,
    memories: Vec<Printed<Memory>>,
    relays: Vec<Printed<Relay<u8>>>,
    pub(crate) visitors: Vec<Visitor>,
    /// In the order of their making, which nothing depends on.
    pub(crate) calls: Vec<Call>,
    bundles: Vec<Bundle>,
    /// By which a relay will know the next call.
    next_call: u8,
    limits: (u32, u32),
    pub(crate) left: Budget,
    /// Whether the patient visitor has asked in this round.
    has_asked: bool,
    /// Whether a crash has lost a row that was not durable.
    pub(crate) has_lost_a_row: bool,
    pub(crate) witness: Witness,
}

/// A visitor's browser.
#[derive(Clone, Debug, Default, Hash, PartialEq)]
pub(crate) struct Visitor {
    pub(crate) cookie: Option<Arc<str>>,
    /// A cookie that was kept beside: the first place or pass.
    copy: Option<Arc<str>>,
    requests: u8,
    tickets: u8,
}

/// What may happen. Numbers are indices of visitors, edges, calls and relays.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Action {
    /// The visitor opens a page at the edge.
    Visit(usize, usize),
    /// The visitor leaves, at the edge.
    Leave(usize, usize),
    /// The visitor's browser has the copied cookie again.
    ShowCopy(usize),
    /// The edge asks for a snapshot.
    Look(usize),
    /// The edge's keeper of reservations has its turn.
    Keep(usize),
    /// The edge's isolate dies.
    Forget(usize),
    /// The call reaches the room, which decides it as a batch of its own.
    Deliver(usize),
    /// The same of a request of a relay.
    DeliverBundle(usize),
    /// All that is on its way to the room reaches it as one batch.
    DeliverAll,
    /// The room's row is durable; the answers leave.
    Store,
    /// The room's object dies. The row that was being written may have become durable.
    Crash { stored: bool },
    /// The answer reaches the edge, and the visitor if they wait.
    Answer(usize),
    /// The call or its answer is lost.
    Lose(usize),
    /// The edge gives the call up. It stays on its way.
    GiveUp(usize),
    /// The edge sends the call once more.
    Repeat(usize),
    /// The relay sends on what it has, as one request.
    Forward(usize),
    /// The relay's object dies, with all that it had in hand.
    Vanish(usize),
    /// Time passes to the next moment at which something may change.
    Moment,
    /// Two seconds pass.
    Pause,
    /// The room's clock is set back.
    SetBack,
    /// The operator changes the limits.
    Limits,
    /// A round of a patient visitor ends and the next begins.
    Round,
}

impl World {
    fn new(scenario: &Scenario) -> Self {
        let before = scenario.before.len().try_into().unwrap_or(u8::MAX);
        Self {
            now: START,
            room_behind: Span::ZERO,
            room_latest: START,
            room: Room::new(START),
            memories: vec![Printed::new(Memory::default()); scenario.edges.len()],
            relays: vec![Printed::new(Relay::default()); scenario.relays],
            visitors: vec![
                Visitor {
                    requests: before,
                    ..Visitor::default()
                };
                scenario.visitors
            ],
            calls: Vec::new(),
            bundles: Vec::new(),
            next_call: 0,
            limits: (
                scenario.policy.total_active_users,
                scenario.policy.new_users_per_minute,
            ),
            left: Budget {
                requests: before,
                moments: before,
                pauses: before,
                looks: before,
                faults: before,
                crashes: before,
                vanishings: before,
                steps_back: before,
                leaves: before,
                copies: before,
                keeps: before,
                forgets: before,
            },
            has_asked: false,
            has_lost_a_row: false,
            witness: Witness::default(),
        }
    }

    fn tidy(&mut self, scenario: &Scenario) {
        self.room_latest = self.room_latest.max(self.room_clock());
        self.witness.forget_passes(self.slowest(scenario));
        // Nobody hears what nobody waits for, but for what an edge remembers of a renewal.
        self.calls.retain(|call| {
            let is_over =
                matches!(call.stage, Stage::Answered(_)) && call.waits.is_none() && !call.keeps;
            let message = call.asked.request.messages.first();
            !is_over || matches!(message, None | Some(Message::Renew { .. }))
        });
    }

    /// Whether the visitor's cookie is a pass.
    pub(crate) fn is_in(&self, visitor: usize) -> bool {
        let cookie = self.visitors[visitor].cookie.as_ref();
        cookie.is_some_and(|text| self.witness.has_signed(text))
    }

    /// Whether an edge knows of a draw that it has to tell visitors by.
    pub(crate) fn knows_a_draw(&self) -> bool {
        let snapshots = self.memories.iter().filter_map(|memory| memory.snapshot());
        let mut draws = snapshots.map(|room| !room.epochs.is_empty() || !room.draws.is_empty());
        draws.any(|any| any)
    }

    fn room_clock(&self) -> Instant {
        self.now - self.room_behind
    }

    fn edge_clock(&self, scenario: &Scenario, edge: usize) -> Instant {
        let ahead = scenario.edges[edge];
        let span = Span::from_millis(ahead.unsigned_abs());
        if ahead < 0 {
            self.now - span
        } else {
            self.now + span
        }
    }

    fn slowest(&self, scenario: &Scenario) -> Instant {
        let clocks = (0..scenario.edges.len()).map(|edge| self.edge_clock(scenario, edge));
        clocks.min().unwrap_or(self.now)
    }

    fn edge<'a>(&'a mut self, scenario: &'a Scenario, edge: usize) -> Edge<'a> {
        let now = self.edge_clock(scenario, edge);
        Edge {
            scenario,
            memory: &mut self.memories[edge],
            now,
        }
    }

    /// The next moment after now at which what a clock decides may change.
    fn next_moment(&self, scenario: &Scenario) -> Option<Instant> {
        let millisecond = Span::from_millis(1);
        let mut moments: BTreeSet<Instant> = scenario.starts().into_iter().collect();
        for session in &self.witness.sessions {
            if scenario.watch_rate {
                let since = |millis| session.admitted + Span::from_millis(millis);
                moments.extend([since(59_999), since(60_000), since(60_100)]);
            } else {
                let end = session.expires;
                let rest = Span::from_millis(scenario.policy.session.as_millis() * 3 / 4);
                moments.extend([
                    end - rest,
                    end,
                    end + EXPIRY_GRACE - millisecond,
                    end + EXPIRY_GRACE,
                ]);
            }
        }
        moments.into_iter().find(|moment| *moment > self.now)
    }

    /// Whether some edge would honour a pass that holds no slot. The room's time is the latest that
    /// its clock has shown.
    fn honours_without_slot(&self, scenario: &Scenario) -> bool {
        let slowest = self.slowest(scenario);
        let mut suspects = self.witness.passes_without_slot(slowest, self.room_latest);
        suspects.any(|text| {
            (0..scenario.edges.len()).any(|edge| {
                let mut memory = self.memories[edge].clone();
                let edge = Edge {
                    scenario,
                    memory: &mut memory,
                    now: self.edge_clock(scenario, edge),
                };
                let token = edge.recognize(Some(text)).token;
                matches!(
                    token.map(|token| token.standing),
                    Some(Standing::Admitted { .. })
                )
            })
        })
    }
}
