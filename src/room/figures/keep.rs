//! What is kept of the figures: a row for each minute of the last day, and one for each quarter of an
//! hour of the last thirty.
//!
//! Each minute that ends is added to a row of both kinds, so that none is ever computed from many
//! others, and what is too old is deleted. That is two rows read, two written, and whatever has
//! become too old, once a minute.

use super::recorder::Minute;
use super::tally::Tally;
use crate::time::{Instant, Span};

/// A kind of row.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Resolution {
    /// The span of a row.
    pub step: Span,
    /// For how long rows are kept.
    pub kept: Span,
}

/// The kinds of rows, the finest first.
pub const RESOLUTIONS: [Resolution; 2] = [
    Resolution {
        step: Span::from_secs(60),
        kept: Span::from_secs(24 * 3_600),
    },
    Resolution {
        step: Span::from_secs(15 * 60),
        kept: Span::from_secs(30 * 24 * 3_600),
    },
];

impl Resolution {
    /// When the row begins that `at` belongs to.
    pub const fn start(self, at: Instant) -> Instant {
        let step = self.step.as_millis();
        Instant::from_millis(at.as_millis() / step * step)
    }

    /// Rows that began before this are to be deleted at `now`.
    pub fn oldest(self, now: Instant) -> Instant {
        self.start(now - self.kept)
    }

    /// The row that a minute is added to: when it begins, and the bytes to store.
    ///
    /// # Errors
    ///
    /// None that is known; the encoder's own are passed on.
    pub fn add(
        self,
        stored: Option<&[u8]>,
        minute: &Minute,
    ) -> Result<(Instant, Vec<u8>), postcard::Error> {
        // A row that cannot be read is of no use to anybody, and is begun anew.
        let mut tally = stored.and_then(decode).unwrap_or_default();
        tally.follow(&minute.tally);
        Ok((self.start(minute.start), encode(&tally)?))
    }
}

/// The version of stored tallies. A field more in [`Tally`], or in what it is made of, needs another.
const FORMAT: u8 = 1;

/// A tally as it is stored: a byte of version, and the fields in postcard's encoding.
///
/// # Errors
///
/// None that is known; the encoder's own are passed on.
pub fn encode(tally: &Tally) -> Result<Vec<u8>, postcard::Error> {
    postcard::to_extend(tally, vec![FORMAT])
}

/// Reads a stored tally; none if it is damaged or of another version. Figures are worth no failure.
pub fn decode(bytes: &[u8]) -> Option<Tally> {
    let (format, value) = bytes.split_first()?;
    (*format == FORMAT).then(|| postcard::from_bytes(value).ok())?
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::room::figures::counts::Counts;
    use crate::room::figures::histogram::Histogram;
    use crate::room::figures::tally::Level;

    /// `kinds` of durations that fall into buckets of their own, `count` of each.
    fn durations(kinds: u32, count: u32) -> Histogram {
        let mut histogram = Histogram::default();
        for kind in 0..kinds {
            // An eighth more each time: the next bucket at the least.
            let seconds = if kind < 8 {
                f64::from(kind)
            } else {
                8.0 * 1.13_f64.powi(kind as i32 - 8)
            };
            let mut one = Histogram::default();
            one.record(Span::from_millis((seconds * 1_000.0) as u64));
            for _ in 0..count.ilog2() {
                let doubled = one.clone();
                one.merge(&doubled);
            }
            histogram.merge(&one);
        }
        histogram
    }

    fn tally(people: u32, kinds: u32) -> Tally {
        let level = Level {
            last: people,
            highest: people,
            area: u64::from(people) * 60_000,
        };
        Tally {
            watched: Span::from_secs(60),
            active: level,
            queued: level,
            total_active_users: people,
            new_users_per_minute: people,
            granted: people,
            returned: people / 10,
            joined: people,
            gave_up: people / 100,
            left: people / 100,
            revoked: people / 100,
            calls: people,
            edges: Counts {
                passed: people.saturating_mul(30),
                answered: people,
                ..Counts::default()
            },
            waited: durations(kinds, people / kinds),
            foretold: durations(kinds, people / kinds),
            stayed: durations(kinds, people / kinds),
        }
    }

    fn minute(start: u64, tally: Tally) -> Minute {
        Minute {
            start: Instant::from_secs(start),
            tally,
        }
    }

    #[test]
    fn a_row_is_read_as_it_was_written_and_anything_else_is_none() {
        let tally = tally(10_000, 20);
        let bytes = encode(&tally).unwrap();
        assert_eq!(decode(&bytes), Some(tally));
        assert_eq!(decode(&[]), None);
        assert_eq!(decode(&bytes[..bytes.len() - 1]), None);
        let newer = [&[FORMAT + 1], &bytes[1..]].concat();
        assert_eq!(decode(&newer), None);
    }

    #[test]
    fn stored_rows_keep_their_form() {
        let tally = Tally {
            granted: 5,
            waited: durations(2, 2),
            ..Tally::default()
        };
        let bytes = encode(&tally).unwrap();
        let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        let before = "010000000000000000000500000000000000000000000200020102d00f00000000";
        assert_eq!(hex, before);
    }

    #[test]
    fn minutes_add_up_to_a_quarter() {
        let [minutes, quarters] = RESOLUTIONS;
        let first = minute(36_000, tally(100, 2));
        let second = minute(36_060, tally(50, 2));
        let (start, row) = quarters.add(None, &first).unwrap();
        let (again, row) = quarters.add(Some(&row), &second).unwrap();
        assert_eq!((start, again), (first.start, first.start));
        let mut both = first.tally.clone();
        both.follow(&second.tally);
        assert_eq!(decode(&row), Some(both));
        assert_eq!(minutes.add(None, &second).unwrap().0, second.start);
        let (_, anew) = quarters.add(Some(b"damaged"), &second).unwrap();
        assert_eq!(decode(&anew), Some(second.tally));
    }

    #[test]
    fn what_is_too_old_goes() {
        let [minutes, quarters] = RESOLUTIONS;
        let now = Instant::from_secs(10 * 86_400 * 30 + 100);
        assert_eq!(minutes.oldest(now), Instant::from_secs(299 * 86_400 + 60));
        assert_eq!(quarters.oldest(now), Instant::from_secs(270 * 86_400));
    }

    /// The bytes that `docs/numbers.md` gives.
    #[test]
    fn a_room_keeps_less_than_a_megabyte_as_a_rule_and_never_more_than_ten() {
        let rows: u64 = RESOLUTIONS
            .iter()
            .map(|resolution| resolution.kept.as_secs() / resolution.step.as_secs())
            .sum();
        assert_eq!(rows, 4_320);
        let bytes = |people, kinds| encode(&tally(people, kinds)).unwrap().len() as u64 * rows;
        // A thousand admissions a minute, with waits and stays over a factor of ten.
        let busy = bytes(1_000, 27);
        assert!(busy < 1_300_000, "{busy}");
        // Every duration there can be, a million times.
        let worst = bytes(300_000_000, 150);
        assert!(worst < 10_000_000, "{worst}");
    }
}
