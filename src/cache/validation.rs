//! Asking the origin about a stored answer, and taking in what it says (RFC 9111 section 4.3).

use super::asked::Asked;
use super::date;
use super::directives::Directives;
use super::entry::{Entry, NotStored, kept};
use super::fields::Fields;
use super::reply::weak;
use crate::time::{Instant, Span};

/// Fields of a 304 that change nothing in the stored answer, because they describe its body or tell which
/// one it is (RFC 9111 section 3.2).
const OF_THE_BODY: [&str; 5] = [
    "content-encoding",
    "content-length",
    "content-md5",
    "content-range",
    "etag",
];

/// Statuses that are an error of the origin in the sense of `stale-if-error` (RFC 5861 section 4).
pub const fn is_error(status: u16) -> bool {
    matches!(status, 500 | 502 | 503 | 504)
}

impl Asked<'_> {
    /// The fields that the request gets on its way to the origin in the place of its own, to ask about a
    /// stored answer; none where it goes as it came. A request for the head alone goes as it came too: what
    /// it brings does not replace a stored body.
    pub fn conditions(&self, entry: &Entry) -> Vec<(&'static str, Option<String>)> {
        if self.method != "GET" || !entry.has_validator() {
            return Vec::new();
        }
        let stored = |name| entry.fields.first(name).map(str::to_owned);
        vec![
            ("if-none-match", stored("etag")),
            ("if-modified-since", stored("last-modified")),
            ("range", None),
            ("if-range", None),
        ]
    }
}

impl Entry {
    /// Whether a 304 is about this answer, so far as validators tell.
    pub fn is_confirmed_by(&self, fields: &Fields) -> bool {
        match (self.fields.first("etag"), fields.first("etag")) {
            (Some(stored), Some(told)) => weak(stored) == weak(told),
            _ => true,
        }
    }

    /// The answer after a 304 with these fields (RFC 9111 sections 3.2 and 4.3.4), and why it is not to be
    /// stored any longer, if it is not. It is served all the same.
    pub fn confirmed(
        &self,
        asked: &Asked<'_>,
        fields: &Fields,
        requested: Instant,
        received: Instant,
    ) -> (Self, Option<NotStored>) {
        let mut told = kept(fields, &Directives::of_answer(fields));
        told.retain(|name| !OF_THE_BODY.contains(&name));
        let mut merged = self.fields.clone();
        // The old date would make an answer old that was just confirmed.
        merged.set("date", date::write(received));
        merged.retain(|name| !told.has(name));
        let mut merged: Fields = merged.into_iter().chain(told).collect();
        let stored = merged.clone();
        // It counts for the age, and is made anew for each answer. A cookie that comes along is for this
        // visitor, and what is stored stays everybody's.
        if let Some(age) = fields.get("age") {
            merged.set("age", age);
        }
        match Self::of(asked, self.status, &merged, requested, received) {
            Ok(entry) => (entry, None),
            Err(why) => {
                let entry = Self {
                    fields: stored,
                    received,
                    initial_age: Span::ZERO,
                    told_age: Span::ZERO,
                    ..self.clone()
                };
                (entry, Some(why))
            }
        }
    }
}

#[cfg(test)]
mod tests;
