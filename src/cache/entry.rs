//! A stored answer: whether there may be one, and how long it is good (RFC 9111 sections 3 and 4.2).

use serde::{Deserialize, Serialize};

use super::asked::Asked;
use super::date;
use super::directives::{Directives, Seconds, seconds};
use super::fields::Fields;
use crate::time::{Instant, Span};

/// A stale answer that can be validated is kept for so long: asking about it is cheaper than fetching it.
const KEPT_TO_VALIDATE: Span = Span::from_secs(86_400);

/// A stale answer is kept for so long where requests may ask for it.
const KEPT_FOR_MAX_STALE: Span = Span::from_secs(3_600);

/// Nothing is kept longer than this. Purges are remembered as long.
pub const LONGEST_KEPT: Span = Span::from_secs(30 * 86_400);

/// No guess of how long an answer is fresh is longer.
const LONGEST_GUESS: Span = Span::from_secs(86_400);

/// The age of an answer whose `Age` cannot be read: it is older than anything may be.
const UNKNOWN_AGE: Span = Span::from_secs(1 << 31);

/// By this the origin commands something about one visitor ([`crate::gate::header::COMMAND`]).
const COMMAND: &str = "cf-waiting-room-command";

/// Fields that belong to one connection (RFC 9110 section 7.6.1, RFC 9111 section 3.1), or are made anew
/// for each answer.
const NOT_STORED: [&str; 18] = [
    "age",
    "anteroom-tier",
    "cache-status",
    "cf-cache-status",
    "cf-ray",
    "connection",
    "keep-alive",
    "proxy-authenticate",
    "proxy-authentication-info",
    "proxy-authorization",
    "proxy-connection",
    "set-cookie",
    "set-cookie2",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    COMMAND,
];

/// Statuses that are cacheable without a word on freshness (RFC 9110 section 15.1).
const CACHEABLE_BY_DEFAULT: [u16; 11] = [200, 203, 204, 300, 301, 308, 404, 405, 410, 414, 501];

/// Statuses whose meaning for caches is known here: those, and redirections (RFC 9110 section 15).
const UNDERSTOOD: [u16; 14] = [
    200, 203, 204, 300, 301, 302, 303, 307, 308, 404, 405, 410, 414, 501,
];

/// An answer as it is stored. It is kept in the data centre's cache with its body; other versions of the
/// Worker read it, so that fields are only added, with defaults.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Entry {
    /// Of which URL: the key is a digest of it.
    pub url: String,
    /// The status.
    pub status: u16,
    /// The header fields.
    pub fields: Fields,
    /// When it came, in this cache or when it was last validated.
    pub received: Instant,
    /// How old it was then (RFC 9111 section 4.2.3, `corrected_initial_age`).
    pub initial_age: Span,
    /// How old it was by what caches have said. Purges go by this: an origin whose clock is wrong does not
    /// make every answer of its look older than every purge.
    #[serde(default)]
    pub told_age: Span,
    /// From its creation on it is fresh for so long.
    pub lifetime: Span,
    /// After that it may be served for so long while a new one is fetched (RFC 5861 section 3).
    #[serde(default)]
    pub stale_while_revalidate: Span,
    /// The same when the origin fails (RFC 5861 section 4).
    #[serde(default)]
    pub stale_if_error: Span,
    /// Whether it must not be served stale, whoever wants it.
    #[serde(default)]
    pub strict: bool,
    /// Whether it must be validated each time.
    #[serde(default)]
    pub always_validate: bool,
    /// Whether it may be served to a request that says who sends it (RFC 9111 section 3.5).
    #[serde(default)]
    pub open: bool,
}

/// Why an answer is not stored.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum NotStored {
    /// Only answers to GET are.
    #[error("method")]
    Method,
    /// Not a final status, or a part of an answer.
    #[error("status")]
    Status,
    /// `no-store` of the answer, or of a request that is listened to.
    #[error("no-store")]
    NoStore,
    /// `private`, in any form.
    #[error("private")]
    Private,
    /// It sets a cookie, or commands something of this visitor.
    #[error("set-cookie")]
    SetCookie,
    /// The request says who sends it, and the answer does not say that it is for everybody.
    #[error("authorization")]
    Authorization,
    /// `Vary: *`, or by what is another with each visitor.
    #[error("vary")]
    Vary,
    /// It says nothing of its freshness, or is useless at once.
    #[error("no-freshness")]
    NoFreshness,
}

