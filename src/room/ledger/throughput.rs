//! How fast the line moves, measured while people wait.
//!
//! The head of the line is taken by calls, of those who come and of those who do not. So the room
//! measures how many present visitors it calls for each one who comes in, how full it is meanwhile and
//! how fast it lets people in; what follows for those who wait says [`super::forecast`].
//!
//! All of it is integers: equal histories make equal ledgers.

use std::collections::VecDeque;

use crate::time::{Instant, Span};

/// The measure is kept in buckets of ten seconds, for an hour at most.
const BUCKET: Span = Span::from_secs(10);
const BUCKETS: usize = 360;

/// The measure looks back until it has seen so many calls, which puts their noise at a twentieth.
const ENOUGH_CALLS: u32 = 400;

/// Two halves of the time are of different paces when these differ by so many standard deviations of
/// what chance makes of the calls, and by a tenth.
const CERTAIN: f64 = 3.0;
const CHANGE: f64 = 0.1;

/// The share of the called that comes is taken for as good as so many admissions that were seen.
const ASSUMED: f64 = 100.0;

/// It looks back for two minutes at the least, and nothing is told before a third of one.
const SHORTEST_WINDOW: usize = 12;
const SHORTEST_MEASURE: Span = Span::from_secs(20);

/// A room that is fuller than this while people wait is full, but for the slots that wait for whoever
/// has been called; likewise the minute's admissions.
const FULL: f64 = 0.9;

/// What happened in ten seconds.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
struct Bucket {
    start: Instant,
    admitted: u32,
    /// Calls of visitors who were present.
    called: u32,
    /// The sum of active sessions over its milliseconds.
    active_millis: u64,
    /// How many of the called had not come in at its beginning.
    pending: u32,
}

/// The measure since the line began to form.
#[derive(Clone, Debug, Default, Eq, Hash, PartialEq)]
pub(super) struct Throughput {
    since: Option<Instant>,
    buckets: VecDeque<Bucket>,
    observed: Option<(Instant, u32)>,
}

/// What the measure says of the time to come.
#[derive(Clone, Copy, Debug)]
pub(super) struct Measured {
    pub(super) calls_per_admission: f64,
    /// Slots that are in use on average.
    pub(super) slots: f64,
    /// Admissions of a minute, at most.
    pub(super) per_minute: f64,
}

/// Sums over some time.
#[derive(Clone, Copy, Debug)]
struct Window {
    called: u32,
    admitted: u32,
    active_millis: u64,
    pending: u32,
    start: Instant,
}

impl Throughput {
    /// Notes whether people wait at `now`, how many sessions are active, and how many of the called have
    /// not come in; when nobody waits, the measure starts anew.
    pub(super) fn observe(&mut self, queueing: bool, active: u32, pending: u32, now: Instant) {
        if !queueing {
            *self = Self::default();
            return;
        }
        let since = *self.since.get_or_insert(now);
        let start = Instant::from_millis(
            now.as_millis() - now.since(since).as_millis() % BUCKET.as_millis(),
        );
        if self.buckets.back().is_none_or(|last| last.start < start) {
            if self.buckets.len() == BUCKETS {
                self.buckets.pop_front();
            }
            self.buckets.push_back(Bucket {
                start,
                pending,
                ..Bucket::default()
            });
        }
        let (before, was_active) = self
            .observed
            .replace((now, active))
            .unwrap_or((now, active));
        if let Some(bucket) = self.buckets.back_mut() {
            bucket.active_millis += u64::from(was_active) * now.since(before).as_millis();
        }
    }

    /// Counts one admission, which makes `active` sessions.
    pub(super) fn record(&mut self, active: u32) {
        if let Some(bucket) = self.buckets.back_mut() {
            bucket.admitted = bucket.admitted.saturating_add(1);
        }
        if let Some((_, seen)) = &mut self.observed {
            *seen = active;
        }
    }

    /// Counts calls of visitors who are present.
    pub(super) fn called(&mut self, calls: u32) {
        if let Some(bucket) = self.buckets.back_mut() {
            bucket.called = bucket.called.saturating_add(calls);
        }
    }

    /// Admissions per minute over the last five minutes; none while too little has been seen.
    pub(super) fn per_minute(&self, now: Instant) -> Option<f32> {
        let measured = now.since(self.since?);
        if measured < SHORTEST_MEASURE {
            return None;
        }
        let window = self.buckets.iter().rev().take(30);
        let start = window.clone().next_back()?.start;
        let admitted: u32 = window.map(|bucket| bucket.admitted).sum();
        let span = now.since(start).as_millis().max(1);
        (admitted > 0).then(|| admitted as f32 * 60_000.0 / span as f32)
    }

    /// What has been measured, in a room of so many slots and admissions a minute where `share` of the
    /// called come; none while too little has been seen.
    pub(super) fn measured(
        &self,
        slots: u32,
        per_minute: u32,
        share: f64,
        now: Instant,
    ) -> Option<Measured> {
        if now.since(self.since?) < SHORTEST_MEASURE {
            return None;
        }
        let seen = self.window(now);
        if seen.called == 0 {
            return None;
        }
        let millis = now.since(seen.start).as_millis().max(1) as f64;
        // Limits that were lowered are at once what they are.
        let most = |limit: u32, used: f64| {
            let limit = f64::from(limit);
            if used > FULL * limit {
                used.min(limit)
            } else {
                limit
            }
        };
        // Who was called and has not come in is not to be counted yet.
        let pending = self.buckets.back().map_or(0, |bucket| bucket.pending);
        let settled = f64::from(seen.called) + f64::from(seen.pending) - f64::from(pending);
        let admitted = f64::from(seen.admitted);
        Some(Measured {
            calls_per_admission: ((settled.max(admitted) + ASSUMED / share) / (admitted + ASSUMED))
                .max(1.0),
            slots: most(slots, seen.active_millis as f64 / millis),
            per_minute: most(per_minute, f64::from(seen.admitted) * 60_000.0 / millis),
        })
    }

