//! Who has changed what, and when.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use crate::time::Instant;

/// So many changes are remembered.
const KEPT: usize = 200;

/// The last changes, the oldest first.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Trail(VecDeque<Change>);

/// One change.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Change {
    /// The version that it made.
    pub version: u64,
    /// When.
    pub at: Instant,
    /// The name of the token that was used.
    pub by: String,
    /// What was done: `create`, `update` or `delete`.
    pub action: String,
    /// To what, by id: `rooms/<id>`, `rooms/<id>/events/<id>`, `rooms/<id>/rules`, `settings`.
    pub to: String,
    /// The fields whose value has changed.
    pub fields: Vec<FieldChange>,
}

/// A field whose value has changed. Values are JSON, cut where they are long.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct FieldChange {
    /// The field's name.
    pub field: String,
    /// The value before; none if there was none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// The value now; none if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
}

impl Trail {
    /// Notes a change, and forgets the oldest where there are too many.
    pub(super) fn note(&mut self, change: Change) {
        self.0.push_back(change);
        while self.0.len() > KEPT {
            self.0.pop_front();
        }
    }

    /// The changes, the newest first.
    pub fn newest_first(&self) -> impl Iterator<Item = &Change> {
        self.0.iter().rev()
    }
}
