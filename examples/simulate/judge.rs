//! What is measured, from the outside: by the passes that visitors hold and by what they were told,
//! not by what the ledger says of itself.

use std::collections::{BTreeMap, VecDeque};

use anteroom::room::wait::Promise;
use anteroom::time::Span;

use crate::order::{Inversions, Order};
use crate::scenario::Scenario;

/// Errors of a told wait count while at least so much is left: what is told in minutes cannot be
/// right to the second.
const JUDGED_WAIT_MS: u32 = 60_000;

/// What was told to an observed visitor.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Told {
    at: u32,
    promise: Option<Promise>,
}

/// A told wait and what it came to, in milliseconds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Compared {
    pub(crate) told: u32,
    pub(crate) true_wait: u32,
    /// Whether it lies between the least and the most that was told.
    is_within: bool,
}

/// The state of the world at one second.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Second {
    pub(crate) queued: u32,
    pub(crate) called: u32,
    pub(crate) valid: u32,
    pub(crate) active: u32,
    pub(crate) admitted_last_minute: u32,
    /// How many were let in within this second.
    pub(crate) entered: u32,
    pub(crate) polls: u32,
    pub(crate) room_messages: u32,
    pub(crate) relay_messages: u32,
}

/// All that is measured.
#[derive(Debug)]
pub(crate) struct Judge {
    pub(crate) limit: u32,
    pub(crate) per_minute: u32,
    steady_after_ms: u32,
    /// Valid passes.
    pub(crate) valid: u32,
    most_valid: u32,
    /// Admissions of the last 60 seconds.
    window: VecDeque<(u32, u32)>,
    in_window: u32,
    most_in_window: u32,
    violations: u64,
    pub(crate) order: Order,
    pub(crate) observed: BTreeMap<u32, Vec<Told>>,
    pub(crate) compared: Vec<Compared>,
    rises: u64,
    observed_admitted: u64,
    no_estimate: u64,
    used: Used,
    pub(crate) waits_ms: Vec<u32>,
    pub(crate) seconds: Vec<Second>,
    admitted: u64,
    walked_in: u64,
    gone: u64,
    queueing_since: Option<u32>,
}

/// How much of the room was in use while people waited.
#[derive(Clone, Copy, Debug, Default)]
struct Used {
    samples: u64,
    slots: f64,
    binding: f64,
}

/// What it comes to.
#[derive(Clone, Debug)]
pub(crate) struct Verdict {
    pub(crate) admitted: u64,
    pub(crate) walked_in: u64,
    pub(crate) gone: u64,
    pub(crate) most_valid: u32,
    pub(crate) most_in_minute: u32,
    pub(crate) violations: u64,
    /// Share of slots in use in steady state, 0 to 1; none without a steady state.
    pub(crate) slots_used: Option<f64>,
    /// The same for the limit that binds at the moment.
    pub(crate) limit_used: Option<f64>,
    /// Who came in after a later number.
    pub(crate) inversions: Inversions,
    /// Median and 90th percentile of the relative error of told waits.
    pub(crate) error: Option<(f64, f64)>,
    /// 10th percentile, median and 90th percentile of what was told above the true wait, relative to it.
    pub(crate) lean: Option<(f64, f64, f64)>,
    /// Of the waits that were told, so many lay within the range that was told.
    pub(crate) within: f64,
    /// Of told waits, so many were "no estimate".
    pub(crate) untold: f64,
    /// Of 1,000 visitors, so many saw their wait rise.
    pub(crate) rises: f64,
    /// Median, 90th percentile and longest wait of those admitted from the line, in seconds.
    pub(crate) waits: Option<(f64, f64, f64)>,
    /// Admissions in the busiest five seconds in which people waited, as a multiple of the average.
    pub(crate) lurch: Option<f64>,
    pub(crate) most_room_messages: u32,
    pub(crate) most_relay_messages: u32,
    pub(crate) most_polls: u32,
}

impl Judge {
    pub(crate) fn new(scenario: &Scenario) -> Self {
        Self {
            limit: scenario.room.total_active_users,
            per_minute: scenario.room.new_users_per_minute,
            steady_after_ms: scenario.steady_after_minutes * 60_000,
            valid: 0,
            most_valid: 0,
            window: VecDeque::new(),
            in_window: 0,
            most_in_window: 0,
            violations: 0,
            order: Order::new(scenario.room.poll_far_seconds),
            observed: BTreeMap::new(),
            compared: Vec::new(),
            rises: 0,
            observed_admitted: 0,
            no_estimate: 0,
            used: Used::default(),
            waits_ms: Vec::new(),
            seconds: Vec::new(),
            admitted: 0,
            walked_in: 0,
            gone: 0,
            queueing_since: None,
        }
    }

    /// `number` is given a pass at `now`; `waited_ms` is none for one who walked in.
    pub(crate) fn admitted(&mut self, number: u32, now: u32, waited_ms: Option<u32>) {
        self.admitted += 1;
        self.valid += 1;
        self.most_valid = self.most_valid.max(self.valid);
        while let Some(&(at, count)) = self.window.front() {
            if at + 60_000 > now {
                break;
            }
            self.in_window -= count;
            self.window.pop_front();
        }
        match self.window.back_mut() {
            Some((at, count)) if *at == now => *count += 1,
            _ => self.window.push_back((now, 1)),
        }
        self.in_window += 1;
        self.most_in_window = self.most_in_window.max(self.in_window);
        if self.valid > self.limit || self.in_window > self.per_minute {
            self.violations += 1;
        }
        let Some(waited_ms) = waited_ms else {
            self.walked_in += 1;
            return;
        };
        self.waits_ms.push(waited_ms);
        self.compare(number, now);
    }