    /// The time to measure by: as far back as it takes to see enough, and then twice as far for as
    /// long as the older half was as fast as the newer one, by what chance makes of so many calls:
    /// what is steady is measured the better for it, and a change is seen soon.
    fn window(&self, now: Instant) -> Window {
        let mut sum = Window {
            called: 0,
            admitted: 0,
            active_millis: 0,
            pending: 0,
            start: now,
        };
        let mut newer: Option<(usize, u32, Instant)> = None;
        let mut steady = sum;
        for (index, bucket) in (1..).zip(self.buckets.iter().rev()) {
            sum.called = sum.called.saturating_add(bucket.called);
            sum.admitted = sum.admitted.saturating_add(bucket.admitted);
            sum.active_millis += bucket.active_millis;
            sum.pending = bucket.pending;
            sum.start = bucket.start;
            let is_enough = match newer {
                None => sum.called >= ENOUGH_CALLS && index > SHORTEST_WINDOW,
                Some((buckets, ..)) => index >= 2 * buckets,
            };
            if newer.is_none() || is_enough {
                if let Some((_, calls, since)) = newer
                    && differs(
                        calls,
                        now.since(since),
                        sum.called - calls,
                        since.since(sum.start),
                    )
                {
                    break;
                }
                steady = sum;
            }
            if is_enough {
                newer = Some((index, sum.called, sum.start));
            }
        }
        steady
    }
}

/// Whether so many calls over so long a time are of another pace than those over the time before, and
/// not by chance.
fn differs(calls: u32, over: Span, before: u32, over_before: Span) -> bool {
    let rate = |calls: u32, over: Span| f64::from(calls) / over.as_millis().max(1) as f64;
    let (new, old) = (rate(calls, over), rate(before, over_before));
    let chance = (1.0 / f64::from(calls.max(1)) + 1.0 / f64::from(before.max(1))).sqrt();
    (new - old).abs() > (CERTAIN * chance).max(CHANGE) * new
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each second two are called, and one of them is let in.
    fn measured(seconds: u64) -> (Throughput, Instant) {
        let mut throughput = Throughput::default();
        let at = |second: u64| Instant::from_secs(1_000 + second);
        for second in 0..seconds {
            throughput.observe(true, 99, 0, at(second));
            throughput.called(2);
            throughput.record(99);
        }
        (throughput, at(seconds))
    }

    #[test]
    fn calls_admissions_and_slots_in_use_are_measured_while_people_wait() {
        let (mut throughput, now) = measured(10);
        assert!(throughput.measured(100, 1_000, 0.5, now).is_none());
        let (seen, now) = measured(600);
        let rate = seen.per_minute(now).unwrap();
        assert!((57.0..=63.0).contains(&rate), "{rate}");
        let seen = seen.measured(100, 1_000, 0.5, now).unwrap();
        assert!((seen.calls_per_admission - 2.0).abs() < 0.01, "{seen:?}");
        assert!((98.0..=99.5).contains(&seen.slots), "{seen:?}");
        assert!((seen.per_minute - 1_000.0).abs() < 0.01, "{seen:?}");
        throughput.observe(false, 0, 0, now);
        assert!(throughput.measured(100, 1_000, 0.5, now).is_none());
    }

    #[test]
    fn what_binds_is_as_large_as_it_is_used_and_a_limit_that_was_lowered_is_what_it_is() {
        let (throughput, now) = measured(600);
        let seen = |slots, rate| throughput.measured(slots, rate, 0.5, now).unwrap();
        assert!((seen(1_000, 62).per_minute - 60.0).abs() < 1.5);
        assert!((seen(1_000, 30).per_minute - 30.0).abs() < 0.01);
        assert!((seen(50, 62).slots - 50.0).abs() < 0.01);
        assert!((seen(1_000, 62).slots - 1_000.0).abs() < 0.01);
    }

    #[test]
    fn who_was_called_and_has_not_come_yet_does_not_make_calls_dear() {
        let mut throughput = Throughput::default();
        for second in 0..30 {
            throughput.observe(true, 100, 0, Instant::from_secs(second));
        }
        throughput.called(200);
        let now = Instant::from_secs(31);
        throughput.observe(true, 100, 200, now);
        throughput.observe(true, 100, 200, now + Span::from_secs(10));
        let seen = throughput
            .measured(100, 100, 1.0, now + Span::from_secs(10))
            .unwrap();
        assert!(seen.calls_per_admission < 1.01, "{seen:?}");
    }

    #[test]
    fn what_is_steady_is_measured_over_all_its_time_and_a_change_is_seen_soon() {
        let (throughput, now) = measured(3_000);
        let called = throughput.window(now).called;
        assert!(called >= 3_200, "{called}");
        let mut slower = throughput;
        for second in 0..420 {
            slower.observe(true, 99, 0, now + Span::from_secs(second));
            slower.called(1);
        }
        let now = now + Span::from_secs(420);
        let seen = slower.window(now);
        let per_hour = u64::from(seen.called) * 3_600_000 / now.since(seen.start).as_millis();
        assert!(per_hour < 3_900, "{per_hour}");
    }
}
