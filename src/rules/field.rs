//! The fields that expressions may name.

use super::kind::{Kind, Single};

/// A field.
#[derive(Debug, Eq, PartialEq)]
pub struct Field {
    /// The name, as at Cloudflare.
    pub name: &'static str,
    /// The type.
    pub kind: Kind,
    pub(super) source: Source,
}

impl Field {
    /// Whether `request.cf` has it.
    pub(super) const fn is_of_platform(&self) -> bool {
        matches!(
            self.source,
            Source::Platform(_) | Source::Flag(..) | Source::Subdivision | Source::KnownBot
        )
    }
}

/// Where the value of a field comes from.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Source {
    /// A header field; empty if absent.
    Header(&'static str),
    /// A property of `request.cf`, with the way to it; empty or 0 if absent.
    Platform(&'static str),
    /// The same, true if it has this value.
    Flag(&'static str, &'static str),
    Method,
    Host,
    Https,
    /// Scheme, host, path and query.
    FullUri(Spelling),
    /// Path and query.
    Uri(Spelling),
    Path(Spelling),
    Extension,
    Query,
    Arguments,
    ArgumentNames,
    ArgumentValues,
    Headers,
    HeaderNames,
    HeaderValues,
    Cookies,
    Languages,
    /// The client's address.
    Address,
    Seconds,
    Milliseconds,
    Subdivision,
    RayId,
    KnownBot,
}

/// How a path is spelled.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Spelling {
    /// In the canonical form by which the room is found.
    Canonical,
    /// As it came.
    Raw,
}

/// The header field in which the runtime tells the client's address. What a client sends under this
/// name is replaced.
pub(super) const ADDRESS: &str = "CF-Connecting-IP";
pub(super) const ACCEPT_LANGUAGE: &str = "Accept-Language";
pub(super) const COOKIE: &str = "Cookie";
pub(super) const RAY: &str = "CF-Ray";
pub(super) const COUNTRY: &str = "country";
pub(super) const REGION_CODE: &str = "regionCode";
pub(super) const BOT_CATEGORY: &str = "verifiedBotCategory";
pub(super) const VERIFIED_BOT: &str = "botManagement.verifiedBot";

const TEXT: Kind = Kind::One(Single::Text);
const FLAG: Kind = Kind::One(Single::Boolean);
const NUMBER: Kind = Kind::One(Single::Integer);
const TEXTS: Kind = Kind::List(Single::Text);

