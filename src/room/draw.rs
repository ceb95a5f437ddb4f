//! The lot that orders the visitors of a pre-queue: a keyed permutation, computed on read.
//!
//! Nothing is stored but a key and how many take part. `docs/events.md` says the same in words, and
//! `examples/verify_draw.py` does it in another language, so a change here needs a change there, and
//! must never happen while a draw is in force.
//!
//! The numbers 0 to `size - 1` are laid out in a grid of `rows` times `columns`, as square as it
//! gets: `rows` is the square root of `size`, rounded up, and `columns` is `size / rows`, rounded
//! up. Then rounds alternate: an even one moves each number within its column, an odd one within its
//! row, by a step that the key decides for each column or row: a Feistel network with addition
//! instead of exclusive or (Black and Rogaway, "Ciphers with Arbitrary Finite Domains", 2002,
//! section 5). The step of a round is the first eight bytes, as a big-endian number, of SHA-256 over
//! the key, the round as a byte, and the number of the column or row as eight bytes: one block of
//! the hash. A result outside of the size, of which there are fewer than `rows`, goes through the
//! network again (cycle walking, section 4 there), which keeps it a bijection.
//!
//! Two rounds make each place equally likely for each number; the others make the places of several
//! numbers independent. With [`ROUNDS`] rounds no test here tells small sizes, where it is hardest,
//! from fair shuffles; with six it does.

use std::fmt;

use serde::{Deserialize, Serialize};
use sha2::block_api::compress256;
use sha2::{Digest, Sha256};

/// The rounds of the network.
pub const ROUNDS: u8 = 16;

/// The most that can take part in one draw: 2^40.
pub const MOST: u64 = 1 << 40;

/// The bytes of a key, and of what is hashed for a step: a key, a round and a line.
const KEY: usize = 32;
const MESSAGE: usize = KEY + 1 + 8;

/// The state of SHA-256 before the first block (FIPS 180-4, section 5.3.3).
const INITIAL_STATE: [u32; 8] = [
    0x6a09_e667,
    0xbb67_ae85,
    0x3c6e_f372,
    0xa54f_f53a,
    0x510e_527f,
    0x9b05_688c,
    0x1f83_d9ab,
    0x5be0_cd19,
];

/// The key of a draw, which is secret until the draw is held.
#[derive(Clone, Copy, Eq, Hash, PartialEq)]
pub struct DrawKey([u8; 32]);

/// What is published of the key before the draw: its SHA-256.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct Commitment([u8; 32]);

impl DrawKey {
    /// The key of these bits.
    pub const fn new(bits: [u8; 32]) -> Self {
        Self(bits)
    }

    /// What is published before the draw.
    pub fn commitment(&self) -> Commitment {
        Commitment(Sha256::digest(self.0).into())
    }
}

/// Says nothing: before the draw a key must not get into a log.
impl fmt::Debug for DrawKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("DrawKey(..)")
    }
}

/// A draw of so many: which place each of them gets, counted from 0.
#[derive(Clone, Copy, Debug)]
pub struct Permutation {
    /// What is hashed for a step, but for the round and the line: the key, and the padding of SHA-256
    /// for a message of [`MESSAGE`] bytes (FIPS 180-4, section 5.1.1).
    block: [u8; 64],
    size: u64,
    rows: u64,
    columns: u64,
}

impl Permutation {
    /// The draw of `size`, [`MOST`] at most, under a key.
    pub fn new(key: &DrawKey, size: u64) -> Self {
        let floor = size.isqrt();
        let rows = if floor * floor < size {
            floor + 1
        } else {
            floor.max(1)
        };
        let message = key.0.into_iter().chain([0; MESSAGE - KEY]);
        let padding = [0x80].into_iter().chain([0; 64 - MESSAGE - 9]);
        let length = (8 * MESSAGE as u64).to_be_bytes();
        let mut block = [0; 64];
        for (to, byte) in block.iter_mut().zip(message.chain(padding).chain(length)) {
            *to = byte;
        }
        Self {
            block,
            size,
            rows,
            columns: size.div_ceil(rows).max(1),
        }
    }

