//! Probes: checkpoints time TCP handshakes with origins, and report.

use std::collections::BTreeMap;
use std::net::IpAddr;

use ipnet::IpNet;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::anycast::Measurement;
use super::origin_name::OriginName;
use super::region_places::RegionPlaces;
use crate::time::{Instant, Span};

/// So many handshakes are timed with each origin; the least time counts. The runtime's clock shows
/// milliseconds, and queues only ever add.
pub const HANDSHAKES: u32 = 5;

/// A handshake may take so long: twice the way around the earth in fibre is less.
pub const PATIENCE: Span = Span::from_millis(1_000);

/// So many origins are probed in a round; a Worker on the Free plan may make 50 calls in a request.
pub const MOST_ORIGINS: usize = 8;

/// What was measured longer ago is forgotten.
const KEPT: Span = Span::from_secs(6 * 60 * 60);

/// What a checkpoint tells.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Report {
    /// The code of the place where it is.
    pub place: String,
    /// The origins that have answered.
    pub timed: Vec<Timed>,
}

/// How long handshakes with an origin took.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Timed {
    /// The origin.
    pub origin: OriginName,
    /// The least time, in milliseconds.
    pub rtt_ms: f64,
    /// How many were timed.
    pub samples: u32,
}

/// The latest that is known of an origin from a place.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
pub struct Latest {
    /// The least time, in milliseconds.
    pub rtt_ms: f64,
    /// How many handshakes were timed.
    pub samples: u32,
    /// When.
    pub at: Instant,
}

/// The latest of each origin and place.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Book(BTreeMap<OriginName, BTreeMap<String, Latest>>);

impl Book {
    /// Takes in a report of what was just measured. What no place can have measured is left out.
    pub fn take(&mut self, report: &Report, places: &RegionPlaces, now: Instant) {
        if places.place(&report.place).is_none() {
            return;
        }
        for timed in report.timed.iter().take(MOST_ORIGINS) {
            let is_time = timed.rtt_ms.is_finite() && timed.rtt_ms >= 0.0;
            if !is_time || timed.rtt_ms > PATIENCE.as_millis() as f64 {
                continue;
            }
            let latest = Latest {
                // To the microsecond.
                rtt_ms: (timed.rtt_ms * 1_000.0).round() / 1_000.0,
                samples: timed.samples.min(HANDSHAKES),
                at: now,
            };
            let of_origin = self.0.entry(timed.origin.clone()).or_default();
            of_origin.insert(report.place.clone(), latest);
        }
    }

    /// Forgets what is old, and the origins that nobody asks about any more.
    pub fn forget(&mut self, is_wanted: impl Fn(&OriginName) -> bool, now: Instant) {
        self.0.retain(|origin, latest| {
            latest.retain(|_, latest| now.since(latest.at) < KEPT);
            !latest.is_empty() && is_wanted(origin)
        });
    }

    /// What is known of each origin.
    pub fn iter(&self) -> impl Iterator<Item = (&OriginName, &BTreeMap<String, Latest>)> {
        self.0.iter()
    }

    /// Which of these origins are to be probed next: those that were measured least recently.
    pub fn next<'a>(&self, wanted: impl Iterator<Item = &'a OriginName>) -> Vec<&'a OriginName> {
        let last = |origin: &OriginName| {
            let latest = self.0.get(origin).into_iter().flat_map(BTreeMap::values);
            latest.map(|latest| latest.at).max()
        };
        let mut wanted: Vec<_> = wanted.map(|origin| (last(origin), origin)).collect();
        wanted.sort();
        wanted.dedup();
        let wanted = wanted.into_iter().map(|(_, origin)| origin);
        wanted.take(MOST_ORIGINS).collect()
    }
}

/// The measurements of an origin, as the detector of anycast wants them, and from where each was made.
pub fn measurements<'a>(
    latest: &'a BTreeMap<String, Latest>,
    places: &RegionPlaces,
) -> (Vec<&'a str>, Vec<Measurement>) {
    let known = latest.iter().filter_map(|(code, latest)| {
        let from = places.place(code)?.point;
        let rtt_ms = latest.rtt_ms;
        Some((code.as_str(), Measurement { from, rtt_ms }))
    });
    known.unzip()
}