/// Every field, sorted by name.
pub const FIELDS: &[Field] = &[
    field("cf.client.bot", FLAG, Source::KnownBot),
    field("cf.ray_id", TEXT, Source::RayId),
    field("cf.tls_cipher", TEXT, Source::Platform("tlsCipher")),
    field(
        "cf.tls_client_auth.cert_fingerprint_sha1",
        TEXT,
        Source::Platform("tlsClientAuth.certFingerprintSHA1"),
    ),
    field(
        "cf.tls_client_auth.cert_fingerprint_sha256",
        TEXT,
        Source::Platform("tlsClientAuth.certFingerprintSHA256"),
    ),
    field(
        "cf.tls_client_auth.cert_issuer_dn",
        TEXT,
        Source::Platform("tlsClientAuth.certIssuerDN"),
    ),
    field(
        "cf.tls_client_auth.cert_presented",
        FLAG,
        Source::Flag("tlsClientAuth.certPresented", "1"),
    ),
    field(
        "cf.tls_client_auth.cert_revoked",
        FLAG,
        Source::Flag("tlsClientAuth.certRevoked", "1"),
    ),
    field(
        "cf.tls_client_auth.cert_serial",
        TEXT,
        Source::Platform("tlsClientAuth.certSerial"),
    ),
    field(
        "cf.tls_client_auth.cert_subject_dn",
        TEXT,
        Source::Platform("tlsClientAuth.certSubjectDN"),
    ),
    field(
        "cf.tls_client_auth.cert_verified",
        FLAG,
        Source::Flag("tlsClientAuth.certVerified", "SUCCESS"),
    ),
    field("cf.tls_version", TEXT, Source::Platform("tlsVersion")),
    field(
        "cf.verified_bot_category",
        TEXT,
        Source::Platform(BOT_CATEGORY),
    ),
    field("cf.worker.upstream_zone", TEXT, Source::Header("CF-Worker")),
    field("http.cookie", TEXT, Source::Header(COOKIE)),
    field("http.host", TEXT, Source::Host),
    field("http.referer", TEXT, Source::Header("Referer")),
    field("http.request.accepted_languages", TEXTS, Source::Languages),
    field("http.request.cookies", Kind::Map, Source::Cookies),
    field(
        "http.request.full_uri",
        TEXT,
        Source::FullUri(Spelling::Canonical),
    ),
    field("http.request.headers", Kind::Map, Source::Headers),
    field("http.request.headers.names", TEXTS, Source::HeaderNames),
    field("http.request.headers.values", TEXTS, Source::HeaderValues),
    field("http.request.method", TEXT, Source::Method),
    field("http.request.timestamp.msec", NUMBER, Source::Milliseconds),
    field("http.request.timestamp.sec", NUMBER, Source::Seconds),
    field("http.request.uri", TEXT, Source::Uri(Spelling::Canonical)),
    field("http.request.uri.args", Kind::Map, Source::Arguments),
    field("http.request.uri.args.names", TEXTS, Source::ArgumentNames),
    field(
        "http.request.uri.args.values",
        TEXTS,
        Source::ArgumentValues,
    ),
    field(
        "http.request.uri.path",
        TEXT,
        Source::Path(Spelling::Canonical),
    ),
    field("http.request.uri.path.extension", TEXT, Source::Extension),
    field("http.request.uri.query", TEXT, Source::Query),
    field(
        "http.request.version",
        TEXT,
        Source::Platform("httpProtocol"),
    ),
    field("http.user_agent", TEXT, Source::Header("User-Agent")),
    field(
        "http.x_forwarded_for",
        TEXT,
        Source::Header("X-Forwarded-For"),
    ),
    field("ip.src", Kind::One(Single::Address), Source::Address),
    field("ip.src.asnum", NUMBER, Source::Platform("asn")),
    field("ip.src.city", TEXT, Source::Platform("city")),
    field("ip.src.continent", TEXT, Source::Platform("continent")),
    field("ip.src.country", TEXT, Source::Platform(COUNTRY)),
    field(
        "ip.src.is_in_european_union",
        FLAG,
        Source::Flag("isEUCountry", "1"),
    ),
    field("ip.src.lat", TEXT, Source::Platform("latitude")),
    field("ip.src.lon", TEXT, Source::Platform("longitude")),
    field("ip.src.metro_code", TEXT, Source::Platform("metroCode")),
    field("ip.src.postal_code", TEXT, Source::Platform("postalCode")),
    field("ip.src.region", TEXT, Source::Platform("region")),
    field("ip.src.region_code", TEXT, Source::Platform(REGION_CODE)),
    field("ip.src.subdivision_1_iso_code", TEXT, Source::Subdivision),
    field("ip.src.timezone.name", TEXT, Source::Platform("timezone")),
    field(
        "raw.http.request.full_uri",
        TEXT,
        Source::FullUri(Spelling::Raw),
    ),
    field("raw.http.request.uri", TEXT, Source::Uri(Spelling::Raw)),
    field(
        "raw.http.request.uri.path",
        TEXT,
        Source::Path(Spelling::Raw),
    ),
    field("ssl", FLAG, Source::Https),
];

const fn field(name: &'static str, kind: Kind, source: Source) -> Field {
    Field { name, kind, source }
}

/// Names that Cloudflare has retired, each with the field that it means. What is printed has the new
/// ones.
pub const OLD_NAMES: &[(&str, &str)] = &[
    ("ip.geoip.asnum", "ip.src.asnum"),
    ("ip.geoip.continent", "ip.src.continent"),
    ("ip.geoip.country", "ip.src.country"),
    (
        "ip.geoip.is_in_european_union",
        "ip.src.is_in_european_union",
    ),
    (
        "ip.geoip.subdivision_1_iso_code",
        "ip.src.subdivision_1_iso_code",
    ),
];

const OF_RESPONSES: &str = "a rule is asked before there is a response";
const BODY: &str = "bodies go to the origin unread, so that a rule costs no copy of them";
const SCORES: &str = "is not allowed in waiting room rules, as at Cloudflare";
const NOT_TOLD: &str = "the runtime does not tell it to a Worker";
const NOT_NORMALISED: &str = "the query is never normalised: use the field without raw.";
const ALL_THERE: &str = "a Worker is given all header fields, so they are never truncated";

