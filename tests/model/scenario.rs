//! What is explored: a room, its edges and visitors, and how much may happen.

use anteroom::gate::keys::Keys;
use anteroom::room::policy::Policy;
use anteroom::site::moment::Moment;
use anteroom::site::room::Room;
use anteroom::site::timeline::Timeline;
use anteroom::time::{Instant, Span};
use serde_json::{Value, json};

use super::common;
use super::world::{Action, World};

/// How much may happen, beyond visitors asking and messages arriving in any order.
#[derive(Clone, Copy, Debug, Default, Hash, PartialEq)]
pub(crate) struct Budget {
    /// Requests of each visitor.
    pub(crate) requests: u8,
    /// Steps of time to the next moment at which something may change.
    pub(crate) moments: u8,
    /// Steps of two seconds.
    pub(crate) pauses: u8,
    /// Calls of an edge for a snapshot alone.
    pub(crate) looks: u8,
    /// Calls that are lost, given up while they are still on their way, or sent twice.
    pub(crate) faults: u8,
    /// Deaths of the room's object, at any moment.
    pub(crate) crashes: u8,
    /// Deaths of a relay, at any moment.
    pub(crate) vanishings: u8,
    /// Steps of the room's clock ten seconds back.
    pub(crate) steps_back: u8,
    /// Visitors who leave.
    pub(crate) leaves: u8,
    /// Visitors who show an earlier cookie again.
    pub(crate) copies: u8,
    /// Turns of a keeper of reservations, at any edge.
    pub(crate) keeps: u8,
    /// Edges that forget all they know, reservations included.
    pub(crate) forgets: u8,
}

/// A name and whether it is so.
pub(crate) type Reach = (&'static str, fn(&Scenario, &World) -> bool);

/// A visitor who keeps asking, and how long it may take until they are in.
///
/// Time then goes in rounds of [`ROUND`]: the visitor has asked in every round, and a round ends when
/// nothing is on its way any more. Everybody else does as they like.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Patient {
    pub(crate) visitor: usize,
    pub(crate) within: Span,
}

/// The time between two requests of a [`Patient`] visitor.
pub(crate) const ROUND: Span = Span::from_secs(5);

/// A bug that is planted in the model's shell, to see that the checker finds it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Plant {
    /// The room answers before its row is durable.
    AnswerBeforeDurable,
    /// The edge lengthens a pass when it asks for the renewal, not when it is acknowledged.
    RenewUnacknowledged,
    /// A pass ends five seconds later than the ledger says: the slot is free when the pass ends.
    FreeAtExpiry,
    /// The stored checkpoint does not say which numbers are spent.
    ForgetSpent,
    /// A relay whose call to the room is lost answers renewals by itself.
    RelayAnswers,
    /// An edge gives a reserved slot back of which it has made a pass.
    ForgetUsed,
    /// An edge makes passes of a reservation for longer than its time, by as long again.
    ReservedTooLong,
    /// The stored checkpoint does not say what was drawn in which epoch.
    ForgetEpochs,
    /// The stored checkpoint does not say how the places of a pre-queue were drawn.
    ForgetLots,
}

/// A room, its edges and visitors, and how much may happen. It is the model of the checker.
pub(crate) struct Scenario {
    pub(crate) room: Room,
    pub(crate) keys: Keys,
    pub(crate) policy: Policy,
    /// What is in force when: the room's settings, and those of its event.
    pub(crate) timeline: Timeline,
    pub(crate) visitors: usize,
    /// The clock of each edge against the true time, in milliseconds.
    pub(crate) edges: Vec<i64>,
    /// Whether a visitor may come to any edge. Else the n-th comes to the n-th edge, counted round.
    pub(crate) roam: bool,
    /// Edges go through this many relays, counted round; 0: directly.
    pub(crate) relays: usize,
    /// The operator may change the limits to these: sessions, and admissions per minute.
    pub(crate) new_limits: Option<(u32, u32)>,
    /// A checkpoint replaces the rows when there are so many.
    pub(crate) checkpoint_after: usize,
    pub(crate) budget: Budget,
    /// The moments are those at which admissions leave the window of 60 seconds; else those at which
    /// a renewal is due, a pass ends, and its slot is free.
    pub(crate) watch_rate: bool,
    /// What must be possible, or the exploration says nothing.
    pub(crate) reaches: &'static [Reach],
    /// What has happened before the exploration begins.
    pub(crate) before: Vec<Action>,
    /// Somebody who keeps asking, if that is what is looked at.
    pub(crate) patient: Option<Patient>,
    pub(crate) plant: Option<Plant>,
}