/// Why an origin is not probed.
#[derive(Clone, Copy, Debug, Eq, Error, PartialEq)]
pub enum Unprobed {
    /// Its address is not one of the public internet, or its name not one of the public DNS.
    #[error("not public: nothing is sent there")]
    NotPublic,
    /// It is Cloudflare's: the runtime connects to none of those.
    #[error("an address of Cloudflare's, which Workers cannot connect to")]
    Cloudflare,
    /// It is a host of this deployment.
    #[error("a host of this deployment itself")]
    Own,
}

/// Cloudflare's addresses (https://www.cloudflare.com/ips/, unchanged since 2021).
const CLOUDFLARE: [&str; 22] = [
    "173.245.48.0/20",
    "103.21.244.0/22",
    "103.22.200.0/22",
    "103.31.4.0/22",
    "141.101.64.0/18",
    "108.162.192.0/18",
    "190.93.240.0/20",
    "188.114.96.0/20",
    "197.234.240.0/22",
    "198.41.128.0/17",
    "162.158.0.0/15",
    "104.16.0.0/13",
    "104.24.0.0/14",
    "172.64.0.0/13",
    "131.0.72.0/22",
    "2400:cb00::/32",
    "2606:4700::/32",
    "2803:f800::/32",
    "2405:b500::/32",
    "2405:8100::/32",
    "2a06:98c0::/29",
    "2c0f:f248::/32",
];

/// Addresses that are not globally reachable (IANA's special-purpose address registries, RFC 6890).
const SPECIAL: [&str; 26] = [
    "0.0.0.0/8",
    "10.0.0.0/8",
    "100.64.0.0/10",
    "127.0.0.0/8",
    "169.254.0.0/16",
    "172.16.0.0/12",
    "192.0.0.0/24",
    "192.0.2.0/24",
    "192.88.99.0/24",
    "192.168.0.0/16",
    "198.18.0.0/15",
    "198.51.100.0/24",
    "203.0.113.0/24",
    "224.0.0.0/4",
    "240.0.0.0/4",
    "::/8",
    "64:ff9b::/96",
    "64:ff9b:1::/48",
    "100::/64",
    "2001::/23",
    "2001:db8::/32",
    "2002::/16",
    "3fff::/20",
    "fc00::/7",
    "fe80::/10",
    "ff00::/8",
];

/// Names that lead to no public server (RFC 6761, RFC 6762, RFC 8375, RFC 9476, and ICANN's
/// `internal`).
const PRIVATE_NAMES: [&str; 9] = [
    "localhost",
    "local",
    "internal",
    "test",
    "invalid",
    "example",
    "onion",
    "alt",
    "home.arpa",
];

/// Whether an origin may be connected to from a checkpoint. `own` are the hosts of this deployment. What a
/// name resolves to is the runtime's to check: it refuses private addresses and Cloudflare's.
///
/// # Errors
/// Why not.
pub fn may_probe(origin: &OriginName, own: &[&str]) -> Result<(), Unprobed> {
    let Some(address) = origin.address() else {
        let name = origin.as_str();
        let is_below = |above: &str| {
            let rest = name.strip_suffix(above);
            rest.is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
        };
        if !name.contains('.') || PRIVATE_NAMES.into_iter().any(is_below) {
            return Err(Unprobed::NotPublic);
        }
        return match own.contains(&name) {
            true => Err(Unprobed::Own),
            false => Ok(()),
        };
    };
    if is_in(&SPECIAL, address) {
        return Err(Unprobed::NotPublic);
    }
    if is_in(&CLOUDFLARE, address) {
        return Err(Unprobed::Cloudflare);
    }
    Ok(())
}

