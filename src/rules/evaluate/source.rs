//! The values of fields.

use std::borrow::Cow;
use std::net::IpAddr;

use super::{Asked, Evaluation, Scalar, length};
use crate::rules::address::address;
use crate::rules::expression::Slots;
use crate::rules::facts::Target;
use crate::rules::field::{Field, Source, Spelling};
use crate::rules::kind::{Kind, Single};
use crate::rules::needs::Need;
use crate::rules::request::{arguments, cookies, extension, languages};

impl<'a> Evaluation<'a> {
    /// What was read of the request: empty if it is absent.
    fn text(&'a self, slot: usize) -> &'a str {
        self.text_if_there(slot).unwrap_or_default()
    }

    fn text_if_there(&'a self, slot: usize) -> Option<&'a str> {
        let (facts, needs) = (self.facts, self.needs);
        let read = match needs.get(slot)? {
            Need::Platform(_) => self.platform.get_or_init(|| facts.platform(needs)),
            _ => self.fields.get_or_init(|| facts.fields(needs)),
        };
        *read.get(slot)?
    }

    fn headers(&'a self) -> &'a [(String, String)] {
        self.headers.get_or_init(|| self.facts.headers())
    }

    fn client(&'a self, slot: usize) -> Option<IpAddr> {
        let read = || address(self.text(slot)).ok();
        *self.address.get_or_init(read)
    }

    /// A field that is one value.
    pub(super) fn field(&'a self, field: &'a Field, slots: Slots) -> Asked<Option<Scalar<'a>>> {
        let [slot, second] = slots;
        let target = self.target;
        let text: Cow<'a, str> = match field.source {
            Source::Address => return Ok(self.client(slot).map(Scalar::Address)),
            Source::Https => return Ok(Some(Scalar::Boolean(target.https))),
            Source::Flag(_, value) => return Ok(Some(Scalar::Boolean(self.text(slot) == value))),
            Source::KnownBot => {
                let known = !self.text(slot).is_empty() || self.text(second) == "true";
                return Ok(Some(Scalar::Boolean(known)));
            }
            Source::Seconds => return Ok(Some(integer(self.facts.now() / 1_000))),
            Source::Milliseconds => return Ok(Some(integer(self.facts.now() % 1_000))),
            Source::Platform(_) if field.kind == Kind::One(Single::Integer) => {
                let number = self.text(slot).parse().unwrap_or(0);
                return Ok(Some(Scalar::Integer(number)));
            }
            Source::Header(_) | Source::Platform(_) | Source::Method => self.text(slot).into(),
            Source::Host if target.host.bytes().any(|byte| byte.is_ascii_uppercase()) => {
                target.host.to_ascii_lowercase().into()
            }
            Source::Host => target.host.into(),
            Source::Path(spelling) => path(target, spelling).into(),
            Source::Uri(spelling) => uri(target, spelling),
            Source::FullUri(spelling) => {
                let scheme = if target.https { "https" } else { "http" };
                let uri = uri(target, spelling);
                format!("{scheme}://{}{uri}", target.authority).into()
            }
            Source::Query => target.query.into(),
            Source::Extension => extension(target.path).into(),
            Source::RayId => {
                // The data centre stands behind it.
                let ray = self.text(slot);
                ray.split_once('-').map_or(ray, |(id, _)| id).into()
            }
            Source::Subdivision => match (self.text(slot), self.text(second)) {
                ("", _) | (_, "") => "".into(),
                (country, region) => format!("{country}-{region}").into(),
            },
            // Arrays and maps.
            _ => return Ok(None),
        };
        if let Cow::Owned(made) = &text {
            self.spend(length(made.len()))?;
        }
        Ok(Some(Scalar::Text(text)))
    }

    /// A field that is an array.
    pub(super) fn list_field(
        &'a self,
        field: &'a Field,
        [slot, _]: Slots,
    ) -> Asked<Option<Vec<Scalar<'a>>>> {
        let query = self.target.query;
        if matches!(field.source, Source::ArgumentNames | Source::ArgumentValues) {
            self.spend(length(query.len()))?;
        }
        Ok(Some(match field.source {
            Source::Languages => texts(languages(self.text(slot))),
            Source::ArgumentNames => texts(arguments(query).map(|(name, _)| name)),
            Source::ArgumentValues => texts(arguments(query).map(|(_, value)| value)),
            Source::HeaderNames => texts(self.headers().iter().map(|(name, _)| name.as_str())),
            Source::HeaderValues => texts(self.headers().iter().map(|(_, value)| value.as_str())),
            _ => return Ok(None),
        }))
    }

    /// What a map has under a key: none if it has not got it.
    pub(super) fn key(
        &'a self,
        field: &'a Field,
        key: &'a str,
        [slot, _]: Slots,
    ) -> Asked<Option<Vec<Scalar<'a>>>> {
        let values = match field.source {
            Source::Headers => texts(self.text_if_there(slot)),
            Source::Cookies => {
                let header = self.text(slot);
                self.spend(length(header.len()))?;
                texts(cookies(header, key))
            }
            Source::Arguments => {
                let query = self.target.query;
                self.spend(length(query.len()))?;
                let named = arguments(query).filter(|(name, _)| *name == key);
                texts(named.map(|(_, value)| value))
            }
            _ => Vec::new(),
        };
        Ok(Some(values).filter(|values| !values.is_empty()))
    }
}

fn path(target: Target<'_>, spelling: Spelling) -> &str {
    match spelling {
        Spelling::Canonical => target.path,
        Spelling::Raw => target.raw_path,
    }
}

fn uri(target: Target<'_>, spelling: Spelling) -> Cow<'_, str> {
    match (path(target, spelling), target.query) {
        (path, "") => path.into(),
        (path, query) => format!("{path}?{query}").into(),
    }
}

fn texts<'a>(texts: impl IntoIterator<Item = &'a str>) -> Vec<Scalar<'a>> {
    let texts = texts.into_iter();
    texts.map(|text| Scalar::Text(text.into())).collect()
}

pub(super) fn integer(number: u64) -> Scalar<'static> {
    Scalar::Integer(i64::try_from(number).unwrap_or(i64::MAX))
}
