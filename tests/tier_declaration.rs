//! Upper tiers as they are declared: what is right, and what is told of what is wrong.
#![cfg(not(target_arch = "wasm32"))]
// clippy.toml allows these in tests, but does not know the functions that tests share.
#![allow(clippy::indexing_slicing, clippy::unwrap_used)]

use anteroom::atlas::cloud::Region;
use anteroom::atlas::region_places::RegionPlaces;
use anteroom::site::cached_host::CachedHost;
use anteroom::site::tier::{LocationHint, Tier, Transport};
use anteroom::site::{Located, World, tiers};
use serde_json::{Value, json};

fn read(declared: Value, hosts: &[CachedHost]) -> Result<Vec<Tier>, String> {
    let places = RegionPlaces::packed().unwrap();
    let region = |text: &str| {
        let region: Region = text.parse().map_err(|_| "is no region".to_owned())?;
        let placement = places.placement(&region).ok_or("is nowhere".to_owned())?;
        Ok(Located {
            place: placement.place.code.clone(),
            placement: placement.region.to_string(),
        })
    };
    let world = World {
        region: &region,
        is_place: &|code| places.place(code).is_some(),
    };
    tiers(Some(&declared), hosts, world).map_err(|faults| faults.to_string())
}

#[test]
fn both_kinds_are_read() {
    let read = read(
        json!([
            { "name": "fra", "region": "aws:eu-central-1" },
            { "name": "sao-paulo", "region": "oci/sa-saopaulo-1", "binding": "SP" },
            { "name": "near", "location_hint": "apac-ne" },
            { "name": "east", "location_hint": "enam", "shards": 2, "place": "ewr" },
        ]),
        &[],
    )
    .unwrap();
    let placed = |tier: &Tier| match &tier.transport {
        Transport::Placed { region, binding } => format!("{} {region} {binding}", tier.place),
        Transport::Object {
            location_hint,
            shards,
        } => format!("{} {} {shards}", tier.place, location_hint.as_str()),
    };
    assert_eq!(placed(&read[0]), "fra aws:eu-central-1 TIER_FRA");
    let oracle = placed(&read[1]);
    assert!(
        oracle.starts_with("gru ") && oracle.ends_with(" SP"),
        "{oracle}"
    );
    assert!(
        !oracle.contains("oci"),
        "placement does not know Oracle: {oracle}"
    );
    assert_eq!(placed(&read[2]), "nrt apac-ne 8");
    assert_eq!(placed(&read[3]), "ewr enam 2");
}

#[test]
fn what_is_wrong_is_told() {
    for (tier, fault) in [
        (json!({ "region": "aws:eu-west-2" }), "name: is required"),
        (
            json!({ "name": "A", "region": "aws:eu-west-2" }),
            "name: must be 1 to 32",
        ),
        (json!({ "name": "a" }), "region: is required"),
        (
            json!({ "name": "a", "location_hint": "weur", "checkpoint_only": true }),
            "checkpoint_only: is for tiers with a region",
        ),
        (
            json!({ "name": "a", "region": "aws:xx" }),
            "region: is nowhere",
        ),
        (
            json!({ "name": "a", "region": "aws:eu-west-2", "location_hint": "weur" }),
            "location_hint: cannot stand beside region",
        ),
        (
            json!({ "name": "a", "location_hint": "sam" }),
            "location_hint: sam: Cloudflare runs no Durable Objects there",
        ),
        (
            json!({ "name": "a", "location_hint": "weurr" }),
            "did you mean weur?",
        ),
        (
            json!({ "name": "a", "location_hint": "weur", "shards": 65 }),
            "shards: must be",
        ),
        (
            json!({ "name": "a", "location_hint": "weur", "binding": "X" }),
            "binding: is for",
        ),
        (
            json!({ "name": "a", "region": "aws:eu-west-2", "shards": 1 }),
            "shards: is for",
        ),
        (
            json!({ "name": "a", "region": "aws:eu-west-2", "binding": "1" }),
            "binding: must be",
        ),
        (
            json!({ "name": "a", "region": "aws:eu-west-2", "place": "xxx" }),
            "place: must be a code",
        ),
        (
            json!({ "name": "a", "regoin": "aws:eu-west-2" }),
            "regoin: unknown field",
        ),
    ] {
        let told = read(json!([tier]), &[]).unwrap_err();
        assert!(
            told.contains(&format!("tiers[0].{fault}")) || told.contains(fault),
            "{told}"
        );
    }
    let twice = json!({ "name": "a", "location_hint": "weur" });
    let told = read(json!([twice, twice]), &[]).unwrap_err();
    assert_eq!(told, "tiers[1].name: is also the name of another tier");
    assert!(
        read(json!({}), &[])
            .unwrap_err()
            .starts_with("tiers: must be a list")
    );
}

#[test]
fn a_host_chooses_a_tier_that_there_is() {
    let host = CachedHost {
        host: "a.example".into(),
        origins: Vec::new(),
        tier: Some("fra".into()),
        routes: Vec::new(),
    };
    let hosts = [host];
    assert!(read(json!([{ "name": "fra", "location_hint": "weur" }]), &hosts).is_ok());
    let measures =
        json!([{ "name": "fra", "region": "aws:eu-central-1", "checkpoint_only": true }]);
    assert!(read(measures, &hosts).is_err());
    let told = read(json!([]), &hosts).unwrap_err();
    assert_eq!(
        told,
        "cached_hosts[0].tier: must be the name of one of tiers, not \"fra\""
    );
}

#[test]
fn every_location_hint_has_a_place() {
    let places = RegionPlaces::packed().unwrap();
    for hint in LocationHint::ALL {
        let place = places.place(hint.usual_place()).unwrap();
        let colo = places.colo_at(&place.code).unwrap();
        assert!(
            colo.has_objects,
            "{}: no object runs in {}",
            hint.as_str(),
            place.city
        );
    }
}
