//! The whole as the checker sees it: states, and what may happen next in each.

use std::collections::BTreeSet;
use std::sync::Arc;

use anteroom::gate::intent::Intent;
use anteroom::gate::memory::Memory;
use anteroom::gate::token::Standing;
use anteroom::room::ledger::EXPIRY_GRACE;
use anteroom::room::message::{Message, Reply, Request, Response, VERSION};
use anteroom::room::number::TicketId;
use anteroom::room::policy::Policy;
use anteroom::room::relay::Relay;
use anteroom::time::{Instant, Span};
use stateright::{Model, Property};

use super::edge::{Cookie, Edge, sign};
use super::network::{Asked, Bundle, Call, Caller, Stage};
use super::printed::Printed;
use super::room::{Pending, Room, decoded, over_the_wire};
use super::scenario::{Budget, Plant, ROUND, Scenario};
use super::witness::{self, Witness};

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

impl Model for Scenario {
    type State = World;
    type Action = Action;

    fn init_states(&self) -> Vec<World> {
        let mut world = World::new(self);
        for action in &self.before {
            world = self
                .next_state(&world, action.clone())
                .unwrap_or_else(|| panic!("{action:?} changes nothing in {world:#?}"));
        }
        world.left = self.budget;
        for visitor in &mut world.visitors {
            visitor.requests = self.budget.requests;
        }
        vec![world]
    }

    fn actions(&self, world: &World, actions: &mut Vec<Action>) {
        if world.witness.broken.is_some() {
            return;
        }
        let left = &world.left;
        for visitor in 0..self.visitors {
            let edges = if self.roam {
                0..self.edges.len()
            } else {
                let home = visitor % self.edges.len();
                home..home + 1
            };
            let waits = world.calls.iter().any(|call| call.waits == Some(visitor));
            for edge in edges {
                let is_patient = self
                    .patient
                    .is_some_and(|patient| patient.visitor == visitor);
                let may_ask = if is_patient {
                    !world.has_asked
                } else {
                    world.visitors[visitor].requests > 0
                };
                if !waits && may_ask {
                    actions.push(Action::Visit(visitor, edge));
                }
                if !waits && left.leaves > 0 {
                    actions.push(Action::Leave(visitor, edge));
                }
            }
            if left.copies > 0 && !waits {
                actions.push(Action::ShowCopy(visitor));
            }
        }
        if left.looks > 0 {
            actions.extend((0..self.edges.len()).map(Action::Look));
        }
        let is_free = world.room.pending.is_none();
        let mut to_room = world.bundles.len();
        if is_free {
            actions.extend((0..to_room).map(Action::DeliverBundle));
        }
        for (index, call) in world.calls.iter().enumerate() {
            match call.stage {
                Stage::ToRoom => {
                    to_room += 1;
                    if is_free {
                        actions.push(Action::Deliver(index));
                    }
                }
                Stage::AtRelay | Stage::Bundled => {}
                Stage::Answered(_) => actions.push(Action::Answer(index)),
            }
            if left.faults > 0 {
                if call.waits.is_some() {
                    actions.push(Action::GiveUp(index));
                }
                // Elsewhere a call that was given up and never arrives is as good as lost.
                if self.patient.is_some() {
                    actions.push(Action::Lose(index));
                }
                if matches!(call.stage, Stage::ToRoom) {
                    actions.push(Action::Repeat(index));
                }
            }
        }
        if to_room > 1 && is_free {
            actions.push(Action::DeliverAll);
        }
        if world.room.pending.is_some() {
            actions.push(Action::Store);
        }
        if left.crashes > 0 && world.room.is_awake() {
            actions.push(Action::Crash { stored: false });
            if world.room.pending.is_some() {
                actions.push(Action::Crash { stored: true });
            }
        }
        for relay in 0..self.relays {
            let has_some =
                |call: &Call| call.relay == Some(relay) && matches!(call.stage, Stage::AtRelay);
            if world.calls.iter().any(has_some) {
                actions.push(Action::Forward(relay));
            }
            if left.vanishings > 0 {
                actions.push(Action::Vanish(relay));
            }
        }
        if left.moments > 0 {
            actions.push(Action::Moment);
        }
        if left.pauses > 0 {
            actions.push(Action::Pause);
        }
        if left.steps_back > 0 {
            actions.push(Action::SetBack);
        }
        if self.new_limits.is_some_and(|limits| limits != world.limits) {
            actions.push(Action::Limits);
        }
        if let Some(patient) = self.patient
            && world.has_asked
            && world.calls.is_empty()
            && world.room.pending.is_none()
            && !world.is_in(patient.visitor)
            && world.now <= START + patient.within
        {
            actions.push(Action::Round);
        }
    }

