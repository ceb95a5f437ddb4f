//! The numbers whose turn is over, kept as ranges.
//!
//! Sessions end roughly in the order of their numbers, so the ranges stay few: between two of them
//! lies at least one number that still waits or is active.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::room::number::TicketNumber;

/// A set of numbers, stored as ranges from the first to the last number of each.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(transparent)]
pub(super) struct Spent {
    ranges: BTreeMap<u64, u64>,
}

impl Spent {
    /// Whether `number` is spent.
    pub(super) fn contains(&self, number: TicketNumber) -> bool {
        let number = number.get();
        self.ranges
            .range(..=number)
            .next_back()
            .is_some_and(|(_, &last)| number <= last)
    }

    /// Adds `number`, joining it with the ranges beside it.
    pub(super) fn insert(&mut self, number: TicketNumber) {
        if self.contains(number) {
            return;
        }
        let number = number.get();
        let last = self.ranges.remove(&(number + 1)).unwrap_or(number);
        match self.ranges.range_mut(..number).next_back() {
            Some((_, end)) if *end + 1 == number => *end = last,
            _ => {
                self.ranges.insert(number, last);
            }
        }
    }

    /// Forgets every number up to `floor`: what is told otherwise need not be kept.
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
                spent.insert(TicketNumber::new(number).unwrap());
                plain.insert(number);
            }
            spent.forget_up_to(floor);
            plain.retain(|number| *number > floor);
            for number in 1..61 {
                let same = spent.contains(TicketNumber::new(number).unwrap());
                prop_assert_eq!(same, plain.contains(&number));
            }
            let gaps = plain.iter().filter(|number| !plain.contains(&(*number + 1))).count();
            prop_assert_eq!(spent.ranges.len(), gaps);
        }
    }
}
