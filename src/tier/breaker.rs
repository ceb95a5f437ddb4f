//! Tiers that fail are not asked for a while.
//!
//! An isolate keeps one [`Breakers`] for itself: it learns within a few requests what others have
//! learnt, and nothing has to be shared.

use std::collections::BTreeMap;

use crate::time::{Instant, Span};

/// So many failures in a row, and a tier rests.
pub const PATIENCE: u32 = 3;

/// How long the first rest takes; each further one twice as long.
pub const FIRST_REST: Span = Span::from_secs(1);

/// The longest rest: so long, at most, a tier that is well again stays unused.
pub const LONGEST_REST: Span = Span::from_secs(30);

/// What is known of each tier, by name.
#[derive(Clone, Debug, Default)]
pub struct Breakers(BTreeMap<String, Breaker>);

/// What is known of one.
#[derive(Clone, Copy, Debug, Default)]
struct Breaker {
    failures: u32,
    /// No request until then, and then one.
    rests_until: Option<Instant>,
}

impl Breakers {
    /// Whether a tier may be asked now. Where this ends a rest, the request is a trial: others go on
    /// resting for as long again, unless it succeeds.
    pub fn may_ask(&mut self, tier: &str, now: Instant) -> bool {
        let Some(breaker) = self.0.get_mut(tier) else {
            return true;
        };
        match breaker.rests_until {
            Some(until) if now < until => false,
            Some(_) => {
                breaker.rests_until = Some(now + breaker.rest());
                true
            }
            None => true,
        }
    }

    /// It has answered.
    pub fn note_success(&mut self, tier: &str) {
        self.0.remove(tier);
    }

    /// It has failed, or not answered in time.
    pub fn note_failure(&mut self, tier: &str, now: Instant) {
        let breaker = self.0.entry(tier.to_owned()).or_default();
        breaker.failures = breaker.failures.saturating_add(1);
        if breaker.failures >= PATIENCE {
            breaker.rests_until = Some(now + breaker.rest());
        }
    }
}

impl Breaker {
    fn rest(&self) -> Span {
        let doublings = self.failures.saturating_sub(PATIENCE).min(16);
        let rest = FIRST_REST.as_millis() << doublings;
        Span::from_millis(rest.min(LONGEST_REST.as_millis()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> Instant {
        Instant::from_millis(millis)
    }

    fn failed(times: u32) -> Breakers {
        let mut breakers = Breakers::default();
        for _ in 0..times {
            breakers.note_failure("fra", at(0));
        }
        breakers
    }

    #[test]
    fn a_tier_rests_after_failures_in_a_row() {
        assert!(failed(2).may_ask("fra", at(0)));
        let mut breakers = failed(3);
        assert!(!breakers.may_ask("fra", at(999)));
        assert!(breakers.may_ask("iad", at(0)), "another one is asked");
        let mut breakers = failed(2);
        breakers.note_success("fra");
        breakers.note_failure("fra", at(0));
        assert!(breakers.may_ask("fra", at(0)), "not in a row");
    }

    #[test]
    fn after_the_rest_one_request_tries() {
        let mut breakers = failed(3);
        assert!(breakers.may_ask("fra", at(1_000)));
        assert!(!breakers.may_ask("fra", at(1_001)), "one is enough");
        breakers.note_success("fra");
        assert!(breakers.may_ask("fra", at(1_002)));
    }

    /// The isolate of a trial may end before its answer.
    #[test]
    fn a_trial_that_is_never_heard_of_is_tried_again() {
        let mut breakers = failed(3);
        assert!(breakers.may_ask("fra", at(1_000)));
        assert!(breakers.may_ask("fra", at(2_000)));
    }

    #[test]
    fn rests_grow_up_to_a_limit() {
        let mut breakers = failed(4);
        assert!(!breakers.may_ask("fra", at(1_999)));
        assert!(breakers.may_ask("fra", at(2_000)));
        let mut breakers = failed(1_000);
        assert!(!breakers.may_ask("fra", at(29_999)));
        assert!(breakers.may_ask("fra", at(30_000)));
    }
}
