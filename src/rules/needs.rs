//! What a set of expressions has to know of a request.

use super::field::{
    ACCEPT_LANGUAGE, ADDRESS, BOT_CATEGORY, COOKIE, COUNTRY, Field, RAY, REGION_CODE, Source,
    VERIFIED_BOT,
};

/// One thing that the runtime is asked for.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Need {
    /// The value of a header field, several lines of it joined by `, `.
    Header(String),
    /// A property of `request.cf` as text, with the way to it: `tlsClientAuth.certVerified`.
    Platform(&'static str),
    /// The method.
    Method,
}

impl Need {
    /// Whether it is the field with the cookies, which whoever asks may know already.
    pub fn is_cookie(&self) -> bool {
        matches!(self, Self::Header(name) if name.eq_ignore_ascii_case(COOKIE))
    }
}

/// All that the runtime is asked for, each thing once.
#[derive(Clone, Debug, Default)]
pub(super) struct Needs(Vec<Need>);

impl Needs {
    pub(super) fn as_slice(&self) -> &[Need] {
        &self.0
    }

    /// The places of what a field needs; those that it does not need are 0.
    pub(super) fn of(&mut self, field: &Field, key: Option<&str>) -> [usize; 2] {
        let header = |name: &str| Need::Header(name.to_owned());
        let (first, second) = match (field.source, key) {
            (Source::Header(name), _) => (header(name), None),
            (Source::Headers, Some(key)) => (header(key), None),
            (Source::Platform(path) | Source::Flag(path, _), _) => (Need::Platform(path), None),
            (Source::Method, _) => (Need::Method, None),
            (Source::Cookies, _) => (header(COOKIE), None),
            (Source::Languages, _) => (header(ACCEPT_LANGUAGE), None),
            (Source::Address, _) => (header(ADDRESS), None),
            (Source::RayId, _) => (header(RAY), None),
            (Source::Subdivision, _) => {
                (Need::Platform(COUNTRY), Some(Need::Platform(REGION_CODE)))
            }
            (Source::KnownBot, _) => (
                Need::Platform(BOT_CATEGORY),
                Some(Need::Platform(VERIFIED_BOT)),
            ),
            // Of the URL, which is at hand, of all header fields, or of the clock.
            _ => return [0, 0],
        };
        [
            self.slot(first),
            second.map_or(0, |second| self.slot(second)),
        ]
    }

    fn slot(&mut self, need: Need) -> usize {
        let same = |known: &Need| match (known, &need) {
            (Need::Header(known), Need::Header(name)) => known.eq_ignore_ascii_case(name),
            (known, need) => known == need,
        };
        self.0.iter().position(same).unwrap_or_else(|| {
            self.0.push(need);
            self.0.len() - 1
        })
    }
}
