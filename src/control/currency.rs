//! When an isolate or a room looks for a newer configuration.
//!
//! The same plan as for a room's snapshot ([`crate::gate::memory`]): a request that finds the time
//! come looks in its own background, nobody waits for it, and the mark that it leaves is a deadline
//! and no lock, so that one that dies with its request stops nobody.

use crate::time::{Instant, Span};

/// While there is traffic, the configuration is looked for when it was confirmed so long ago.
pub const LOOK_AFTER: Span = Span::from_millis(2_000);

/// A look that has not come back after so long is given up.
pub const LOOK_DEADLINE: Span = Span::from_millis(2_000);

/// Whoever is asked in a look gets so long: a look that fails is over before what is known is too old,
/// so that nobody waits while nothing answers.
pub const LOOK_PATIENCE: Span = Span::from_millis(900);

/// Confirmed longer ago than this, the configuration is too old to be used unasked: a request that
/// finds it so waits for its own look, [`PATIENCE`] at the longest. What a look confirms may itself be
/// two seconds old (the copy of the data centre), so nothing that is five seconds old is used while
/// anybody answers. An isolate that has a request every second never comes to this.
pub const STALE_AFTER: Span = Span::from_millis(3_000);

/// How long a request waits for a configuration, once at the beginning of an isolate and after a
/// silence of [`STALE_AFTER`].
pub const PATIENCE: Span = Span::from_millis(300);

/// After a look that failed none is made for so long.
pub const BREATHER: Span = Span::from_millis(2_000);

/// What a request does about the configuration.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Due {
    /// Nothing: it is fresh, or somebody is looking.
    Not,
    /// Look in the background, and go on with what is known.
    Behind,
    /// Look, and wait for it.
    Before,
    /// Wait a moment for what another request is looking for: not on that request's promise, which the
    /// runtime would not allow, but by looking from time to time whether it has come.
    Along,
}

/// How current the configuration is that somebody knows.
#[derive(Clone, Copy, Debug, Default)]
pub struct Currency {
    /// No look is due before this.
    next: Instant,
    /// From when on what is known is too old: at once, before anything was heard.
    stale: Instant,
    /// Whether the last look has failed. Then nobody waits for one: what is known must do.
    failing: bool,
}

impl Currency {
    /// What to do now. One request at a time looks.
    pub fn start(&mut self, now: Instant) -> Due {
        let is_stale = self.is_awaited(now);
        // The whole cost on the hot path.
        if now < self.next && !is_stale {
            return Due::Not;
        }
        if now < self.next {
            return Due::Along;
        }
        self.next = now + LOOK_DEADLINE;
        if is_stale { Due::Before } else { Due::Behind }
    }

    /// Whether what is known is too old to be used, and a look may still help.
    pub fn is_awaited(&self, now: Instant) -> bool {
        self.stale <= now && !self.failing
    }

    /// It was heard that what is known is the newest.
    pub fn confirm(&mut self, now: Instant) {
        self.stale = now + STALE_AFTER;
        self.failing = false;
        self.next = now + LOOK_AFTER;
    }

    /// Nothing was heard.
    pub fn fail(&mut self, now: Instant) {
        self.failing = true;
        self.next = now + BREATHER;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> Instant {
        Instant::from_secs(1_800_000_000) + Span::from_millis(millis)
    }

    #[test]
    fn of_the_first_requests_one_looks_and_all_wait() {
        let mut currency = Currency::default();
        assert_eq!(currency.start(at(0)), Due::Before);
        assert!(currency.is_awaited(at(0)));
        assert_eq!(currency.start(at(0)), Due::Along);
        currency.confirm(at(20));
        assert_eq!(currency.start(at(20)), Due::Not);
    }

    #[test]
    fn with_traffic_one_request_in_two_seconds_looks_and_none_waits() {
        let mut currency = Currency::default();
        currency.confirm(at(0));
        let mut looks = Vec::new();
        for ms in 0..60_000 {
            match currency.start(at(ms)) {
                Due::Not => {}
                Due::Behind => looks.push(ms),
                other => panic!("{other:?} at {ms}"),
            }
            // Each takes 30 ms.
            if looks.last().is_some_and(|look| look + 30 == ms) {
                currency.confirm(at(ms));
            }
        }
        assert!((28..=30).contains(&looks.len()), "{looks:?}");
    }

    #[test]
    fn a_look_that_dies_stops_nobody() {
        let mut currency = Currency::default();
        currency.confirm(at(0));
        assert_eq!(currency.start(at(2_000)), Due::Behind);
        assert_eq!(currency.start(at(2_999)), Due::Not);
        assert_eq!(currency.start(at(3_000)), Due::Along);
        assert_eq!(currency.start(at(4_000)), Due::Before, "it has died");
    }

    #[test]
    fn nobody_waits_while_an_object_hangs() {
        let mut currency = Currency::default();
        currency.confirm(at(0));
        assert_eq!(currency.start(at(2_000)), Due::Behind);
        for ms in 2_000..2_000 + LOOK_PATIENCE.as_millis() {
            assert_eq!(currency.start(at(ms)), Due::Not);
        }
        currency.fail(at(2_000) + LOOK_PATIENCE);
        assert_eq!(currency.start(at(3_000)), Due::Not);
    }

    #[test]
    fn after_a_silence_the_first_request_waits() {
        let mut currency = Currency::default();
        currency.confirm(at(0));
        assert_eq!(currency.start(at(2_999)), Due::Behind);
        let mut currency = Currency::default();
        currency.confirm(at(0));
        assert_eq!(currency.start(at(3_000)), Due::Before);
        assert_eq!(currency.start(at(3_000)), Due::Along);
    }

    #[test]
    fn while_nothing_is_heard_nobody_waits_and_looks_are_rare() {
        let mut currency = Currency::default();
        currency.confirm(at(0));
        assert_eq!(currency.start(at(2_000)), Due::Behind);
        currency.fail(at(2_100));
        let looks = (2_100..12_100).filter(|ms| match currency.start(at(*ms)) {
            Due::Not => false,
            Due::Behind => {
                currency.fail(at(*ms));
                true
            }
            other => panic!("{other:?} at {ms}"),
        });
        assert_eq!(looks.count(), 4);
        currency.confirm(at(13_000));
        assert_eq!(
            currency.start(at(16_000)),
            Due::Before,
            "and then as before"
        );
    }

    #[test]
    fn a_cold_isolate_that_hears_nothing_goes_on_without() {
        let mut currency = Currency::default();
        assert_eq!(currency.start(at(0)), Due::Before);
        currency.fail(at(300));
        assert_eq!(currency.start(at(301)), Due::Not);
        assert_eq!(currency.start(at(2_300)), Due::Behind);
    }
}
