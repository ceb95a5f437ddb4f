//! How soon those who wait leave the line, by how long they have waited.
//!
//! Most who leave do so early, or at one time after they joined. So an estimate that takes them to
//! leave evenly is wrong for everybody: who stands far back has fewer people before them than it
//! believes, who is near the front has more. The room knows about when each place has joined, and
//! looks every ten seconds how many of those who joined at one time are still there.
//!
//! When a good part of the line is gone at once, that is not patience: a data centre is cut off, or
//! a network. They are likely to be back in time, and are kept in the estimate for as long as their
//! places are kept.

use std::collections::VecDeque;

use super::PLACE_KEPT;
use super::waiters::Waiters;
use crate::time::{Instant, Span};

/// Who joined within so long is looked at together, and all are looked at so often.
const EVERY: Span = Span::from_secs(10);

/// No more cohorts than this; the two longest in line are taken together beyond.
const MOST_COHORTS: usize = 720;

/// How long somebody has waited is told apart in so many classes; the last has no end.
const AGES: usize = 240;
const AGE: Span = Span::from_secs(30);

/// A class that was at risk for so many visitors' looks is known.
const ENOUGH: i64 = 200;

/// So many classes say how it goes on with those who have waited for longer than anybody yet.
const OLDEST: usize = 10;

/// After so many looks, which are half an hour, everything noted counts half.
const MEMORY: u32 = 180;

/// More than this share of the line, in thousandths, this multiple of what was to be expected, and this
/// many visitors do not lose patience within [`EVERY`].
const LOST_PER_MILLE: i64 = 15;
const LOST_TIMES: f64 = 6.0;
const LOST_LEAST: i64 = 8;

/// Those who joined at one time.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
struct Cohort {
    joined: Instant,
    /// The first place of it; it reaches up to the next one's.
    first: u64,
    /// How many of it were present at the last look; none if it was not looked at whole.
    live: Option<u32>,
}

/// What was seen of those who had waited for so long.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
struct Age {
    at_risk: i64,
    left: i64,
}

/// What was seen of all who wait.
#[derive(Clone, Debug, Default, Eq, Hash, PartialEq)]
pub(super) struct Patience {
    cohorts: VecDeque<Cohort>,
    ages: Vec<Age>,
    next: Instant,
    looks: u32,
    /// Who is gone as if cut off, and since when.
    missing: VecDeque<(Instant, i64)>,
}

/// Those of one cohort who are present, and how long they have waited.
#[derive(Clone, Copy, Debug)]
pub(super) struct Group {
    pub(super) live: u32,
    pub(super) waited: Span,
}

impl Patience {
    /// Looks at all who wait, if it is time to.
    pub(super) fn look(&mut self, waiters: &Waiters, now: Instant) {
        if now < self.next {
            return;
        }
        self.next = now + EVERY;
        let (base, end) = waiters.range();
        while self.cohorts.get(1).is_some_and(|next| next.first <= base) {
            self.cohorts.pop_front();
        }
        if self.cohorts.len() > MOST_COHORTS {
            self.cohorts.remove(1);
        }
        let live = self.count(waiters);
        let compared = self.cohorts.iter().zip(&live);
        // Of a cohort whose first was called some have left the line by a call.
        let whole: Vec<(usize, i64, i64)> = compared
            .filter(|(cohort, _)| cohort.first >= base)
            .filter_map(|(cohort, live)| {
                let before = i64::from(cohort.live?);
                Some((age(cohort.joined, now), before, before - i64::from(*live)))
            })
            .collect();
        self.learn(&whole, now);
        for (cohort, live) in self.cohorts.iter_mut().zip(live) {
            cohort.live = (cohort.first >= base).then_some(live);
        }
        self.cohorts.push_back(Cohort {
            joined: now,
            first: end,
            live: None,
        });
    }

    fn learn(&mut self, whole: &[(usize, i64, i64)], now: Instant) {
        let kept = PLACE_KEPT.as_millis() * 3 / 4 + EVERY.as_millis();
        while let Some((since, _)) = self.missing.front() {
            if *since + Span::from_millis(kept) > now {
                break;
            }
            self.missing.pop_front();
        }
        let live: i64 = whole.iter().map(|(_, before, _)| before).sum();
        let lost: i64 = whole.iter().map(|(.., lost)| lost).sum();
        let rates = self.rates();
        let expected: f64 = whole
            .iter()
            .map(|(age, before, _)| *before as f64 * rates.at(*age))
            .sum();
        if lost > (live * LOST_PER_MILLE / 1_000).max(LOST_LEAST)
            && lost as f64 > LOST_TIMES * expected
        {
            self.missing.push_back((now, lost - expected as i64));
            return;
        }
        let mut back = -lost;
        while let (Some((_, missing)), true) = (self.missing.front_mut(), back > 0) {
            let found = back.min(*missing);
            *missing -= found;
            back -= found;
            if *missing == 0 {
                self.missing.pop_front();
            }
        }
        if lost < 0 {
            return;
        }
        self.looks += 1;
        if self.looks.is_multiple_of(MEMORY) {
            for age in &mut self.ages {
                age.at_risk /= 2;
                age.left /= 2;
            }
        }
        for (age, before, lost) in whole {
            if self.ages.len() <= *age {
                self.ages.resize(age + 1, Age::default());
            }
            if let Some(age) = self.ages.get_mut(*age) {
                age.at_risk += before;
                age.left += lost;
            }
        }
    }

    /// Those who wait, first come first.
    pub(super) fn groups(&self, waiters: &Waiters, now: Instant) -> Vec<Group> {
        let live = self.count(waiters);
        let groups = self.cohorts.iter().zip(live).map(|(cohort, live)| Group {
            live,
            waited: now.since(cohort.joined),
        });
        groups.collect()
    }

