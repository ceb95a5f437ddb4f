//! What edges count and a room does not see: it comes to the room with the messages that edges send
//! anyway.

use serde::{Deserialize, Serialize};

/// Requests as an edge has seen them since its last report.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub struct Counts {
    /// Handed to the origin for a visitor who holds a pass.
    #[serde(default)]
    pub passed: u32,
    /// Handed to the origin because a rule exempts them.
    #[serde(default)]
    pub bypassed: u32,
    /// Answered by anteroom: pages, polls, refusals.
    #[serde(default)]
    pub answered: u32,
    /// Calls of the room that had no answer.
    #[serde(default)]
    pub room_failed: u32,
    /// Requests that the origin did not answer. Those of [`Counts::passed`] whose answer nobody
    /// waits for are not among them.
    #[serde(default)]
    pub origin_failed: u32,
}

impl Counts {
    /// Whether there is nothing to report.
    pub fn is_zero(&self) -> bool {
        *self == Self::default()
    }

    /// Counts what the other has counted.
    pub const fn add(&mut self, other: Self) {
        self.passed = self.passed.saturating_add(other.passed);
        self.bypassed = self.bypassed.saturating_add(other.bypassed);
        self.answered = self.answered.saturating_add(other.answered);
        self.room_failed = self.room_failed.saturating_add(other.room_failed);
        self.origin_failed = self.origin_failed.saturating_add(other.origin_failed);
    }
}
