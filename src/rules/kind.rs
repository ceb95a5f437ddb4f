//! The types of values.

use std::fmt;

/// The type of a single value.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Single {
    /// True or false.
    Boolean,
    /// A whole number, 64 bits with sign.
    Integer,
    /// An IP address.
    Address,
    /// UTF-8 text. Its length is in bytes.
    Text,
}

/// The type of a value.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Kind {
    /// One value.
    One(Single),
    /// An array.
    List(Single),
    /// An array of texts under each key.
    Map,
}

impl fmt::Display for Single {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Boolean => "Boolean",
            Self::Integer => "Integer",
            Self::Address => "IP address",
            Self::Text => "String",
        })
    }
}

/// In the words of Cloudflare's documentation.
impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::One(single) => single.fmt(f),
            Self::List(single) => write!(f, "Array<{single}>"),
            Self::Map => f.write_str("Map<Array<String>>"),
        }
    }
}
