//! Dates of HTTP (RFC 9110 section 5.6.7).

use std::time::{Duration, UNIX_EPOCH};

use crate::time::Instant;

/// Reads a date in any of its three forms; none for what is no date.
pub fn parse(text: &str) -> Option<Instant> {
    let time = httpdate::parse_http_date(text).ok()?;
    let since = time.duration_since(UNIX_EPOCH).ok()?;
    Some(Instant::from_secs(since.as_secs()))
}

/// Writes a date in the form that is to be written.
pub fn write(instant: Instant) -> String {
    httpdate::fmt_http_date(UNIX_EPOCH + Duration::from_secs(instant.as_secs().min(LAST)))
}

/// 9999-12-31T23:59:59Z: the form has four digits for a year.
const LAST: u64 = 253_402_300_799;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_three_forms_are_read_and_one_is_written() {
        let instant = Instant::from_secs(784_111_777);
        for text in [
            "Sun, 06 Nov 1994 08:49:37 GMT",
            "Sunday, 06-Nov-94 08:49:37 GMT",
            "Sun Nov  6 08:49:37 1994",
        ] {
            assert_eq!(parse(text), Some(instant), "{text}");
        }
        assert_eq!(write(instant), "Sun, 06 Nov 1994 08:49:37 GMT");
        write(Instant::from_millis(u64::MAX));
        for text in ["0", "", "Sun, 06 Nov 1994 08:49:37 CET", "tomorrow"] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
