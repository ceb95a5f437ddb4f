use super::*;
use crate::site::tier::{LocationHint, Tier, Transport};
use crate::tier::evidence::{Change, Measured, Voted};
use proptest::prelude::*;

fn places() -> RegionPlaces {
    RegionPlaces::packed().unwrap()
}

fn fleet_of(codes: &[&str]) -> Fleet {
    let tier = |code: &&str| Tier {
        name: (*code).to_owned(),
        place: (*code).to_owned(),
        transport: Transport::Object {
            location_hint: LocationHint::Weur,
            shards: 1,
        },
        checkpoint_only: false,
    };
    Fleet::new(codes.iter().map(tier).collect(), &places())
}

fn fleet() -> Fleet {
    fleet_of(&["fra", "iad", "chi", "nrt", "sin", "lhr", "syd"])
}

fn unknown() -> Evidence {
    Evidence::none("192.0.2.1".parse().unwrap())
}

fn located(region: &str) -> Located {
    Located {
        region: region.parse().unwrap(),
        voted: None,
        since: None,
    }
}

fn measured(place: &str) -> Measured {
    Measured {
        place: place.into(),
        fallback: None,
        rtt_ms: Some(1.4),
        change: None,
    }
}

fn names(fleet: &Fleet, wanted: &Wanted<'_>) -> (String, Option<String>, String) {
    let choice = choose(fleet, &places(), wanted).unwrap();
    let fallback = choice.fallback.map(|upper| upper.name().to_owned());
    (
        choice.primary.name().to_owned(),
        fallback,
        choice.because.to_string(),
    )
}

fn wanted(evidence: &[Evidence]) -> Wanted<'_> {
    Wanted {
        custom: None,
        evidence,
        pool: None,
        continent: Some("AS"),
        key: 7,
    }
}

fn chosen(evidence: &[Evidence]) -> (String, Option<String>, String) {
    names(&fleet(), &wanted(evidence))
}

#[test]
fn each_kind_of_knowledge_gives_way_to_the_one_before() {
    let mut one = unknown();
    one.prefix = Some(located("aws:eu-west-2"));
    let fallback = Some("fra".to_owned());
    let by_prefix = "address in aws:eu-west-2 by geography".to_owned();
    assert_eq!(chosen(&[one.clone()]), ("lhr".into(), fallback, by_prefix));
    one.measured = Some(measured("iad"));
    assert_eq!(chosen(&[one.clone()]).0, "iad");
    assert_eq!(chosen(&[one.clone()]).2, "measured 1 ms");
    one.hint = Some(located("gcp:asia-southeast1"));
    assert_eq!(chosen(&[one.clone()]).0, "sin");
    assert_eq!(
        chosen(&[one.clone()]).2,
        "hint gcp:asia-southeast1 by geography"
    );
    let evidence = [one];
    let custom = Wanted {
        custom: Some("syd"),
        ..wanted(&evidence)
    };
    assert_eq!(
        names(&fleet(), &custom),
        ("syd".into(), Some("sin".into()), "custom".into())
    );
}

/// What is near everywhere is nowhere: no measurement and no prefix says where such an origin is, and
/// a hint does.
#[test]
fn an_anycast_origin_has_several_tiers_until_there_is_a_hint() {
    let mut one = unknown();
    one.anycast = Some(true);
    one.measured = Some(measured("chi"));
    one.prefix = Some(located("gcp:us-central1"));
    let (primary, _, because) = chosen(&[one.clone()]);
    assert!(
        ["nrt", "sin"].contains(&primary.as_str()),
        "on the continent of who asks"
    );
    assert_eq!(because, "anycast without hint");
    one.hint = Some(located("gcp:asia-southeast1"));
    assert_eq!(chosen(&[one]).0, "sin");
}

#[test]
fn a_vote_decides_before_geography() {
    let mut one = unknown();
    let voted = Voted {
        primary: "chi".into(),
        fallback: Some("iad".into()),
        measured: true,
        change: None,
    };
    one.hint = Some(Located {
        voted: Some(voted),
        ..located("gcp:us-central1")
    });
    let (primary, fallback, because) = chosen(&[one.clone()]);
    assert_eq!(
        (primary.as_str(), fallback.as_deref()),
        ("chi", Some("iad"))
    );
    assert_eq!(because, "hint gcp:us-central1 by measured");
    // Where no tier runs in the place of the vote, the nearest to it is taken.
    let few = fleet_of(&["nrt", "iad", "fra"]);
    assert_eq!(names(&few, &wanted(&[one])).0, "iad");
}

#[test]
fn a_region_that_nobody_knows_is_no_knowledge() {
    let mut one = unknown();
    one.hint = Some(located("aws:us-east-1-xyz-1"));
    one.measured = Some(measured("fra"));
    assert_eq!(chosen(&[one]).2, "measured 1 ms");
    assert_eq!(chosen(&[unknown()]).2, "origin not located");
    assert_eq!(chosen(&[]).2, "origin not located");
}

