//! What a room's object is asked for its operator, and what it answers: JSON, in both directions.
//!
//! A room that keeps older code for minutes after a deployment may not know a question; whoever asks
//! is then told that the room did not answer.

use serde::{Deserialize, Serialize};

use super::query::{Series, Window};
use super::tally::Tally;
use crate::room::status::Status;
use crate::time::Instant;

/// What a question to a room's object begins with, before its JSON.
pub const QUESTION: &str = "question ";

/// What a room is asked.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Question {
    /// How it was.
    Series(Window),
    /// How it is, and everything since its object was started.
    Totals,
}

/// What a room answers.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// To [`Question::Series`].
    Series(Series),
    /// To [`Question::Totals`].
    Totals(Box<Totals>),
}

/// How a room is, and everything since its object was started.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Totals {
    /// How it is.
    pub status: Status,
    /// When the object was started: the counts begin there.
    pub since: Instant,
    /// What has happened since.
    pub tally: Tally,
}
