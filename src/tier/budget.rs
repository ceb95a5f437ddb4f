//! How long each step of a request through tiers may take.
//!
//! A tier that says nothing may be dead, or may be waiting for a slow origin. Giving up on it early
//! would make a slow origin answer the same request again and again; giving up late would make
//! visitors wait for a dead tier. So a tier that has been quiet for [`QUIET`] is asked whether it is
//! there. One that does not say so within [`ALIVE`] has failed; one that does gets the rest of
//! [`WHOLE`].

use std::time::Duration;

use crate::time::{Instant, Span};

/// After so long without an answer a tier is asked whether it is there.
pub const QUIET: Span = Span::from_secs(3);

/// So long it has to say that it is.
pub const ALIVE: Span = Span::from_secs(1);

/// All tiers together, and whoever waits in them for an origin, have so long for the header fields of
/// an answer. The origin that is asked directly afterwards has as long as it has without tiers.
pub const WHOLE: Span = Span::from_secs(30);

/// A tier gives up on the origin so long before those who wait for the tier do, so that they hear of it.
pub const MARGIN: Span = Span::from_secs(2);

/// The time that a request has, counted from its first step.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Budget {
    ends: Instant,
}

impl Budget {
    /// That of a request which begins now.
    pub fn begin(now: Instant) -> Self {
        Self { ends: now + WHOLE }
    }

    /// What is left of it.
    pub fn rest(&self, now: Instant) -> Duration {
        Duration::from_millis(self.ends.since(now).as_millis())
    }

    /// How long to wait for an answer before asking whether anybody is there.
    pub fn quiet(&self, now: Instant) -> Duration {
        self.rest(now).min(Duration::from_millis(QUIET.as_millis()))
    }

    /// How long to wait for the answer to that.
    pub fn alive(&self, now: Instant) -> Duration {
        self.rest(now).min(Duration::from_millis(ALIVE.as_millis()))
    }
}

/// How long a tier waits for the origin's header fields.
pub const fn of_origin() -> Duration {
    Duration::from_millis(WHOLE.as_millis() - MARGIN.as_millis())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_step_goes_beyond_the_whole() {
        let at = Instant::from_millis;
        let budget = Budget::begin(at(1_000));
        assert_eq!(budget.quiet(at(1_000)), Duration::from_secs(3));
        assert_eq!(budget.rest(at(5_000)), Duration::from_secs(26));
        assert_eq!(budget.quiet(at(30_500)), Duration::from_millis(500));
        assert_eq!(budget.alive(at(30_500)), Duration::from_millis(500));
        assert_eq!(budget.rest(at(31_000)), Duration::ZERO);
        assert_eq!(budget.rest(at(99_000)), Duration::ZERO);
    }

    #[test]
    fn who_waits_for_a_tier_hears_that_the_origin_is_slow() {
        let budget = Budget::begin(Instant::from_millis(0));
        assert!(of_origin() < budget.rest(Instant::from_millis(1_000)));
    }
}
