//! Timestamps as Cloudflare writes them.

use crate::time::Instant;

const MILLIS_PER_DAY: u64 = 86_400_000;

/// ISO 8601 in UTC with milliseconds: `2020-08-03T23:46:00.000Z`.
pub(crate) fn iso8601(instant: Instant) -> String {
    let millis = instant.as_millis();
    let (year, month, day) = civil(millis / MILLIS_PER_DAY);
    let of_day = millis % MILLIS_PER_DAY;
    let (hour, minute) = (of_day / 3_600_000, of_day / 60_000 % 60);
    let (second, milli) = (of_day / 1000 % 60, of_day % 1000);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{milli:03}Z")
}

/// The Gregorian date of a day, counted from 1970-01-01. Years are counted from March 1st of the year
/// 0, so that the leap day is the last of its year, and in eras of 400 years, which are all alike.
fn civil(day: u64) -> (u64, u64, u64) {
    let from_year_0 = day + 719_468;
    let (era, of_era) = (from_year_0 / 146_097, from_year_0 % 146_097);
    let leap_days = of_era / 1_460 - of_era / 36_524 + of_era / 146_096;
    let year_of_era = (of_era - leap_days) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let (month, next_year) = if month < 10 {
        (month + 3, 0)
    } else {
        (month - 9, 1)
    };
    (era * 400 + year_of_era + next_year, month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instants_are_written() {
        for (millis, expected) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (951_782_400_000, "2000-02-29T00:00:00.000Z"),
            (1_596_498_360_000, "2020-08-03T23:46:00.000Z"),
            (1_709_251_199_999, "2024-02-29T23:59:59.999Z"),
            (1_709_251_200_000, "2024-03-01T00:00:00.000Z"),
            (4_107_542_399_007, "2100-02-28T23:59:59.007Z"),
            (4_107_542_400_000, "2100-03-01T00:00:00.000Z"),
        ] {
            assert_eq!(iso8601(Instant::from_millis(millis)), expected);
        }
    }

    #[test]
    fn days_follow_each_other() {
        let mut before = civil(0);
        for day in 1..400 * 366 {
            let date = civil(day);
            let (year, month, of_month) = date;
            let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
            let length = match before.1 {
                2 => 28 + u64::from(leap),
                4 | 6 | 9 | 11 => 30,
                _ => 31,
            };
            let expected = match before {
                (y, 12, 31) => (y + 1, 1, 1),
                (y, m, d) if d == length => (y, m + 1, 1),
                (y, m, d) => (y, m, d + 1),
            };
            assert_eq!((year, month, of_month), expected);
            before = date;
        }
    }
}
