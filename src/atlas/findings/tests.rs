use super::*;
use crate::atlas::anycast::FIBRE_KM_PER_MS;
use crate::atlas::place::Point;
use crate::atlas::probe::{Report, Timed};
use crate::atlas::ranges::Assigned;
use crate::atlas::region_places::APART_KM;
use crate::time::Span;
use proptest::prelude::*;

const CHECKPOINTS: [&str; 12] = [
    "iad", "ewr", "sea", "fra", "lhr", "arn", "sin", "nrt", "syd", "hkg", "gru", "jnb",
];

fn places() -> RegionPlaces {
    RegionPlaces::packed().unwrap()
}

fn name(text: &str) -> OriginName {
    text.parse().unwrap()
}

fn region(text: &str) -> Region {
    text.parse().unwrap()
}

/// Round `n`: one takes a quarter of an hour.
fn at(n: u64) -> Instant {
    Instant::from_secs(1_800_000_000 + n * 900)
}

fn table() -> Table {
    let assigned = |prefix: &str, text: &str| Assigned {
        prefix: prefix.parse().unwrap(),
        region: region(text),
    };
    Table::new(&[
        assigned("18.0.0.0/16", "aws:us-east-1"),
        assigned("52.0.0.0/16", "aws:ap-southeast-1"),
    ])
}

fn point(code: &str) -> Point {
    places().place(code).unwrap().point
}

/// How long a handshake takes with the nearest of the servers, and a little more.
fn ms(from: &str, servers: &[&str]) -> f64 {
    let km = servers
        .iter()
        .map(|server| point(from).km_to(&point(server)));
    km.fold(f64::MAX, f64::min) * 2.0 / FIBRE_KM_PER_MS * 1.2 + 1.0
}

fn measure(book: &mut Book, origin: &str, servers: &[&str], now: Instant) {
    for code in CHECKPOINTS {
        let timed = Timed {
            origin: name(origin),
            rtt_ms: ms(code, servers),
            samples: 5,
        };
        let report = Report {
            place: code.to_owned(),
            timed: vec![timed],
        };
        book.take(&report, &places(), now);
    }
}

#[test]
fn a_unicast_origin_has_the_tier_from_which_it_is_nearest() {
    let (mut book, mut findings) = (Book::default(), Findings::default());
    measure(&mut book, "18.0.0.1", &["iad"], at(0));
    findings.round(&book, Some(&table()), &places(), at(0));
    let finding = &findings.origins[&name("18.0.0.1")];
    assert!(finding.verdict.is_unicast());
    let pair = &finding.tier.as_ref().unwrap().pair;
    assert_eq!(
        (pair.primary.as_str(), pair.fallback.as_deref()),
        ("iad", Some("ewr"))
    );
}

#[test]
fn an_anycast_origin_has_none_and_does_not_vote() {
    let (mut book, mut findings) = (Book::default(), Findings::default());
    measure(&mut book, "52.0.0.1", &["sin", "iad", "fra"], at(0));
    findings.round(&book, Some(&table()), &places(), at(0));
    let finding = &findings.origins[&name("52.0.0.1")];
    assert!(finding.verdict.is_anycast() && finding.tier.is_none());
    assert!(findings.regions.is_empty());
}

/// The geography says Singapore, but the servers of the region answer soonest from Hong Kong.
#[test]
fn measurements_take_the_place_of_geography_after_some_rounds() {
    let (mut book, mut findings) = (Book::default(), Findings::default());
    let singapore = region("aws:ap-southeast-1");
    let mut seen = Vec::new();
    for n in 0..5 {
        measure(&mut book, "52.0.0.1", &["hkg"], at(n));
        findings.round(&book, Some(&table()), &places(), at(n));
        let tier = &findings.regions[&singapore];
        seen.push((tier.source, tier.standing.pair.primary.clone()));
    }
    let geography = (Source::Geography, "sin".to_owned());
    let measured = (Source::Measured, "hkg".to_owned());
    assert_eq!(
        seen,
        [
            geography.clone(),
            geography,
            measured.clone(),
            measured.clone(),
            measured
        ]
    );
    // So that who changes over can read from the old tier for a while.
    let standing = &findings.regions[&singapore].standing;
    assert_eq!(
        (standing.before.as_deref(), standing.since),
        (Some("sin"), at(2))
    );
    // Without measurements geography says it again.
    book.forget(|_| false, at(5));
    findings.round(&book, Some(&table()), &places(), at(5));
    assert!(findings.regions.is_empty() && findings.origins.is_empty());
}

