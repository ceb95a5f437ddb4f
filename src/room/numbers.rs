//! Sets of ticket numbers as they travel between edges and rooms: thousands in a few kilobytes.
//!
//! A report says exactly who has polled. Its numbers are sorted and written as runs: for each run
//! the gap to the one before, doubled, and one more if the run is longer than a single number, in
//! which case its length less two follows. Each value is a little-endian base-128 integer as in
//! LEB128 (seven bits a byte, the high bit set on all but the last); the bytes are base64url without
//! padding (RFC 4648 section 5). Ten thousand numbers out of a million take 14 KB, and numbers that
//! follow one another almost nothing.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::{Deserialize, Serialize};

use super::number::TicketNumber;

/// A text that stands for more numbers than this is refused, so that a short one cannot keep a room
/// busy for long.
const MOST: u64 = 1 << 20;

/// A set of ticket numbers.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(into = "String", try_from = "String")]
pub struct Numbers {
    /// Not adjacent, in rising order.
    runs: Vec<Run>,
}

/// `length` numbers from `first` on; at least one.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
struct Run {
    first: u64,
    length: u64,
}

/// Why a text is no set of numbers.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum Malformed {
    /// It is not base64url, or ends within a value.
    #[error("the numbers are cut short or not base64url")]
    Encoding,
    /// A number lies outside 1 to 2^53 - 1.
    #[error("a number lies outside 1 to 2^53 - 1")]
    OutOfRange,
    /// They are more than 1,048,576.
    #[error("more than {MOST} numbers")]
    TooMany,
}

impl Numbers {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    /// How many there are.
    pub fn len(&self) -> u64 {
        self.runs.iter().map(|run| run.length).sum()
    }

    /// The numbers in rising order.
    pub fn iter(&self) -> impl Iterator<Item = TicketNumber> + '_ {
        let each = |run: &Run| run.first..run.first.saturating_add(run.length);
        self.runs
            .iter()
            .flat_map(each)
            .filter_map(TicketNumber::new)
    }

    fn push(&mut self, number: u64) {
        match self.runs.last_mut() {
            Some(run) if number < run.first + run.length => {}
            Some(run) if number == run.first + run.length => run.length += 1,
            _ => self.runs.push(Run {
                first: number,
                length: 1,
            }),
        }
    }
}

impl FromIterator<TicketNumber> for Numbers {
    /// The set of the numbers, which may come in any order and more than once.
    fn from_iter<I: IntoIterator<Item = TicketNumber>>(numbers: I) -> Self {
        let mut sorted: Vec<u64> = numbers.into_iter().map(TicketNumber::get).collect();
        sorted.sort_unstable();
        let mut set = Self::default();
        for number in sorted {
            set.push(number);
        }
        set
    }
}

impl From<Numbers> for String {
    fn from(numbers: Numbers) -> Self {
        let mut bytes = Vec::with_capacity(numbers.runs.len() * 3);
        let mut end = 0;
        for run in &numbers.runs {
            let is_longer = u64::from(run.length > 1);
            write_integer(&mut bytes, (run.first - end) << 1 | is_longer);
            if run.length > 1 {
                write_integer(&mut bytes, run.length - 2);
            }
            end = run.first + run.length;
        }
        URL_SAFE_NO_PAD.encode(bytes)
    }
}

impl TryFrom<String> for Numbers {
    type Error = Malformed;

    fn try_from(text: String) -> Result<Self, Malformed> {
        let bytes = URL_SAFE_NO_PAD
            .decode(text)
            .map_err(|_| Malformed::Encoding)?;
        let mut rest = bytes.as_slice();
        let mut numbers = Self::default();
        let (mut end, mut total) = (0_u64, 0_u64);
        while !rest.is_empty() {
            let head = read_integer(&mut rest).ok_or(Malformed::Encoding)?;
            let length = if head & 1 == 1 {
                let more = read_integer(&mut rest).ok_or(Malformed::Encoding)?;
                more.saturating_add(2)
            } else {
                1
            };
            total = total.saturating_add(length);
            if total > MOST {
                return Err(Malformed::TooMany);
            }
            let first = end + (head >> 1);
            end = first + length;
            if first == 0 || end - 1 > TicketNumber::MAX.get() {
                return Err(Malformed::OutOfRange);
            }
            numbers.runs.push(Run { first, length });
        }
        Ok(numbers)
    }
}

fn write_integer(bytes: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
}

/// The next value; none if the bytes end within it or it has more than 63 bits.
fn read_integer(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for shift in (0..63).step_by(7) {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        value |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Some(value);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn set(values: impl IntoIterator<Item = u64>) -> Numbers {
        values.into_iter().filter_map(TicketNumber::new).collect()
    }

    fn read(text: &str) -> Result<Numbers, Malformed> {
        Numbers::try_from(text.to_owned())
    }

    #[test]
    fn the_text_is_this() {
        // 5, then 7 to 9, then 300: 5 << 1; (7 - 6) << 1 | 1, 3 - 2; (300 - 10) << 1 in two bytes.
        let text = URL_SAFE_NO_PAD.encode([10, 3, 1, 0b1100_0100, 4]);
        assert_eq!(String::from(set([300, 7, 5, 8, 9, 7])), text);
        assert_eq!(read(&text), Ok(set([5, 7, 8, 9, 300])));
        assert_eq!(read(""), Ok(Numbers::default()));
    }

    #[test]
    fn a_text_that_means_nothing_or_too_much_is_refused() {
        let text = |bytes: &[u8]| URL_SAFE_NO_PAD.encode(bytes);
        assert_eq!(read("?"), Err(Malformed::Encoding));
        assert_eq!(read(&text(&[0x80])), Err(Malformed::Encoding));
        assert_eq!(read(&text(&[3])), Err(Malformed::Encoding));
        assert_eq!(read(&text(&[0x80; 12])), Err(Malformed::Encoding));
        assert_eq!(read(&text(&[0])), Err(Malformed::OutOfRange));
        let huge = [0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f];
        assert_eq!(read(&text(&huge)), Err(Malformed::OutOfRange));
        let long = [3, 0xff, 0xff, 0xff, 0x7f];
        assert_eq!(read(&text(&long)), Err(Malformed::TooMany));
    }

    #[test]
    fn a_report_of_thousands_is_a_few_kilobytes() {
        // One in 6,000 of ten million, as one of 300 places hears in a second.
        let sparse = String::from(set((1..1_700).map(|n| n * 6_000 - n * n % 5_000)));
        assert!(sparse.len() < 5_500, "{}", sparse.len());
        let dense = String::from(set(1..=65_536));
        assert!(dense.len() < 10, "{}", dense.len());
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(values in prop::collection::vec(
            prop_oneof![1_u64..100, 1_u64..100_000, Just(TicketNumber::MAX.get()), 1..=TicketNumber::MAX.get()], 0..200,
        )) {
            let numbers = set(values.clone());
            let back = read(&String::from(numbers.clone())).unwrap();
            prop_assert_eq!(&back, &numbers);
            let mut distinct = values;
            distinct.sort_unstable();
            distinct.dedup();
            prop_assert_eq!(back.len(), distinct.len() as u64);
            prop_assert_eq!(back.iter().map(TicketNumber::get).collect::<Vec<_>>(), distinct);
        }

        #[test]
        fn no_text_does_harm(text in "[A-Za-z0-9_-]{0,40}") {
            let _ = read(&text).map(|numbers| numbers.iter().count());
        }
    }
}
