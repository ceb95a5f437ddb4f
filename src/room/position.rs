//! Where a number stands, for the people who help visitors.

use serde::{Deserialize, Serialize};

use crate::time::Instant;

/// Where a number stands. Times are the room's.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum Position {
    /// No visitor has been given the number.
    NeverGiven,
    /// The visitor is in line.
    Waiting {
        /// How many come before: an estimate.
        ahead: u32,
    },
    /// The visitor may come in.
    Called {
        /// Whether they have come and stand at the door because every slot is taken.
        at_door: bool,
    },
    /// The visitor is on the site.
    Active {
        /// Since when.
        admitted: Instant,
        /// Until when, unless the session is renewed.
        expires: Instant,
    },
    /// The session was ended, but more were ended lately than edges can be told of. The pass is
    /// not renewed any more, and its slot stays taken until it has run out.
    Ending {
        /// When it has.
        expires: Instant,
    },
    /// The session has ended, or the place in line was given up or has lapsed.
    Over,
}
