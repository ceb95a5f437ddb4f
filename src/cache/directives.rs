//! Cache directives: `Cache-Control` (RFC 9111 section 5.2) and the targeted fields before it (RFC 9213).

use sfv::{BareItem, Dictionary, ListEntry, Parser};

use super::fields::{Fields, members};

/// The targeted fields that speak to this cache, the one that counts first. A field that is none, by its
/// syntax, is as if it were not there.
const TARGETED: [&str; 2] = ["cloudflare-cdn-cache-control", "cdn-cache-control"];

/// What a number of seconds greater than this is read as (RFC 9111 section 1.2.2).
const MOST_SECONDS: u64 = 1 << 31;

/// Directives whose value is a number of seconds.
const SECONDS: [&str; 4] = [
    "max-age",
    "s-maxage",
    "stale-while-revalidate",
    "stale-if-error",
];

/// The directives of one field.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Directives {
    /// Names in lower case; values without their quotes.
    list: Vec<(String, Option<String>)>,
    /// Whether they come from a targeted field: then `Expires` does not count either.
    pub targeted: bool,
}

/// A number of seconds, as a directive has it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Seconds {
    /// The directive is not there.
    Absent,
    /// It is there and says no number, or two different ones.
    Invalid,
    /// So many.
    Of(u64),
}

impl Directives {
    /// Those that an answer has for this cache.
    pub fn of_answer(fields: &Fields) -> Self {
        let targeted = TARGETED
            .iter()
            .find_map(|name| targeted(&fields.get(name)?));
        targeted.unwrap_or_else(|| Self::parse(&fields.get("cache-control").unwrap_or_default()))
    }

    /// Those of a request.
    pub fn of_request(fields: &Fields) -> Self {
        let mut directives = Self::parse(&fields.get("cache-control").unwrap_or_default());
        // Pragma counts where there is no Cache-Control (RFC 9111 section 5.4).
        if !fields.has("cache-control") && fields.names("pragma").iter().any(|p| p == "no-cache") {
            directives.list.push(("no-cache".to_owned(), None));
        }
        directives
    }

    /// Reads a `Cache-Control`.
    pub fn parse(text: &str) -> Self {
        let list = members(text).filter_map(|directive| {
            let (name, value) = match directive.split_once('=') {
                Some((name, value)) => (name, Some(unquoted(value))),
                None => (directive, None),
            };
            (!name.is_empty()).then(|| (name.to_ascii_lowercase(), value))
        });
        Self {
            list: list.collect(),
            targeted: false,
        }
    }

    /// Whether a directive is there, with or without a value.
    pub fn has(&self, name: &str) -> bool {
        self.list.iter().any(|(known, _)| known == name)
    }

    /// Whether a directive is there without a value: then it is about the whole answer.
    pub fn has_plain(&self, name: &str) -> bool {
        let mut all = self.list.iter();
        all.any(|(known, value)| known == name && value.is_none())
    }

    /// The header fields that a directive names, in lower case.
    pub fn named_by(&self, name: &str) -> Vec<String> {
        let values = self.list.iter().filter(|(known, _)| known == name);
        let names = values.filter_map(|(_, value)| value.as_deref());
        let names = names.flat_map(|names| names.split(','));
        names.map(|name| name.trim().to_ascii_lowercase()).collect()
    }

    /// The seconds of a directive.
    pub fn seconds(&self, name: &str) -> Seconds {
        let mut found = Seconds::Absent;
        for (_, value) in self.list.iter().filter(|(known, _)| known == name) {
            let read = value.as_deref().and_then(seconds);
            found = match (found, read) {
                (Seconds::Absent, Some(seconds)) => Seconds::Of(seconds),
                (Seconds::Of(before), Some(seconds)) if before == seconds => found,
                _ => Seconds::Invalid,
            };
        }
        found
    }

    /// The same, where what is no number counts as absent.
    pub fn valid_seconds(&self, name: &str) -> Option<u64> {
        match self.seconds(name) {
            Seconds::Of(seconds) => Some(seconds),
            Seconds::Absent | Seconds::Invalid => None,
        }
    }
}

/// A number of seconds as fields have it: digits, and nothing else.
pub fn seconds(text: &str) -> Option<u64> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    // What does not fit is more than the most.
    digits.then(|| text.parse().unwrap_or(MOST_SECONDS).min(MOST_SECONDS))
}