#[test]
fn a_pool_has_the_one_tier_that_is_nearest_to_all_its_members() {
    let at = |region: &str| {
        let mut one = unknown();
        one.hint = Some(located(region));
        one
    };
    let pool = [at("aws:eu-west-2"), at("aws:eu-central-1"), unknown()];
    let places = places();
    let place = |code| places.place(code).unwrap();
    let wanted = Wanted {
        pool: Some((place("fra"), Some(place("lhr")))),
        ..wanted(&pool)
    };
    let (primary, fallback, because) = names(&fleet(), &wanted);
    assert_eq!(
        (primary.as_str(), fallback.as_deref()),
        ("fra", Some("lhr"))
    );
    assert_eq!(because, "pool, 2 of 3 located");
}

#[test]
fn where_nobody_is_near_all_tiers_share_the_keys() {
    let evidence = [unknown()];
    let primaries: std::collections::BTreeSet<String> = (0..200)
        .map(|key| {
            let continent = Some("AF");
            names(
                &fleet(),
                &Wanted {
                    continent,
                    key,
                    ..wanted(&evidence)
                },
            )
            .0
        })
        .collect();
    assert_eq!(primaries.len(), 7);
}

#[test]
fn without_tiers_there_is_no_choice_and_one_has_no_fallback() {
    assert_eq!(choose(&Fleet::default(), &places(), &wanted(&[])), None);
    assert_eq!(names(&fleet_of(&["fra"]), &wanted(&[])).1, None);
}

/// Who was asked before an hour ago, while the tiers of `evidence` are asked at 10,000 s.
fn before(evidence: &[Evidence]) -> Option<String> {
    let (fleet, places, wanted) = (fleet(), places(), wanted(evidence));
    let now = Instant::from_secs(10_000);
    let primary = choose(&fleet, &places, &wanted).unwrap().primary;
    let before = super::before(&fleet, &places, &wanted, primary, now);
    before.map(|upper| upper.name().to_owned())
}

#[test]
fn for_a_while_after_a_change_the_tier_of_before_is_known() {
    let at = |secs| Some(Instant::from_secs(secs));
    let mut one = unknown();
    one.measured = Some(measured("chi"));
    assert_eq!(before(&[one.clone()]), None, "there was no change");
    // A hint is set.
    one.hint = Some(Located {
        since: at(9_000),
        ..located("gcp:asia-southeast1")
    });
    assert_eq!(before(&[one.clone()]).as_deref(), Some("chi"));
    one.hint.as_mut().unwrap().since = at(6_400);
    assert_eq!(before(&[one.clone()]), None, "long ago");
    // Its region gets another tier by measurement.
    let change = |at: u64, before: Option<&str>| {
        let before = before.map(str::to_owned);
        Some(Change {
            at: Instant::from_secs(at),
            before,
        })
    };
    let voted = |change| Voted {
        primary: "nrt".into(),
        fallback: None,
        measured: true,
        change,
    };
    one.hint.as_mut().unwrap().voted = Some(voted(change(9_999, Some("iad"))));
    assert_eq!(before(&[one.clone()]).as_deref(), Some("iad"));
    one.hint.as_mut().unwrap().voted = Some(voted(change(9_999, None)));
    assert_eq!(
        before(&[one.clone()]).as_deref(),
        Some("sin"),
        "by geography"
    );
    // Without a hint, the same of what was measured.
    one.hint = None;
    one.measured.as_mut().unwrap().change = change(9_999, Some("fra"));
    assert_eq!(before(&[one.clone()]).as_deref(), Some("fra"));
    one.measured.as_mut().unwrap().change = change(9_999, Some("chi"));
    assert_eq!(before(&[one]), None, "it is the same");
}

proptest! {
    /// Whatever is known, the fallback is in another place, and if any tier is, there is one.
    #[test]
    fn losing_one_place_never_loses_both(
        codes in prop::sample::subsequence(
            vec!["fra", "iad", "ewr", "pdx", "pdt", "nrt", "sin", "lhr", "syd", "gru", "sjc"], 1..11),
        hint in prop::option::of(prop::sample::select(vec!["aws:us-west-2", "gcp:us-east4", "oci:eu-zurich-1"])),
        place in prop::option::of(prop::sample::select(vec!["pdx", "iad", "bom"])),
        anycast in prop::option::of(any::<bool>()),
        key in any::<u64>(),
        continent in prop::sample::select(vec!["NA", "EU", "AF"]),
    ) {
        let fleet = fleet_of(&codes);
        let mut one = unknown();
        one.hint = hint.map(located);
        one.measured = place.map(measured);
        one.anycast = anycast;
        let evidence = [one];
        let wanted = Wanted { custom: None, evidence: &evidence, pool: None, continent: Some(continent), key };
        let places = places();
        let choice = choose(&fleet, &places, &wanted).unwrap();
        let others = fleet.all().any(|upper| upper.is_apart_from(choice.primary));
        prop_assert_eq!(choice.fallback.is_some(), others);
        // Who may have stored an answer is known, from wherever it was asked for.
        let elsewhere = Wanted { continent: None, ..wanted };
        let holders = holders(&fleet, &places, &elsewhere, Instant::from_secs(0));
        let asked = [Some(choice.primary), choice.fallback].into_iter().flatten();
        for upper in asked {
            prop_assert!(holders.iter().any(|holder| holder.name() == upper.name()));
        }
        if let Some(fallback) = choice.fallback {
            prop_assert!(fallback.is_apart_from(choice.primary));
        }
    }
}
