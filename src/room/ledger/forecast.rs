//! How many of a line will have been called, or be gone, after how long.
//!
//! The slots that are taken become free as [`Lifetimes`] says; who comes in takes one again; both
//! limits hold. Calls are so many for each admission, and meanwhile some of those who wait leave, as
//! [`super::patience`] says. All of that is stepped through, as expected values.

use super::lifetimes::Lifetimes;
use super::patience::{Group, Staying};
use crate::room::forecast::Reach;

/// Slots are stepped through for so many times the length of a session; after that the line moves as
/// fast as it did on average since the middle.
const SESSIONS: usize = 8;

/// The farthest look ahead, and the growth of steps after the sessions.
const FARTHEST_SECS: f64 = 1e6;
const GROWTH: f64 = 1.05;

/// The most points that are told, and how far they may lie beside the forecast: as a share of it, and
/// in people.
const MOST_POINTS: usize = 48;
const TOLERANCE: f64 = 0.005;
const TOLERANCE_PEOPLE: f64 = 0.5;

/// What a forecast starts from.
pub(super) struct Start<'a> {
    pub(super) lifetimes: &'a Lifetimes,
    /// Slots by the class of the time for which they are taken.
    pub(super) taken: Vec<u32>,
    /// How many slots there are.
    pub(super) slots: f64,
    /// How many may be let in within a minute.
    pub(super) per_minute: f64,
    /// How many of those of the last minute will still count after each step.
    pub(super) counted: Vec<u32>,
    /// Present visitors who are called for each one who comes in.
    pub(super) calls_per_admission: f64,
    /// Those before everybody who waits.
    pub(super) called: u32,
    /// Those who wait, first come first.
    pub(super) line: Vec<Group>,
    /// The line, with those who are missing and may be back, as a multiple of those who are there.
    pub(super) with_missing: f64,
    pub(super) staying: Staying,
}

impl Start<'_> {
    /// The forecast, as points of a rising line.
    pub(super) fn forecast(&self) -> Vec<Reach> {
        thinned(&self.points())
    }

    /// Seconds from now, and how many of those who now stand in line have been reached by then.
    fn points(&self) -> Vec<(f64, f64)> {
        let step = self.lifetimes.step().as_millis() as f64 / 1_000.0;
        let admissions = self.admissions(step);
        let half = admissions.len() / 2;
        let settled: f64 = admissions.iter().skip(half).sum();
        let settled = settled / (admissions.len() - half).max(1) as f64 / step;
        let line = f64::from(self.called)
            + self
                .line
                .iter()
                .map(|group| f64::from(group.live))
                .sum::<f64>();
        let mut front = Front::of(self);
        let mut points = vec![(0.0, 0.0)];
        let mut admissions = admissions.into_iter();
        let (mut time, mut length) = (0.0, step);
        while front.reached < line + 1.0 && time < FARTHEST_SECS {
            let admitted = admissions.next().unwrap_or_else(|| {
                length *= GROWTH;
                settled * length
            });
            front.advance(admitted * self.calls_per_admission, time);
            time += length;
            points.push((time, front.reached));
        }
        points
    }

    /// Admissions of each step.
    fn admissions(&self, step: f64) -> Vec<f64> {
        let newest = self.lifetimes.newest();
        let mut taken: Vec<f64> = self.taken.iter().map(|count| f64::from(*count)).collect();
        taken.resize(taken.len().max(newest + 1), 0.0);
        let steps = SESSIONS * taken.len();
        let shares: Vec<(f64, f64)> = (0..taken.len())
            .map(|class| self.lifetimes.shares(class))
            .collect();
        let window = (60.0 / step).ceil().max(1.0) as usize;
        let (most_in_window, most) = (
            self.per_minute * (window as f64 * step / 60.0),
            self.per_minute * step / 60.0,
        );
        let mut admissions: Vec<f64> = Vec::with_capacity(steps);
        for index in 0..steps {
            let mut renewed = 0.0;
            // Each class moves into the one below; what is in the first runs out in this step.
            let mut below: Option<&mut f64> = None;
            for (count, (renews, ends)) in taken.iter_mut().zip(&shares) {
                renewed += *count * renews;
                let stays = std::mem::take(count) * (1.0 - renews - ends);
                if let Some(below) = below.replace(count) {
                    *below = stays;
                }
            }
            let active: f64 = taken.iter().sum::<f64>() + renewed;
            let recent: f64 = admissions.iter().rev().take(window - 1).sum();
            let counted = self.counted.get(index).copied().unwrap_or(0);
            let rate = (most_in_window - recent - f64::from(counted)).min(most);
            let admitted = (self.slots - active).min(rate).max(0.0);
            if let Some(class) = taken.get_mut(newest) {
                *class += renewed + admitted;
            }
            admissions.push(admitted);
        }
        admissions
    }
}

/// The front of the line on its way back.
struct Front<'a> {
    start: &'a Start<'a>,
    reached: f64,
    /// The group that it is in, and where that ends.
    group: usize,
    ends: f64,
}

impl<'a> Front<'a> {
    fn of(start: &'a Start<'a>) -> Self {
        Self {
            start,
            reached: 0.0,
            group: 0,
            ends: f64::from(start.called),
        }
    }

