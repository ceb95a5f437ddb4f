//! What a call has changed of the hints, for the trail.

use serde_json::Value;

use super::super::super::audit::{Change, FieldChange};
use crate::atlas::cloud::Region;
use crate::atlas::hints::Hints;
use crate::time::Instant;

/// Of a change of many hints so many are named.
const MOST_NAMED: usize = 100;

/// The change between the hints before and after a call; none if there is none.
pub(super) fn change(before: &Hints, after: &Hints, by: String, now: Instant) -> Option<Change> {
    if before.version == after.version {
        return None;
    }
    let changes = after.changes_since(before);
    let (action, to) = match changes.as_slice() {
        [(origin, None, _)] => ("create", format!("cloud_regions/{origin}")),
        [(origin, _, None)] => ("delete", format!("cloud_regions/{origin}")),
        [(origin, ..)] => ("update", format!("cloud_regions/{origin}")),
        _ => ("update", "cloud_regions".to_owned()),
    };
    let value = |region: &Region| Value::from(region.to_string());
    let named = changes.iter().take(MOST_NAMED).map(|(origin, was, is)| {
        let (was, is) = (was.map(value), is.map(value));
        FieldChange::of(origin.as_str(), was.as_ref(), is.as_ref())
    });
    let mut fields: Vec<FieldChange> = named.collect();
    let unnamed = changes.len() - fields.len();
    if unnamed > 0 {
        fields.push(FieldChange::of(&format!("{unnamed} more"), None, None));
    }
    Some(Change {
        version: after.version,
        at: now,
        by,
        action: action.to_owned(),
        to,
        fields,
    })
}
