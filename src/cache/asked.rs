//! A request, as far as the cache is concerned: whether it has a say, and whether a stored answer will do.

use super::directives::Directives;
use super::entry::Entry;
use super::fields::Fields;
use super::key::selecting;
use super::purge::Purges;
use crate::site::cached_host::CacheSettings;
use crate::time::{Instant, Span};

/// The assertion of who was admitted ([`crate::gate::header::ASSERTION`]): what an origin makes of it may
/// be for one visitor.
const ASSERTION: &str = "anteroom-assertion";

/// A request to a cached host.
#[derive(Clone, Debug)]
pub struct Asked<'a> {
    /// The method.
    pub method: String,
    /// The absolute URL, without a fragment.
    pub url: String,
    /// The header fields, as the origin would get them.
    pub fields: Fields,
    /// How its path is cached.
    pub settings: &'a CacheSettings,
    directives: Directives,
}

/// Why a request goes by the cache.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum GoesBy {
    /// By its method: only answers to GET are stored.
    Method,
    /// The path is not cached, or origins read it in different ways; or the request has a cookie that the
    /// operator named, is conditional in a way that only the origin can judge, or wants no answer of HTTP.
    Bypass,
}

/// What may be done with a stored answer.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Use {
    /// It is the answer.
    Serve,
    /// It is the answer, and a new one is fetched behind it.
    ServeAndRenew,
    /// Only after it was validated: it is stale.
    Stale,
    /// Only after it was validated: the request wants so.
    Request,
    /// None: it was purged, or is not for this request.
    Miss,
}

impl<'a> Asked<'a> {
    /// A request. The fields' names are in lower case.
    pub fn new(
        method: impl Into<String>,
        url: impl Into<String>,
        fields: Fields,
        settings: &'a CacheSettings,
    ) -> Self {
        let directives = match settings.honor_request_cache_control {
            true => Directives::of_request(&fields),
            false => Directives::default(),
        };
        Self {
            method: method.into(),
            url: url.into(),
            fields,
            settings,
            directives,
        }
    }

    /// The request for a new answer in the place of one that is everybody's already: what this visitor wants of
    /// a cache is no concern of it.
    pub fn for_everybody(&self) -> Self {
        Self {
            method: "GET".to_owned(),
            directives: Directives::default(),
            ..self.clone()
        }
    }

    /// Why the request goes by the cache; none if it does not.
    pub fn goes_by(&self) -> Option<GoesBy> {
        if !matches!(self.method.as_str(), "GET" | "HEAD") {
            return Some(GoesBy::Method);
        }
        let only_for_the_origin = ["if-match", "if-unmodified-since", "upgrade"];
        let is_bypassed = !self.settings.cache
            || only_for_the_origin.iter().any(|name| self.fields.has(name))
            || self.has_bypass_cookie();
        is_bypassed.then_some(GoesBy::Bypass)
    }

    fn has_bypass_cookie(&self) -> bool {
        let names = &self.settings.bypass_cookies;
        if names.is_empty() {
            return false;
        }
        let cookies = self.fields.get("cookie").unwrap_or_default();
        let mut sent = cookies.split([';', ',']).filter_map(|pair| {
            let (name, _) = pair.split_once('=')?;
            Some(name.trim())
        });
        sent.any(|sent| names.iter().any(|name| name == sent))
    }

    /// Whether the request says who sends it, so that an answer may be for this one alone.
    pub fn names_its_sender(&self) -> bool {
        self.fields.has("authorization") || self.fields.has(ASSERTION)
    }

    /// Whether the request wants no answer to it stored.
    pub fn forbids_storing(&self) -> bool {
        self.directives.has("no-store")
    }

    /// Whether the request is for a stored answer or none.
    pub fn only_if_cached(&self) -> bool {
        self.directives.has("only-if-cached")
    }

    /// The part that is wanted, where it is one that a cache can cut out: a single range of bytes.
    pub fn range(&self) -> Option<&str> {
        let range = self
            .fields
            .first("range")
            .filter(|_| self.method == "GET")?;
        let (first, last) = range.strip_prefix("bytes=")?.split_once('-')?;
        let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        let is_one = is_number(first) && is_number(last) && !(first.is_empty() && last.is_empty());
        is_one.then_some(range)
    }

    /// What may be done with a stored answer now (RFC 9111 section 4).
    pub fn judge(&self, entry: &Entry, purges: &Purges, now: Instant) -> Use {
        if entry.url != self.url
            || purges.concern(entry)
            || (self.names_its_sender() && !entry.open)
            || self.directives.has("no-store")
        {
            return Use::Miss;
        }
        if self.wants_newer(entry, now) {
            return Use::Request;
        }
        if entry.is_fresh(now) {
            return Use::Serve;
        }
        let staleness = entry.staleness(now);
        if !entry.strict && staleness < entry.stale_while_revalidate {
            return Use::ServeAndRenew;
        }
        match self.takes_stale(entry, staleness) {
            true => Use::Serve,
            false => Use::Stale,
        }
    }

    /// Whether the request wants a newer answer than this one, fresh as it may be.
    fn wants_newer(&self, entry: &Entry, now: Instant) -> bool {
        let age = entry.age(now);
        let is_too_old = |most| age > Span::from_secs(most);
        let is_too_stale = |least| age + Span::from_secs(least) > entry.lifetime;
        self.directives.has("no-cache")
            || (self
                .directives
                .valid_seconds("max-age")
                .is_some_and(is_too_old)
                && !self.directives.has("max-stale"))
            || self
                .directives
                .valid_seconds("min-fresh")
                .is_some_and(is_too_stale)
    }

    fn takes_stale(&self, entry: &Entry, staleness: Span) -> bool {
        if entry.strict || !self.directives.has("max-stale") {
            return false;
        }
        match self.directives.valid_seconds("max-stale") {
            Some(most) => staleness <= Span::from_secs(most),
            None => self.directives.has_plain("max-stale"),
        }
    }

    /// Whether a stored answer may be served because the origin fails (RFC 5861 section 4).
    pub fn may_serve_on_error(&self, entry: &Entry, purges: &Purges, now: Instant) -> bool {
        entry.url == self.url
            && !purges.concern(entry)
            && (!self.names_its_sender() || entry.open)
            && !entry.strict
            && !self.forbids_storing()
            && entry.staleness(now) < entry.stale_if_error
    }

    /// The values of the fields that `names` name, in the form in which they are compared.
    pub fn selecting(&self, names: &[String]) -> Vec<Option<String>> {
        let value = |name: &String| Some(selecting(name, &self.fields.get(name)?));
        names.iter().map(value).collect()
    }
}

#[cfg(test)]
mod tests;
