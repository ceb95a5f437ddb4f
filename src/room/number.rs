//! The numbers of a room, each kind a type of its own.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A visitor's number: the room gives 1 to the first arrival and counts on from there.
///
/// At most 2^53 - 1, so that it survives as a JSON number in every client (RFC 8259 section 6).
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(try_from = "u64", into = "u64")]
pub struct TicketNumber(u64);

impl TicketNumber {
    /// The first number that a room gives.
    pub const FIRST: Self = Self(1);
    /// The largest number.
    pub const MAX: Self = Self((1 << 53) - 1);

    /// The number `value`, unless it lies outside 1 to 2^53 - 1.
    pub const fn new(value: u64) -> Option<Self> {
        if value == 0 || value > Self::MAX.0 {
            None
        } else {
            Some(Self(value))
        }
    }

    /// The plain number.
    pub const fn get(self) -> u64 {
        self.0
    }

    /// The number after this one. The largest is followed by itself: a room that gave a thousand
    /// numbers each second would reach it after 285,000 years.
    pub const fn next(self) -> Self {
        if self.0 >= Self::MAX.0 {
            self
        } else {
            Self(self.0 + 1)
        }
    }
}

impl fmt::Display for TicketNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
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

/// What an arrival is told apart by before it has a number: 64 random bits, so that an arrival that
/// is sent twice gets one number.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct TicketId(u64);

impl TicketId {
    /// The id of these 64 bits.
    pub const fn new(bits: u64) -> Self {
        Self(bits)
    }

    /// The 64 bits.
    pub const fn get(self) -> u64 {
        self.0
    }
}

/// Which life of the room's storage a number belongs to. A room whose storage is lost starts a new
/// one, and numbers of the old one mean nothing to it. The value is the instant of the first start
/// in milliseconds, so that a later life has the larger value.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Incarnation(u64);

impl Incarnation {
    /// The incarnation of this value.
    pub const fn new(value: u64) -> Self {
        Self(value)
    }

    /// The plain value.
    pub const fn get(self) -> u64 {
        self.0
    }
}

/// Sixteen hexadecimal digits would lose nothing in JSON, where a number above 2^53 might; the same
/// text stands in tokens and messages.
macro_rules! hexadecimal {
    ($name:ident) => {
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{:x}", self.0)
            }
        }

        impl FromStr for $name {
            type Err = std::num::ParseIntError;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                u64::from_str_radix(text, 16).map(Self)
            }
        }

        impl Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = std::borrow::Cow::<str>::deserialize(deserializer)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }
    };
}

hexadecimal!(TicketId);
hexadecimal!(Incarnation);
