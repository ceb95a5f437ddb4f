//! Called visitors who have not come to the door yet, and how many of the called do come.
//!
//! An estimate that decides how many more to call. It is rebuilt from the stored calls after a
//! restart; who may come to the door does not depend on it.

use std::collections::BTreeMap;

use super::CLAIM_WINDOW;
use crate::room::place::Place;
use crate::time::{Instant, Span};

/// At most so many visitors are called for one free slot.
pub(super) const MOST_CALLS_PER_SLOT: u32 = 4;

/// The weight of the measured past against one more call: the last hundred or so count.
const MEMORY: f64 = 0.99;

/// The open invitations.
#[derive(Clone, Debug, Default)]
pub(super) struct Invitations {
    open: BTreeMap<Place, Instant>,
    came: f64,
    lapsed: f64,
}

impl Invitations {
    /// How many are open.
    pub(super) fn open(&self) -> u32 {
        u32::try_from(self.open.len()).unwrap_or(u32::MAX)
    }

    /// `place` is called at `now` and expected to come.
    pub(super) fn invite(&mut self, place: Place, now: Instant) {
        self.open.insert(place, now);
    }

    /// `place` has come, or has left the line and is not expected any more.
    pub(super) fn close(&mut self, place: Place, came: bool) {
        if self.open.remove(&place).is_some() && came {
            self.note(1.0, 0.0);
        }
    }

    /// Closes the invitations that have been open for `CLAIM_WINDOW`.
    pub(super) fn advance(&mut self, now: Instant) {
        // Calls go up in place and in time, so the longest open one comes first.
        while let Some(entry) = self.open.first_entry() {
            if *entry.get() + CLAIM_WINDOW > now {
                break;
            }
            entry.remove();
            self.note(0.0, 1.0);
        }
    }

    /// Makes up for a time of `gap` in which nobody could come.
    pub(super) fn excuse(&mut self, gap: Span) {
        for called in self.open.values_mut() {
            *called = *called + gap;
        }
    }

    /// The share of the called who come: 0.25 to 1. Starts at 1.
    pub(super) fn share(&self) -> f64 {
        // Two visitors who came are assumed, so that the first no-show does not say everything.
        let share = (self.came + 2.0) / (self.came + self.lapsed + 2.0);
        share.max(1.0 / f64::from(MOST_CALLS_PER_SLOT))
    }

    fn note(&mut self, came: f64, lapsed: f64) {
        self.came = self.came * MEMORY + came;
        self.lapsed = self.lapsed * MEMORY + lapsed;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_share_of_those_who_come_is_learnt_and_bounded() {
        let mut invitations = Invitations::default();
        assert_eq!(invitations.share(), 1.0);
        let mut place = Place::new(1);
        let mut now = Instant::from_secs(0);
        for round in 0..2_000 {
            invitations.invite(place, now);
            if round % 2 == 0 {
                invitations.close(place, true);
            }
            now = now + CLAIM_WINDOW;
            invitations.advance(now);
            place = Place::new(place.get() + 1);
        }
        assert!(
            (invitations.share() - 0.5).abs() < 0.02,
            "{}",
            invitations.share()
        );
        for _ in 0..2_000 {
            invitations.invite(place, now);
            now = now + CLAIM_WINDOW;
            invitations.advance(now);
            place = Place::new(place.get() + 1);
        }
        assert_eq!(invitations.share(), 0.25);
        assert_eq!(invitations.open(), 0);
    }
}
