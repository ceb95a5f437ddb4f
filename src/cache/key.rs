//! Where an answer lies in the data centre's cache (RFC 9111 sections 2 and 4.1).
//!
//! The key is a digest of the URL as the visitor's request has it, byte for byte, scheme and host included:
//! nothing of a request but its URL and what `Vary` names can lead to an answer, or put one into its place.
//!
//! Where answers vary, the place of the URL holds [`Variants`]: the names of the fields that select, and a
//! generation. The variants lie at digests of these and the request's values. What takes the place away,
//! a later answer or an invalidation, takes all variants with it: new ones have another generation.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::asked::Asked;
use super::entry::Entry;

/// No host is called so, and only the Worker opens the cache: no visitor can read an entry by its URL.
const PLACE: &str = "https://anteroom.invalid/answers/";

/// What lies in a place.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kept {
    /// An answer, with its body.
    Answer(Box<Entry>),
    /// Where the answers are.
    Variants(Variants),
}

/// Answers of one URL that vary.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Variants {
    /// Of which URL.
    pub url: String,
    /// The names of the fields that select, in lower case, sorted.
    pub names: Vec<String>,
    /// Tells these variants from those that lay here before.
    pub generation: u64,
}

impl Asked<'_> {
    /// The place of the URL.
    pub fn place(&self) -> String {
        place_of(&self.url)
    }

    /// The place of the variant for this request.
    pub fn variant(&self, variants: &Variants) -> String {
        let mut hash = Sha256::new();
        hash.update(&self.url);
        hash.update(variants.generation.to_be_bytes());
        let values = self.selecting(&variants.names);
        for (name, value) in variants.names.iter().zip(values) {
            // No name and no value holds a line feed, so that two lists never look the same.
            hash.update(format!("\n{name}"));
            if let Some(value) = value {
                hash.update(format!(":{value}"));
            }
        }
        place(&hash.finalize())
    }
}

/// The place of a URL.
pub fn place_of(url: &str) -> String {
    place(&Sha256::digest(url))
}

fn place(digest: &[u8]) -> String {
    let digits = digest.iter().map(|byte| format!("{byte:02x}"));
    digits.fold(PLACE.to_owned(), |place, byte| place + &byte)
}

impl Variants {
    /// The variants among which an answer belongs; none if it does not vary. They are those that are
    /// `known` if they vary by the same fields.
    pub fn of(entry: &Entry, known: Option<&Self>, generation: u64) -> Option<Self> {
        let mut names = entry.fields.names("vary");
        names.sort_unstable();
        names.dedup();
        if names.is_empty() {
            return None;
        }
        let is_same = |known: &&Self| known.names == names && known.url == entry.url;
        let generation = known
            .filter(is_same)
            .map_or(generation, |known| known.generation);
        Some(Self {
            url: entry.url.clone(),
            names,
            generation,
        })
    }
}

/// The value of a field in the form in which it is compared: white space around commas does not count, and
/// where a list is one of preferences, neither do case and order among equals (RFC 9111 section 4.1 allows
/// what does not change the meaning).
pub(super) fn selecting(name: &str, value: &str) -> String {
    // A comma may be part of a quoted string.
    if value.contains('"') {
        return value.trim().to_owned();
    }
    let mut members: Vec<String> = value
        .split(',')
        .map(|member| member.trim().to_owned())
        .collect();
    if matches!(name, "accept-language" | "accept-encoding") {
        for member in &mut members {
            *member = member.to_ascii_lowercase().replace([' ', '\t'], "");
        }
        members.sort_unstable();
    }
    members.join(",")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cache::fields::Fields;
    use crate::site::cached_host::CacheSettings;

    #[test]
    fn what_means_the_same_selects_the_same() {
        for (name, one, other, same) in [
            ("foo", "1,2", " 1, 2 ", true),
            ("foo", "1,2", "2,1", false),
            ("foo", "a", "A", false),
            ("foo", "\"a, b\"", "\"a,b\"", false),
            ("accept-language", "en, de", "DE,en", true),
            ("accept-language", "en;q=0.5, de", "de, en ; q=0.5", true),
            ("accept-language", "en;q=0.5, de", "en, de;q=0.5", false),
            ("accept-encoding", "gzip, br", "br,gzip", true),
            ("accept-encoding", "gzip, br", "gzip", false),
        ] {
            assert_eq!(
                selecting(name, one) == selecting(name, other),
                same,
                "{name}: {one} {other}"
            );
        }
    }

    #[test]
    fn no_two_requests_share_a_place_but_by_what_selects() {
        let settings = CacheSettings::default();
        let variants = Variants {
            url: "https://a.test/".into(),
            names: vec!["a".into(), "b".into()],
            generation: 1,
        };
        let place = |fields: Fields, variants: &Variants| {
            Asked::new("GET", "https://a.test/", fields, &settings).variant(variants)
        };
        let all = [
            Fields::default(),
            Fields::from([("a", "")]),
            Fields::from([("b", "")]),
            Fields::from([("a", "1")]),
            Fields::from([("a", "1"), ("b", "")]),
            Fields::from([("a", "1:b"), ("b", "2")]),
            Fields::from([("a", "1"), ("b", "b:2")]),
        ];
        let mut places: Vec<String> = all.iter().map(|f| place(f.clone(), &variants)).collect();
        places.push(place_of("https://a.test/"));
        places.push(place_of("http://a.test/"));
        places.push(place(
            Fields::default(),
            &Variants {
                generation: 2,
                ..variants.clone()
            },
        ));
        let count = places.len();
        places.sort();
        places.dedup();
        assert_eq!(places.len(), count);
        let other = Fields::from([("c", "3"), ("a", "1")]);
        assert_eq!(
            place(other, &variants),
            place(Fields::from([("a", "1")]), &variants)
        );
    }
}
