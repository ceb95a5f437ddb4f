//! How fast the line moves, measured while people wait.
//!
//! What a waiting visitor wants to know is when their number is called. The head of the line is
//! taken by calls, of those who come and of those who do not, so calls of present visitors are
//! counted and not admissions; and meanwhile some of those ahead leave the line. With `c` calls a
//! minute and a share `d` of the line that leaves in a minute, `x` people ahead are gone after
//! `ln(1 + x d / c) / d` minutes ([`Pace::wait`]).
//!
//! All of it is integers: equal histories make equal ledgers.

use std::collections::VecDeque;

use super::EXPIRY_GRACE;
use crate::room::policy::Policy;
use crate::room::snapshot::Pace;
use crate::time::{Instant, Span};

/// The measure is kept in buckets of ten seconds, for an hour at most.
const BUCKET: Span = Span::from_secs(10);
const BUCKETS: usize = 360;

/// The measure looks back until it has seen so many calls, which puts their noise at a twentieth.
const ENOUGH_CALLS: u32 = 400;

/// It looks back for two minutes at the least, and nothing is told before a third of one.
const SHORTEST_WINDOW: usize = 12;
const SHORTEST_MEASURE: Span = Span::from_secs(20);

/// So many sessions that have ended tell how long they last.
const ENOUGH_ENDED: u64 = 100;

/// How many leave the line is measured over ten minutes.
const LEAVING_WINDOW: usize = 60;

/// A new measure within a sixteenth of what was told last is not told.
const HYSTERESIS: u64 = 16;

/// What happened in ten seconds.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
struct Bucket {
    start: Instant,
    admitted: u32,
    /// Calls of visitors who were present.
    called: u32,
    joined: u32,
    /// How many waited at its end, and how many had left the line in it; less than none when some
    /// who had counted as absent were back.
    waiting: u32,
    left: i64,
    /// The sum of active sessions over its milliseconds, and how many sessions ended.
    active_millis: u64,
    ended: u32,
}

/// The measure since the line began to form.
#[derive(Clone, Debug, Default, Eq, Hash, PartialEq)]
pub(super) struct Throughput {
    since: Option<Instant>,
    buckets: VecDeque<Bucket>,
    observed: Option<(Instant, u32)>,
    told: Option<Pace>,
}