/// A targeted field: a dictionary of structured fields, which a single fault makes void (RFC 9213
/// section 2.1). A member of a type that its directive does not have is left out.
fn targeted(text: &str) -> Option<Directives> {
    let dictionary: Dictionary = Parser::new(text).parse().ok()?;
    if dictionary.is_empty() {
        return None;
    }
    let list = dictionary.iter().filter_map(|(name, entry)| {
        let ListEntry::Item(item) = entry else {
            return None;
        };
        let name = name.as_str();
        let of_seconds = SECONDS.contains(&name);
        let value = match &item.bare_item {
            BareItem::Boolean(true) if !of_seconds => None,
            BareItem::Integer(number) if of_seconds => Some(number.to_string()),
            BareItem::String(text) if !of_seconds => Some(text.as_str().to_owned()),
            BareItem::Token(text) if !of_seconds => Some(text.as_str().to_owned()),
            _ => return None,
        };
        Some((name.to_owned(), value))
    });
    Some(Directives {
        list: list.collect(),
        targeted: true,
    })
}

fn unquoted(value: &str) -> String {
    let inner = value
        .strip_prefix('"')
        .and_then(|rest| rest.strip_suffix('"'));
    inner.map_or_else(|| value.to_owned(), |inner| inner.replace('\\', ""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cache_control_is_read_as_it_is_written() {
        let read = Directives::parse(
            r#"No-Cache="a, B", ext="max-age=9", Max-Age=5,, private, x="a\"b,c", s-maxage = 7"#,
        );
        assert_eq!(read.seconds("max-age"), Seconds::Of(5));
        assert!(read.has("no-cache") && !read.has_plain("no-cache"));
        assert_eq!(read.named_by("no-cache"), ["a", "b"]);
        assert!(read.has_plain("private"));
        assert!(!read.has("s-maxage"), "a space makes it another name");
        assert!(!read.has("c\""));
    }

    #[test]
    fn a_number_is_digits_and_two_of_them_are_none() {
        for (text, expected) in [
            ("max-age=0", Seconds::Of(0)),
            ("max-age=0036", Seconds::Of(36)),
            ("max-age=\"36\"", Seconds::Of(36)),
            ("max-age=99999999999999999999", Seconds::Of(MOST_SECONDS)),
            ("max-age=1, max-age=1", Seconds::Of(1)),
            ("max-age=1, max-age=2", Seconds::Invalid),
            ("max-age=1.0", Seconds::Invalid),
            ("max-age=-1", Seconds::Invalid),
            ("max-age= 1", Seconds::Invalid),
            ("max-age", Seconds::Invalid),
            ("max-ages=1", Seconds::Absent),
        ] {
            assert_eq!(
                Directives::parse(text).seconds("max-age"),
                expected,
                "{text}"
            );
        }
    }

    #[test]
    fn the_most_targeted_field_counts_alone_and_a_broken_one_not_at_all() {
        let read = |cloudflare, cdn| {
            Directives::of_answer(&Fields::from([
                ("Cache-Control", "max-age=1, private"),
                ("CDN-Cache-Control", cdn),
                ("Cloudflare-CDN-Cache-Control", cloudflare),
            ]))
        };
        let max_age = |cloudflare, cdn| read(cloudflare, cdn).seconds("max-age");
        assert_eq!(max_age("max-age=3", "max-age=2"), Seconds::Of(3));
        assert!(!read("max-age=3", "").has("private"));
        for broken in ["", "max-age=3,", "max-age=", "MAX-AGE=3", "max-age=3 x"] {
            assert_eq!(max_age(broken, "max-age=2"), Seconds::Of(2), "{broken}");
            assert_eq!(max_age(broken, broken), Seconds::Of(1), "{broken}");
        }
        assert_eq!(
            max_age("max-age=\"3\"", ""),
            Seconds::Absent,
            "of a wrong type"
        );
        assert_eq!(max_age("max-age=1.5, no-store", ""), Seconds::Absent);
        assert!(read("no-store=?0", "").seconds("max-age") == Seconds::Absent);
        assert!(!read("no-store=?0", "").has("no-store"));
    }
}
