//! Called visitors who have not come to the door yet, and how many of the called do come, and when.
//!
//! An estimate that decides how many more to call. It is rebuilt from the stored calls after a
//! restart; who may come to the door does not depend on it.
//!
//! Of those called at one time fewer are still to be expected with every second: who polls every
//! five seconds and has not come after ten will most likely not come at all. So the room keeps, for
//! every second of [`CLAIM_WINDOW`], how many came so long after their call, and counts an open
//! invitation by its age: the share of those who came later, of those who had not come by then.

use std::collections::{BTreeMap, VecDeque};

use super::CLAIM_WINDOW;
use super::tally::Tally;
use crate::room::place::Place;
use crate::time::{Instant, Span};

/// At most so many visitors are called for one slot.
pub(super) const MOST_CALLS_PER_SLOT: u32 = 4;

/// Ages in whole seconds that are told apart.
const AGES: usize = CLAIM_WINDOW.as_secs() as usize;

/// The weight of one visitor, so that halves of counts are not lost.
const ONE: u32 = 64;

/// When so many visitors have been noted, everything noted counts half.
const MEMORY: u32 = 1024 * ONE;

/// What is assumed in the beginning, as if four visitors had come: most at the rhythm of those whose
/// turn is near, some at that of those whose turn is far, so that the first no-show does not say
/// everything.
const ASSUMED_NEAR: u32 = ONE / 2;
const ASSUMED_FAR: u32 = ONE / 16;

/// A share of one visitor, in 1/65,536.
const UNIT: u64 = 1 << 16;

/// Those who were called at one time.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
struct Cohort {
    called: Instant,
    /// The first of them.
    first: Place,
    /// How many of them have not come.
    open: u32,
}

/// The open invitations.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub(super) struct Invitations {
    open: BTreeMap<Place, Instant>,
    /// The same, to be counted.
    tally: Tally,
    /// The open ones by the time of their call.
    cohorts: VecDeque<Cohort>,
    /// How many came at which age.
    came: [u32; AGES],
    lapsed: u32,
}

impl Default for Invitations {
    fn default() -> Self {
        let mut came = [0; AGES];
        for (age, assumed) in came.iter_mut().enumerate().take(23) {
            *assumed = if age < 6 { ASSUMED_NEAR } else { ASSUMED_FAR };
        }
        Self {
            open: BTreeMap::new(),
            tally: Tally::default(),
            cohorts: VecDeque::new(),
            came,
            lapsed: 0,
        }
    }
}

impl Invitations {
    /// How many are open.
    pub(super) fn open(&self) -> u32 {
        u32::try_from(self.open.len()).unwrap_or(u32::MAX)
    }

    /// `place` is called at `now` and expected to come.
    pub(super) fn invite(&mut self, place: Place, now: Instant) {
        if self.open.insert(place, now).is_some() {
            return;
        }
        self.tally.add(place);
        match self.cohorts.back_mut() {
            Some(cohort) if cohort.called == now => cohort.open = cohort.open.saturating_add(1),
            _ => self.cohorts.push_back(Cohort {
                called: now,
                first: place,
                open: 1,
            }),
        }
    }

    /// `place` has come, or has left the line and is not expected any more.
    pub(super) fn close(&mut self, place: Place, came: bool, now: Instant) {
        let Some(called) = self.open.remove(&place) else {
            return;
        };
        self.tally.remove(place);
        let called_at = |cohort: &Cohort| cohort.called;
        if let Ok(index) = self.cohorts.binary_search_by_key(&called, called_at)
            && let Some(cohort) = self.cohorts.get_mut(index)
        {
            cohort.open = cohort.open.saturating_sub(1);
        }
        if came {
            let age = usize::try_from(now.since(called).as_secs()).unwrap_or(AGES);
            if let Some(count) = self.came.get_mut(age.min(AGES - 1)) {
                *count = count.saturating_add(ONE);
            }
            self.fade();
        }
    }

