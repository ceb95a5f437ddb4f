//! What was done for each host, counted over all isolates.
//!
//! An isolate counts for itself and tells the object that keeps the sum now and then. What an isolate has
//! not told when it ends is lost, so that the sums are a little low, and never high.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::said::Said;
use crate::time::{Instant, Span};

/// An isolate tells what it has counted so often, while requests come.
pub const TOLD_EVERY: Span = Span::from_secs(10);

/// Counts of all hosts, by name.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(default)]
pub struct Tally {
    /// Since when; none in what an isolate tells.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<Instant>,
    /// By host.
    pub hosts: BTreeMap<String, Counts>,
}

/// Counts of one host.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(default)]
pub struct Counts {
    /// Requests that came to the cache of a data centre.
    pub requests: u64,
    /// Those that were answered from there without asking anybody.
    pub hits: u64,
    /// What was asked of each upper tier, by its name.
    pub tiers: BTreeMap<String, Asked>,
    /// Requests that asked more than one of them, because the first had failed or was resting.
    pub fallbacks: u64,
    /// Requests to the origin, from data centres and from tiers.
    pub origin: u64,
}

/// What was asked of an upper tier.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(default)]
pub struct Asked {
    /// Requests to it.
    pub requests: u64,
    /// Those that it answered from its cache.
    pub hits: u64,
    /// Those that waited there for the answer to another one.
    pub collapsed: u64,
    /// Those that it did not answer.
    pub failed: u64,
}

/// What the object is told or asked.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Message {
    /// To add these. The answer says nothing.
    Add(Tally),
    /// For all. The answer is a [`Tally`].
    Read,
}

impl Tally {
    /// The counts of a host.
    pub fn of(&mut self, host: &str) -> &mut Counts {
        self.hosts.entry(host.to_owned()).or_default()
    }

    /// Whether there is nothing in it.
    pub fn is_empty(&self) -> bool {
        self.hosts.is_empty()
    }

    /// Adds what somebody else has counted.
    pub fn add(&mut self, other: &Self) {
        for (host, counts) in &other.hosts {
            self.of(host).add(counts);
        }
    }
}

impl Counts {
    /// Notes what a tier said of a request to it; none if it has failed.
    pub fn asked(&mut self, tier: &str, said: Option<Said>) {
        let asked = self.tiers.entry(tier.to_owned()).or_default();
        asked.requests += 1;
        match said {
            Some(Said::Hit) => asked.hits += 1,
            Some(Said::Collapsed) => asked.collapsed += 1,
            Some(_) => {}
            None => asked.failed += 1,
        }
    }

    fn add(&mut self, other: &Self) {
        self.requests = self.requests.saturating_add(other.requests);
        self.hits = self.hits.saturating_add(other.hits);
        self.fallbacks = self.fallbacks.saturating_add(other.fallbacks);
        self.origin = self.origin.saturating_add(other.origin);
        for (tier, other) in &other.tiers {
            let asked = self.tiers.entry(tier.clone()).or_default();
            asked.requests = asked.requests.saturating_add(other.requests);
            asked.hits = asked.hits.saturating_add(other.hits);
            asked.collapsed = asked.collapsed.saturating_add(other.collapsed);
            asked.failed = asked.failed.saturating_add(other.failed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_isolates_tell_is_summed() {
        let mut told = Tally::default();
        let counts = told.of("a.example");
        counts.requests = 3;
        counts.hits = 1;
        counts.origin = 1;
        counts.asked("fra", Some(Said::Hit));
        counts.asked("fra", None);
        counts.asked("lhr", Some(Said::Collapsed));
        counts.asked("lhr", Some(Said::Miss));
        let mut all = Tally::default();
        all.add(&told);
        all.add(&told);
        let counts = all.of("a.example");
        assert_eq!((counts.requests, counts.hits, counts.origin), (6, 2, 2));
        let fra = Asked {
            requests: 4,
            hits: 2,
            collapsed: 0,
            failed: 2,
        };
        assert_eq!(counts.tiers["fra"], fra);
        assert_eq!(
            (counts.tiers["lhr"].collapsed, counts.tiers["lhr"].requests),
            (2, 4)
        );
    }

    /// Isolates of two releases speak to one object.
    #[test]
    fn what_is_not_told_is_nothing() {
        let read: Message =
            serde_json::from_str(r#"{"add":{"hosts":{"a":{"requests":1}}}}"#).unwrap();
        let Message::Add(mut tally) = read else {
            panic!("another message");
        };
        assert_eq!(tally.of("a").requests, 1);
        assert_eq!(serde_json::to_string(&Message::Read).unwrap(), r#""read""#);
    }
}