    /// How many are gone as if cut off.
    pub(super) fn missing(&self) -> u32 {
        let missing: i64 = self.missing.iter().map(|(_, missing)| missing).sum();
        u32::try_from(missing).unwrap_or(0)
    }

    /// The share of visitors that is still there, for each time since they joined, up to a factor.
    pub(super) fn staying(&self) -> Staying {
        let mut gone = 0.0;
        let rates = self.rates();
        let hazards = (0..AGES).map(|age| {
            let before = gone;
            gone += rates.at(age) * AGE.as_secs() as f64 / EVERY.as_secs() as f64;
            before
        });
        Staying {
            hazard: hazards.collect(),
        }
    }

    /// For each age the share that leaves between two looks; none where that is not known.
    fn rates(&self) -> Rates {
        let known = |age: &Age| age.at_risk >= ENOUGH;
        let share = |left: i64, of: i64| (left as f64 / of.max(1) as f64).clamp(0.0, 0.5);
        // Nobody has waited for longer yet; they go on as those who have waited the longest.
        let oldest = self.ages.iter().rev().filter(|age| known(age)).take(OLDEST);
        let (left, of) = oldest.fold((0, 0), |(left, of), age| {
            (left + age.left, of + age.at_risk)
        });
        Rates {
            of: self
                .ages
                .iter()
                .map(|age| known(age).then(|| share(age.left, age.at_risk)))
                .collect(),
            later: share(left, of),
        }
    }

    fn count(&self, waiters: &Waiters) -> Vec<u32> {
        let (base, end) = waiters.range();
        let firsts = self.cohorts.iter().map(|cohort| cohort.first.max(base));
        let before = waiters.before_each(firsts.chain([end]));
        let pairs = before.iter().zip(before.iter().skip(1));
        pairs.map(|(from, to)| to - from).collect()
    }
}

/// The shares that leave between two looks.
struct Rates {
    of: Vec<Option<f64>>,
    later: f64,
}

impl Rates {
    fn at(&self, age: usize) -> f64 {
        let known = self.of.get(age).copied().flatten();
        known.unwrap_or(self.later)
    }
}

fn age(joined: Instant, now: Instant) -> usize {
    let age = now.since(joined).as_millis() / AGE.as_millis();
    usize::try_from(age).unwrap_or(AGES).min(AGES - 1)
}

/// Who is still there after how long.
#[derive(Clone, Debug)]
pub(super) struct Staying {
    /// The hazard that has summed up by the beginning of each class of ages.
    hazard: Vec<f64>,
}

impl Staying {
    /// Of those who have waited for `waited`, the share that does for `more`.
    pub(super) fn share(&self, waited: Span, more: f64) -> f64 {
        let waited = waited.as_millis() as f64 / 1_000.0;
        (self.at(waited) - self.at(waited + more)).exp()
    }

    fn at(&self, seconds: f64) -> f64 {
        let class = seconds / AGE.as_secs() as f64;
        let index = (class as usize).min(AGES - 2);
        let (Some(low), Some(high)) = (self.hazard.get(index), self.hazard.get(index + 1)) else {
            return 0.0;
        };
        low + (high - low) * (class - index as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::room::place::Place;

    const ABSENT_AFTER: Span = Span::from_secs(75);

    /// A line that one joins each second; everybody polls until they leave, as `stays` has it for a place
    /// and seconds since it joined.
    fn line(seconds: u64, stays: impl Fn(u64, u64, u64) -> bool) -> (Patience, Waiters, Instant) {
        let mut waiters = Waiters::new(1, 0, Instant::from_secs(0));
        let mut patience = Patience::default();
        for second in 0..=seconds {
            let now = Instant::from_secs(second);
            waiters.join(now);
            if second % 10 == 0 {
                for place in 1..=second {
                    if stays(place, second - place, second) {
                        waiters.polled(Place::new(place), now);
                    }
                }
                waiters.draw(now, ABSENT_AFTER);
            }
            patience.look(&waiters, now);
        }
        (patience, waiters, Instant::from_secs(seconds))
    }

    #[test]
    fn who_leaves_early_is_told_from_who_stays() {
        // Every second visitor is gone after five minutes.
        let (patience, waiters, now) = line(2_000, |place, age, _| place % 2 == 0 || age < 300);
        let staying = patience.staying();
        let early = staying.share(Span::from_secs(60), 600.0);
        assert!((early - 0.5).abs() < 0.08, "{early}");
        let late = staying.share(Span::from_secs(500), 600.0);
        assert!(late > 0.99, "{late}");
        let groups = patience.groups(&waiters, now);
        let live: u32 = groups.iter().map(|group| group.live).sum();
        assert!(live.abs_diff(waiters.present()) <= 11, "{live}");
        assert!(groups.is_sorted_by(|earlier, later| earlier.waited >= later.waited));
        assert_eq!(patience.missing(), 0);
    }

    #[test]
    fn who_is_cut_off_is_missing_until_they_are_back_or_their_places_are_not_kept() {
        let cut_off =
            |place: u64, second: u64| place.is_multiple_of(4) && (1_000..1_200).contains(&second);
        let stays = |place, _, second| !cut_off(place, second);
        let missing = |seconds| line(seconds, stays).0.missing();
        assert_eq!(missing(1_050), 0);
        assert!(missing(1_100).abs_diff(250) < 30, "{}", missing(1_100));
        assert!(missing(1_230) < 10, "{}", missing(1_230));
        let never_back = |place: u64, _, second| !(place.is_multiple_of(4) && second >= 1_000);
        assert!(line(1_100, never_back).0.missing() > 200);
        assert_eq!(line(1_350, never_back).0.missing(), 0);
    }
}