    /// Closes the invitations that have been open for `CLAIM_WINDOW`.
    pub(super) fn advance(&mut self, now: Instant) {
        // Calls go up in place and in time, so the longest open one comes first.
        while let Some(entry) = self.open.first_entry() {
            if *entry.get() + CLAIM_WINDOW > now {
                break;
            }
            let (place, _) = entry.remove_entry();
            self.tally.remove(place);
            self.lapsed = self.lapsed.saturating_add(ONE);
            self.fade();
        }
        while self
            .cohorts
            .front()
            .is_some_and(|cohort| cohort.called + CLAIM_WINDOW <= now)
        {
            self.cohorts.pop_front();
        }
    }

    /// Makes up for a time of `gap` in which nobody could come.
    pub(super) fn excuse(&mut self, gap: Span) {
        for called in self.open.values_mut() {
            *called = *called + gap;
        }
        for cohort in &mut self.cohorts {
            cohort.called = cohort.called + gap;
        }
    }

    /// How many are to be expected to come, for one who is called at this moment and for all who
    /// were called.
    pub(super) fn expected(&self, now: Instant) -> Expected {
        let tail = self.tail();
        let share = |age: u64| {
            let age = usize::try_from(age).unwrap_or(AGES);
            tail.get(age.min(AGES - 1)).copied().unwrap_or(0)
        };
        let open = self
            .cohorts
            .iter()
            .map(|cohort| u64::from(cohort.open) * share(now.since(cohort.called).as_secs()));
        Expected {
            open: open.sum(),
            each: share(0).max(UNIT / u64::from(MOST_CALLS_PER_SLOT)),
        }
    }

    /// The share of the called that comes within [`CLAIM_WINDOW`]: a quarter at the least.
    pub(super) fn share_that_comes(&self) -> f64 {
        let came: u64 = self.came.iter().map(|count| u64::from(*count)).sum();
        let all = came + u64::from(self.lapsed);
        (came as f64 / all.max(1) as f64).max(1.0 / f64::from(MOST_CALLS_PER_SLOT))
    }

    /// How many were called within the last `span` and have not come.
    pub(super) fn open_since(&self, span: Span, now: Instant) -> u32 {
        let late = self.cohorts.iter().rev();
        late.take_while(|cohort| cohort.called + span > now)
            .fold(0, |sum, cohort| sum.saturating_add(cohort.open))
    }

    /// How many before `place` were called so lately that they may not have heard of it: a slot waits for each of them, so that nobody is overtaken by one who was called
    /// together with them and asked first.
    pub(super) fn fresh_before(&self, place: Place, now: Instant) -> u32 {
        let delay = self.usual_delay();
        // Calls go up in place and in time.
        let over = |cohort: &Cohort| cohort.called + delay <= now;
        let first = self.cohorts.partition_point(over);
        let first = self.cohorts.get(first).map(|cohort| cohort.first);
        match first.filter(|first| *first < place) {
            Some(first) => self
                .tally
                .within(first, place, |from, to| self.open.range(from..to).count()),
            None => 0,
        }
    }

    /// Within what time three in four of those who come have come.
    pub(super) fn usual_delay(&self) -> Span {
        let all: u64 = self.came.iter().map(|count| u64::from(*count)).sum();
        let mut come = 0;
        let within = self.came.iter().position(|count| {
            come += u64::from(*count);
            come * 4 >= all * 3
        });
        Span::from_secs(within.unwrap_or(0) as u64 + 1)
    }

    /// For every age, the share of those who have not come by then that comes all the same.
    fn tail(&self) -> [u64; AGES] {
        let mut tail = [0; AGES];
        let mut later = 0;
        for (share, count) in tail.iter_mut().zip(&self.came).rev() {
            later += u64::from(*count);
            *share = later * UNIT / (later + u64::from(self.lapsed)).max(1);
        }
        tail
    }

