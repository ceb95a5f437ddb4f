//! What a room did in a span of time: one value for a minute, a quarter of an hour, or all the time
//! since the object was started, because two tallies add up to that of both.

use serde::{Deserialize, Serialize};

use super::counts::Counts;
use super::histogram::Histogram;
use crate::time::Span;

/// What a room did in a span of time. It is stored as its fields stand here ([`super::keep`]).
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub struct Tally {
    /// For how much of the span the levels are known.
    pub watched: Span,
    /// Active sessions.
    pub active: Level,
    /// Visitors in line, called ones included.
    pub queued: Level,
    /// `total_active_users`, as last in force.
    pub total_active_users: u32,
    /// `new_users_per_minute`, as last in force.
    pub new_users_per_minute: u32,
    /// Slots granted, those that edges took ahead included.
    pub granted: u32,
    /// Slots that edges had taken ahead and gave back unused.
    pub returned: u32,
    /// Numbers given to visitors who have to wait.
    pub joined: u32,
    /// Places in line that were given up.
    pub gave_up: u32,
    /// Sessions that the visitor ended.
    pub left: u32,
    /// Sessions that the origin or an operator ended.
    pub revoked: u32,
    /// Calls that the room has heard, each of a relay as one.
    pub calls: u32,
    /// What edges have counted.
    pub edges: Counts,
    /// How long those waited who had to wait and were let in: from the number to the slot.
    pub waited: Histogram,
    /// The waits that were foretold with the number, where one could be.
    pub foretold: Histogram,
    /// How long the sessions that have ended lasted: from the slot to its end.
    pub stayed: Histogram,
}

/// A number of people over a span of time.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub struct Level {
    /// At the end.
    pub last: u32,
    /// The highest.
    pub highest: u32,
    /// Added up over every millisecond that was watched.
    pub area: u64,
}

impl Level {
    /// The level is so high for this long.
    pub(super) fn hold(&mut self, level: u32, span: Span) {
        self.rise(level);
        self.area = self
            .area
            .saturating_add(u64::from(level).saturating_mul(span.as_millis()));
    }

    /// The level is so high from now on.
    pub(super) fn rise(&mut self, level: u32) {
        self.last = level;
        self.highest = self.highest.max(level);
    }

    /// The mean over the time that was watched; none if none was.
    pub fn mean(&self, watched: Span) -> Option<f64> {
        let millis = watched.as_millis();
        (millis > 0).then(|| self.area as f64 / millis as f64)
    }

    const fn follow(&mut self, later: Self) {
        self.last = later.last;
        if later.highest > self.highest {
            self.highest = later.highest;
        }
        self.area = self.area.saturating_add(later.area);
    }
}

impl Tally {
    /// Admissions: the slots that were granted and not given back unused. One that was granted in
    /// an earlier span and given back in this counts in neither.
    pub const fn admitted(&self) -> u32 {
        self.granted.saturating_sub(self.returned)
    }

    /// Adds the tally of the time that comes next.
    pub fn follow(&mut self, later: &Self) {
        let add = |sum: &mut u32, more: u32| *sum = sum.saturating_add(more);
        self.watched = self.watched + later.watched;
        self.active.follow(later.active);
        self.queued.follow(later.queued);
        self.total_active_users = later.total_active_users;
        self.new_users_per_minute = later.new_users_per_minute;
        add(&mut self.granted, later.granted);
        add(&mut self.returned, later.returned);
        add(&mut self.joined, later.joined);
        add(&mut self.gave_up, later.gave_up);
        add(&mut self.left, later.left);
        add(&mut self.revoked, later.revoked);
        add(&mut self.calls, later.calls);
        self.edges.add(later.edges);
        self.waited.merge(&later.waited);
        self.foretold.merge(&later.foretold);
        self.stayed.merge(&later.stayed);
    }
}