    /// A visitor has gone without having been in.
    pub(crate) fn left_line(&mut self, number: u32) {
        self.gone += 1;
        self.order.left(number);
        self.observed.remove(&number);
    }

    /// An observed visitor asks, and `tell` says what they are told, given what they were told last.
    pub(crate) fn told(
        &mut self,
        number: u32,
        now: u32,
        tell: impl FnOnce(Option<Promise>) -> Option<Promise>,
    ) {
        let told = self.observed.entry(number).or_default();
        let promise = tell(told.last().and_then(|last| last.promise));
        told.push(Told { at: now, promise });
    }

    fn compare(&mut self, number: u32, now: u32) {
        let Some(told) = self.observed.remove(&number) else {
            return;
        };
        self.observed_admitted += 1;
        let known = told.iter().filter_map(|told| told.promise);
        let minutes: Vec<_> = known
            .map(|told| told.likely.as_secs().div_ceil(60))
            .collect();
        self.rises += u64::from(!minutes.is_sorted_by(|earlier, later| earlier >= later));
        for told in told {
            let true_wait = now - told.at;
            if told.at < self.queueing_since.unwrap_or(0) + 120_000 || true_wait < JUDGED_WAIT_MS {
                continue;
            }
            let Some(promise) = told.promise else {
                self.no_estimate += 1;
                continue;
            };
            let wait = promise.wait();
            let truth = Span::from_millis(true_wait.into());
            self.compared.push(Compared {
                told: wait.likely.as_millis() as u32,
                true_wait,
                is_within: (wait.least..=wait.most).contains(&truth),
            });
        }
    }

    /// Samples the state of the world.
    pub(crate) fn sample(&mut self, now: u32, second: Second) {
        let waiting = second.queued + second.called > 0;
        if waiting && self.queueing_since.is_none() {
            self.queueing_since = Some(now);
        }
        // Who waits for no more than a few seconds makes no steady state.
        if second.queued > self.limit / 10 && now >= self.steady_after_ms {
            let slots = f64::from(second.active) / f64::from(self.limit);
            let rate = f64::from(second.admitted_last_minute) / f64::from(self.per_minute);
            self.used.samples += 1;
            self.used.slots += slots;
            self.used.binding += slots.max(rate);
        }
        self.seconds.push(second);
    }

    /// By how much more came in at once than on average while people waited, from when the first of
    /// them were let in.
    fn lurch(&self) -> Option<f64> {
        let waiting = self.seconds.iter().filter(|second| second.queued > 0);
        let entered: Vec<f64> = waiting.map(|second| second.entered.into()).collect();
        let mean = entered.iter().sum::<f64>() / entered.len().max(1) as f64;
        let sums = entered.windows(5).map(|window| window.iter().sum::<f64>());
        let most = sums.fold(0.0, f64::max) / 5.0;
        (mean > 0.0 && entered.len() > 60).then(|| most / mean)
    }

    /// How many have been let in so far.
    pub(crate) const fn all_admitted(&self) -> u64 {
        self.admitted
    }

    /// Sums it up.
    pub(crate) fn verdict(&mut self) -> Verdict {
        let mut errors: Vec<f64> = self.compared.iter().map(Compared::error).collect();
        errors.sort_by(f64::total_cmp);
        let mut leans: Vec<f64> = self.compared.iter().map(Compared::lean).collect();
        leans.sort_by(f64::total_cmp);
        let lean = |share| quantile(&leans, share);
        self.waits_ms.sort_unstable();
        let wait = |share| quantile(&self.waits_ms, share).map(|ms| f64::from(ms) / 1000.0);
        let most = |of: fn(&Second) -> u32| self.seconds.iter().map(of).max().unwrap_or(0);
        let used = self.used;
        let share = |sum: f64| (used.samples > 60).then(|| sum / used.samples as f64);
        let told = self.compared.len() as f64 + self.no_estimate as f64;
        Verdict {
            admitted: self.admitted,
            walked_in: self.walked_in,
            gone: self.gone,
            most_valid: self.most_valid,
            most_in_minute: self.most_in_window,
            violations: self.violations,
            slots_used: share(used.slots),
            limit_used: share(used.binding),
            inversions: self.order.inversions(),
            error: quantile(&errors, 0.5).zip(quantile(&errors, 0.9)),
            lean: lean(0.1)
                .zip(lean(0.5))
                .zip(lean(0.9))
                .map(|((a, b), c)| (a, b, c)),
            within: self.compared.iter().filter(|told| told.is_within).count() as f64
                / self.compared.len().max(1) as f64,
            untold: self.no_estimate as f64 / told.max(1.0),
            rises: 1000.0 * self.rises as f64 / (self.observed_admitted.max(1)) as f64,
            waits: wait(0.5)
                .zip(wait(0.9))
                .zip(wait(1.0))
                .map(|((a, b), c)| (a, b, c)),
            lurch: self.lurch(),
            most_room_messages: most(|second| second.room_messages),
            most_relay_messages: most(|second| second.relay_messages),
            most_polls: most(|second| second.polls),
        }
    }
}

impl Compared {
    /// The error relative to the true wait.
    fn error(&self) -> f64 {
        self.lean().abs()
    }

    /// The same with its sign: above nothing what was told too long.
    fn lean(&self) -> f64 {
        (f64::from(self.told) - f64::from(self.true_wait)) / f64::from(self.true_wait)
    }
}

/// The value below which `share` of the sorted values lie.
pub(crate) fn quantile<T: Copy>(sorted: &[T], share: f64) -> Option<T> {
    let last = sorted.len().checked_sub(1)?;
    sorted.get((share * last as f64).round() as usize).copied()
}
