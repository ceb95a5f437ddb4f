//! Which configuration is newer.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// When in the life of the control object a configuration was published. The larger one is the later
/// one, and nobody who knows one ever goes back to a smaller one.
///
/// The smallest, [`Version::EMBEDDED`], is that of the rooms that the Worker was built with.
#[derive(
    Clone, Copy, Debug, Default, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize,
)]
pub struct Version(
    /// The life of the object's storage: when it began, in milliseconds since the Unix epoch. A
    /// storage that was lost and begun anew counts from 1 again and is the later one all the same.
    pub u64,
    /// Publications in that life, the first is 1.
    pub u64,
);

impl Version {
    /// That of the rooms in the Worker itself, before anything was published.
    pub const EMBEDDED: Self = Self(0, 0);

    /// Whether nothing was published.
    pub fn is_embedded(&self) -> bool {
        *self == Self::EMBEDDED
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:x}.{}", self.0, self.1)
    }
}

/// The text is not a version.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("not a version: hexadecimal digits, a dot, decimal digits")]
pub struct NoVersion;

impl FromStr for Version {
    type Err = NoVersion;

    fn from_str(text: &str) -> Result<Self, NoVersion> {
        let (life, number) = text.split_once('.').ok_or(NoVersion)?;
        let life = u64::from_str_radix(life, 16).map_err(|_| NoVersion)?;
        Ok(Self(life, number.parse().map_err(|_| NoVersion)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_later_life_is_later_whatever_it_has_published() {
        assert!(Version(2, 1) > Version(1, 900));
        assert!(Version(2, 2) > Version(2, 1));
        assert!(Version(1, 1) > Version::EMBEDDED);
        assert!(Version::default().is_embedded());
    }

    #[test]
    fn is_read_as_it_is_written() {
        for version in [
            Version::EMBEDDED,
            Version(0x19a, 7),
            Version(u64::MAX, u64::MAX),
        ] {
            assert_eq!(version.to_string().parse(), Ok(version));
        }
        for text in ["", ".", "19a", "19a.", ".7", "19a.-7", "x.7", "1.2.3"] {
            assert_eq!(text.parse::<Version>(), Err(NoVersion), "{text}");
        }
    }
}
