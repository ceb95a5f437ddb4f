//! How an origin is called: by its address, or by its host name.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// The longest name that DNS carries (RFC 1035, as text without the final dot).
const LONGEST_NAME: usize = 253;
/// The longest label of a name (RFC 1035).
const LONGEST_LABEL: usize = 63;

/// An origin's name in the one form in which names are compared and stored: an IP address as RFC 5952
/// writes it, without brackets and with an IPv4 address for what only maps one; or a host name in lower
/// case and punycode, without the final dot.
#[derive(Clone, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(try_from = "String", into = "String")]
pub struct OriginName(String);

/// What is no name of an origin.
#[derive(Clone, Debug, Eq, Error, PartialEq)]
#[error("must be an IP address or a host name alone, in ASCII, not {0:?}")]
pub struct NoOriginName(String);

impl OriginName {
    /// The name of an address.
    pub fn of(address: IpAddr) -> Self {
        Self(address.to_canonical().to_string())
    }

    /// The address, if it is one.
    pub fn address(&self) -> Option<IpAddr> {
        self.0.parse().ok()
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for OriginName {
    type Err = NoOriginName;

    /// Reads an address, in brackets or not, or a host name of any case, with its final dot or not.
    fn from_str(text: &str) -> Result<Self, NoOriginName> {
        let bracketed = text
            .strip_prefix('[')
            .and_then(|rest| rest.strip_suffix(']'));
        if let Ok(address) = bracketed.unwrap_or(text).parse::<IpAddr>() {
            return Ok(Self::of(address));
        }
        let name = text.strip_suffix('.').unwrap_or(text).to_ascii_lowercase();
        if !is_host_name(&name) {
            return Err(NoOriginName(text.chars().take(LONGEST_NAME).collect()));
        }
        Ok(Self(name))
    }
}

/// Whether a text is a host name, in ASCII and without a final dot.
pub fn is_host_name(name: &str) -> bool {
    let is_label = |label: &str| {
        (1..=LONGEST_LABEL).contains(&label.len())
            && label
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    // A last label of digits makes a URL parser read the name as an IPv4 address, and fail.
    let last = name.rsplit('.').next().unwrap_or_default();
    let is_numeric = last.bytes().all(|byte| byte.is_ascii_digit());
    name.len() <= LONGEST_NAME && !is_numeric && name.split('.').all(is_label)
}

impl fmt::Display for OriginName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl TryFrom<String> for OriginName {
    type Error = NoOriginName;

    fn try_from(text: String) -> Result<Self, NoOriginName> {
        text.parse()
    }
}

impl From<OriginName> for String {
    fn from(name: OriginName) -> Self {
        name.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_origin_has_one_name_however_it_is_spelled() {
        for (text, name) in [
            ("192.0.2.1", "192.0.2.1"),
            ("2001:DB8:0:0:0:0:0:1", "2001:db8::1"),
            ("[2001:db8::1]", "2001:db8::1"),
            ("::ffff:192.0.2.1", "192.0.2.1"),
            ("Origin.Example.NET.", "origin.example.net"),
            ("xn--bcher-kva.example", "xn--bcher-kva.example"),
            ("localhost", "localhost"),
        ] {
            let read: OriginName = text.parse().unwrap();
            assert_eq!(read.as_str(), name, "{text}");
            assert_eq!(read, name.parse().unwrap());
        }
        let longest = format!("{0}.{0}.{0}.{1}", "a".repeat(63), "a".repeat(61));
        assert!(longest.parse::<OriginName>().is_ok());
        assert!(format!("{longest}a").parse::<OriginName>().is_err());
    }

    #[test]
    fn what_is_no_name_is_refused() {
        for text in [
            "",
            ".",
            "192.0.2.256",
            "192.0.2.1:80",
            "https://origin.example",
            "origin.example/path",
            "origin..example",
            "-origin.example",
            "*.example",
            "bücher.example",
            "origin example",
            "origin.123",
        ] {
            assert!(text.parse::<OriginName>().is_err(), "{text}");
        }
    }

    #[test]
    fn it_is_stored_as_its_text_and_checked_when_read() {
        let name: OriginName = serde_json::from_str(r#""Origin.Example""#).unwrap();
        assert_eq!(serde_json::to_string(&name).unwrap(), r#""origin.example""#);
        assert!(serde_json::from_str::<OriginName>(r#""a b""#).is_err());
    }
}
