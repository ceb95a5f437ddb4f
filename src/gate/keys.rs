//! The keys that sign, read from the text of a Worker secret.

use std::fmt;

use base64::Engine;
use base64::alphabet::URL_SAFE;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use super::jws;

/// The shortest secret in bytes: HS256 asks for a key as long as its hash (RFC 7518 section 3.2).
const SHORTEST_SECRET: usize = 32;

/// The longest `kid`, so that the longest token stays under 440 bytes.
const LONGEST_KID: usize = 10;

/// Reads base64url with or without padding.
const SECRET_TEXT: GeneralPurpose = GeneralPurpose::new(
    &URL_SAFE,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// The keys of one purpose, at least one. The first signs and all verify, so a key is changed
/// without a visitor noticing: put the new one in front, remove the old one when nothing that it
/// signed is alive.
#[derive(Clone)]
pub struct Keys {
    first: Key,
    others: Vec<Key>,
}

/// One key, ready to sign.
#[derive(Clone)]
pub(super) struct Key {
    kid: String,
    /// The encoded header of everything that this key signs, with the dot that follows it.
    pub(super) header: String,
    /// The MAC's state after `header`: what all signatures of this key have in common is computed
    /// once.
    pub(super) mac: Hmac<Sha256>,
}

impl Keys {
    /// Reads keys from the text of a secret: `kid:secret`, more of them after commas or white
    /// space. A `kid` is 1 to 10 characters of `[A-Za-z0-9_-]`; a secret is 32 bytes or more in
    /// base64 or base64url, padded or not.
    ///
    /// # Errors
    /// What is wrong with which entry. No error repeats any of the text but a well-formed `kid`.
    pub fn parse(text: &str) -> Result<Self, KeyFault> {
        let entries = text.split(|c: char| c == ',' || c.is_whitespace());
        let mut keys = Vec::new();
        for (index, entry) in entries.filter(|entry| !entry.is_empty()).enumerate() {
            let key = Key::parse(index + 1, entry)?;
            if keys.iter().any(|other: &Key| other.kid == key.kid) {
                return Err(KeyFault::Twice { kid: key.kid });
            }
            keys.push(key);
        }
        let mut keys = keys.into_iter();
        let first = keys.next().ok_or(KeyFault::Missing)?;
        Ok(Self {
            first,
            others: keys.collect(),
        })
    }

    /// The ids of the keys, that of the signing one first.
    pub fn ids(&self) -> impl Iterator<Item = &str> {
        self.all().map(|key| key.kid.as_str())
    }

    /// The key that signs.
    pub(super) const fn signing(&self) -> &Key {
        &self.first
    }

    /// Every key, the signing one first.
    pub(super) fn all(&self) -> impl Iterator<Item = &Key> {
        std::iter::once(&self.first).chain(&self.others)
    }
}

impl Key {
    /// Reads the entry that stands at place `entry`, counted from 1.
    fn parse(entry: usize, text: &str) -> Result<Self, KeyFault> {
        let (kid, secret) = text.split_once(':').ok_or(KeyFault::NoColon { entry })?;
        let allowed = |c: u8| c.is_ascii_alphanumeric() || c == b'-' || c == b'_';
        if !(1..=LONGEST_KID).contains(&kid.len()) || !kid.bytes().all(allowed) {
            return Err(KeyFault::Kid { entry });
        }
        let kid = kid.to_owned();
        let secret = secret.replace('+', "-").replace('/', "_");
        let Ok(secret) = SECRET_TEXT.decode(secret) else {
            return Err(KeyFault::NotBase64 { kid });
        };
        if secret.len() < SHORTEST_SECRET {
            return Err(KeyFault::TooShort {
                kid,
                bytes: secret.len(),
            });
        }
        let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(&secret) else {
            return Err(KeyFault::TooShort {
                kid,
                bytes: secret.len(),
            });
        };
        let header = jws::header(&kid);
        mac.update(header.as_bytes());
        Ok(Self { kid, header, mac })
    }
}

/// Shows the ids and never the secrets.
impl fmt::Debug for Keys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list()
            .entries(self.all().map(|key| &key.kid))
            .finish()
    }
}

