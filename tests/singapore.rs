//! The case of docs/tiers.md: an origin in Singapore behind an anycast address that looks nearest from
//! Chicago, and a visitor in Tokyo.
#![cfg(not(target_arch = "wasm32"))]
// clippy.toml allows these in tests, but does not know the functions that tests share.
#![allow(clippy::indexing_slicing, clippy::unwrap_used)]

mod common;

use std::sync::Arc;

use anteroom::atlas::hints::Hints;
use anteroom::atlas::knowledge::Knowledge;
use anteroom::atlas::origin_name::OriginName;
use anteroom::atlas::region_places::RegionPlaces;
use anteroom::site::tier::{Tier, Transport};
use anteroom::tier::choice::{Wanted, choose};
use anteroom::tier::evidence::{Evidence, Measured};
use anteroom::tier::fleet::Fleet;
use anteroom::tier::rendezvous::hash_of;
use anteroom::time::Instant;

const PAGE: &str = include_str!("../docs/tiers.md");

/// The tiers of the example: those on two continents that are nearest to somebody.
const TIERS: [&str; 6] = ["sin", "hkg", "nrt", "bom", "chi", "iad"];

fn fleet(places: &RegionPlaces) -> Fleet {
    let tier = |code: &&str| Tier {
        name: (*code).into(),
        place: (*code).into(),
        transport: Transport::Placed {
            region: String::new(),
            binding: String::new(),
        },
        checkpoint_only: false,
    };
    Fleet::new(TIERS.iter().map(tier).collect(), places)
}

/// How far a miss travels from Tokyo to its tier, to Singapore, and back the same way, in kilometres, on
/// average over many answers; and from how many tiers the origin is asked.
fn path(evidence: &Evidence, places: &RegionPlaces) -> (f64, usize) {
    let fleet = fleet(places);
    let place = |code| places.place(code).unwrap();
    let (tokyo, singapore) = (place("nrt"), place("sin"));
    let evidence = std::slice::from_ref(evidence);
    let mut sum = 0.0;
    let mut asking = Vec::new();
    const ANSWERS: u32 = 10_000;
    for n in 0..ANSWERS {
        let wanted = Wanted {
            custom: None,
            evidence,
            pool: None,
            continent: Some("AS"),
            key: hash_of(&format!("https://shop.example/{n}")),
        };
        let tier = choose(&fleet, places, &wanted).unwrap().primary;
        let there = tokyo.point.km_to(&tier.place.point);
        sum += 2.0 * (there + tier.place.point.km_to(&singapore.point));
        asking.push(tier.name());
    }
    asking.sort_unstable();
    asking.dedup();
    (sum / f64::from(ANSWERS), asking.len())
}

#[test]
fn a_hint_spares_two_crossings_of_the_pacific() {
    let places = RegionPlaces::packed().unwrap();
    let origin: OriginName = "192.0.2.1".parse().unwrap();
    // A probe from Chicago comes back first, and nobody has found out that the address is anycast.
    let mut known = Evidence::none(origin.clone());
    known.measured = Some(Measured {
        place: "chi".into(),
        fallback: None,
        rtt_ms: Some(1.0),
        change: None,
    });
    let believed = path(&known, &places);
    // It was found out.
    known.anycast = Some(true);
    let safe = path(&known, &places);
    // The operator says where the origin is.
    let mut hints = Hints::default();
    let region = "gcp:asia-southeast1".parse().unwrap();
    hints
        .set(origin.clone(), region, Instant::from_secs(1))
        .unwrap();
    let knowledge = Knowledge {
        places: Arc::new(places.clone()),
        hints: Arc::new(hints),
        ..Knowledge::default()
    };
    let mut hinted = Evidence::of(&origin, &knowledge);
    hinted.anycast = known.anycast;
    hinted.measured = known.measured;
    let hinted = path(&hinted, &places);

    let rows = [
        ("the nearest tier by probe, not knowing better", believed),
        ("several tiers: found to be anycast, no hint", safe),
        ("the hint `gcp:asia-southeast1`", hinted),
    ];
    let measured: Vec<Vec<String>> = rows
        .iter()
        .map(|(what, (km, tiers))| {
            vec![
                what.replace('`', ""),
                format!("{km:.0} km"),
                tiers.to_string(),
            ]
        })
        .collect();
    assert_eq!(
        common::table(PAGE, "## A miss that crosses the Pacific"),
        measured
    );
    assert!(believed.0 > 4.0 * hinted.0, "{believed:?} {hinted:?}");
    assert!(hinted.0 < safe.0 && safe.0 < believed.0);
    assert_eq!((believed.1, hinted.1), (1, 1));
}
