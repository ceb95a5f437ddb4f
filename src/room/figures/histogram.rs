//! Durations, counted in buckets that widen with the duration: a few bytes stand for any number of
//! them, percentiles come out within a sixteenth, and two histograms add up to that of both.
//!
//! Buckets are linear within powers of two, as in Gil Tene's HdrHistogram, with eight to an octave.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::time::Span;

/// Buckets to a power of two, and the power of two that this is.
const PER_OCTAVE: u64 = 8;
const OCTAVE_BITS: u32 = 3;

/// How many durations fell into which bucket.
///
/// Durations of less than eight seconds are told apart by the second; longer ones fall into buckets
/// of an eighth of the power of two below them. So what [`Histogram::percentile`] gives is off by
/// half a second at the most, or by a sixteenth of the true value.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub struct Histogram {
    buckets: BTreeMap<u8, u32>,
    /// The sum of all durations, in milliseconds.
    sum: u64,
}

impl Histogram {
    /// Counts one duration.
    pub fn record(&mut self, duration: Span) {
        let count = self.buckets.entry(bucket(duration.as_secs())).or_default();
        *count = count.saturating_add(1);
        self.sum = self.sum.saturating_add(duration.as_millis());
    }

    /// Counts what the other has counted.
    pub fn merge(&mut self, other: &Self) {
        for (bucket, more) in &other.buckets {
            let count = self.buckets.entry(*bucket).or_default();
            *count = count.saturating_add(*more);
        }
        self.sum = self.sum.saturating_add(other.sum);
    }

    /// How many durations there are.
    pub fn count(&self) -> u64 {
        self.buckets.values().map(|count| u64::from(*count)).sum()
    }

    /// The sum of the durations: exact.
    pub const fn sum(&self) -> Span {
        Span::from_millis(self.sum)
    }

    /// The duration that `percent` of them do not exceed, 0 to 100; none if there are none.
    pub fn percentile(&self, percent: u8) -> Option<Span> {
        let rank = (self.count() * u64::from(percent)).div_ceil(100).max(1);
        let mut counted = 0;
        for (bucket, count) in &self.buckets {
            counted += u64::from(*count);
            if counted >= rank {
                let (from, until) = bounds(*bucket);
                return Some(Span::from_millis((from + until).saturating_mul(500)));
            }
        }
        None
    }

    /// How many durations are shorter than `2^octave` seconds: exact.
    pub fn below_octave(&self, octave: u32) -> u64 {
        let end = bucket(1 << octave.min(63));
        let below = self.buckets.range(..end);
        below.map(|(_, count)| u64::from(*count)).sum()
    }
}

/// The bucket of a duration of so many whole seconds. Those of 272 years and more share one.
fn bucket(seconds: u64) -> u8 {
    let Some(octave) = seconds.checked_ilog2().filter(|bits| *bits >= OCTAVE_BITS) else {
        // Less than eight.
        return seconds as u8;
    };
    let shift = octave - OCTAVE_BITS;
    let index = PER_OCTAVE * u64::from(shift + 1) + (seconds >> shift) % PER_OCTAVE;
    u8::try_from(index).unwrap_or(u8::MAX)
}

/// The seconds from which and below which a bucket counts.
fn bounds(bucket: u8) -> (u64, u64) {
    let index = u64::from(bucket);
    if index < PER_OCTAVE {
        return (index, index + 1);
    }
    let shift = index / PER_OCTAVE - 1;
    let eighths = PER_OCTAVE + index % PER_OCTAVE;
    (eighths << shift, (eighths + 1) << shift)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_buckets_leave_no_gap() {
        let mut next = 0;
        for bucket in 0..=u8::MAX {
            let (from, until) = bounds(bucket);
            assert_eq!(from, next);
            assert_eq!(
                (super::bucket(from), super::bucket(until - 1)),
                (bucket, bucket)
            );
            next = until;
        }
        assert_eq!(super::bucket(u64::MAX), u8::MAX);
    }

    #[test]
    fn nothing_has_no_percentile() {
        assert_eq!(Histogram::default().percentile(50), None);
        assert_eq!(Histogram::default().count(), 0);
    }

    fn of(durations: &[u64]) -> Histogram {
        let mut histogram = Histogram::default();
        for millis in durations {
            histogram.record(Span::from_millis(*millis));
        }
        histogram
    }

    fn durations() -> impl Strategy<Value = Vec<u64>> {
        prop::collection::vec(prop_oneof![0_u64..20_000, 0_u64..5_000_000_000], 1..200)
    }

    proptest! {
        #[test]
        fn a_percentile_is_off_by_half_a_second_or_a_sixteenth(
            mut all in durations(), percent in 1_u8..=100,
        ) {
            let told = of(&all).percentile(percent).unwrap().as_millis();
            all.sort_unstable();
            let rank = (all.len() * usize::from(percent)).div_ceil(100);
            let exact = all[rank - 1];
            prop_assert!(told.abs_diff(exact) <= 500.max(exact / 16), "{told} for {exact}");
        }

        #[test]
        fn two_add_up_to_that_of_both(one in durations(), other in durations()) {
            let mut merged = of(&one);
            merged.merge(&of(&other));
            prop_assert_eq!(merged, of(&[one, other].concat()));
        }

        #[test]
        fn those_below_a_power_of_two_are_counted_exactly(all in durations(), octave in 0_u32..40) {
            let below = all.iter().filter(|millis| **millis < 1000 << octave).count();
            prop_assert_eq!(of(&all).below_octave(octave), below as u64);
        }
    }
}