/// Why a secret's text holds no keys.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum KeyFault {
    /// Nothing but separators.
    #[error("no key: write `kid:secret`, the secret being 32 random bytes in base64")]
    Missing,
    /// An entry without a colon.
    #[error("key {entry}: no colon between the kid and the secret")]
    NoColon {
        /// Which entry, counted from 1.
        entry: usize,
    },
    /// An entry whose `kid` is none.
    #[error("key {entry}: a kid is 1 to {LONGEST_KID} characters of A-Z a-z 0-9 _ -")]
    Kid {
        /// Which entry, counted from 1.
        entry: usize,
    },
    /// The secret is not base64.
    #[error("key `{kid}`: the secret is neither base64 nor base64url")]
    NotBase64 {
        /// The key's id.
        kid: String,
    },
    /// The secret is shorter than 32 bytes.
    #[error("key `{kid}`: the secret has {bytes} bytes and needs {SHORTEST_SECRET} or more")]
    TooShort {
        /// The key's id.
        kid: String,
        /// The length of the secret after decoding.
        bytes: usize,
    },
    /// Two keys of one `kid`.
    #[error("key `{kid}`: stands twice")]
    Twice {
        /// The key's id.
        kid: String,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 32 bytes of 0xfb, whose base64 has `+` and whose base64url has `-`.
    const STANDARD: &str = "+/v7+/v7+/v7+/v7+/v7+/v7+/v7+/v7+/v7+/v7+/s=";
    const URL: &str = "-_v7-_v7-_v7-_v7-_v7-_v7-_v7-_v7-_v7-_v7-_s";

    fn kids(text: &str) -> Vec<String> {
        Keys::parse(text)
            .unwrap()
            .all()
            .map(|key| key.kid.clone())
            .collect()
    }

    #[test]
    fn entries_stand_between_commas_and_white_space() {
        assert_eq!(kids(&format!("2026a:{URL}")), ["2026a"]);
        assert_eq!(
            kids(&format!(" \n b:{URL},\ta:{STANDARD}\r\nc:{URL} ,")),
            ["b", "a", "c"]
        );
    }

    #[test]
    fn both_alphabets_and_both_paddings_name_the_same_secret() {
        let sign = |text: &str| jws::seal(&Keys::parse(text).unwrap(), b"{}");
        let expected = sign(&format!("k:{URL}"));
        assert_eq!(sign(&format!("k:{URL}=")), expected);
        assert_eq!(sign(&format!("k:{STANDARD}")), expected);
        assert_eq!(
            sign(&format!("k:{}", STANDARD.trim_end_matches('='))),
            expected
        );
    }

    #[test]
    fn each_fault_is_named() {
        let fault = |text: &str| Keys::parse(text).unwrap_err();
        assert_eq!(fault(""), KeyFault::Missing);
        assert_eq!(fault(" , \n"), KeyFault::Missing);
        assert_eq!(fault(URL), KeyFault::NoColon { entry: 1 });
        assert_eq!(
            fault(&format!("a:{URL} {URL}")),
            KeyFault::NoColon { entry: 2 }
        );
        assert_eq!(fault(&format!(":{URL}")), KeyFault::Kid { entry: 1 });
        assert_eq!(fault(&format!("ä:{URL}")), KeyFault::Kid { entry: 1 });
        assert_eq!(fault(&format!("a.b:{URL}")), KeyFault::Kid { entry: 1 });
        assert_eq!(
            fault(&format!("12345678901:{URL}")),
            KeyFault::Kid { entry: 1 }
        );
        assert_eq!(fault("a:***"), KeyFault::NotBase64 { kid: "a".into() });
        assert_eq!(
            fault("a:"),
            KeyFault::TooShort {
                kid: "a".into(),
                bytes: 0
            }
        );
        assert_eq!(
            fault(&format!("a:{}", URL.strip_suffix('s').unwrap())),
            KeyFault::NotBase64 { kid: "a".into() },
            "a cut secret has stray bits at its end"
        );
        assert_eq!(
            fault("a:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"),
            KeyFault::TooShort {
                kid: "a".into(),
                bytes: 31
            }
        );
        assert_eq!(
            fault(&format!("a:{URL},a:{URL}")),
            KeyFault::Twice { kid: "a".into() }
        );
    }

    #[test]
    fn nothing_prints_a_secret() {
        let keys = Keys::parse(&format!("a:{URL} b:{STANDARD}")).unwrap();
        assert_eq!(format!("{keys:?}"), r#"["a", "b"]"#);
        for text in [
            URL.to_owned(),
            format!("{URL}:a"),
            format!("a:{URL}!"),
            "a:c2VjcmV0".into(),
        ] {
            let fault = Keys::parse(&text).unwrap_err();
            for said in [fault.to_string(), format!("{fault:?}")] {
                assert!(!said.contains("v7") && !said.contains("c2Vj"), "{said}");
            }
        }
    }
}
