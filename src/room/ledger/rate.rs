//! The admissions of the last 60 seconds.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use crate::time::{Instant, Span};

/// The span of `new_users_per_minute`.
const WINDOW: Span = Span::from_secs(60);

/// Admissions are counted by tenths of a second: some 600 counters, however many admissions.
const BUCKET_MILLIS: u64 = 100;

/// A sliding window over the admissions.
///
/// A bucket counts until its *last* instant has left the window. So the count is never too low, and
/// the limit holds for every window of 60 seconds; it is too high by a tenth of a second at most.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub(super) struct RateWindow {
    buckets: VecDeque<(Instant, u32)>,
    total: u32,
}

impl RateWindow {
    /// How many admissions the last 60 seconds hold, as of the last [`RateWindow::advance`].
    pub(super) fn count(&self) -> u32 {
        self.total
    }

    /// How many of them will still count at `at`.
    pub(super) fn count_at(&self, at: Instant) -> u32 {
        let leaving = self
            .buckets
            .iter()
            .take_while(|(start, _)| *start + Span::from_millis(BUCKET_MILLIS) + WINDOW <= at);
        leaving.fold(self.total, |count, (_, gone)| count.saturating_sub(*gone))
    }

    /// Counts admissions that take place at `at`, or will have until then: from now on, and until
    /// 60 seconds after `at`.
    pub(super) fn record(&mut self, at: Instant, admissions: u32) {
        let start = Instant::from_millis(at.as_millis() / BUCKET_MILLIS * BUCKET_MILLIS);
        let index = self.buckets.partition_point(|(bucket, _)| *bucket < start);
        match self.buckets.get_mut(index) {
            Some((bucket, count)) if *bucket == start => {
                *count = count.saturating_add(admissions);
            }
            _ => self.buckets.insert(index, (start, admissions)),
        }
        self.total = self.total.saturating_add(admissions);
    }

    /// Forgets what has left the window.
    pub(super) fn advance(&mut self, now: Instant) {
        while let Some(&(start, count)) = self.buckets.front() {
            if start + Span::from_millis(BUCKET_MILLIS) + WINDOW > now {
                break;
            }
            self.total = self.total.saturating_sub(count);
            self.buckets.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_admission_counts_for_sixty_seconds_and_at_most_a_tenth_longer() {
        for admitted in [1_000_000, 1_000_001, 1_000_050, 1_000_099] {
            let mut window = RateWindow::default();
            window.record(Instant::from_millis(admitted), 1);
            window.advance(Instant::from_millis(admitted + 60_000));
            assert_eq!(window.count(), 1);
            window.advance(Instant::from_millis(admitted + 60_100));
            assert_eq!(window.count(), 0);
        }
    }

    #[test]
    fn admissions_to_come_count_at_once_and_for_as_long_as_they_have_to() {
        let at = Instant::from_secs;
        let mut window = RateWindow::default();
        window.record(at(102), 10);
        window.record(at(100), 1);
        window.record(at(102), 5);
        assert_eq!(window.count(), 16);
        window.advance(at(161));
        assert_eq!(window.count(), 15);
        window.advance(at(162));
        assert_eq!(window.count(), 15);
        window.advance(at(163));
        assert_eq!(window.count(), 0);
    }
}