    fn next_state(&self, world: &World, action: Action) -> Option<World> {
        let mut next = world.clone();
        next.act(self, &action)?;
        next.tidy(self);
        Some(next)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        fn keeps(world: &World, promise: &'static str) -> bool {
            world.witness.broken != Some(promise)
        }
        let mut properties = vec![
            Property::always(witness::TOTAL, |_, world| keeps(world, witness::TOTAL)),
            Property::always(witness::RATE, |_, world| keeps(world, witness::RATE)),
            Property::always(witness::TWICE, |_, world| keeps(world, witness::TWICE)),
            Property::always(witness::REVIVED, |_, world| keeps(world, witness::REVIVED)),
            Property::always(witness::PLACE, |_, world| keeps(world, witness::PLACE)),
            Property::always(witness::COUNT, |_, world| keeps(world, witness::COUNT)),
            Property::always(PATIENCE, |scenario: &Self, world: &World| {
                scenario.patient.is_none_or(|patient| {
                    world.is_in(patient.visitor) || world.now <= START + patient.within
                })
            }),
            Property::always(witness::SLOT, |scenario: &Self, world: &World| {
                !world.honours_without_slot(scenario)
            }),
        ];
        let reached = self.reaches.iter();
        properties.extend(reached.map(|(what, is)| Property::sometimes(what, *is)));
        properties
    }
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
            },
            has_asked: false,
            has_lost_a_row: false,
            witness: Witness::default(),
        }
    }

    /// None where nothing changes.
    fn act(&mut self, scenario: &Scenario, action: &Action) -> Option<()> {
        match *action {
            Action::Visit(visitor, edge) => self.visit(scenario, visitor, edge, Intent::Navigation),
            Action::Leave(visitor, edge) => {
                self.left.leaves -= 1;
                self.visit(scenario, visitor, edge, Intent::Leave)
            }
            Action::ShowCopy(visitor) => {
                self.left.copies -= 1;
                let visitor = &mut self.visitors[visitor];
                let copy = visitor
                    .copy
                    .take()
                    .filter(|copy| visitor.cookie.as_ref() != Some(copy))?;
                visitor.cookie = Some(copy);
                Some(())
            }
            Action::Look(edge) => {
                self.left.looks -= 1;
                let asked = self.edge(scenario, edge).look()?;
                self.send(scenario, None, edge, asked);
                Some(())
            }
            Action::Deliver(index) => {
                let call = self.calls.remove(index);
                self.decide(scenario, vec![Caller::Edge(call)]);
                Some(())
            }
            Action::DeliverBundle(index) => {
                let bundle = self.bundles.remove(index);
                self.decide(scenario, vec![Caller::Relay(bundle)]);
                Some(())
            }
            Action::DeliverAll => {
                let calls = std::mem::take(&mut self.calls);
                let (sent, kept) = calls
                    .into_iter()
                    .partition(|call| call.stage == Stage::ToRoom);
                self.calls = kept;
                let sent: Vec<Call> = sent;
                let bundles = std::mem::take(&mut self.bundles).into_iter();
                let callers = sent.into_iter().map(Caller::Edge);
                self.decide(
                    scenario,
                    callers.chain(bundles.map(Caller::Relay)).collect(),
                );
                Some(())
            }
            Action::Store => {
                let pending = self.room.pending.take()?;
                self.stored(&pending);
                self.room.checkpoint(scenario.checkpoint_after);
                self.answer_all(pending.answers);
                Some(())
            }
            Action::Crash { stored } => {
                self.left.crashes -= 1;
                if let Some(pending) = self.room.pending.take() {
                    if stored {
                        self.stored(&pending);
                    } else {
                        self.has_lost_a_row = true;
                    }
                    for (caller, _) in pending.answers {
                        self.fail_caller(scenario, caller);
                    }
                }
                self.room.crash();
                Some(())
            }
            Action::Answer(index) => {
                let call = self.calls.remove(index);
                let Stage::Answered(response) = &call.stage else {
                    return None;
                };
                self.hear(scenario, &call, response);
                Some(())
            }
            Action::Lose(index) => {
                self.left.faults -= 1;
                let call = self.calls.remove(index);
                self.fail(scenario, &call);
                Some(())
            }
            Action::GiveUp(index) => {
                self.left.faults -= 1;
                let call = self.calls[index].clone();
                self.fail(scenario, &call);
                self.calls[index].waits = None;
                Some(())
            }
            Action::Repeat(index) => {
                self.left.faults -= 1;
                let again = Call {
                    waits: None,
                    ..self.calls[index].clone()
                };
                self.calls.push(again);
                Some(())
            }
            Action::Forward(relay) => {
                let (now, mut taken) = (self.now, None);
                self.relays[relay] = self.relays[relay].with(|relay| taken = relay.take(now));
                let sent = taken?;
                for call in &mut self.calls {
                    if sent.1.iter().any(|part| part.to == call.id) {
                        call.stage = Stage::Bundled;
                    }
                }
                self.bundles.push(Bundle {
                    relay: Some(relay),
                    sent: Printed::new(sent),
                });
                Some(())
            }
            Action::Vanish(relay) => self.vanish(scenario, relay),
            Action::Moment => {
                self.left.moments -= 1;
                self.now = self.next_moment(scenario)?;
                Some(())
            }
            Action::Pause => {
                self.left.pauses -= 1;
                self.now = self.now + PAUSE;
                Some(())
            }
            Action::SetBack => {
                self.left.steps_back -= 1;
                self.room_behind = self.room_behind + STEP_BACK;
                Some(())
            }
            Action::Limits => {
                self.limits = scenario.new_limits?;
                Some(())
            }
            Action::Round => {
                let patient = scenario.patient?;
                self.has_asked = false;
                self.now = self.now + ROUND;
                // An edge with traffic renews its snapshot all the while.
                let home = patient.visitor % scenario.edges.len();
                if let Some(asked) = self.edge(scenario, home).look() {
                    self.send(scenario, None, home, asked);
                }
                Some(())
            }
        }
    }

    fn tidy(&mut self, scenario: &Scenario) {
        self.room_latest = self.room_latest.max(self.room_clock());
        self.witness.forget_passes(self.slowest(scenario));
        // Nobody hears what nobody waits for, but for what an edge remembers of a renewal.
        self.calls.retain(|call| {
            let is_over = matches!(call.stage, Stage::Answered(_)) && call.waits.is_none();
            let message = call.asked.request.messages.first();
            !is_over || matches!(message, None | Some(Message::Renew { .. }))
        });
    }

    /// Whether the visitor's cookie is a pass.
    pub(crate) fn is_in(&self, visitor: usize) -> bool {
        let cookie = self.visitors[visitor].cookie.as_ref();
        cookie.is_some_and(|text| self.witness.has_signed(text))
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

    fn visit(
        &mut self,
        scenario: &Scenario,
        visitor: usize,
        edge: usize,
        intent: Intent,
    ) -> Option<()> {
        let before = (
            self.memories[edge].clone(),
            self.visitors[visitor].cookie.clone(),
        );
        let is_patient = scenario
            .patient
            .is_some_and(|patient| patient.visitor == visitor);
        let browser = &mut self.visitors[visitor];
        if is_patient {
            self.has_asked = true;
        } else if intent != Intent::Leave {
            browser.requests -= 1;
        }
        let ticket = ticket_of(visitor, browser.tickets);
        let cookie = browser.cookie.clone();
        let met = self
            .edge(scenario, edge)
            .meet(cookie.as_deref(), intent, ticket);
        self.give(scenario, visitor, met.cookie);
        let asks = met.ask.is_some();
        if let Some(asked) = met.ask {
            if let Some(Message::Arrive { ticket: sent, .. }) = asked.request.messages.first()
                && *sent == ticket
            {
                self.visitors[visitor].tickets += 1;
            }
            self.send(scenario, Some(visitor), edge, asked);
        }
        let after = (&self.memories[edge], &self.visitors[visitor].cookie);
        (asks || is_patient || (&before.0, &before.1) != after).then_some(())
    }

    fn send(&mut self, scenario: &Scenario, waits: Option<usize>, edge: usize, asked: Asked) {
        let mut call = Call {
            id: 0,
            waits,
            edge,
            relay: None,
            asked: Printed::new(asked),
            stage: Stage::ToRoom,
        };
        if scenario.relays > 0 {
            let relay = edge % scenario.relays;
            let (request, now) = (over_the_wire(&call.asked.request), self.now);
            call.id = self.next_call;
            self.next_call += 1;
            call.relay = Some(relay);
            let (mut at_once, id) = (None, call.id);
            self.relays[relay] =
                self.relays[relay].with(|relay| at_once = relay.hear(request, id, now));
            call.stage = match at_once {
                Some((response, _)) => Stage::Answered(Printed::new(over_the_wire(&response))),
                None => Stage::AtRelay,
            };
        }
        self.calls.push(call);
    }

    /// The room hears these calls in one batch.
    fn decide(&mut self, scenario: &Scenario, callers: Vec<Caller>) {
        let policy = Policy {
            total_active_users: self.limits.0,
            new_users_per_minute: self.limits.1,
            ..scenario.policy
        };
        let sent: Vec<Request> = callers
            .iter()
            .map(|caller| match caller {
                Caller::Edge(call) => call.asked.request.clone(),
                Caller::Relay(bundle) => bundle.sent.0.clone(),
            })
            .collect();
        let clock = self.room_clock();
        let decided = self.room.decide(clock, &policy, &sent, scenario.plant);
        let responses = decided.responses.into_iter().map(Printed::new);
        let mut answers: Vec<_> = callers.into_iter().zip(responses).collect();
        let Some(row) = decided.row else {
            self.witness.counted(decided.counts);
            return self.answer_all(answers);
        };
        if scenario.plant == Some(Plant::AnswerBeforeDurable) {
            self.answer_all(std::mem::take(&mut answers));
        }
        self.room.pending = Some(Pending {
            row,
            answers,
            counts: decided.counts,
            limits: self.limits,
        });
    }

    fn stored(&mut self, pending: &Pending) {
        self.room.store(Arc::clone(&pending.row));
        self.witness.stored(&decoded(&pending.row), pending.limits);
        self.witness.counted(pending.counts);
    }

    fn answer_all(&mut self, answers: Vec<(Caller, Printed<Response>)>) {
        for (caller, response) in answers {
            match caller {
                Caller::Edge(call) => {
                    let stage = Stage::Answered(response);
                    self.calls.push(Call { stage, ..call });
                }
                Caller::Relay(bundle) => self.split(&bundle, &response),
            }
        }
    }

    /// A relay hands back what the room has answered.
    fn split(&mut self, bundle: &Bundle, response: &Response) {
        let Some(relay) = bundle.relay else {
            return;
        };
        let ((_, parts), now) = (&*bundle.sent, self.now);
        let mut responses = None;
        self.relays[relay] =
            self.relays[relay].with(|relay| responses = relay.split(response.clone(), parts, now));
        for (part, response) in parts.iter().zip(responses.into_iter().flatten()) {
            for call in self.calls.iter_mut().filter(|call| call.id == part.to) {
                call.stage = Stage::Answered(Printed::new(over_the_wire(&response)));
            }
        }
    }

    fn hear(&mut self, scenario: &Scenario, call: &Call, response: &Response) {
        let mut response = response.clone();
        let message = call.asked.request.messages.first().copied();
        if let (Some(message), Some(reply)) = (message, response.replies.first()) {
            self.witness.told(message, *reply, self.room_latest);
        }
        if scenario.plant == Some(Plant::FreeAtExpiry)
            && let Some(Reply::Admitted { expires, .. }) = response.replies.first_mut()
        {
            *expires = *expires + EXPIRY_GRACE;
        }
        let waits = call.waits.is_some();
        let cookie = self
            .edge(scenario, call.edge)
            .hear(&call.asked, &response, waits);
        if let Some(visitor) = call.waits {
            self.give(scenario, visitor, cookie);
        }
    }

    fn fail_caller(&mut self, scenario: &Scenario, caller: Caller) {
        match caller {
            Caller::Edge(call) => self.fail(scenario, &call),
            Caller::Relay(bundle) => {
                for part in bundle.relay.iter().flat_map(|_| &bundle.sent.1) {
                    self.go_on_without_relay(scenario, part.to);
                }
            }
        }
    }

    /// A relay has no answer to this call. Its edge asks the room itself.
    fn go_on_without_relay(&mut self, scenario: &Scenario, id: u8) {
        let calls = std::mem::take(&mut self.calls);
        let (failed, kept): (Vec<Call>, _) = calls
            .into_iter()
            .partition(|call| call.id == id && call.relay.is_some());
        self.calls = kept;
        for call in failed.into_iter().filter(|call| call.waits.is_some()) {
            self.edge(scenario, call.edge).relay_unheard();
            self.calls.push(Call {
                id: 0,
                relay: None,
                stage: Stage::ToRoom,
                ..call
            });
        }
    }

    /// The edge will not hear the answer to this call.
    fn fail(&mut self, scenario: &Scenario, call: &Call) {
        if let Some(visitor) = call.waits {
            let cookie = self.edge(scenario, call.edge).unheard(&call.asked);
            self.give(scenario, visitor, cookie);
        }
    }

    fn vanish(&mut self, scenario: &Scenario, relay: usize) -> Option<()> {
        self.left.vanishings -= 1;
        self.relays[relay] = Printed::new(Relay::default());
        for bundle in &mut self.bundles {
            // The request has left the relay. It may still arrive.
            bundle.relay = bundle.relay.filter(|of| *of != relay);
        }
        if let Some(pending) = &mut self.room.pending {
            for (caller, _) in &mut pending.answers {
                if let Caller::Relay(bundle) = caller {
                    bundle.relay = bundle.relay.filter(|of| *of != relay);
                }
            }
        }
        let in_hand = |call: &&Call| call.relay == Some(relay);
        let ids: Vec<u8> = self
            .calls
            .iter()
            .filter(in_hand)
            .map(|call| call.id)
            .collect();
        for id in ids {
            if scenario.plant == Some(Plant::RelayAnswers) {
                self.answer_from_memory(scenario, id);
            } else {
                self.go_on_without_relay(scenario, id);
            }
        }
        Some(())
    }

    /// The planted bug of a relay that answers a renewal by itself.
    fn answer_from_memory(&mut self, scenario: &Scenario, id: u8) {
        let Some(index) = self.calls.iter().position(|call| call.id == id) else {
            return;
        };
        let call = self.calls[index].clone();
        let (Some(Message::Renew { number, .. }), Some(known)) =
            (call.asked.request.messages.first(), &call.asked.known)
        else {
            return self.go_on_without_relay(scenario, id);
        };
        let reply = Reply::Admitted {
            number: *number,
            expires: self.now + scenario.policy.session,
            provisional: false,
        };
        let response = Response {
            version: VERSION,
            replies: vec![reply],
            life: Some(known.incarnation),
            snapshot: Some(Arc::clone(known)),
        };
        self.calls.remove(index);
        self.hear(scenario, &call, &response);
    }

    /// The planted bug of a relay that answers a renewal by itself.
    fn answer_from_memory(&mut self, scenario: &Scenario, call: &Call) {
        let Some(Message::Renew { number, .. }) = call.asked.request.messages.first() else {
            return self.fail(scenario, call);
        };
        let Some(snapshot) = self.memories[call.edge].snapshot().cloned() else {
            return self.fail(scenario, call);
        };
        let reply = Reply::Admitted {
            number: *number,
            expires: self.now + scenario.policy.session,
            provisional: false,
        };
        let answered = Answered {
            reply: Some(reply),
            snapshot,
        };
        self.hear(scenario, call, &answered);
    }

    /// The answer reaches the visitor.
    fn give(&mut self, scenario: &Scenario, visitor: usize, cookie: Cookie) {
        let browser = &mut self.visitors[visitor];
        match cookie {
            Cookie::Keep => {}
            Cookie::Clear => browser.cookie = None,
            Cookie::Set(standing) => {
                let text = sign(scenario, standing);
                self.witness.signed(&text, standing);
                if let Standing::Ticket { id, .. } = standing
                    && id == ticket_of(visitor, browser.tickets)
                {
                    browser.tickets += 1;
                }
                let is_worth_copying = !matches!(standing, Standing::Ticket { .. });
                if is_worth_copying && scenario.budget.copies > 0 && browser.copy.is_none() {
                    browser.copy = Some(Arc::clone(&text));
                }
                browser.cookie = Some(text);
            }
        }
    }

    /// The next moment after now at which what a clock decides may change.
    fn next_moment(&self, scenario: &Scenario) -> Option<Instant> {
        let millisecond = Span::from_millis(1);
        let mut moments = BTreeSet::new();
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

fn ticket_of(visitor: usize, count: u8) -> TicketId {
    TicketId::new(visitor as u64 * 256 + u64::from(count) + 1)
}