fn is_in(prefixes: &[&str], address: IpAddr) -> bool {
    let mut prefixes = prefixes
        .iter()
        .filter_map(|prefix| prefix.parse::<IpNet>().ok());
    prefixes.any(|prefix| prefix.contains(&address))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(text: &str) -> OriginName {
        text.parse().unwrap()
    }

    #[test]
    fn only_public_servers_of_others_are_probed() {
        let own = ["shop.example.com"];
        for (text, expected) in [
            ("52.95.110.1", Ok(())),
            ("2600:1f18::1", Ok(())),
            ("origin.example.com", Ok(())),
            ("127.0.0.1", Err(Unprobed::NotPublic)),
            ("10.1.2.3", Err(Unprobed::NotPublic)),
            ("169.254.169.254", Err(Unprobed::NotPublic)),
            ("100.64.0.1", Err(Unprobed::NotPublic)),
            ("192.0.2.1", Err(Unprobed::NotPublic)),
            ("224.0.0.1", Err(Unprobed::NotPublic)),
            ("::1", Err(Unprobed::NotPublic)),
            ("::ffff:10.0.0.1", Err(Unprobed::NotPublic)),
            ("64:ff9b::a00:1", Err(Unprobed::NotPublic)),
            ("2002:a00:1::1", Err(Unprobed::NotPublic)),
            ("fd00::1", Err(Unprobed::NotPublic)),
            ("fe80::1", Err(Unprobed::NotPublic)),
            ("localhost", Err(Unprobed::NotPublic)),
            ("a.localhost", Err(Unprobed::NotPublic)),
            ("db.internal", Err(Unprobed::NotPublic)),
            ("intranet", Err(Unprobed::NotPublic)),
            ("104.16.1.1", Err(Unprobed::Cloudflare)),
            ("2606:4700::1", Err(Unprobed::Cloudflare)),
            ("shop.example.com", Err(Unprobed::Own)),
        ] {
            assert_eq!(may_probe(&name(text), &own), expected, "{text}");
        }
        let all = CLOUDFLARE.iter().chain(&SPECIAL);
        assert!(
            all.into_iter()
                .all(|prefix| prefix.parse::<IpNet>().is_ok())
        );
    }

    #[test]
    fn the_latest_counts_for_a_while() {
        let places = RegionPlaces::packed().unwrap();
        let mut book = Book::default();
        let report = |place: &str, rtt_ms: f64| Report {
            place: place.to_owned(),
            timed: vec![Timed {
                origin: name("a.example.com"),
                rtt_ms,
                samples: 5,
            }],
        };
        let at = Instant::from_secs;
        book.take(&report("fra", 3.0), &places, at(0));
        book.take(&report("iad", 90.0), &places, at(KEPT.as_secs() - 1));
        book.take(&report("fra", 4.0), &places, at(10));
        for (place, rtt_ms) in [
            ("nowhere", 1.0),
            ("sin", f64::NAN),
            ("sin", -1.0),
            ("sin", 5e3),
        ] {
            book.take(&report(place, rtt_ms), &places, at(10));
        }
        let times = |book: &Book| {
            let times = book.iter().flat_map(|(_, latest)| latest.iter());
            times
                .map(|(code, latest)| (code.clone(), latest.rtt_ms))
                .collect::<Vec<_>>()
        };
        assert_eq!(
            times(&book),
            [("fra".to_owned(), 4.0), ("iad".to_owned(), 90.0)]
        );
        book.forget(|_| true, at(10 + KEPT.as_secs()));
        assert_eq!(times(&book), [("iad".to_owned(), 90.0)]);
        book.forget(|_| false, at(10));
        assert_eq!(times(&book), []);
    }

    #[test]
    fn a_round_takes_those_that_waited_longest() {
        let places = RegionPlaces::packed().unwrap();
        let mut book = Book::default();
        let names: Vec<OriginName> = (0..12)
            .map(|n| name(&format!("o{n}.example.com")))
            .collect();
        for round in 0..3 {
            let next = book.next(names.iter());
            assert_eq!(next.len(), MOST_ORIGINS);
            let timed = next.into_iter().map(|origin| Timed {
                origin: origin.clone(),
                rtt_ms: 1.0,
                samples: 1,
            });
            let (place, timed) = ("fra".to_owned(), timed.collect());
            book.take(&Report { place, timed }, &places, Instant::from_secs(round));
        }
        // After three rounds of eight everybody had two turns.
        assert_eq!(book.iter().count(), names.len());
        let newest = book.iter().map(|(_, latest)| latest["fra"].at);
        assert!(newest.into_iter().all(|at| at >= Instant::from_secs(1)));
    }
}
