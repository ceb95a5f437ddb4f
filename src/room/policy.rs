//! The part of a room's declaration that its ledger obeys. It may change between any two batches.

use crate::site::event::Running;
use crate::site::moment::Moment;
use crate::site::room::{FirstPass, QueueingMethod, Room};
use crate::site::timeline::Timeline;
use crate::time::{Instant, Span};

/// What the operator asks of the ledger.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Policy {
    /// No grant while this many sessions are active.
    pub total_active_users: u32,
    /// No more grants than this in any 60 seconds.
    pub new_users_per_minute: u32,
    /// The length of a session, counted from the last renewal.
    pub session: Span,
    /// How long a visitor's sessions may go on from the admission, however often renewed.
    pub session_max: Option<Span>,
    /// Whether a session may be renewed.
    pub renewal: bool,
    /// Whether renewals stop while more sessions are active than allowed.
    pub drain_over_limit: bool,
    /// Who is admitted.
    pub admits: Admits,
    /// How long a first pass lives.
    pub first_pass: FirstPass,
    /// The longest interval between two polls of a visitor.
    pub poll_far: Span,
    /// The expected wait from which on newcomers get no number.
    pub full_after: Option<Span>,
    /// When edges shall come through relays.
    pub relays: RelayPolicy,
    /// The pre-queue that is under way, if its places are to be drawn.
    pub drawing: Option<Drawing>,
}

/// When edges shall come through relays, and through how many.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct RelayPolicy {
    /// From so many requests of edges per second on.
    pub above: u32,
    /// Relays of the room in each data centre.
    pub shards: u32,
}

impl Default for RelayPolicy {
    fn default() -> Self {
        Self {
            above: 800,
            shards: 1,
        }
    }
}

/// A pre-queue whose places will be drawn. While there is one, nobody is admitted.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Drawing {
    /// The event's id: 128 bits.
    pub event: [u8; 16],
    /// When the event starts.
    pub start: Instant,
}

/// Who is admitted.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Admits {
    /// Within the limits, first come, first served.
    InOrder,
    /// Within the limits, whoever is drawn (`random`).
    AtRandom,
    /// Everybody, limits or not (`passthrough`).
    Everybody,
    /// Nobody new (`queue_all`, a pre-queue, `reject`).
    Nobody,
}

impl Drawing {
    /// The draw that a running event's pre-queue ends with.
    fn of(event: &Running) -> Option<Self> {
        (event.prequeueing && event.shuffle).then(|| Self {
            event: event.id.bits(),
            start: Instant::from_millis(event.start.as_millis()),
        })
    }
}

impl Policy {
    /// First come, first served within these two limits, and all else as a room is that declares
    /// nothing.
    pub fn within(total_active_users: u32, new_users_per_minute: u32) -> Self {
        Self {
            total_active_users,
            new_users_per_minute,
            session: Span::from_secs(300),
            session_max: None,
            renewal: true,
            drain_over_limit: false,
            admits: Admits::InOrder,
            first_pass: FirstPass::Full,
            poll_far: Span::from_secs(20),
            full_after: None,
            drawing: None,
            relays: RelayPolicy::default(),
        }
    }

    /// What the operator asks of the ledger at a time of the room.
    pub fn at(timeline: &Timeline, now: Instant) -> Self {
        Self::from(timeline.at(Moment::from_millis(now.as_millis())).as_ref())
    }

    /// When a session that is renewed at `now` ends, if the visitor came in at `admitted`.
    pub fn session_ends(&self, admitted: Instant, now: Instant) -> Instant {
        let expires = now + self.session;
        self.session_max
            .map_or(expires, |longest| expires.min(admitted + longest))
    }

    /// After how long without a poll a waiting visitor is no longer counted as one ahead, and after
    /// how long without hearing of anybody a room takes it that nobody could reach it. A hidden
    /// tab is let run about once a minute by browsers, so never less than 75 seconds.
    pub fn absent_after(&self) -> Span {
        let missed = self.poll_far.as_millis().saturating_mul(5) / 2;
        Span::from_millis(missed.max(75_000))
    }
}

impl Policy {
    /// The longest gap between two polls of a visitor whose tab is let run freely: an eighth more
    /// than the longest interval, for jitter and slow answers.
    pub fn usual_gap(&self) -> Span {
        Span::from_millis(self.poll_far.as_millis().saturating_mul(9) / 8 + 1_000)
    }
}

impl From<&Room> for Policy {
    fn from(room: &Room) -> Self {
        Self {
            total_active_users: room.total_active_users,
            new_users_per_minute: room.new_users_per_minute,
            session: Span::from_secs(u64::from(room.session_duration_seconds)),
            session_max: room.session_max_minutes.map(minutes),
            renewal: !room.disable_session_renewal,
            drain_over_limit: room.drain_over_limit,
            admits: match room.queueing_method {
                _ if room.holds_everybody() => Admits::Nobody,
                QueueingMethod::Fifo => Admits::InOrder,
                QueueingMethod::Random => Admits::AtRandom,
                QueueingMethod::Passthrough => Admits::Everybody,
                QueueingMethod::Reject => Admits::Nobody,
            },
            first_pass: room.first_pass,
            poll_far: Span::from_secs(u64::from(room.poll_far_seconds)),
            drawing: room.event.as_ref().and_then(Drawing::of),
            full_after: Some(room.queue_full_after_minutes)
                .filter(|longest| *longest > 0)
                .map(minutes),
            relays: RelayPolicy {
                above: room.relay_above,
                shards: room.relay_shards,
            },
        }
    }
}

fn minutes(count: u32) -> Span {
    Span::from_secs(u64::from(count) * 60)
}
