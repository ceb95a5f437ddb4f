//! Points in time as an operator writes them.

use serde::{Deserialize, Serialize};
use time::OffsetDateTime;
use time::format_description::well_known::{Iso8601, Rfc3339};

/// A point in time: milliseconds since the Unix epoch, which is how it is packed.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(transparent)]
pub struct Moment(u64);

impl Moment {
    /// The moment so many milliseconds after the Unix epoch.
    pub const fn from_millis(millis: u64) -> Self {
        Self(millis)
    }

    /// Milliseconds since the Unix epoch.
    pub const fn as_millis(self) -> u64 {
        self.0
    }

    /// Writes ISO 8601 in UTC, as far as its years go: to 9999.
    pub fn iso8601(self) -> Option<String> {
        let nanos = i128::from(self.0) * 1_000_000;
        let read = OffsetDateTime::from_unix_timestamp_nanos(nanos).ok()?;
        read.format(&Rfc3339).ok()
    }

    /// Reads ISO 8601 with a date, a time and an offset from UTC: `2027-11-26T09:00:00Z`. None if it
    /// is something else, or before 1970.
    pub fn parse(text: &str) -> Option<Self> {
        let read = OffsetDateTime::parse(text, &Iso8601::PARSING).ok()?;
        let millis = read.unix_timestamp_nanos().checked_div(1_000_000)?;
        u64::try_from(millis).ok().map(Self)
    }
}

#[cfg(test)]
mod tests {
    use super::Moment;

    #[test]
    fn iso_8601_is_read_where_it_names_one_instant() {
        for (text, millis) in [
            ("2020-08-03T23:46:00.000Z", Some(1_596_498_360_000)),
            ("2020-08-03T23:46:00Z", Some(1_596_498_360_000)),
            ("2020-08-04T01:46:00+02:00", Some(1_596_498_360_000)),
            ("20200803T234600Z", Some(1_596_498_360_000)),
            ("2020-08-03T23:46Z", Some(1_596_498_360_000)),
            ("2020-08-03T23:46:00.5Z", Some(1_596_498_360_500)),
            // Without an offset it is another instant in each time zone.
            ("2020-08-03T23:46:00", None),
            ("2020-08-03", None),
            ("2020-13-03T23:46:00Z", None),
            ("1969-12-31T23:59:59Z", None),
            ("tomorrow", None),
            ("", None),
        ] {
            assert_eq!(Moment::parse(text).map(Moment::as_millis), millis, "{text}");
        }
    }
}
