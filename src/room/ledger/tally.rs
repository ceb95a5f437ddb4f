//! How many of something there are at the places of a line, so that those within a stretch of it are
//! counted in a few steps.
//!
//! At the opening of a large room tens of thousands stand at the door, and each of them asks how many
//! come before.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use crate::room::place::Place;

/// A block holds so many places, or blocks of the level below.
const WIDTH: u64 = 32;

/// Levels of blocks: 32, 1,024 and 32,768 places.
const LEVELS: usize = 3;

/// Counts by blocks of places.
#[derive(Clone, Debug, Default, Eq, Hash, PartialEq)]
pub(super) struct Tally {
    levels: [BTreeMap<u64, u32>; LEVELS],
}

impl Tally {
    /// One more is at `place`.
    pub(super) fn add(&mut self, place: Place) {
        let mut block = place.get();
        for level in &mut self.levels {
            block /= WIDTH;
            *level.entry(block).or_default() += 1;
        }
    }

    /// One less is.
    pub(super) fn remove(&mut self, place: Place) {
        let mut block = place.get();
        for level in &mut self.levels {
            block /= WIDTH;
            if let Entry::Occupied(mut count) = level.entry(block) {
                *count.get_mut() -= 1;
                if *count.get() == 0 {
                    count.remove();
                }
            }
        }
    }

    /// How many are from `first` on and before `end`. Those in a stretch of less than a block are
    /// counted `one_by_one`.
    pub(super) fn within(
        &self,
        first: Place,
        end: Place,
        one_by_one: impl Fn(Place, Place) -> usize,
    ) -> u32 {
        let (mut from, mut to) = (first.get(), end.get());
        let mut sum = 0;
        // What stands out of whole blocks on either side is counted by the smaller ones.
        for level in 0..=LEVELS {
            if from >= to {
                break;
            }
            let count = |from: u64, to: u64| match level.checked_sub(1) {
                None => one_by_one(Place::new(from), Place::new(to)),
                Some(level) => self.count(level, from, to),
            };
            if level == LEVELS {
                sum += count(from, to);
                break;
            }
            let up = from.next_multiple_of(WIDTH).min(to);
            let down = (to / WIDTH * WIDTH).max(up);
            sum += count(from, up) + count(down, to);
            (from, to) = (up / WIDTH, down / WIDTH);
        }
        u32::try_from(sum).unwrap_or(u32::MAX)
    }

    /// How many are in the blocks of a level.
    fn count(&self, level: usize, from: u64, to: u64) -> usize {
        let blocks = self.levels.get(level).filter(|_| from < to);
        let counts = blocks.into_iter().flat_map(|blocks| blocks.range(from..to));
        counts.map(|(_, count)| *count as usize).sum()
    }

    /// Whether there are none.
    #[cfg(test)]
    pub(super) fn is_empty(&self) -> bool {
        self.levels.iter().all(BTreeMap::is_empty)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_stretch_is_counted_as_one_by_one(
            places in proptest::collection::btree_set(0..200_000_u64, 0..400),
            ends in proptest::collection::vec((0..200_001_u64, 0..200_001_u64), 1..50),
            near in 0..2_000_u64,
        ) {
            let mut tally = Tally::default();
            places.iter().for_each(|place| tally.add(Place::new(*place)));
            let one_by_one = |set: &BTreeSet<u64>, from: Place, to: Place| {
                if from < to { set.range(from.get()..to.get()).count() } else { 0 }
            };
            let close = ends.iter().map(|(from, _)| (*from, from + near));
            for (from, to) in ends.iter().copied().chain(close) {
                let (from, to) = (Place::new(from), Place::new(to));
                let counted = tally.within(from, to, |from, to| one_by_one(&places, from, to));
                prop_assert_eq!(counted as usize, one_by_one(&places, from, to));
            }
            places.iter().for_each(|place| tally.remove(Place::new(*place)));
            prop_assert!(tally.is_empty());
        }
    }
}
