//! How fast the line is let in.
//!
//! Both limits allow bursts: when many sessions end together, or when a minute is over in which all
//! its admissions were made at once, hundreds may come in within a second, and a minute later again.
//! An origin bears a steady load best. So whoever waited is let in at the pace of
//! `new_users_per_minute`: a token bucket that fills at that rate, and holds what comes of
//! [`AT_ONCE`]. Who need not wait takes from it as well, and is never held up by it.
//!
//! Not stored: a room that is restarted has a full bucket. The limits do not rest on it.

use crate::time::{Instant, Span};

/// The bucket holds the admissions of so long, and these at the least: that few are no burst.
const AT_ONCE: Span = Span::from_secs(2);
const FEWEST: u64 = 10;

/// One admission; a millisecond brings as many units as a minute has admissions.
const ONE: u64 = 60_000;

/// The bucket.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Pacing {
    per_minute: u64,
    units: u64,
    filled: Instant,
}

impl Pacing {
    /// Lets time pass in a room that admits `per_minute`.
    pub(super) fn advance(&mut self, per_minute: u32, now: Instant) {
        let per_minute = u64::from(per_minute);
        let most = (per_minute * AT_ONCE.as_millis()).max(FEWEST * ONE);
        // Where so few may come within a minute, or another number than before, it is full.
        self.units = if per_minute <= FEWEST || self.per_minute != per_minute {
            most
        } else {
            self.brought_by(now).min(most)
        };
        self.per_minute = per_minute;
        self.filled = now;
    }

    /// So many are let in.
    pub(super) fn take(&mut self, count: u32) {
        self.units = self.units.saturating_sub(u64::from(count) * ONE);
    }

    /// How many may be let in now.
    pub(super) fn ready(&self) -> u32 {
        whole(self.units)
    }

    /// How many may have been let in by `at`.
    pub(super) fn ready_by(&self, at: Instant) -> u32 {
        whole(self.brought_by(at))
    }

    fn brought_by(&self, at: Instant) -> u64 {
        let brought = at
            .since(self.filled)
            .as_millis()
            .saturating_mul(self.per_minute);
        self.units.saturating_add(brought)
    }
}

fn whole(units: u64) -> u32 {
    u32::try_from(units / ONE).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOON: Instant = Instant::from_secs(1_800_000_000);

    #[test]
    fn a_burst_is_two_seconds_worth_and_then_it_goes_at_the_pace_of_the_limit() {
        let mut pacing = Pacing::default();
        let mut let_in = 0;
        for tenth in 0..600 {
            pacing.advance(6_000, NOON + Span::from_millis(tenth * 100));
            if tenth == 0 {
                assert_eq!(pacing.ready(), 200);
                assert_eq!(pacing.ready_by(NOON + Span::from_secs(5)), 700);
            }
            let_in += pacing.ready();
            pacing.take(pacing.ready());
        }
        assert_eq!(let_in, 200 + 599 * 10);
        pacing.advance(6_000, NOON + Span::from_secs(600));
        assert_eq!(pacing.ready(), 200, "what is not used is not saved up");
    }

    #[test]
    fn a_small_room_is_not_paced_and_another_limit_holds_at_once() {
        let mut pacing = Pacing::default();
        pacing.advance(10, NOON);
        pacing.take(10);
        pacing.advance(10, NOON + Span::from_millis(1));
        assert_eq!(pacing.ready(), 10);
        pacing.advance(60, NOON + Span::from_millis(2));
        assert_eq!(pacing.ready(), 10);
        pacing.take(11);
        assert_eq!(pacing.ready(), 0);
        pacing.advance(6_000, NOON + Span::from_millis(3));
        assert_eq!(pacing.ready(), 200);
    }
}
