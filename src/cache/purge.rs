//! Purges: from a moment on, stored answers that they name are as if they were not there.
//!
//! A data centre's cache can be emptied only from within, and nobody can reach all of them. So a purge
//! deletes nothing: it is published with the configuration, and whoever finds an answer that is older than a
//! purge which names it takes it for a miss. It holds in each data centre as soon as the configuration does,
//! and in tiers, since an answer carries its age along.

use serde::{Deserialize, Serialize};

use super::entry::{Entry, LONGEST_KEPT};
use crate::time::{Instant, Span};

/// So many purges are remembered one by one. When there are more, the older half becomes one purge of
/// everything, which is more than was asked for and never less.
pub const MOST_PURGES: usize = 400;

/// Clocks of two data centres differ: an answer that seems to be younger than the purge by no more than this
/// is purged too.
const CLOCKS_DIFFER: Span = Span::from_secs(5);

/// What is purged, in Cloudflare's words.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum What {
    /// Everything.
    Everything,
    /// An URL, all its variants.
    File(String),
    /// All answers with this `Cache-Tag`, without regard to case.
    Tag(String),
    /// All answers of a host, on any port.
    Host(String),
    /// All answers whose URL begins so; host and path, without a scheme.
    Prefix(String),
}

/// Purges, the newest first.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Purges(Vec<Purge>);

#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
struct Purge {
    at: Instant,
    what: What,
}

impl Purges {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds purges, all of the same moment, and forgets those that nothing can be older than any more.
    pub fn add(&mut self, what: impl IntoIterator<Item = What>, now: Instant) {
        // A clock that was set back does not bring the order into disorder.
        let newest = self.0.first().map(|purge| purge.at);
        let now = newest.map_or(now, |newest| newest.max(now));
        for what in what {
            // The later of two purges of the same makes the other one needless; so does one of everything.
            self.0
                .retain(|purge| purge.what != what && what != What::Everything);
            self.0.insert(0, Purge { at: now, what });
        }
        self.0
            .retain(|purge| now.since(purge.at) <= LONGEST_KEPT + CLOCKS_DIFFER);
        if self.0.len() > MOST_PURGES {
            let older = self.0.split_off(MOST_PURGES / 2);
            let at = older.first().map(|purge| purge.at);
            self.0.extend(at.map(|at| Purge {
                at,
                what: What::Everything,
            }));
        }
    }

    /// Whether a stored answer was purged.
    pub fn concern(&self, entry: &Entry) -> bool {
        let born = entry.born();
        let newer = self
            .0
            .iter()
            .take_while(|purge| born < purge.at + CLOCKS_DIFFER);
        newer.into_iter().any(|purge| purge.what.names(entry))
    }
}

impl What {
    fn names(&self, entry: &Entry) -> bool {
        let (_, after_scheme) = entry.url.split_once("://").unwrap_or_default();
        match self {
            Self::Everything => true,
            Self::File(url) => *url == entry.url,
            Self::Tag(tag) => entry.tags().any(|other| other.eq_ignore_ascii_case(tag)),
            Self::Host(host) => host_of(after_scheme) == host,
            Self::Prefix(prefix) => after_scheme.starts_with(prefix.as_str()),
        }
    }
}

/// The host of what follows the scheme, without its port.
fn host_of(after_scheme: &str) -> &str {
    let authority = after_scheme.split(['/', '?']).next().unwrap_or_default();
    match authority.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => host,
        _ => authority,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::cache::fields::Fields;

    const NOW: Instant = Instant::from_secs(1_800_000_000);

    fn entry(url: &str, tags: &str, received: Instant, told_age: Span) -> Entry {
        Entry {
            url: url.into(),
            status: 200,
            fields: Fields::from([("Cache-Tag", tags)]),
            received,
            initial_age: told_age,
            told_age,
            lifetime: Span::from_secs(60),
            stale_while_revalidate: Span::ZERO,
            stale_if_error: Span::ZERO,
            strict: false,
            always_validate: false,
            open: false,
        }
    }

    #[test]
    fn a_purge_names_what_it_says_and_nothing_else() {
        let url = "https://www.example.com:8443/a/b.js?v=1";
        let entry = entry(url, "One, two,three", NOW, Span::ZERO);
        for (what, named) in [
            (What::Everything, true),
            (What::File(url.into()), true),
            (
                What::File("https://www.example.com:8443/a/b.js".into()),
                false,
            ),
            (What::Tag("ONE".into()), true),
            (What::Tag("three".into()), true),
            (What::Tag("t".into()), false),
            (What::Host("www.example.com".into()), true),
            (What::Host("example.com".into()), false),
            (What::Prefix("www.example.com:8443/a".into()), true),
            (What::Prefix("www.example.com/a".into()), false),
        ] {
            let mut purges = Purges::default();
            purges.add([what.clone()], NOW + Span::from_secs(1));
            assert_eq!(purges.concern(&entry), named, "{what:?}");
        }
    }

    #[test]
    fn what_came_after_the_purge_is_spared_unless_a_cache_kept_it_before() {
        let mut purges = Purges::default();
        purges.add([What::Everything], NOW);
        let at = |seconds, age| {
            let received = NOW + Span::from_secs(seconds);
            purges.concern(&entry(
                "https://a.test/",
                "",
                received,
                Span::from_secs(age),
            ))
        };
        assert!(!at(5, 0));
        assert!(at(4, 0), "by a clock that is five seconds early");
        assert!(at(100, 99), "an upper tier has kept it");
        assert!(!at(100, 95));
    }

    #[test]
    fn purges_from_before_the_longest_time_are_forgotten() {
        let mut purges = Purges::default();
        purges.add([What::Tag("a".into())], NOW);
        purges.add([What::Tag("b".into())], NOW + LONGEST_KEPT + LONGEST_KEPT);
        assert_eq!(purges.0.len(), 1);
        purges.add([What::Everything], NOW + LONGEST_KEPT + LONGEST_KEPT);
        assert_eq!(purges.0.len(), 1, "one of everything is enough");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]

        /// Whatever is purged in whichever order, nothing that a purge named is served, and the list stays
        /// short.
        #[test]
        fn nothing_purged_is_ever_spared(tags in prop::collection::vec(0..600_u32, 1..900)) {
            let mut purges = Purges::default();
            for (n, tag) in tags.iter().enumerate() {
                let at = NOW + Span::from_millis(n as u64);
                purges.add([What::Tag(format!("t{tag}"))], at);
                prop_assert!(purges.0.len() <= MOST_PURGES);
            }
            for tag in &tags {
                let stored = entry("https://a.test/", &format!("t{tag}"), NOW, Span::ZERO);
                prop_assert!(purges.concern(&stored));
            }
        }
    }
}
