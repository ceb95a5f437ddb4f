//! How fast the line moves: admissions per minute, measured while people wait.

use std::collections::VecDeque;

use crate::time::{Instant, Span};

/// The measure looks back five minutes, in buckets of ten seconds.
const WINDOW: Span = Span::from_secs(300);
const BUCKET_SECS: u64 = 10;

/// Before so much time with a line there is nothing to tell.
const SHORTEST_MEASURE: Span = Span::from_secs(20);

/// The admissions since the line began to form, up to five minutes back.
#[derive(Clone, Debug, Default)]
pub(super) struct Throughput {
    since: Option<Instant>,
    buckets: VecDeque<(Instant, u32)>,
}

impl Throughput {
    /// Notes whether people wait at `now`; when nobody does, the measure starts anew.
    pub(super) fn observe(&mut self, queueing: bool, now: Instant) {
        if !queueing {
            *self = Self::default();
        } else if self.since.is_none() {
            self.since = Some(now);
        }
        while self
            .buckets
            .front()
            .is_some_and(|(start, _)| *start + WINDOW <= now)
        {
            self.buckets.pop_front();
        }
    }

    /// Counts one admission at `now`.
    pub(super) fn record(&mut self, now: Instant) {
        if self.since.is_none() {
            return;
        }
        let start = Instant::from_secs(now.as_secs() / BUCKET_SECS * BUCKET_SECS);
        match self.buckets.back_mut() {
            Some((bucket, count)) if *bucket == start => *count = count.saturating_add(1),
            _ => self.buckets.push_back((start, 1)),
        }
    }

    /// Admissions per minute; none while too little has been seen.
    pub(super) fn per_minute(&self, now: Instant) -> Option<f32> {
        let measured = now.since(self.since?).min(WINDOW);
        if measured < SHORTEST_MEASURE {
            return None;
        }
        let admitted: u32 = self.buckets.iter().map(|(_, count)| count).sum();
        (admitted > 0).then(|| admitted as f32 * 60_000.0 / measured.as_millis() as f32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rate_is_that_of_the_last_five_minutes_with_a_line() {
        let at = Instant::from_secs;
        let mut throughput = Throughput::default();
        throughput.record(at(0));
        throughput.observe(true, at(100));
        assert_eq!(throughput.per_minute(at(160)), None);
        for second in 100..1_000 {
            throughput.record(at(second));
            throughput.observe(true, at(second));
        }
        let rate = throughput.per_minute(at(1_000)).unwrap();
        assert!((57.0..=60.0).contains(&rate), "{rate}");
        throughput.observe(false, at(1_000));
        throughput.observe(true, at(1_001));
        assert_eq!(throughput.per_minute(at(1_060)), None);
    }
}