impl Entry {
    /// The answer of `status` and `fields`, which was asked for at `requested` and came at `received`, as
    /// it may be stored.
    ///
    /// # Errors
    /// Why it may not.
    pub fn of(
        asked: &Asked<'_>,
        status: u16,
        fields: &Fields,
        requested: Instant,
        received: Instant,
    ) -> Result<Self, NotStored> {
        let directives = Directives::of_answer(fields);
        may_be_stored(asked, status, fields, &directives)?;
        let open = is_open(&directives);
        if asked.names_its_sender() && !open {
            return Err(NotStored::Authorization);
        }
        let lifetime = lifetime(asked, status, fields, &directives, received);
        let lifetime = lifetime.ok_or(NotStored::NoFreshness)?;
        let told_age = told_age(fields, requested, received);
        let date = fields.date("date");
        let apparent_age = date.map_or(Span::ZERO, |date| received.since(date));
        let always_validate = directives.has_plain("no-cache");
        let strict = always_validate
            || ["must-revalidate", "proxy-revalidate", "s-maxage"]
                .iter()
                .any(|name| directives.has(name));
        let stale = |name, configured: u32| match directives.valid_seconds(name) {
            _ if strict => Span::ZERO,
            Some(seconds) => Span::from_secs(seconds),
            None => Span::from_secs(configured.into()),
        };
        let settings = asked.settings;
        let entry = Self {
            url: asked.url.clone(),
            status,
            fields: kept(fields, &directives),
            received,
            initial_age: told_age.max(apparent_age),
            told_age,
            lifetime,
            stale_while_revalidate: stale(
                "stale-while-revalidate",
                settings.stale_while_revalidate_seconds,
            ),
            stale_if_error: stale("stale-if-error", settings.stale_if_error_seconds),
            strict,
            always_validate,
            open,
        };
        if entry.kept_for(asked) == Span::ZERO {
            return Err(NotStored::NoFreshness);
        }
        Ok(entry)
    }

    /// How old it is (RFC 9111 section 4.2.3).
    pub fn age(&self, now: Instant) -> Span {
        self.initial_age + now.since(self.received)
    }

    /// When it came from the origin, by what caches have said.
    pub fn born(&self) -> Instant {
        self.received - self.told_age
    }

    /// Whether it is fresh.
    pub fn is_fresh(&self, now: Instant) -> bool {
        !self.always_validate && self.age(now) < self.lifetime
    }

    /// How long it has been stale.
    pub fn staleness(&self, now: Instant) -> Span {
        let age = self.age(now).as_millis();
        Span::from_millis(age.saturating_sub(self.lifetime.as_millis()))
    }

    /// How long it is still fresh, in seconds; negative once it is stale.
    pub fn ttl(&self, now: Instant) -> i64 {
        let seconds = |span: Span| i64::try_from(span.as_secs()).unwrap_or(i64::MAX);
        seconds(self.lifetime).saturating_sub(seconds(self.age(now)))
    }

    /// Whether the origin can be asked about it.
    pub fn has_validator(&self) -> bool {
        self.fields.has("etag") || self.fields.has("last-modified")
    }

    /// How many bytes its body has, if the origin has told.
    pub fn length(&self) -> Option<u64> {
        self.fields.first("content-length")?.parse().ok()
    }

    /// The tags by which it can be purged.
    pub fn tags(&self) -> impl Iterator<Item = &str> {
        let values = self.fields.iter().filter(|(name, _)| *name == "cache-tag");
        let tags = values.flat_map(|(_, value)| value.split(','));
        tags.map(str::trim).filter(|tag| !tag.is_empty())
    }

    /// How long the data centre shall keep it: as long as it is of use, stale or not.
    pub fn kept_for(&self, asked: &Asked<'_>) -> Span {
        let fresh = match self.always_validate {
            true => 0,
            false => self
                .lifetime
                .as_millis()
                .saturating_sub(self.initial_age.as_millis()),
        };
        let if_it = |is: bool, span| if is { span } else { Span::ZERO };
        let stale = [
            self.stale_while_revalidate,
            self.stale_if_error,
            if_it(self.has_validator(), KEPT_TO_VALIDATE),
            if_it(
                asked.settings.honor_request_cache_control && !self.strict,
                KEPT_FOR_MAX_STALE,
            ),
        ];
        let stale = stale.into_iter().max().unwrap_or_default();
        (Span::from_millis(fresh) + stale).min(LONGEST_KEPT)
    }
}

/// Whether an answer's directives open it to requests that say who sends them (RFC 9111 section 3.5).
fn is_open(directives: &Directives) -> bool {
    ["public", "must-revalidate", "s-maxage"]
        .iter()
        .any(|name| directives.has(name))
}