    /// So many are called, in so many seconds from now.
    fn advance(&mut self, mut calls: f64, time: f64) {
        let start = self.start;
        // The called come first; group 0 is they.
        while calls > 1e-9 {
            let Some(group) = self.group.checked_sub(1) else {
                let here = (self.ends - self.reached).min(calls);
                self.reached += here;
                calls -= here;
                if calls > 1e-9 {
                    self.next_group();
                }
                continue;
            };
            let (waited, last) = match start.line.get(group) {
                Some(group) => (group.waited, false),
                None => (crate::time::Span::ZERO, true),
            };
            let each = start.staying.share(waited, time) * start.with_missing;
            let here = if last {
                calls / each
            } else {
                (self.ends - self.reached).min(calls / each)
            };
            self.reached += here;
            calls -= here * each;
            if calls > 1e-9 {
                self.next_group();
            }
        }
    }

    fn next_group(&mut self) {
        let next = self.start.line.get(self.group);
        self.ends += next.map_or(0.0, |group| f64::from(group.live));
        self.group += 1;
    }
}

/// As few of the points as tell nearly the same: those where no straight line from the last one kept
/// passes near all that follow.
fn thinned(points: &[(f64, f64)]) -> Vec<Reach> {
    let reach = |point: &(f64, f64)| Reach(point.0.round() as u32, point.1.round() as u32);
    let (mut kept, mut tolerance) = (Vec::new(), TOLERANCE);
    loop {
        kept.clear();
        let (mut from, mut before) = ((0.0, 0.0), None::<(f64, f64)>);
        let (mut lowest, mut highest) = (f64::NEG_INFINITY, f64::INFINITY);
        for point in points.iter().skip(1) {
            let slope = |people: f64| (people - from.1) / (point.0 - from.0);
            if let Some(last) = before.filter(|_| {
                let direct = slope(point.1);
                direct < lowest || direct > highest
            }) {
                kept.push(reach(&last));
                from = last;
                (lowest, highest) = (f64::NEG_INFINITY, f64::INFINITY);
            }
            let slope = |people: f64| (people - from.1) / (point.0 - from.0);
            let aside = point.1 * tolerance + TOLERANCE_PEOPLE;
            lowest = lowest.max(slope(point.1 - aside));
            highest = highest.min(slope(point.1 + aside));
            before = Some(*point);
        }
        kept.extend(before.as_ref().map(reach));
        if kept.len() <= MOST_POINTS {
            return kept;
        }
        tolerance *= 2.0;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::room::forecast::reaches;
    use crate::room::ledger::patience::Patience;
    use crate::room::ledger::slots::Slots;
    use crate::time::{Instant, Span};

    /// Sessions of a minute that nobody renews.
    fn lifetimes() -> Lifetimes {
        let mut lifetimes = Lifetimes::default();
        lifetimes.look(Span::from_secs(60), &Slots::default(), Instant::default());
        lifetimes
    }

    fn start(lifetimes: &Lifetimes, taken: Vec<u32>, slots: u32, people: u32) -> Start<'_> {
        Start {
            lifetimes,
            taken,
            slots: slots.into(),
            per_minute: 1e6,
            counted: Vec::new(),
            calls_per_admission: 1.0,
            called: 0,
            line: vec![Group {
                live: people,
                waited: Span::ZERO,
            }],
            with_missing: 1.0,
            staying: Patience::default().staying(),
        }
    }

    fn seconds(start: &Start<'_>, people: u64) -> u64 {
        reaches(&start.forecast(), people).unwrap().as_secs()
    }

    #[test]
    fn sessions_that_began_together_end_together() {
        let lifetimes = lifetimes();
        // A hundred slots, all free in half a minute, and then 65 s later again.
        let mut taken = vec![0; 30];
        taken.push(100);
        let start = start(&lifetimes, taken, 100, 1_000);
        assert!((30..=31).contains(&seconds(&start, 50)));
        assert!((94..=98).contains(&seconds(&start, 150)));
        assert!((160..=164).contains(&seconds(&start, 250)));
    }

    #[test]
    fn the_minutes_limit_bounds_it_and_no_shows_and_leavers_hasten_it() {
        let lifetimes = lifetimes();
        let mut start = start(&lifetimes, Vec::new(), 100_000, 6_000);
        start.per_minute = 60.0;
        assert!(seconds(&start, 3_000).abs_diff(3_000) < 60);
        start.calls_per_admission = 1.5;
        assert!(seconds(&start, 3_000).abs_diff(2_000) < 40);
        start.with_missing = 1.5;
        assert!(seconds(&start, 3_000).abs_diff(3_000) < 60);
        // All the sixty of the last minute still count.
        start.counted = vec![60; 60];
        assert!(seconds(&start, 30) > 60);
    }

    proptest! {
        #[test]
        fn few_points_tell_nearly_the_same(steps in prop::collection::vec(0_u32..200, 2..400)) {
            let mut points = vec![(0.0, 0.0)];
            let mut reached = 0.0;
            for (second, step) in (1..).zip(&steps) {
                reached += f64::from(*step);
                points.push((f64::from(second), reached));
            }
            let thin = thinned(&points);
            prop_assert!(thin.len() <= MOST_POINTS);
            prop_assert!(thin.is_sorted_by(|a, b| a.0 < b.0 && a.1 <= b.1));
            let last = thin.last().map(|point| f64::from(point.1));
            prop_assert!(last.is_some_and(|last| (last - reached).abs() <= 1.0));
        }

        #[test]
        fn a_steady_line_is_told_in_one_point(each in 1_u32..1_000) {
            let points: Vec<_> = (0..500).map(|n| (f64::from(n), f64::from(n * each))).collect();
            prop_assert_eq!(thinned(&points), vec![Reach(499, 499 * each)]);
        }
    }
}
