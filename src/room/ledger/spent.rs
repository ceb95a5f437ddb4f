//! The places whose turn is over, kept as ranges.
//!
//! Sessions end roughly in the order of their places, so the ranges stay few: between two of them
//! lies at least one place that still waits or is active.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::room::place::Place;

/// A set of places, stored as ranges from the first to the last place of each.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(transparent)]
pub(super) struct Spent {
    ranges: BTreeMap<u64, u64>,
}

impl Spent {
    /// Whether `place` is spent.
    pub(super) fn contains(&self, place: Place) -> bool {
        let place = place.get();
        self.ranges
            .range(..=place)
            .next_back()
            .is_some_and(|(_, &last)| place <= last)
    }

    /// Adds `place`, joining it with the ranges beside it.
    pub(super) fn insert(&mut self, place: Place) {
        if self.contains(place) {
            return;
        }
        let place = place.get();
        let last = self.ranges.remove(&(place + 1)).unwrap_or(place);
        match self.ranges.range_mut(..place).next_back() {
            Some((_, end)) if *end + 1 == place => *end = last,
            _ => {
                self.ranges.insert(place, last);
            }
        }
    }

    /// Takes out what lies from `first` to `last`, and tells it.
    pub(super) fn take(&mut self, first: u64, last: u64) -> Vec<u64> {
        let mut behind = self.ranges.split_off(&first);
        let mut taken = Vec::new();
        // One range may begin before, and one may end behind.
        if let Some((_, end)) = self.ranges.range_mut(..first).next_back()
            && *end >= first
        {
            behind.insert(first, std::mem::replace(end, first - 1));
        }
        let mut after = behind.split_off(&(last + 1));
        for (from, to) in behind {
            taken.extend(from..=to.min(last));
            if to > last {
                after.insert(last + 1, to);
            }
        }
        self.ranges.append(&mut after);
        taken
    }

    /// Forgets every place up to `floor`: what is told otherwise need not be kept.
    pub(super) fn forget_up_to(&mut self, floor: u64) {
        let above = self.ranges.split_off(&(floor + 1));
        let straddling = self
            .ranges
            .values()
            .next_back()
            .copied()
            .filter(|last| *last > floor);
        self.ranges = above;
        if let Some(last) = straddling {
            self.ranges.insert(floor + 1, last);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn ranges_hold_the_same_numbers_as_a_plain_set(
            numbers in prop::collection::vec(1_u64..60, 0..80), floor in 0_u64..60,
        ) {
            let mut spent = Spent::default();
            let mut plain = BTreeSet::new();
            for number in numbers {
                spent.insert(Place::new(number));
                plain.insert(number);
            }
            let (from, to) = (floor.max(1), floor + 9);
            let taken = spent.take(from, to);
            prop_assert!(taken.iter().eq(plain.range(from..=to)));
            plain.retain(|number| !(from..=to).contains(number));
            spent.forget_up_to(floor);
            plain.retain(|number| *number > floor);
            for number in 1..61 {
                let same = spent.contains(Place::new(number));
                prop_assert_eq!(same, plain.contains(&number));
            }
            let gaps = plain.iter().filter(|number| !plain.contains(&(*number + 1))).count();
            prop_assert_eq!(spent.ranges.len(), gaps);
        }
    }
}
