//! The draws that still count: durable, so that who was drawn stays drawn.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use crate::room::lottery::{Epoch, MOST_EPOCHS};
use crate::room::number::TicketNumber;

/// The last epochs in which a number may have been drawn that was not called otherwise.
///
/// Kept by count and not by time: while nobody is drawn, nobody's luck is forgotten. A number that
/// does not come before [`MOST_EPOCHS`] more draws is back among those who wait.
#[derive(Clone, Debug, Default, Deserialize, Eq, Hash, PartialEq, Serialize)]
#[serde(transparent)]
pub(super) struct Epochs {
    epochs: VecDeque<Epoch>,
}

impl Epochs {
    /// Adds a draw.
    pub(super) fn push(&mut self, epoch: Epoch) {
        if self.epochs.len() >= MOST_EPOCHS {
            self.epochs.pop_front();
        }
        self.epochs.push_back(epoch);
    }

    /// The index of the latest draw.
    pub(super) fn latest(&self) -> Option<u64> {
        self.epochs.back().map(|epoch| epoch.index)
    }

    /// The latest draw that has drawn `number`.
    pub(super) fn drew(&self, number: TicketNumber) -> Option<u64> {
        let drew = self.epochs.iter().rev().find(|epoch| epoch.draws(number));
        drew.map(|epoch| epoch.index)
    }

    /// Forgets the draws in which only numbers up to `called` took part: they may all come anyway.
    pub(super) fn forget_up_to(&mut self, called: u64) {
        self.epochs.retain(|epoch| epoch.up_to > called);
    }

    /// The draws in their order.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Epoch> {
        self.epochs.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::room::lottery::Probability;
    use crate::room::seed::Seed;

    #[test]
    fn the_last_draws_are_kept_until_everybody_in_them_is_called() {
        let seed = Seed::new([7; 32]);
        let mut epochs = Epochs::default();
        for index in 0..40 {
            epochs.push(Epoch::new(&seed, index, Probability::new(1.0), 10 + index));
        }
        let drew = |epochs: &Epochs, value| epochs.drew(TicketNumber::new(value).unwrap());
        assert_eq!(epochs.iter().count(), MOST_EPOCHS);
        assert_eq!(epochs.latest(), Some(39));
        assert_eq!(drew(&epochs, 49), Some(39));
        assert_eq!(drew(&epochs, 50), None);
        epochs.forget_up_to(48);
        assert_eq!(epochs.iter().count(), 1);
        epochs.forget_up_to(49);
        assert_eq!(epochs.iter().count(), 0);
    }
}
