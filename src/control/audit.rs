//! Who has changed what, and when.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::time::Instant;

/// So many changes are remembered.
const KEPT: usize = 200;

/// Among them so many purges: a site that purges with every page that it changes would else soon have
/// nothing else in its trail.
const PURGES_KEPT: usize = 50;

/// A value is cut after so many characters.
const LONGEST_VALUE: usize = 200;

/// The action of a purge.
pub const PURGE: &str = "purge";

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
    /// What was done: `create`, `update`, `delete` or `purge`.
    pub action: String,
    /// To what, by id: `rooms/<id>`, `rooms/<id>/events/<id>`, `rooms/<id>/rules`, `settings`,
    /// `cloud_regions/<origin>`, `cache`.
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

impl FieldChange {
    /// The change of a field from one value to another; none is no value.
    pub fn of(field: &str, from: Option<&Value>, to: Option<&Value>) -> Self {
        let cut = |value: &Value| {
            let text = value.to_string();
            match text.char_indices().nth(LONGEST_VALUE) {
                Some((end, _)) => format!("{}...", text.get(..end).unwrap_or_default()),
                None => text,
            }
        };
        Self {
            field: field.to_owned(),
            from: from.map(cut),
            to: to.map(cut),
        }
    }
}

impl Trail {
    /// Notes a change, and forgets the oldest where there are too many.
    pub fn note(&mut self, change: Change) {
        self.0.push_back(change);
        let purges = self.0.iter().filter(|change| change.action == PURGE);
        if purges.count() > PURGES_KEPT {
            let oldest = self.0.iter().position(|change| change.action == PURGE);
            oldest.and_then(|oldest| self.0.remove(oldest));
        }
        while self.0.len() > KEPT {
            self.0.pop_front();
        }
    }

    /// The changes, the newest first.
    pub fn newest_first(&self) -> impl Iterator<Item = &Change> {
        self.0.iter().rev()
    }
}
