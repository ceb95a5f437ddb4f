use std::sync::Arc;

use super::*;
use crate::atlas::hints::Hints;
use crate::atlas::region_places::RegionPlaces;
use crate::site::tier::{LocationHint, Tier};
use crate::time::Instant;

const ORIGIN: &str = "192.0.2.1";

fn knowledge(hint: Option<&str>) -> Knowledge {
    let mut hints = Hints::default();
    if let Some(region) = hint {
        let origin = ORIGIN.parse().unwrap();
        hints
            .set(origin, region.parse().unwrap(), Instant::from_secs(1))
            .unwrap();
    }
    Knowledge {
        places: Arc::new(RegionPlaces::packed().unwrap()),
        hints: Arc::new(hints),
        ..Knowledge::default()
    }
}

fn fleet(codes: &[&str], knowledge: &Knowledge) -> Fleet {
    let tier = |code: &&str| Tier {
        name: (*code).into(),
        place: (*code).into(),
        transport: Transport::Object {
            location_hint: LocationHint::Enam,
            shards: 1,
        },
        checkpoint_only: false,
    };
    Fleet::new(codes.iter().map(tier).collect(), &knowledge.places)
}

fn host() -> CachedHost {
    CachedHost {
        host: "shop.example".into(),
        origins: vec![ORIGIN.parse().unwrap()],
        tier: None,
        routes: Vec::new(),
    }
}

fn explained(hint: Option<&str>, codes: &[&str]) -> Explanation {
    let knowledge = knowledge(hint);
    let fleet = fleet(codes, &knowledge);
    let host = host();
    explain(
        &ORIGIN.parse().unwrap(),
        [&host].into_iter(),
        &fleet,
        &knowledge,
    )
}

#[test]
fn a_hint_is_followed_and_said() {
    let text = explained(Some("aws:us-east-1"), &["iad", "chi", "fra"]).text();
    assert_eq!(
        text,
        "Whether 192.0.2.1 answers from one place is not known: 0 checkpoints have measured it.\n\
         A hint says that it is in aws:us-east-1 (Ashburn).\n\
         The place nearest to aws:us-east-1 is Ashburn, and then Newark, on the map.\n\
         shop.example asks the upper tier iad (Ashburn), and if that fails chi (Chicago) and then the \
         origin; why: hint aws:us-east-1 by geography.\n"
    );
}

#[test]
fn who_knows_nothing_is_told_to_set_a_hint() {
    let explained = explained(None, &["iad", "fra"]);
    assert_eq!(explained.evidence, ["Nothing is known of where it is."]);
    assert_eq!(explained.choices[0].primary, None);
    assert!(explained.choices[0].text.contains("each for its share"));
    assert!(explained.advice[0].starts_with("Set a region hint for 192.0.2.1"));
}

/// Sao Paulo has no Durable Objects within 6,000 km.
#[test]
fn a_placed_worker_is_proposed_where_objects_are_far() {
    let explained = explained(Some("aws:sa-east-1"), &["iad", "fra"]);
    assert_eq!(explained.choices[0].primary.as_deref(), Some("iad"));
    let advice = &explained.advice[0];
    assert!(
        advice.contains("Durable Objects") && advice.contains("km from Sao Paulo"),
        "{advice}"
    );
    assert!(advice.contains("would be 0 km from it"), "{advice}");
}

#[test]
fn what_is_missing_is_said() {
    let knowledge = knowledge(None);
    let nothing = explain(
        &ORIGIN.parse().unwrap(),
        [].into_iter(),
        &Fleet::default(),
        &knowledge,
    );
    assert_eq!(nothing.advice.len(), 2);
    assert!(nothing.choices.is_empty());
    assert!(
        explained(None, &[]).choices[0]
            .text
            .contains("asks the origin directly")
    );
}