impl Throughput {
    /// Notes whether people wait at `now`, and how many sessions are active; when nobody waits, the
    /// measure starts anew.
    pub(super) fn observe(&mut self, queueing: bool, active: u32, now: Instant) {
        if !queueing {
            *self = Self::default();
            return;
        }
        let since = *self.since.get_or_insert(now);
        let start = Instant::from_millis(
            now.as_millis() - now.since(since).as_millis() % BUCKET.as_millis(),
        );
        if self.buckets.back().is_none_or(|last| last.start < start) {
            let waiting = self.buckets.back().map_or(0, |last| last.waiting);
            if self.buckets.len() == BUCKETS {
                self.buckets.pop_front();
            }
            self.buckets.push_back(Bucket {
                start,
                waiting,
                ..Bucket::default()
            });
        }
        let (before, was_active) = self
            .observed
            .replace((now, active))
            .unwrap_or((now, active));
        if let Some(bucket) = self.buckets.back_mut() {
            bucket.active_millis += u64::from(was_active) * now.since(before).as_millis();
            // What was admitted meanwhile is in `active`; it is taken out in `admitted`.
            bucket.ended = bucket
                .ended
                .saturating_add(was_active.saturating_sub(active));
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

    /// Counts one who joins the line.
    pub(super) fn joined(&mut self) {
        if let Some(bucket) = self.buckets.back_mut() {
            bucket.joined = bucket.joined.saturating_add(1);
        }
    }

    /// Notes how many wait: who joined, was not called and is not there any more has left.
    pub(super) fn line(&mut self, waiting: u32) {
        let mut latest = self.buckets.iter_mut().rev();
        let Some(bucket) = latest.next() else {
            return;
        };
        let before = latest.next().map_or(0, |before| before.waiting);
        bucket.waiting = waiting;
        bucket.left = i64::from(before) + i64::from(bucket.joined)
            - i64::from(bucket.called)
            - i64::from(waiting);
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

    /// The pace to tell at `now`; none while too little has been seen. It stays what it was until
    /// the measure has clearly changed.
    pub(super) fn pace(&mut self, policy: &Policy, now: Instant) -> Option<Pace> {
        let measured = self.measure(policy, now);
        self.told = match (self.told, measured) {
            (Some(told), Some(new)) => {
                let (old, now_is) = (
                    u64::from(told.calls_per_hour),
                    u64::from(new.calls_per_hour),
                );
                if now_is.abs_diff(old) * HYSTERESIS < old {
                    Some(Pace {
                        calls_per_hour: told.calls_per_hour,
                        slowed: told.slowed,
                        ..new
                    })
                } else if now_is < old {
                    Some(Pace { slowed: now, ..new })
                } else {
                    Some(Pace {
                        slowed: told.slowed,
                        ..new
                    })
                }
            }
            (_, new) => new,
        };
        self.told
    }

    /// The pace as it was told last.
    pub(super) const fn told(&self) -> Option<Pace> {
        self.told
    }

    fn measure(&self, policy: &Policy, now: Instant) -> Option<Pace> {
        if now.since(self.since?) < SHORTEST_MEASURE {
            return None;
        }
        let (mut called, mut admitted, mut start) = (0_u32, 0_u32, now);
        for (index, bucket) in self.buckets.iter().rev().enumerate() {
            if called >= ENOUGH_CALLS && index >= SHORTEST_WINDOW {
                break;
            }
            called = called.saturating_add(bucket.called);
            admitted = admitted.saturating_add(bucket.admitted);
            start = bucket.start;
        }
        if called == 0 {
            return None;
        }
        let per_hour = |count: u64, over: Span| count * 3_600_000 / over.as_millis().max(1);
        let measured = per_hour(called.into(), now.since(start));
        // While the room fills for the first time it lets in more than it can keep up.
        let kept_up = self.kept_up(policy)?;
        let kept_up = kept_up * u64::from(called.max(admitted)) / u64::from(admitted.max(1));
        let calls_per_hour = u32::try_from(measured.min(kept_up)).unwrap_or(u32::MAX);
        (calls_per_hour > 0).then(|| Pace {
            calls_per_hour,
            leaving_per_million: self.leaving(),
            calls: called,
            slowed: Instant::default(),
        })
    }

    /// Admissions per hour that the limits allow in the long run; none while that cannot be told,
    /// because it depends on how long sessions last and too few have ended.
    fn kept_up(&self, policy: &Policy) -> Option<u64> {
        let used: u64 = self.buckets.iter().map(|bucket| bucket.active_millis).sum();
        let ended: u64 = self
            .buckets
            .iter()
            .map(|bucket| u64::from(bucket.ended))
            .sum();
        let rate = u64::from(policy.new_users_per_minute) * 60;
        let slots = |taken: u64| u64::from(policy.total_active_users) * 3_600_000 / taken.max(1);
        // How long a slot is taken at the most if nobody renews, and on average.
        let whole = (policy.session + EXPIRY_GRACE).as_millis();
        if ended < u64::from(policy.total_active_users / 4).clamp(1, ENOUGH_ENDED) {
            return (slots(whole) > rate).then_some(rate);
        }
        Some(slots((used / ended).min(whole)).min(rate))
    }

    /// Of a million who wait, how many leave in a minute.
    fn leaving(&self) -> u32 {
        let window = self.buckets.iter().rev().skip(1).take(LEAVING_WINDOW);
        let left: i64 = window.clone().map(|bucket| bucket.left).sum();
        let waited: u64 = window.map(|bucket| u64::from(bucket.waiting)).sum();
        let left = u64::try_from(left).unwrap_or(0);
        let per_minute = left * 1_000_000 * (60 / BUCKET.as_secs()) / waited.max(1);
        u32::try_from(per_minute).unwrap_or(u32::MAX).min(500_000)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn policy() -> Policy {
        Policy::within(1_000_000, 100_000)
    }

    /// Each second two are called, one of them is let in, and one of a hundred leaves in a minute.
    fn measured(seconds: u64) -> (Throughput, Instant) {
        let mut throughput = Throughput::default();
        let at = |second: u64| Instant::from_secs(1_000 + second);
        let mut waiting = 60_000_u32;
        for second in 0..seconds {
            throughput.observe(true, 100, at(second));
            if second == 0 {
                for _ in 0..60_002 {
                    throughput.joined();
                }
            }
            throughput.called(2);
            throughput.record(100);
            throughput.line(waiting);
            waiting -= 2 + if second % 6 == 0 { waiting / 1_000 } else { 0 };
        }
        (throughput, at(seconds))
    }

    #[test]
    fn the_pace_is_that_of_calls_and_of_those_who_leave() {
        let (mut throughput, now) = measured(600);
        let pace = throughput.pace(&policy(), now).unwrap();
        assert!(pace.calls_per_hour.abs_diff(7_200) < 200, "{pace:?}");
        assert!(
            pace.leaving_per_million.abs_diff(10_000) < 1_000,
            "{pace:?}"
        );
        let rate = throughput.per_minute(now).unwrap();
        assert!((57.0..=63.0).contains(&rate), "{rate}");
        throughput.observe(false, 0, now);
        assert_eq!(throughput.pace(&policy(), now), None);
    }

    #[test]
    fn little_changes_are_not_told_and_a_slower_pace_is_with_its_time() {
        let (mut throughput, now) = measured(600);
        let told = throughput.pace(&policy(), now).unwrap();
        let mut later = now;
        for second in 0..600 {
            later = now + Span::from_secs(second);
            throughput.observe(true, 100, later);
            throughput.called(1);
        }
        let slower = throughput.pace(&policy(), later).unwrap();
        assert!(
            slower.calls_per_hour < told.calls_per_hour * 6 / 10,
            "{slower:?}"
        );
        assert_eq!(slower.slowed, later);
        assert_eq!(throughput.pace(&policy(), later), Some(slower));
    }

    #[test]
    fn a_room_that_fills_for_the_first_time_does_not_promise_to_go_on_so() {
        let (mut throughput, now) = measured(120);
        let few = Policy {
            total_active_users: 100,
            ..policy()
        };
        // No session has ended.
        assert_eq!(throughput.pace(&few, now), None);
        throughput.observe(true, 0, now);
        // 100 slots, each taken for 305 s at the most: but they were taken for 120 s.
        let pace = throughput.pace(&few, now).unwrap();
        assert!(pace.calls_per_hour.abs_diff(6_000) < 200, "{pace:?}");
    }
}
