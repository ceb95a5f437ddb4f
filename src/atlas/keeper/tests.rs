use super::*;
use crate::atlas::probe::{Timed, may_probe};

fn at(n: u64) -> Instant {
    Instant::from_secs(1_800_000_000 + n)
}

fn vendor(name: &str) -> Vendor {
    name.parse().unwrap()
}

#[test]
fn an_object_that_ends_goes_on_where_it_was() {
    let mut keeper = Keeper::open(Rows::new()).unwrap();
    let mut stored = Rows::new();
    let origin: OriginName = "203.0.113.1".parse().unwrap();
    let hints = Arc::make_mut(&mut keeper.to_change().0.hints);
    hints
        .set(origin.clone(), "aws:us-east-1".parse().unwrap(), at(0))
        .unwrap();
    let text = r#"{"prefixes":[{"ipv4Prefix":"34.80.0.0/15","scope":"asia-east1"}]}"#;
    let fetched = Fetched::File {
        text,
        etag: Some("\"1\"".into()),
        last_modified: None,
    };
    assert_eq!(keeper.take_file(&vendor("gcp"), fetched, at(0)), None);
    let timed = vec![Timed {
        origin: origin.clone(),
        rtt_ms: 1.25,
        samples: 5,
    }];
    keeper.hold_round(
        &[Report {
            place: "iad".into(),
            timed,
        }],
        &[],
        at(1),
    );
    stored.extend(keeper.changed().unwrap());
    assert!(keeper.changed().unwrap().is_empty());

    let again = Keeper::open(stored.clone()).unwrap();
    for part in Part::ALL {
        assert_eq!(again.value(part), keeper.value(part), "{part:?}");
    }
    let address = "34.81.0.1".parse().unwrap();
    let region = again
        .knowledge()
        .region_of(address)
        .map(ToString::to_string);
    assert_eq!(region.as_deref(), Some("gcp:asia-east1"));
    assert_eq!(
        again.knowledge().finding(&origin).unwrap().times["iad"],
        1.25
    );
    // What cannot be read is not taken for nothing.
    stored.insert("hints".into(), "?".into());
    assert!(matches!(
        Keeper::open(stored),
        Err(Failure::Row("hints", _))
    ));
}

#[test]
fn what_has_changed_is_published_once() {
    let mut keeper = Keeper::open(Rows::new()).unwrap();
    assert_eq!(keeper.untold(), None);
    let hints = Arc::make_mut(&mut keeper.to_change().0.hints);
    hints
        .set(
            "a.example.com".parse().unwrap(),
            "aws:us-east-1".parse().unwrap(),
            at(0),
        )
        .unwrap();
    assert_eq!(keeper.untold(), Some((Part::Hints, 1)));
    keeper.note_told(Part::Hints, 1);
    assert_eq!(keeper.untold(), None);
    keeper.hold_round(&[], &[], at(1));
    assert_eq!(keeper.untold(), Some((Part::Findings, 1)));
    // It is known after a restart, too.
    let again = Keeper::open(keeper.changed().unwrap()).unwrap();
    assert_eq!(again.untold(), Some((Part::Findings, 1)));
}

#[test]
fn files_are_asked_for_where_they_are() {
    let keeper = Keeper::open(Rows::new()).unwrap();
    let none = keeper.wanted(|_| None, at(0));
    let vendors = |wanted: &[Wanted]| -> Vec<String> {
        wanted
            .iter()
            .map(|wanted| wanted.vendor.to_string())
            .collect()
    };
    // Azure's address moves: without one it is left out.
    assert_eq!(vendors(&none), ["aws", "gcp", "oci"]);
    let configured = |vendor: &Vendor| {
        (vendor.as_str() == "azure").then(|| "https://files.example/azure.json".to_owned())
    };
    assert_eq!(
        vendors(&keeper.wanted(configured, at(0))),
        ["aws", "azure", "gcp", "oci"]
    );
}

#[test]
fn probes_go_to_what_is_declared_or_hinted() {
    let mut keeper = Keeper::open(Rows::new()).unwrap();
    let hinted: OriginName = "hinted.example.com".parse().unwrap();
    let hints = Arc::make_mut(&mut keeper.to_change().0.hints);
    hints
        .set(hinted.clone(), "aws:us-east-1".parse().unwrap(), at(0))
        .unwrap();
    let declared = [
        "b.example.com".parse().unwrap(),
        "10.0.0.1".parse().unwrap(),
    ];
    let may = |origin: &OriginName| may_probe(origin, &[]).is_ok();
    let next = keeper.origins_to_probe(&declared, may);
    assert_eq!(next, [declared[0].clone(), hinted]);
}