#[test]
fn measurements_that_agree_with_geography_change_nothing() {
    let (mut book, mut findings) = (Book::default(), Findings::default());
    measure(&mut book, "18.0.0.1", &["iad"], at(0));
    findings.round(&book, Some(&table()), &places(), at(0));
    let tier = &findings.regions[&region("aws:us-east-1")];
    assert_eq!(tier.source, Source::Measured);
    assert_eq!(tier.standing.pair.primary, "iad");
    assert_eq!(tier.standing.before, None);
}

#[test]
fn one_odd_round_does_not_change_a_verdict() {
    let (mut book, mut findings) = (Book::default(), Findings::default());
    let verdicts = [["iad", "iad"], ["iad", "sin"], ["iad", "iad"]]
        .into_iter()
        .zip(0..);
    for (servers, n) in verdicts {
        measure(&mut book, "18.0.0.1", &servers, at(n));
        findings.round(&book, Some(&table()), &places(), at(n));
        assert!(findings.origins[&name("18.0.0.1")].verdict.is_unicast());
    }
    for n in 3..6 {
        measure(&mut book, "18.0.0.1", &["iad", "sin"], at(n));
        findings.round(&book, Some(&table()), &places(), at(n));
        let verdict = findings.origins[&name("18.0.0.1")].verdict;
        assert_eq!(verdict.is_anycast(), n == 5, "{n}");
    }
}

#[test]
fn what_is_published_can_be_read_again() {
    let (mut book, mut findings) = (Book::default(), Findings::default());
    measure(&mut book, "18.0.0.1", &["iad"], at(0));
    measure(&mut book, "52.0.0.1", &["sin", "iad", "fra"], at(0));
    findings.round(&book, Some(&table()), &places(), at(0));
    let text = serde_json::to_string(&findings).unwrap();
    assert_eq!(serde_json::from_str::<Findings>(&text).unwrap(), findings);
    let text = serde_json::to_string(&book).unwrap();
    assert_eq!(serde_json::from_str::<Book>(&text).unwrap(), book);
}

proptest! {
    /// Whatever is measured, primary and fallback are never in one metropolitan area, and no tier
    /// changes more often than every few rounds.
    #[test]
    fn tiers_are_apart_and_steady(
        rounds in prop::collection::vec(prop::collection::vec(0.5_f64..250.0, CHECKPOINTS.len()), 1..12),
    ) {
        let places = places();
        let (mut book, mut findings) = (Book::default(), Findings::default());
        let mut since: BTreeMap<String, Instant> = BTreeMap::new();
        for (n, times) in (0..).zip(rounds) {
            for (code, rtt_ms) in CHECKPOINTS.iter().zip(times) {
                let timed = |origin| Timed { origin: name(origin), rtt_ms, samples: 5 };
                let report = Report {
                    place: (*code).to_owned(),
                    timed: vec![timed("18.0.0.1"), timed("52.0.0.1")],
                };
                book.take(&report, &places, at(n));
            }
            findings.round(&book, Some(&table()), &places, at(n));
            let of_origins = findings.origins.iter().filter_map(|(origin, finding)| {
                Some((origin.to_string(), finding.tier.clone()?))
            });
            let of_regions = findings.regions.iter();
            let of_regions = of_regions.map(|(region, tier)| (region.to_string(), tier.standing.clone()));
            for (whose, standing) in of_origins.chain(of_regions) {
                if let Some(fallback) = &standing.pair.fallback {
                    prop_assert!(point(fallback).km_to(&point(&standing.pair.primary)) >= APART_KM);
                }
                let last = since.insert(whose, standing.since);
                if let Some(last) = last.filter(|last| *last != standing.since && standing.before.is_some()) {
                    let least = Span::from_secs(900 * u64::from(ROUNDS - 1));
                    prop_assert!(standing.since.since(last) >= least);
                }
            }
        }
    }
}
