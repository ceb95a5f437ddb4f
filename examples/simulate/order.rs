//! Who was overtaken, by the passes that were given and the questions that were asked.
//!
//! Somebody is overtaken when a later number gets in before them although they asked in time:
//!
//! - They stood at the door, asked again within the hold that `docs/room.md` promises, and in vain:
//!   their slot was not kept. Who finds it kept is in with that question, however many have gone by
//!   between two questions.
//! - They were called, keep to the pace of polls that they were told, and have not come within the
//!   called window; within it whoever comes first is first.
//!
//! All other admissions behind a later number are counted apart.

use std::collections::HashMap;

use anteroom::room::ledger::CLAIM_WINDOW;

/// A place at the door is held for so long after each question.
const HOLD_MS: u32 = 10_000;

/// Called visitors have a window of so long.
const WINDOW_MS: u32 = CLAIM_WINDOW.as_millis() as u32;

/// What a poll may come later than was told and be in time: a tenth is the page's own spread, and the
/// message takes a moment.
const SPREAD: f64 = 1.1;
const ON_THE_WAY_MS: u32 = 1_000;

/// One at the door: from when on a later number should not have got in, and the last question.
#[derive(Clone, Copy, Debug)]
struct Stand {
    since: u32,
    asked: u32,
}

/// The order of admissions from the line.
#[derive(Debug)]
pub(crate) struct Order {
    /// The longest time between two polls of somebody who keeps to the pace.
    in_time_ms: u32,
    /// Which places were called when: the highest, and the time.
    calls: Vec<(u32, u32)>,
    /// The latest admissions, without those that a later one of a higher number follows: times rise,
    /// numbers fall.
    highest: Vec<(u32, u32)>,
    door: HashMap<u32, Stand>,
    admitted: u64,
    overtaken: u64,
    kept: u64,
    slower: u64,
}

/// Of 1,000 admissions from the line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Inversions {
    /// So many visitors were overtaken though they asked in time.
    pub(crate) overtaken: f64,
    /// So many more stood at the door with a slot kept for them when a later number took another: they
    /// came in with their next question, seconds after.
    pub(crate) kept: f64,
    /// So many more were called and came later than a higher number.
    pub(crate) slower: f64,
}

impl Order {
    pub(crate) fn new(poll_far_seconds: u32) -> Self {
        Self {
            in_time_ms: (f64::from(poll_far_seconds) * 1000.0 * SPREAD) as u32 + ON_THE_WAY_MS,
            calls: Vec::new(),
            highest: Vec::new(),
            door: HashMap::new(),
            admitted: 0,
            overtaken: 0,
            kept: 0,
            slower: 0,
        }
    }

    /// Every place up to `serving` has been called by `now`.
    pub(crate) fn called(&mut self, serving: u32, now: u32) {
        if self.calls.last().is_none_or(|(last, _)| *last < serving) {
            self.calls.push((serving, now));
        }
    }

    /// `number`, which has polled last at `last_poll`, asks at the door at `now` in vain.
    pub(crate) fn asked(&mut self, number: u32, last_poll: u32, now: u32) {
        let since = self.since(number, last_poll, now);
        self.door.insert(number, Stand { since, asked: now });
    }

    /// `number` gets in.
    pub(crate) fn admitted(&mut self, number: u32, last_poll: u32, now: u32) {
        self.admitted += 1;
        let until = self.door.get(&number).map_or(now, |stand| stand.asked);
        let since = self.since(number, last_poll, now);
        let stood = self.door.remove(&number);
        if self.highest_within(since, until) > number {
            self.overtaken += 1;
        } else if stood.is_some_and(|stand| self.highest_within(stand.asked, now) > number) {
            self.kept += 1;
        } else if self
            .highest
            .first()
            .is_some_and(|(_, highest)| *highest > number)
        {
            self.slower += 1;
        }
        while self
            .highest
            .last()
            .is_some_and(|(_, other)| *other < number)
        {
            self.highest.pop();
        }
        self.highest.push((now, number));
    }

