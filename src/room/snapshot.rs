//! What the room tells every edge: enough to answer a waiting poll without asking.

use serde::{Deserialize, Serialize};

use super::forecast::Reach;
use super::lottery::{Epoch, Quartiles};
use super::number::{Incarnation, TicketNumber};
use super::place::{Announcement, Draws};
use super::wait::Pace;
use crate::time::{Instant, Span};

/// When in a room's life a snapshot was taken. The larger one is the later one.
#[derive(
    Clone, Copy, Debug, Default, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize,
)]
pub struct Stamp(
    /// The life of the room's storage.
    pub Incarnation,
    /// Stored rows until then.
    pub u64,
    /// The room's time.
    pub Instant,
);

impl Stamp {
    /// The room's time.
    pub const fn taken(self) -> Instant {
        self.2
    }
}

/// Relay objects stand between the edges and the room.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Relays {
    /// How many there are for the room in each data centre.
    pub shards: u32,
    /// For how long a relay gathers before it calls the room, at least.
    pub window: Span,
}

/// The public state of a room at one instant. Published only once everything in it is durable.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct Snapshot {
    /// The life of the room's storage.
    pub incarnation: Incarnation,
    /// Stored rows so far.
    pub sequence: u64,
    /// The room's time, which never goes back.
    pub taken: Instant,
    /// The highest place called, 0 before the first.
    pub serving: u64,
    /// The highest number given, 0 before the first.
    pub issued: u64,
    /// Active sessions: exact.
    pub active: u32,
    /// Admissions of the last 60 seconds: exact.
    pub admitted_last_minute: u32,
    /// Whether a newcomer has to wait.
    pub queueing: bool,
    /// Called visitors who are not in yet: an estimate.
    pub called: u32,
    /// Waiting visitors who still poll, called ones left out: an estimate.
    pub queued: u32,
    /// Admissions per minute as measured over the last minutes while people waited; none until
    /// there is something to measure.
    #[serde(default)]
    pub admissions_per_minute: Option<f32>,
    /// How fast the line moves; none until there is something to measure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pace: Option<Pace>,
    /// How far the line will have moved after how long; empty until there is something to measure.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub forecast: Vec<Reach>,
    /// How many come before a number: points of a rising line, between which the reader
    /// interpolates. The first point is the first number not yet called.
    #[serde(default)]
    pub ahead: Vec<Ahead>,
    /// How many slots an edge may reserve at once for newcomers to come; 0 while slots are few.
    #[serde(default)]
    pub spare: u32,
    /// Whether first passes are provisional.
    #[serde(default)]
    pub provisional: bool,
    /// Whether newcomers get no number because the line is too long.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub full: bool,
    /// The draws that still count, in their order: who was drawn may come to the door.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub epochs: Vec<Epoch>,
    /// Numbers whose session was ended before their pass: such a pass is no longer good.
    #[serde(default)]
    pub revoked: Vec<TicketNumber>,
    /// The draw that the pre-queue under way will end with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub announced: Option<Announcement>,
    /// The draws that decide about places.
    #[serde(default, skip_serializing_if = "Draws::is_empty")]
    pub draws: Draws,
    /// Which requests the room reads, see [`READS_SETS`].
    #[serde(default)]
    pub reads: u32,
    /// The way to the room, while it is so busy that edges shall not come directly.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub relays: Option<Relays>,
}

/// A room whose snapshots say at least this in [`Snapshot::reads`] reads reports as sets of numbers
/// (`polls` and `returns` of a request). One that says less reads plain lists alone.
pub const READS_SETS: u32 = 1;

/// A point of the line that [`Snapshot::ahead`] draws.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Ahead(
    /// A place.
    pub u64,
    /// How many live visitors come before it.
    pub u32,
);

impl Snapshot {
    /// When it was taken.
    pub const fn stamp(&self) -> Stamp {
        Stamp(self.incarnation, self.sequence, self.taken)
    }

    /// Whether this snapshot is to replace `other`: it is of a later life of the room, or later in
    /// the same one. So a slow answer never takes an edge back.
    pub fn supersedes(&self, other: &Self) -> bool {
        self.stamp() > other.stamp()
    }

    /// Whether `number` may come to the door.
    pub fn is_called(&self, number: TicketNumber) -> bool {
        self.draws.place_of(number).get() <= self.serving
            || self.epochs.iter().rev().any(|epoch| epoch.draws(number))
    }

    /// How long those who wait in a room that admits at random have to wait; none when it cannot be
    /// told.
    pub fn quartiles(&self) -> Option<Quartiles> {
        Quartiles::estimate(&self.epochs, self.taken)
    }

    /// Whether the place of `number` is yet to be drawn.
    pub fn is_undrawn(&self, number: TicketNumber) -> bool {
        let announced = self.announced.as_ref();
        announced.is_some_and(|announced| number.get() >= announced.first)
    }

    /// How many live visitors come before `number`.
    pub fn users_ahead(&self, number: TicketNumber) -> u64 {
        let place = self.draws.place_of(number).get();
        let after = self.ahead.partition_point(|point| point.0 <= place);
        let before = after.checked_sub(1).and_then(|index| self.ahead.get(index));
        match (before, self.ahead.get(after)) {
            (Some(low), Some(high)) => {
                let (span, rise) = (high.0 - low.0, u64::from(high.1.saturating_sub(low.1)));
                u64::from(low.1) + rise * (place - low.0) / span.max(1)
            }
            // Beyond the last point: given after the snapshot was taken, so behind everybody in it.
            (Some(last), None) => u64::from(last.1) + (place - last.0),
            // Called, and so one of those called.
            (None, _) => u64::from(self.called.saturating_sub(1)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(value: u64) -> TicketNumber {
        TicketNumber::new(value).unwrap()
    }

    #[test]
    fn a_later_snapshot_supersedes_an_earlier_one_and_a_later_life_any() {
        let at = |life, sequence, taken| Snapshot {
            incarnation: Incarnation::new(life),
            sequence,
            taken: Instant::from_millis(taken),
            ..Snapshot::default()
        };
        assert!(at(1, 2, 5).supersedes(&at(1, 1, 9)));
        assert!(at(1, 1, 6).supersedes(&at(1, 1, 5)));
        assert!(!at(1, 1, 5).supersedes(&at(1, 1, 5)));
        assert!(at(2, 0, 1).supersedes(&at(1, 9, 9)));
        assert!(!at(1, 9, 9).supersedes(&at(2, 0, 1)));
    }

    #[test]
    fn people_ahead_are_interpolated_between_the_points() {
        let snapshot = Snapshot {
            called: 2,
            ahead: vec![Ahead(10, 2), Ahead(11, 3), Ahead(111, 53)],
            ..Snapshot::default()
        };
        assert_eq!(snapshot.users_ahead(number(10)), 2);
        assert_eq!(snapshot.users_ahead(number(11)), 3);
        assert_eq!(snapshot.users_ahead(number(61)), 28);
        assert_eq!(snapshot.users_ahead(number(111)), 53);
        assert_eq!(snapshot.users_ahead(number(113)), 55);
        assert_eq!(
            snapshot.users_ahead(number(3)),
            1,
            "nobody is ahead of themselves"
        );
    }
}
