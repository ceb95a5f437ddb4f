//! What a visitor and a life of the room are called: ticket numbers, ticket ids, incarnations.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A visitor's number in line: 1 to 2^53 - 1, so that JSON readers that know only doubles keep it
/// exact.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(try_from = "u64", into = "u64")]
pub struct TicketNumber(u64);

impl TicketNumber {
    /// The number that a room gives to its first visitor.
    pub const FIRST: Self = Self(1);

    /// The greatest number: 2^53 - 1.
    pub const MAX: Self = Self((1 << 53) - 1);

    /// The ticket number `number`; none when it is 0 or above [`TicketNumber::MAX`].
    pub const fn new(number: u64) -> Option<Self> {
        if number >= Self::FIRST.0 && number <= Self::MAX.0 {
            Some(Self(number))
        } else {
            None
        }
    }

    /// The number as an integer.
    pub const fn get(self) -> u64 {
        self.0
    }

    /// The number that is given after this one. [`TicketNumber::MAX`] repeats itself: a room that
    /// gives a million numbers a second gets there after 285 years.
    pub const fn next(self) -> Self {
        if self.0 < Self::MAX.0 {
            Self(self.0 + 1)
        } else {
            self
        }
    }
}

impl fmt::Display for TicketNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl From<TicketNumber> for u64 {
    fn from(number: TicketNumber) -> Self {
        number.0
    }
}

impl TryFrom<u64> for TicketNumber {
    type Error = NumberOutOfRange;

    fn try_from(number: u64) -> Result<Self, NumberOutOfRange> {
        Self::new(number).ok_or(NumberOutOfRange)
    }
}

/// An integer that is no [`TicketNumber`].
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("a ticket number lies between 1 and 2^53 - 1")]
pub struct NumberOutOfRange;

/// The random id of a ticket that has no number yet: the same id always gets the same number.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(transparent)]
pub struct TicketId(u64);

impl TicketId {
    /// The ticket id of 64 random bits.
    pub const fn new(bits: u64) -> Self {
        Self(bits)
    }

    /// The 64 bits.
    pub const fn get(self) -> u64 {
        self.0
    }
}

/// Which life of a room a number belongs to: a room whose storage began anew has another
/// incarnation, and numbers of the earlier one mean nothing in it.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(transparent)]
pub struct Incarnation(u64);

impl Incarnation {
    /// The incarnation `value`.
    pub const fn new(value: u64) -> Self {
        Self(value)
    }

    /// The incarnation as an integer.
    pub const fn get(self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_to_their_range() {
        assert_eq!(TicketNumber::new(0), None);
        assert_eq!(TicketNumber::new(1), Some(TicketNumber::FIRST));
        assert_eq!(TicketNumber::new((1 << 53) - 1), Some(TicketNumber::MAX));
        assert_eq!(TicketNumber::new(1 << 53), None);
        assert_eq!(TicketNumber::FIRST.next().get(), 2);
        assert_eq!(TicketNumber::MAX.next(), TicketNumber::MAX);
    }

    #[test]
    fn what_is_stored_keeps_to_the_range_too() {
        assert_eq!(serde_json::to_string(&TicketNumber::FIRST).unwrap(), "1");
        assert_eq!(serde_json::from_str::<TicketNumber>("7").unwrap().get(), 7);
        assert!(serde_json::from_str::<TicketNumber>("0").is_err());
        assert!(serde_json::from_str::<TicketNumber>("9007199254740992").is_err());
    }
}