    /// The place of a number. What does not take part stays where it is.
    pub fn place(&self, number: u64) -> u64 {
        self.walk(number, |at| {
            self.forth(at, |round, line| self.step(round, line))
        })
    }

    /// The number that has a place: the inverse.
    pub fn number(&self, place: u64) -> u64 {
        self.walk(place, |at| {
            self.back(at, |round, line| self.step(round, line))
        })
    }

    /// The places of all numbers, in their order. This hashes for each row and column once, not for
    /// each number, so a million take milliseconds.
    pub fn places(&self) -> impl Iterator<Item = u64> {
        let steps: Vec<Vec<u64>> = (0..ROUNDS)
            .map(|round| {
                let lines = if round.is_multiple_of(2) {
                    self.columns
                } else {
                    self.rows
                };
                (0..lines).map(|line| self.step(round, line)).collect()
            })
            .collect();
        let network = *self;
        let step = move |round: u8, line: u64| -> u64 {
            let line = usize::try_from(line).unwrap_or(usize::MAX);
            let steps = steps.get(usize::from(round));
            steps
                .and_then(|steps| steps.get(line))
                .copied()
                .unwrap_or(0)
        };
        (0..network.size).map(move |number| network.walk(number, |at| network.forth(at, &step)))
    }

    fn walk(&self, from: u64, network: impl Fn(u64) -> u64) -> u64 {
        if from >= self.size {
            return from;
        }
        let mut at = network(from);
        while at >= self.size {
            at = network(at);
        }
        at
    }

    /// By how much a round moves what is in a column or row.
    fn step(&self, round: u8, line: u64) -> u64 {
        let mut block = self.block;
        let rest = [round].into_iter().chain(line.to_be_bytes());
        for (to, byte) in block.iter_mut().skip(KEY).zip(rest) {
            *to = byte;
        }
        let mut state = INITIAL_STATE;
        compress256(&mut state, &[block]);
        let [first, second, ..] = state;
        let length = if round.is_multiple_of(2) {
            self.rows
        } else {
            self.columns
        };
        (u64::from(first) << 32 | u64::from(second)) % length
    }

    fn forth(&self, at: u64, step: impl Fn(u8, u64) -> u64) -> u64 {
        let (mut row, mut column) = (at / self.columns, at % self.columns);
        for round in 0..ROUNDS {
            if round.is_multiple_of(2) {
                row = (row + step(round, column)) % self.rows;
            } else {
                column = (column + step(round, row)) % self.columns;
            }
        }
        row * self.columns + column
    }

    fn back(&self, at: u64, step: impl Fn(u8, u64) -> u64) -> u64 {
        let (mut row, mut column) = (at / self.columns, at % self.columns);
        for round in (0..ROUNDS).rev() {
            if round.is_multiple_of(2) {
                row = (row + self.rows - step(round, column)) % self.rows;
            } else {
                column = (column + self.columns - step(round, row)) % self.columns;
            }
        }
        row * self.columns + column
    }
}

/// 64 hexadecimal digits for people, programs and messages; 32 bytes in the storage.
macro_rules! hexadecimal {
    ($name:ident) => {
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
            }
        }

        impl Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                if serializer.is_human_readable() {
                    serializer.collect_str(self)
                } else {
                    self.0.serialize(serializer)
                }
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                if deserializer.is_human_readable() {
                    let text = std::borrow::Cow::<str>::deserialize(deserializer)?;
                    bytes_of(&text)
                        .map(Self)
                        .ok_or_else(|| serde::de::Error::custom("must be 64 hexadecimal digits"))
                } else {
                    Deserialize::deserialize(deserializer).map(Self)
                }
            }
        }
    };
}

hexadecimal!(DrawKey);
hexadecimal!(Commitment);

fn bytes_of(text: &str) -> Option<[u8; 32]> {
    let digits = text.as_bytes();
    let mut bytes = [0; 32];
    if digits.len() != 2 * bytes.len() {
        return None;
    }
    for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
        for digit in pair {
            let value = char::from(*digit).to_digit(16)?;
            *byte = *byte << 4 | u8::try_from(value).ok()?;
        }
    }
    Some(bytes)
}

#[cfg(test)]
mod tests;
