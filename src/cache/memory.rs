//! What an isolate remembers of its cached hosts. All of it can be lost at any moment.

use std::collections::HashMap;

use crate::site::cached_host::CachedHost;
use crate::time::{Instant, Span};

/// A renewal that has not ended after so long is taken for dead.
const RENEWAL_DEADLINE: Span = Span::from_secs(30);

/// So many renewals are remembered at a time. There may be more, and then two of the same.
const MOST_RENEWALS: usize = 1_024;

/// What is under way.
#[derive(Debug, Default)]
pub struct Memory {
    /// The places of answers that are being renewed, each with the end of its mark: a deadline, and no lock.
    renewals: HashMap<String, Instant>,
    /// Whether the cache was seen to keep what it is given.
    is_probed: bool,
}

/// The cached hosts, for look-up.
#[derive(Debug, Default)]
pub struct Hosts {
    list: Vec<CachedHost>,
    /// Places in the list.
    by_name: HashMap<String, usize>,
}

impl Hosts {
    /// The hosts of a build; none if there are none, so that a Worker without them asks one thing only.
    pub fn of(list: Vec<CachedHost>) -> Option<Self> {
        let names = list.iter().enumerate();
        let by_name = names.map(|(n, host)| (host.host.clone(), n)).collect();
        (!list.is_empty()).then_some(Self { list, by_name })
    }

    /// The host of this name, which may be of any case.
    pub fn find(&self, name: &str) -> Option<&CachedHost> {
        let index = match self.by_name.get(name) {
            Some(index) => *index,
            None => *self.by_name.get(&name.to_ascii_lowercase())?,
        };
        self.list.get(index)
    }

    /// All hosts.
    pub fn iter(&self) -> impl Iterator<Item = &CachedHost> {
        self.list.iter()
    }
}

impl Memory {
    /// Whether somebody shall look if the cache keeps what it is given: the first who stores something.
    pub fn start_probe(&mut self) -> bool {
        !std::mem::replace(&mut self.is_probed, true)
    }

    /// Marks that the answer at `place` is being renewed; false if it is already.
    pub fn start_renewal(&mut self, place: &str, now: Instant) -> bool {
        if self.renewals.get(place).is_some_and(|until| *until > now) {
            return false;
        }
        if self.renewals.len() >= MOST_RENEWALS {
            self.renewals.retain(|_, until| *until > now);
        }
        if self.renewals.len() < MOST_RENEWALS {
            self.renewals
                .insert(place.to_owned(), now + RENEWAL_DEADLINE);
        }
        true
    }

    /// The renewal is over.
    pub fn end_renewal(&mut self, place: &str) {
        self.renewals.remove(place);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_request_at_a_time_renews_and_one_that_dies_stops_nobody() {
        let now = Instant::from_secs(1_800_000_000);
        let mut memory = Memory::default();
        assert!(memory.start_renewal("a", now));
        assert!(!memory.start_renewal("a", now));
        assert!(memory.start_renewal("b", now));
        memory.end_renewal("a");
        assert!(memory.start_renewal("a", now));
        assert!(memory.start_renewal("a", now + RENEWAL_DEADLINE));
        for n in 0..3 * MOST_RENEWALS {
            assert!(memory.start_renewal(&format!("{n}"), now));
        }
        assert!(memory.renewals.len() <= MOST_RENEWALS);
        assert!(memory.start_probe() && !memory.start_probe());
    }
}
