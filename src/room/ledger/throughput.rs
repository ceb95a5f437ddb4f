//! How fast the line moves, measured while people wait.
//!
//! What a waiting visitor wants to know is when their number is called. The head of the line is
//! taken by calls, of those who come and of those who do not, so calls of present visitors are
//! counted and not admissions; and meanwhile some of those ahead leave the line. With `c` calls a
//! minute and a share `d` of the line that leaves in a minute, `x` people ahead are gone after
//! `ln(1 + x d / c) / d` minutes ([`Pace::minutes`]).
//!
//! All of it is integers: equal histories make equal ledgers.

use std::collections::VecDeque;

use super::EXPIRY_GRACE;
use super::tracers::Tracers;
use crate::room::policy::Policy;
use crate::room::snapshot::Ahead;
use crate::room::wait::Pace;
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

/// It looks back for two minutes at the least, and nothing is told before a third of one.
const SHORTEST_WINDOW: usize = 12;
const SHORTEST_MEASURE: Span = Span::from_secs(20);

/// So many sessions that have ended tell how long they last.
const ENOUGH_ENDED: u64 = 100;

/// How many leave the line is measured over ten minutes.
const LEAVING_WINDOW: usize = 60;

/// That the line is slower takes an eighth to be believed, because then waits rise that visitors were
/// told; on few calls more: so many standard deviations of what chance makes of them.
const SLOWER: f64 = 1.0 / 8.0;
const SURELY_SLOWER: f64 = 2.0;

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
    /// The fastest pace that was told since the line was last found to be slower.
    fastest: Option<Pace>,
    told: Option<Pace>,
    tracers: Tracers,
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

    /// Every place up to `serving` has been called by `now`.
    pub(super) fn reached(&mut self, serving: u64, now: Instant) {
        self.tracers.reached(serving, now);
    }

    /// The pace to tell at `now` to those who wait, which `points` draws, with `called` before them;
    /// none while too little has been seen.
    pub(super) fn pace(
        &mut self,
        policy: &Policy,
        points: &[Ahead],
        called: u32,
        now: Instant,
    ) -> Option<Pace> {
        let measured = self.measure(policy, now);
        self.told = measured.map(|measured| self.tell(measured, points, called, now));
        self.told
    }

    fn tell(&mut self, measured: Pace, points: &[Ahead], called: u32, now: Instant) -> Pace {
        let line = points.last().map_or(0, |point| point.1);
        let line = u64::from(line.saturating_add(called)).max(1);
        let fastest = self.fastest.map_or(measured, |fastest| {
            since_slower(fastest, measured, line, now)
        });
        self.fastest = Some(fastest);
        self.tracers.note(&measured, points, called, now);
        Pace {
            slowed: fastest.slowed,
            error_per_mille: self.tracers.error_per_mille(now),
            ..measured
        }
    }

    /// The pace as it was told last.
    pub(super) const fn told(&self) -> Option<Pace> {
        self.told
    }

    fn measure(&self, policy: &Policy, now: Instant) -> Option<Pace> {
        if now.since(self.since?) < SHORTEST_MEASURE {
            return None;
        }
        let (called, admitted, start) = self.window(now);
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
            error_per_mille: 0,
        })
    }

    /// The calls and admissions to measure by, and since when. As far back as it takes to see enough,
    /// and then twice as far for as long as the older half was as fast as the newer one, by what
    /// chance makes of so many calls: what is steady is measured the better for it, and a change is
    /// seen soon.
    fn window(&self, now: Instant) -> (u32, u32, Instant) {
        let (mut called, mut admitted, mut start) = (0_u32, 0_u32, now);
        let mut newer: Option<(usize, u32, Instant)> = None;
        let mut steady = (called, admitted, start);
        for (index, bucket) in (1..).zip(self.buckets.iter().rev()) {
            called = called.saturating_add(bucket.called);
            admitted = admitted.saturating_add(bucket.admitted);
            start = bucket.start;
            let is_enough = match newer {
                None => called >= ENOUGH_CALLS && index > SHORTEST_WINDOW,
                Some((buckets, ..)) => index >= 2 * buckets,
            };
            if newer.is_none() || is_enough {
                if let Some((_, calls, since)) = newer
                    && differs(calls, now.since(since), called - calls, since.since(start))
                {
                    break;
                }
                steady = (called, admitted, start);
            }
            if is_enough {
                newer = Some((index, called, start));
            }
        }
        steady
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

/// Whether so many calls over so long a time are of another pace than those over the time before, and
/// not by chance.
fn differs(calls: u32, over: Span, before: u32, over_before: Span) -> bool {
    let rate = |calls: u32, over: Span| f64::from(calls) / over.as_millis().max(1) as f64;
    let (new, old) = (rate(calls, over), rate(before, over_before));
    let chance = (1.0 / f64::from(calls.max(1)) + 1.0 / f64::from(before.max(1))).sqrt();
    (new - old).abs() > (CERTAIN * chance).max(CHANGE) * new
}

/// The faster of two paces for the last in a line, or `measured` where that is clearly slower than was
/// told before.
fn since_slower(fastest: Pace, measured: Pace, line: u64, now: Instant) -> Pace {
    let change = |people| measured.minutes(people) / fastest.minutes(people);
    let chance = SURELY_SLOWER / f64::from(measured.calls.max(1)).sqrt();
    if change(1).max(change(line)) > 1.0 + SLOWER.max(chance) {
        Pace {
            slowed: now,
            ..measured
        }
    } else if change(line) < 1.0 {
        Pace {
            slowed: fastest.slowed,
            ..measured
        }
    } else {
        fastest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: [Ahead; 2] = [Ahead(1, 0), Ahead(101, 100)];

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
        let pace = throughput.pace(&policy(), &LINE, 0, now).unwrap();
        assert!(pace.calls_per_hour.abs_diff(7_200) < 200, "{pace:?}");
        assert!(
            pace.leaving_per_million.abs_diff(10_000) < 1_000,
            "{pace:?}"
        );
        let rate = throughput.per_minute(now).unwrap();
        assert!((57.0..=63.0).contains(&rate), "{rate}");
        throughput.observe(false, 0, now);
        assert_eq!(throughput.pace(&policy(), &LINE, 0, now), None);
    }

    #[test]
    fn that_the_line_is_clearly_slower_is_told_with_its_time() {
        let (mut throughput, now) = measured(600);
        let before = throughput.pace(&policy(), &LINE, 0, now).unwrap();
        assert_eq!(before.slowed, Instant::default());
        let (mut slowed, mut last) = (Vec::new(), before);
        for second in 0..1_200 {
            let later = now + Span::from_secs(second);
            throughput.observe(true, 100, later);
            // A twentieth slower at first, which is nothing; then half as fast.
            throughput.called(if second < 600 {
                2 - u32::from(second % 10 == 0)
            } else {
                1
            });
            let pace = throughput.pace(&policy(), &LINE, 0, later).unwrap();
            if pace.slowed != last.slowed {
                slowed.push(second);
            }
            last = pace;
        }
        assert!(
            slowed.first().is_some_and(|second| *second > 600),
            "{slowed:?}"
        );
        assert!(
            last.calls_per_hour < before.calls_per_hour * 6 / 10,
            "{last:?}"
        );
    }

    #[test]
    fn what_is_steady_is_measured_over_all_its_time_and_a_change_is_seen_soon() {
        let (throughput, now) = measured(3_000);
        let (calls, ..) = throughput.window(now);
        assert!(calls >= 3_200, "{calls}");
        let mut slower = throughput;
        for second in 0..420 {
            slower.observe(true, 100, now + Span::from_secs(second));
            slower.called(1);
        }
        let pace = slower
            .measure(&policy(), now + Span::from_secs(420))
            .unwrap();
        assert!(pace.calls_per_hour < 3_900, "{pace:?}");
    }

    #[test]
    fn a_room_that_fills_for_the_first_time_does_not_promise_to_go_on_so() {
        let (mut throughput, now) = measured(120);
        let few = Policy {
            total_active_users: 100,
            ..policy()
        };
        // No session has ended.
        assert_eq!(throughput.pace(&few, &LINE, 0, now), None);
        throughput.observe(true, 0, now);
        // 100 slots, each taken for 305 s at the most: but they were taken for 120 s.
        let pace = throughput.pace(&few, &LINE, 0, now).unwrap();
        assert!(pace.calls_per_hour.abs_diff(6_000) < 200, "{pace:?}");
    }
}
