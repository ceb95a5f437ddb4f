//! The line: which place a number has in it.
//!
//! A number's place is the number itself, unless it was given in a pre-queue: then a draw decides,
//! among the places of all that were given in it. So whoever waited before the pre-queue stays
//! ahead, and whoever comes later is behind.
//!
//! What speaks of order goes by places, and what names a visitor by number.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::draw::{Commitment, DrawKey, MOST, Permutation};
use super::number::TicketNumber;
use crate::time::Instant;

/// A place in line, from 1. It is counted like numbers: the place of a visitor whom no draw
/// concerns is their number.
#[derive(
    Clone, Copy, Debug, Default, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize,
)]
#[serde(transparent)]
pub struct Place(u64);

impl Place {
    /// The place of this value.
    pub const fn new(value: u64) -> Self {
        Self(value)
    }

    /// The plain value.
    pub const fn get(self) -> u64 {
        self.0
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A draw that was held. It tells everybody all that is needed to work out every place.
#[derive(Clone, Debug, Deserialize, Eq, Hash, PartialEq, Serialize)]
pub struct Draw {
    /// The event's frozen start: what it was when the key was committed to.
    pub start: Instant,
    /// The first number of the pre-queue, and the first place.
    pub first: u64,
    /// How many numbers were given in the pre-queue.
    pub count: u64,
    /// The key, no longer secret.
    pub key: DrawKey,
    /// When the draw was held.
    pub held: Instant,
}

impl Draw {
    /// Whether the draw decides about `number`; about the places of the same values, too.
    pub const fn contains(&self, number: u64) -> bool {
        number >= self.first && number - self.first < self.count
    }

    /// The last number, and the last place.
    pub const fn last(&self) -> u64 {
        self.first + self.count.saturating_sub(1)
    }

    /// The permutation of the numbers and places, both counted from the first.
    pub fn permutation(&self) -> Permutation {
        Permutation::new(&self.key, self.count.min(MOST))
    }
}

/// A draw that is to be held: what is published of it.
#[derive(Clone, Debug, Deserialize, Eq, Hash, PartialEq, Serialize)]
pub struct Announcement {
    /// The event's start when the key was committed to.
    pub start: Instant,
    /// The first number of the pre-queue.
    pub first: u64,
    /// The SHA-256 of the key.
    pub commitment: Commitment,
}

/// The draws in force, in the order of their numbers.
#[derive(Clone, Debug, Default, Deserialize, Eq, Hash, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Draws(Vec<Draw>);

impl Draws {
    /// The place of a number.
    pub fn place_of(&self, number: TicketNumber) -> Place {
        let number = number.get();
        Place(self.of(number).map_or(number, |draw| {
            draw.first + draw.permutation().place(number - draw.first)
        }))
    }

    /// The number that has a place; none for the place before the first.
    pub fn number_at(&self, place: Place) -> Option<TicketNumber> {
        let place = place.get();
        TicketNumber::new(self.of(place).map_or(place, |draw| {
            draw.first + draw.permutation().number(place - draw.first)
        }))
    }

    /// The draw that decides about a number, or the place of the same value.
    pub fn of(&self, number: u64) -> Option<&Draw> {
        self.0.iter().find(|draw| draw.contains(number))
    }

    /// The last one.
    pub fn last(&self) -> Option<&Draw> {
        self.0.last()
    }

    /// Adds a draw of later numbers than those before.
    pub fn push(&mut self, draw: Draw) {
        self.0.push(draw);
    }

    /// Forgets the draws that are not to be kept.
    pub(super) fn retain(&mut self, keep: impl FnMut(&Draw) -> bool) {
        self.0.retain(keep);
    }

    /// Whether there is none.
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