    fn fade(&mut self) {
        let noted = self
            .came
            .iter()
            .fold(self.lapsed, |sum, count| sum.saturating_add(*count));
        if noted >= MEMORY {
            for count in self.came.iter_mut().chain([&mut self.lapsed]) {
                *count /= 2;
            }
        }
    }
}

/// How many of the called are expected to come.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Expected {
    open: u64,
    each: u64,
}

impl Expected {
    /// One more is called.
    pub(super) fn one_more(&mut self) {
        self.open += self.each;
    }

    /// Whether those expected make up for `wanted`, and one more would rather be too many.
    pub(super) fn fill(&self, wanted: u32) -> bool {
        self.open + self.each / 2 >= u64::from(wanted) * UNIT
    }

    /// How many of those called are expected to come.
    pub(super) fn coming(&self) -> f64 {
        self.open as f64 / UNIT as f64
    }

    /// The share of the called who come, for tests.
    #[cfg(test)]
    fn share(&self) -> f64 {
        self.each as f64 / UNIT as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_share_of_those_who_come_is_learnt_and_bounded() {
        let mut invitations = Invitations::default();
        let mut now = Instant::from_secs(0);
        assert_eq!(invitations.expected(now).share(), 1.0);
        let mut place = Place::new(1);
        for round in 0..2_000 {
            invitations.invite(place, now);
            if round % 2 == 0 {
                invitations.close(place, true, now + Span::from_secs(3));
            }
            now = now + CLAIM_WINDOW;
            invitations.advance(now);
            place = Place::new(place.get() + 1);
        }
        let share = invitations.expected(now).share();
        assert!((share - 0.5).abs() < 0.02, "{share}");
        for _ in 0..3_000 {
            invitations.invite(place, now);
            now = now + CLAIM_WINDOW;
            invitations.advance(now);
            place = Place::new(place.get() + 1);
        }
        assert_eq!(invitations.expected(now).share(), 0.25);
        assert_eq!(invitations.open(), 0);
    }

    #[test]
    fn those_called_lately_are_counted_as_one_by_one() {
        let at = Instant::from_secs;
        let mut invitations = Invitations::default();
        for place in 1..=1_000 {
            invitations.invite(Place::new(place), at(100 + place / 50));
        }
        for place in (1..=1_000).step_by(7) {
            invitations.close(Place::new(place), place % 2 == 0, at(120));
        }
        invitations.advance(at(132));
        let delay = invitations.usual_delay();
        for now in [at(118), at(121), at(132), at(200)] {
            for place in [1, 127, 128, 129, 500, 900, 1_001] {
                let fresh = invitations.open.range(..Place::new(place));
                let plain = fresh.filter(|(_, called)| **called + delay > now).count();
                let counted = invitations.fresh_before(Place::new(place), now);
                assert_eq!(counted as usize, plain, "{place} at {now:?}");
            }
        }
        for place in 1..=1_000 {
            invitations.close(Place::new(place), true, at(132));
        }
        assert!(invitations.tally.is_empty());
    }

    #[test]
    fn who_has_not_come_in_time_is_less_and_less_expected() {
        let mut invitations = Invitations::default();
        let mut now = Instant::from_secs(0);
        let mut place = Place::new(1);
        for round in 0..3_000_u64 {
            invitations.invite(place, now);
            if round % 2 == 0 {
                invitations.close(place, true, now + Span::from_secs(round % 6));
            }
            now = now + CLAIM_WINDOW;
            invitations.advance(now);
            place = Place::new(place.get() + 1);
        }
        assert!(invitations.usual_delay() <= Span::from_secs(6));
        for _ in 0..100 {
            invitations.invite(place, now);
            place = Place::new(place.get() + 1);
        }
        let expected =
            |age| invitations.expected(now + Span::from_secs(age)).open as f64 / UNIT as f64;
        assert!((expected(0) - 50.0).abs() < 3.0, "{}", expected(0));
        assert!(expected(3) < 40.0, "{}", expected(3));
        assert!(expected(8) < 2.0, "{}", expected(8));
    }
}
