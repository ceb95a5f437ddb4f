//! Who has changed what, and when. What concerns rooms is the control object's own; the object of the atlas,
//! which keeps the hints of cloud regions, has what concerns those.

use std::cmp::Reverse;

use serde_json::{Value, json};

use super::super::audit::{Change, Trail};
use super::super::configuration::Configuration;
use super::envelope::{Answer, Refusal, Success};
use super::{query, stamp};

/// A call that the shell performs: it asks the object of the atlas for its trail, and hands it to
/// [`AuditCall::answer`].
#[derive(Clone, Debug, PartialEq)]
pub struct AuditCall {
    own: Trail,
    query: String,
}

impl AuditCall {
    /// The call for one page of the trail, by the query of its URL.
    pub(super) fn new(configuration: &Configuration, query: &str) -> Self {
        Self {
            own: configuration.trail.clone(),
            query: query.to_owned(),
        }
    }

    /// The answer. `hints` is the trail of the hints; none if it could not be had.
    pub fn answer(&self, hints: Option<&Trail>) -> Answer {
        let told = hints.into_iter().flat_map(Trail::newest_first);
        let mut all: Vec<&Change> = self.own.newest_first().chain(told).collect();
        // Both are in order: this one keeps it where two changes have the same time.
        all.sort_by_key(|change| Reverse(change.at));
        let all = all.into_iter().map(written).collect();
        let page = query::page(all, &self.query).map(|mut page| {
            if hints.is_none() {
                let message =
                    "the changes of cloud regions are missing: their object did not answer";
                page.messages.push(message.to_owned());
            }
            page
        });
        page.map_or_else(Refusal::answer, Success::answer)
    }
}

fn written(change: &Change) -> Value {
    json!({
        "version": change.version,
        "at": stamp(change.at),
        "by": change.by,
        "action": change.action,
        "to": change.to,
        "fields": change.fields,
    })
}
