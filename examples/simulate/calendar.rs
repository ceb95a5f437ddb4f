//! A calendar queue: events by the tick in which they are due, in no order within one.
//!
//! R. Brown, "Calendar queues: a fast O(1) priority queue implementation for the simulation event
//! set problem", CACM 31(10), 1988; with days of one tick, and one year at hand.

use std::collections::BTreeMap;

/// Ticks of a year.
const YEAR: u64 = 4096;

/// Events that lie ahead.
#[derive(Debug)]
pub(crate) struct Calendar<E> {
    today: u64,
    days: Vec<Vec<E>>,
    /// What is due in later years, by year.
    later: BTreeMap<u64, Vec<(u64, E)>>,
}

impl<E> Calendar<E> {
    pub(crate) fn new() -> Self {
        Self {
            today: 0,
            days: (0..YEAR).map(|_| Vec::new()).collect(),
            later: BTreeMap::new(),
        }
    }

    /// Adds an event that is due in `tick`, in the next one if that is over.
    pub(crate) fn add(&mut self, tick: u64, event: E) {
        let tick = tick.max(self.today + 1);
        if tick / YEAR == self.today / YEAR {
            self.days[(tick % YEAR) as usize].push(event);
        } else {
            self.later
                .entry(tick / YEAR)
                .or_default()
                .push((tick, event));
        }
    }

    /// Goes on to the next tick and takes what is due into `due`, which must be empty.
    pub(crate) fn advance(&mut self, due: &mut Vec<E>) {
        self.today += 1;
        if self.today.is_multiple_of(YEAR)
            && let Some(events) = self.later.remove(&(self.today / YEAR))
        {
            for (tick, event) in events {
                self.days[(tick % YEAR) as usize].push(event);
            }
        }
        std::mem::swap(due, &mut self.days[(self.today % YEAR) as usize]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_event_comes_in_its_tick() {
        let mut calendar = Calendar::new();
        for tick in [1, 2, 4095, 4096, 5000, 4096 * 3 + 7] {
            calendar.add(tick, tick);
        }
        let mut came = Vec::new();
        for today in 1..4096 * 4 {
            let mut due = Vec::new();
            calendar.advance(&mut due);
            came.extend(due.into_iter().map(|tick| (today, tick)));
        }
        assert!(came.iter().all(|(today, tick)| today == tick));
        assert_eq!(came.len(), 6);
    }
}