impl Scenario {
    /// A room with these limits and sessions of 20 seconds.
    pub(crate) fn new(total: u32, rate: u32, more: Value) -> Self {
        let mut declared = json!({
            "total_active_users": total,
            "new_users_per_minute": rate,
            "session_duration_seconds": 20,
            "first_pass": "full",
        });
        declared.as_object_mut().unwrap().extend(
            more.as_object()
                .into_iter()
                .flatten()
                .map(|(key, value)| (key.clone(), value.clone())),
        );
        let room = common::only(common::room("tickets", "example.com", declared));
        Self {
            policy: Policy::from(&room),
            timeline: Timeline::new(&room),
            room,
            keys: Keys::parse("k:MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY").unwrap(),
            visitors: 2,
            edges: vec![0],
            roam: false,
            relays: 0,
            new_limits: None,
            checkpoint_after: 2,
            budget: Budget::default(),
            watch_rate: false,
            reaches: &[],
            before: Vec::new(),
            patient: None,
            plant: None,
        }
    }
}

impl Scenario {
    /// The room's settings at a time.
    pub(crate) fn room_at(&self, now: Instant) -> &Room {
        self.timeline.at(Moment::from_millis(now.as_millis()))
    }

    /// When its event starts, if it has one.
    pub(crate) fn starts(&self) -> Option<Instant> {
        let event = self.room.events.first()?;
        Some(Instant::from_millis(event.event_start_time.as_millis()))
    }
}

/// The edge's keeper has its turn.
pub(crate) fn keeps(edge: usize) -> Vec<Action> {
    vec![
        Action::Keep(edge),
        Action::Deliver(0),
        Action::Store,
        Action::Answer(0),
    ]
}

/// The visitor opens a page at the edge, the room is asked and answers.
fn asks(visitor: usize, edge: usize) -> Vec<Action> {
    vec![
        Action::Visit(visitor, edge),
        Action::Deliver(0),
        Action::Answer(0),
    ]
}

/// The same, where the room has something to store.
fn asks_and_is_noted(visitor: usize, edge: usize) -> Vec<Action> {
    vec![
        Action::Visit(visitor, edge),
        Action::Deliver(0),
        Action::Store,
        Action::Answer(0),
    ]
}

/// The visitor walks in where there is room.
pub(crate) fn walks_in(visitor: usize, edge: usize) -> Vec<Action> {
    asks_and_is_noted(visitor, edge)
}

/// The visitor, who was called, comes in.
pub(crate) fn comes_in(visitor: usize, edge: usize) -> Vec<Action> {
    asks_and_is_noted(visitor, edge)
}

/// The visitor leaves.
pub(crate) fn leaves(visitor: usize, edge: usize) -> Vec<Action> {
    vec![
        Action::Leave(visitor, edge),
        Action::Deliver(0),
        Action::Store,
        Action::Answer(0),
    ]
}

/// The edge asks for a snapshot and gets it.
pub(crate) fn looks(edge: usize) -> Vec<Action> {
    vec![Action::Look(edge), Action::Deliver(0), Action::Answer(0)]
}

/// The visitor joins the line at an edge that knows of it.
pub(crate) fn joins(visitor: usize, edge: usize) -> Vec<Action> {
    [
        vec![Action::Visit(visitor, edge)],
        asks_and_is_noted(visitor, edge),
    ]
    .concat()
}

/// The visitor is the first to join the pre-queue of an event: the room notes that it has begun.
pub(crate) fn joins_first(visitor: usize, edge: usize) -> Vec<Action> {
    [
        asks_and_is_noted(visitor, edge),
        asks_and_is_noted(visitor, edge),
    ]
    .concat()
}

/// Time goes by until the only slot is free, and the edge hears of the draw that follows.
pub(crate) fn an_epoch_is_drawn(edge: usize) -> Vec<Action> {
    let moments = vec![Action::Moment; 4];
    let look = vec![
        Action::Look(edge),
        Action::Deliver(0),
        Action::Store,
        Action::Answer(0),
    ];
    [moments, look].concat()
}

/// The visitor joins the line at an edge that has not heard of the room before.
pub(crate) fn joins_elsewhere(visitor: usize, edge: usize) -> Vec<Action> {
    [asks(visitor, edge), asks_and_is_noted(visitor, edge)].concat()
}