    /// `number` gives up.
    pub(crate) fn left(&mut self, number: u32) {
        if let Some(stand) = self.door.remove(&number) {
            let in_time = self.highest_within(stand.since, stand.asked);
            self.overtaken += u64::from(in_time > number);
        }
    }

    /// What it comes to.
    pub(crate) fn inversions(&self) -> Inversions {
        let of = |count: u64| 1000.0 * count as f64 / self.admitted.max(1) as f64;
        Inversions {
            overtaken: of(self.overtaken),
            kept: of(self.kept),
            slower: of(self.slower),
        }
    }

    /// From when on a later number should not have got in before `number`.
    fn since(&self, number: u32, last_poll: u32, now: u32) -> u32 {
        match self.door.get(&number) {
            Some(stand) if stand.asked + HOLD_MS > now => stand.since,
            Some(_) => now,
            None if last_poll + self.in_time_ms < now => now,
            None => {
                let call = self.calls.partition_point(|(serving, _)| *serving < number);
                let called = self.calls.get(call).map_or(now, |(_, at)| *at);
                now.min(called + WINDOW_MS)
            }
        }
    }

    /// The highest number that got in after `since` and by `until`.
    fn highest_within(&self, since: u32, until: u32) -> u32 {
        let after = self.highest.partition_point(|(at, _)| *at <= since);
        let within = self.highest.get(after).filter(|(at, _)| *at <= until);
        within.map_or(0, |(_, number)| *number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(order: &Order) -> (f64, f64, f64) {
        let Inversions {
            overtaken,
            kept,
            slower,
        } = order.inversions();
        (overtaken, kept, slower)
    }

    /// 1 to 9 are called at 0 s; 20 s between polls.
    fn order() -> Order {
        let mut order = Order::new(20);
        order.called(9, 0);
        order
    }

    #[test]
    fn who_comes_within_the_window_is_slower_and_not_overtaken() {
        let mut order = order();
        order.admitted(5, 0, 1_000);
        order.admitted(4, 0, 20_000);
        order.admitted(6, 4_000, 21_000);
        assert_eq!(counted(&order), (0.0, 0.0, 1000.0 / 3.0));
    }

    #[test]
    fn who_stands_at_the_door_and_asks_in_vain_is_overtaken() {
        let mut order = order();
        order.asked(4, 0, 1_000);
        order.asked(4, 1_000, 3_000);
        order.admitted(5, 0, 4_000);
        order.asked(4, 3_000, 5_000);
        order.admitted(4, 5_000, 7_000);
        assert_eq!(counted(&order), (500.0, 0.0, 0.0));
        // A slot was kept.
        let mut order = self::order();
        order.asked(4, 0, 1_000);
        order.admitted(5, 0, 2_000);
        order.admitted(4, 1_000, 3_000);
        assert_eq!(counted(&order), (0.0, 500.0, 0.0));
    }

    #[test]
    fn who_stays_away_from_the_door_for_too_long_is_not() {
        let mut order = order();
        order.asked(4, 0, 1_000);
        order.admitted(5, 0, 12_000);
        order.asked(4, 1_000, 13_000);
        order.admitted(4, 13_000, 15_000);
        assert_eq!(counted(&order), (0.0, 0.0, 500.0));
    }

    #[test]
    fn who_was_overtaken_and_gives_up_counts() {
        let mut order = order();
        order.asked(4, 0, 1_000);
        order.admitted(5, 0, 2_000);
        order.asked(4, 1_000, 3_000);
        order.left(4);
        assert_eq!(counted(&order), (1_000.0, 0.0, 0.0));
    }

    #[test]
    fn the_window_ends_for_those_who_poll_in_time() {
        let mut slow = Order::new(60);
        slow.called(9, 0);
        slow.admitted(5, 0, 40_000);
        slow.admitted(4, 0, 50_000);
        assert_eq!(counted(&slow), (500.0, 0.0, 0.0));
        let mut hidden = order();
        hidden.admitted(5, 0, 40_000);
        hidden.admitted(4, 0, 50_000);
        assert_eq!(counted(&hidden), (0.0, 0.0, 500.0));
    }
}