/// Fields of Cloudflare's that are refused, each with the reason. A name that ends with a dot or an
/// underscore stands for all that begin with it.
pub const REFUSED_FIELDS: &[(&str, &str)] = &[
    ("http.response.", OF_RESPONSES),
    ("raw.http.response.", OF_RESPONSES),
    ("cf.response.", OF_RESPONSES),
    ("http.request.body.", BODY),
    ("raw.http.request.body.", BODY),
    ("cf.bot_management.", SCORES),
    ("cf.threat_score", SCORES),
    ("cf.waf.", NOT_TOLD),
    ("cf.edge.", NOT_TOLD),
    ("cf.hostname.metadata", NOT_TOLD),
    (
        "cf.random_seed",
        "a rule decides by the request, not by chance",
    ),
    ("cf.tls_", NOT_TOLD),
    ("cf.zone.", "the rooms of a site belong to one zone"),
    ("http.request.headers.truncated", ALL_THERE),
    (
        "raw.http.request.headers",
        "header fields are never changed: use the field without raw.",
    ),
    ("raw.http.request.uri.args", NOT_NORMALISED),
    ("raw.http.request.uri.query", NOT_NORMALISED),
    ("ip.src.subdivision_2_iso_code", NOT_TOLD),
    ("ip.geoip.subdivision_2_iso_code", NOT_TOLD),
];

/// The field of a name.
///
/// # Errors
/// Why there is none.
pub(super) fn find(name: &str) -> Result<&'static Field, String> {
    let old = OLD_NAMES.iter().find(|(old, _)| *old == name);
    let current = old.map_or(name, |(_, current)| current);
    if let Ok(at) = FIELDS.binary_search_by(|field| field.name.cmp(current))
        && let Some(field) = FIELDS.get(at)
    {
        return Ok(field);
    }
    let covers = |refused: &str| match refused.ends_with(['.', '_']) {
        true => name.starts_with(refused),
        false => name == refused,
    };
    if let Some((_, reason)) = REFUSED_FIELDS.iter().find(|(refused, _)| covers(refused)) {
        return Err(format!("{name} cannot be used: {reason}"));
    }
    let names = FIELDS.iter().map(|field| field.name);
    Err(match nearest(name, names) {
        Some(known) => format!("unknown field {name}; did you mean {known}?"),
        None => format!("unknown field {name}"),
    })
}

/// The candidate that `word` is probably a misspelling of: at most a third of it is different.
pub(super) fn nearest<'a>(
    word: &str,
    candidates: impl Iterator<Item = &'a str>,
) -> Option<&'a str> {
    // A misspelling is as long as what was meant, nearly.
    if word.len() > 64 {
        return None;
    }
    let word = word.to_lowercase().replace('-', "_");
    candidates
        .map(|candidate| (strsim::damerau_levenshtein(&word, candidate), candidate))
        .filter(|(distance, candidate)| distance * 3 <= candidate.len())
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fields_are_sorted() {
        assert!(FIELDS.is_sorted_by(|one, next| one.name < next.name));
    }

    #[test]
    fn old_names_mean_fields() {
        for (old, current) in OLD_NAMES {
            assert_eq!(find(old).unwrap().name, *current);
        }
    }

    #[test]
    fn no_field_is_refused() {
        for (refused, _) in REFUSED_FIELDS {
            let name = format!("{refused}x");
            let name = if refused.ends_with(['.', '_']) {
                &name
            } else {
                *refused
            };
            assert!(find(name).unwrap_err().contains("cannot be used"), "{name}");
        }
    }

    #[test]
    fn misspellings_are_understood() {
        for (name, meant) in [
            ("http.request.uri.pth", "http.request.uri.path"),
            ("http.user-agent", "http.user_agent"),
            ("ip.source.country", "ip.src.country"),
            ("http.request.header", "http.request.headers"),
        ] {
            let fault = find(name).unwrap_err();
            assert!(
                fault.ends_with(&format!("did you mean {meant}?")),
                "{fault}"
            );
        }
        assert_eq!(find("xyz").unwrap_err(), "unknown field xyz");
    }
}