fn may_be_stored(
    asked: &Asked<'_>,
    status: u16,
    fields: &Fields,
    directives: &Directives,
) -> Result<(), NotStored> {
    if asked.method != "GET" {
        return Err(NotStored::Method);
    }
    if !(200..=599).contains(&status) || matches!(status, 206 | 304) {
        return Err(NotStored::Status);
    }
    if directives.has("no-store") || asked.forbids_storing() {
        return Err(NotStored::NoStore);
    }
    // Whoever says so wants a cache that knows what the status means (RFC 9111 section 5.2.2.3).
    if directives.has("must-understand") && !UNDERSTOOD.contains(&status) {
        return Err(NotStored::Status);
    }
    // A cache may honour the names that follow (RFC 9111 section 5.2.2.7); leaving all is safer.
    if directives.has("private") {
        return Err(NotStored::Private);
    }
    let is_for_one = ["set-cookie", "set-cookie2", COMMAND];
    if is_for_one.iter().any(|name| fields.has(name)) {
        return Err(NotStored::SetCookie);
    }
    let is_another = |name: &String| matches!(name.as_str(), "*" | "cookie" | "authorization");
    if fields.names("vary").iter().any(is_another) {
        return Err(NotStored::Vary);
    }
    Ok(())
}

/// From its creation on an answer is fresh for so long (RFC 9111 section 4.2.1); none if nothing says so.
fn lifetime(
    asked: &Asked<'_>,
    status: u16,
    fields: &Fields,
    directives: &Directives,
    received: Instant,
) -> Option<Span> {
    for name in ["s-maxage", "max-age"] {
        match directives.seconds(name) {
            Seconds::Absent => {}
            Seconds::Invalid => return Some(Span::ZERO),
            Seconds::Of(seconds) => return Some(Span::from_secs(seconds)),
        }
    }
    if !directives.targeted
        && let Some(expires) = fields.get("expires")
    {
        // What is no date is in the past, "0" above all (RFC 9111 section 5.3).
        let Some(expires) = date::parse(&expires) else {
            return Some(Span::ZERO);
        };
        let date = fields.date("date");
        return Some(expires.since(date.unwrap_or(received)));
    }
    if directives.has_plain("no-cache") {
        return Some(Span::ZERO);
    }
    silent_lifetime(asked, status, fields, directives, received)
}

/// How long an answer is fresh of which the origin has not said so: as the operator says. None about a
/// visitor's own page, where silence is no permission.
fn silent_lifetime(
    asked: &Asked<'_>,
    status: u16,
    fields: &Fields,
    directives: &Directives,
    received: Instant,
) -> Option<Span> {
    let may_be = CACHEABLE_BY_DEFAULT.contains(&status) || directives.has("public");
    if !may_be || asked.names_its_sender() || asked.fields.has("cookie") {
        return None;
    }
    let settings = asked.settings;
    let modified = fields.date("last-modified");
    if let Some(modified) = modified.filter(|_| settings.heuristic_freshness) {
        let date = fields.date("date");
        let tenth = date.unwrap_or(received).since(modified).as_millis() / 10;
        return Some(Span::from_millis(tenth).min(LONGEST_GUESS));
    }
    let default = settings.default_ttl_seconds;
    default.map(|seconds| Span::from_secs(seconds.into()))
}

/// The age that caches before this one tell, and what the way took (RFC 9111 section 4.2.3,
/// `corrected_age_value`).
fn told_age(fields: &Fields, requested: Instant, received: Instant) -> Span {
    let Some(age) = fields.get("age") else {
        // Nobody has kept it: it is as old as the way was long, at most.
        return received.since(requested);
    };
    // Of a list the first counts (RFC 9111 section 5.1).
    let first = age.split(',').next().unwrap_or_default().trim();
    match seconds(first) {
        Some(age) => Span::from_secs(age) + received.since(requested),
        None => UNKNOWN_AGE,
    }
}

/// The fields that are stored (RFC 9111 section 3.1).
pub(super) fn kept(fields: &Fields, directives: &Directives) -> Fields {
    let mut kept = fields.clone();
    let of_connection = fields.names("connection");
    let unvalidated = directives.named_by("no-cache");
    let is_named = |list: &[String], name: &str| list.iter().any(|known| known == name);
    kept.retain(|name| {
        !NOT_STORED.contains(&name)
            && !is_named(&of_connection, name)
            && !is_named(&unvalidated, name)
    });
    kept
}

#[cfg(test)]
mod tests;
