//! The hosts whose answers are cached, as they are declared: `[[cached_hosts]]`.
//!
//! They are no part of [`Site`](super::room::Site): the API does not change them, and a publication does
//! not carry them. Every isolate reads them from its build.

use serde::{Deserialize, Serialize};

use super::path::{Canonical, segments};
use crate::atlas::origin_name::OriginName;

/// A host that is cached.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct CachedHost {
    /// Lower case, punycode, without a port: every port of the host is cached, each under its own URLs.
    pub host: String,
    /// Where the host's origin is, by address or name. A Worker cannot learn that by itself; region hints,
    /// probes and upper tiers go by it.
    #[serde(default)]
    pub origins: Vec<OriginName>,
    /// The upper tier that the operator chose, by its name; none: the one that is found best.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tier: Option<String>,
    /// The paths, the deepest first; the last is `/`.
    pub routes: Vec<CachedRoute>,
}

/// How a path of a cached host, and all below it, is cached.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct CachedRoute {
    /// In canonical form, without a final slash but for `/` itself.
    pub path: String,
    /// How.
    #[serde(flatten)]
    pub settings: CacheSettings,
}

/// How answers are cached, where they say nothing themselves.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(default)]
pub struct CacheSettings {
    /// Whether anything is.
    pub cache: bool,
    /// How long an answer without any word on its freshness is fresh, in seconds; none: it is not stored.
    pub default_ttl_seconds: Option<u32>,
    /// Whether an answer that only says when it was last modified is fresh for a tenth of the time since (RFC
    /// 9111 section 4.2.2), a day at most.
    pub heuristic_freshness: bool,
    /// How long an answer may be served stale while a new one is fetched, in seconds, where it does not
    /// say so itself.
    pub stale_while_revalidate_seconds: u32,
    /// How long an answer may be served stale when the origin fails, in seconds, where it does not say so
    /// itself.
    pub stale_if_error_seconds: u32,
    /// A request with a cookie of one of these names goes by the cache.
    pub bypass_cookies: Vec<String>,
    /// Whether `Cache-Control` of a request is followed. A cache may ignore it (RFC 9111 section 5.2.1),
    /// and what a visitor can bring to the origin by a header field protects it badly.
    pub honor_request_cache_control: bool,
}

impl CachedHost {
    /// How a path is cached: by the deepest route that covers it. None for a path that origins read in
    /// different ways: whose answer it would be is uncertain, so it is not cached.
    pub fn settings(&self, raw_path: &[u8]) -> Option<&CacheSettings> {
        let path = Canonical::new(raw_path);
        if path.is_odd() || path.is_ambiguous() {
            return None;
        }
        let covers = |route: &&CachedRoute| {
            let mut of_path = segments(path.as_bytes());
            segments(route.path.as_bytes()).all(|wanted| of_path.next() == Some(wanted))
        };
        Some(&self.routes.iter().find(covers)?.settings)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn route(path: &str, default_ttl_seconds: u32) -> CachedRoute {
        let settings = CacheSettings {
            cache: true,
            default_ttl_seconds: Some(default_ttl_seconds),
            ..CacheSettings::default()
        };
        let path = path.to_owned();
        CachedRoute { path, settings }
    }

    #[test]
    fn the_deepest_route_decides_and_a_path_that_readers_dispute_has_none() {
        let host = CachedHost {
            host: "example.com".into(),
            origins: Vec::new(),
            tier: None,
            routes: vec![route("/a/b", 2), route("/a", 1), route("/", 0)],
        };
        for (path, expected) in [
            ("/", Some(0)),
            ("/ab", Some(0)),
            ("/a", Some(1)),
            ("/a/", Some(1)),
            ("/a/bc", Some(1)),
            ("/a/b", Some(2)),
            ("/%61/b/c?x=/", Some(2)),
            ("/a/b/../c", Some(1)),
            ("/a;x/b", None),
            ("/a%2Fb", None),
            ("/x/..;/a", None),
            ("//a", None),
        ] {
            let found = host.settings(path.as_bytes());
            let found = found.and_then(|settings| settings.default_ttl_seconds);
            assert_eq!(found, expected, "{path}");
        }
    }
}
