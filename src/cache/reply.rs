//! What a visitor gets of a stored answer (RFC 9111 section 4, RFC 9110 section 13).

use super::asked::Asked;
use super::date;
use super::entry::Entry;
use super::fields::{Fields, members};
use crate::time::Instant;

/// Fields that a 304 goes without: they describe a body that does not come (RFC 9110 section 15.4.5).
const NOT_WITH_304: [&str; 5] = [
    "content-encoding",
    "content-language",
    "content-length",
    "content-range",
    "content-type",
];

/// Fields that speak to caches of Cloudflare's alone, and go no further than this one.
const FOR_THIS_CACHE: [&str; 2] = ["cache-tag", "cloudflare-cdn-cache-control"];

/// What an upper tier says of its answer ([`crate::tier::marker::HEADER`]).
const TIER: &str = "anteroom-tier";

/// An answer on its way to the visitor.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Reply {
    /// The status.
    pub status: u16,
    /// The header fields.
    pub fields: Fields,
    /// Whether the stored body goes along.
    pub with_body: bool,
}

/// Removes what is for caches of ours alone: the last of them does.
pub fn remove_what_is_ours(fields: &mut Fields) {
    fields.retain(|name| !FOR_THIS_CACHE.contains(&name) && name != TIER);
}

impl Asked<'_> {
    /// The reply from a stored answer. `part` is the `Content-Range` of the body, if it is one part of it.
    pub fn reply(&self, entry: &Entry, part: Option<&str>, now: Instant) -> Reply {
        let mut fields = entry.fields.clone();
        fields.set("age", entry.age(now).as_secs().to_string());
        if !fields.has("date") {
            fields.set("date", date::write(entry.received));
        }
        if entry.status == 200 && self.has_already(entry) {
            fields.retain(|name| !NOT_WITH_304.contains(&name));
            return Reply {
                status: 304,
                fields,
                with_body: false,
            };
        }
        let mut status = entry.status;
        if let Some(part) = part {
            status = 206;
            fields.set("content-range", part);
            fields.remove("content-length");
        }
        Reply {
            status,
            fields,
            with_body: self.method == "GET" && !matches!(status, 204 | 205 | 304),
        }
    }

    /// Whether the visitor has the answer already (RFC 9110 section 13.2.2, RFC 9111 section 4.3.2).
    fn has_already(&self, entry: &Entry) -> bool {
        if let Some(tags) = self.fields.get("if-none-match") {
            let stored = entry.fields.first("etag");
            return tags.trim() == "*"
                || stored
                    .is_some_and(|stored| members(&tags).any(|tag| weak(tag) == weak(stored)));
        }
        let Some(since) = self.fields.first("if-modified-since") else {
            return false;
        };
        let Some(since) = date::parse(since) else {
            return false;
        };
        let stored = |name| entry.fields.first(name).map(date::parse);
        let modified = match stored("last-modified").or_else(|| stored("date")) {
            Some(Some(date)) => date,
            Some(None) => return false,
            None => entry.received,
        };
        modified <= since
    }

    /// Whether a part of this answer is what the visitor wants, by `If-Range` (RFC 9110 section 13.1.5).
    pub fn wants_part_of(&self, entry: &Entry) -> bool {
        let Some(validator) = self.fields.first("if-range") else {
            return true;
        };
        let stored = |name| entry.fields.first(name);
        if validator.starts_with('"') {
            return stored("etag") == Some(validator);
        }
        // The exact date, and no weak tag.
        date::parse(validator).is_some() && stored("last-modified") == Some(validator)
    }
}

/// A tag without what says that it is weak (RFC 9110 section 8.8.3.2, weak comparison).
pub(super) fn weak(tag: &str) -> &str {
    tag.strip_prefix("W/").unwrap_or(tag)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cache::fields::Fields;
    use crate::site::cached_host::CacheSettings;
    use crate::time::Span;

    const RECEIVED: Instant = Instant::from_secs(1_800_000_000);

    fn entry(fields: Fields) -> Entry {
        Entry {
            url: "https://a.test/".into(),
            status: 200,
            fields,
            received: RECEIVED,
            initial_age: Span::from_secs(7),
            told_age: Span::ZERO,
            lifetime: Span::from_secs(60),
            stale_while_revalidate: Span::ZERO,
            stale_if_error: Span::ZERO,
            strict: false,
            always_validate: false,
            open: false,
        }
    }

    fn replied(stored: Fields, asked: Fields) -> Reply {
        let settings = CacheSettings::default();
        let asked = Asked::new("GET", "https://a.test/", asked, &settings);
        asked.reply(&entry(stored), None, RECEIVED + Span::from_secs(5))
    }

    #[test]
    fn a_visitor_who_has_it_gets_no_body() {
        let tagged = || {
            Fields::from([
                ("ETag", "W/\"a,b\""),
                ("Last-Modified", "Wed, 01 Jan 2020 00:00:00 GMT"),
                ("Content-Type", "text/plain"),
                ("Vary", "Accept"),
            ])
        };
        for (name, value, status) in [
            ("if-none-match", "\"a,b\"", 304),
            ("if-none-match", "W/\"x\", W/\"a,b\"", 304),
            ("if-none-match", "*", 304),
            ("if-none-match", "\"a\", \"b\"", 200),
            ("if-modified-since", "Wed, 01 Jan 2020 00:00:00 GMT", 304),
            ("if-modified-since", "Tue, 31 Dec 2019 23:59:59 GMT", 200),
            ("if-modified-since", "yesterday", 200),
        ] {
            let reply = replied(tagged(), Fields::from([(name, value)]));
            assert_eq!(reply.status, status, "{name}: {value}");
            assert_eq!(reply.with_body, status == 200);
            assert_eq!(reply.fields.has("content-type"), status == 200);
            assert_eq!(reply.fields.first("vary"), Some("Accept"));
            assert_eq!(reply.fields.first("age"), Some("12"));
        }
        let both = [
            ("if-none-match", "\"x\""),
            ("if-modified-since", "Fri, 01 Jan 2100 00:00:00 GMT"),
        ];
        assert_eq!(
            replied(tagged(), Fields::from(both)).status,
            200,
            "a tag counts more"
        );
    }

    #[test]
    fn a_part_is_cut_only_of_the_answer_that_the_visitor_knows() {
        let stored = [
            ("ETag", "\"a\""),
            ("Last-Modified", "Wed, 01 Jan 2020 00:00:00 GMT"),
        ];
        let settings = CacheSettings::default();
        for (validator, wanted) in [
            ("\"a\"", true),
            ("W/\"a\"", false),
            ("\"b\"", false),
            ("Wed, 01 Jan 2020 00:00:00 GMT", true),
            ("Thu, 02 Jan 2020 00:00:00 GMT", false),
        ] {
            let fields = Fields::from([("if-range", validator)]);
            let asked = Asked::new("GET", "https://a.test/", fields, &settings);
            assert_eq!(
                asked.wants_part_of(&entry(Fields::from(stored))),
                wanted,
                "{validator}"
            );
        }
    }
}
