//! `docs/settings.md` describes the fields there are, and their defaults.
#![cfg(not(target_arch = "wasm32"))]
// clippy.toml allows these in tests, but does not know the functions that tests share.
#![allow(clippy::indexing_slicing, clippy::unwrap_used)]

mod common;

use anteroom::site::fields::{COOKIE_ATTRIBUTES, EVENT, Fields, IP_LIST, ROOM, ROUTE, RULE, SITE};
use serde_json::{Value, json};

const PAGE: &str = include_str!("../docs/settings.md");
const PARTS: [(&str, &Fields); 7] = [
    ("## The site", &SITE),
    ("## A room", &ROOM),
    ("## An additional route", &ROUTE),
    ("## Cookie attributes", &COOKIE_ATTRIBUTES),
    ("## An event", &EVENT),
    ("## A rule", &RULE),
    ("## A list of addresses", &IP_LIST),
];

#[test]
fn every_field_is_described_and_no_other() {
    for (heading, fields) in PARTS {
        let mut described: Vec<String> = common::table(PAGE, heading)
            .into_iter()
            .map(|row| row[0].clone())
            .collect();
        let mut known = fields.known.to_vec();
        described.sort();
        known.sort();
        assert_eq!(described, known, "{heading}");
    }
}

#[test]
fn the_described_defaults_are_the_defaults() {
    let plain = common::only(common::room("a", "example.com", json!({})));
    let mut checked = 0;
    for row in common::table(PAGE, "## A room") {
        if let Ok(default) = serde_json::from_str::<Value>(&row[2]) {
            let set = common::room("a", "example.com", json!({ row[0].as_str(): default }));
            assert_eq!(common::only(set), plain, "{row:?}");
            checked += 1;
        }
    }
    assert_eq!(
        checked,
        ROOM.known.len() - 6,
        "all but the required, the id and session_max_minutes"
    );
}

/// Each known field is read: a value of a type that no field has is refused.
#[test]
fn every_known_field_is_read() {
    for name in ROOM.known {
        let set = common::room("a", "example.com", json!({ *name: 1.5 }));
        let faults = common::faults(&json!({ "rooms": [set] }));
        assert!(
            faults.starts_with(&format!("rooms[0].{name}: ")),
            "{name}: {faults}"
        );
    }
    for name in COOKIE_ATTRIBUTES.known {
        let set = common::room(
            "a",
            "example.com",
            json!({ "cookie_attributes": { *name: 1.5 } }),
        );
        let faults = common::faults(&json!({ "rooms": [set] }));
        assert_eq!(
            faults,
            format!("rooms[0].cookie_attributes.{name}: must be text, not 1.5")
        );
    }
}

#[test]
fn the_rooms_that_ship_are_valid() {
    let declared: Value = toml::from_str(include_str!("../rooms.toml")).unwrap();
    let site = common::site(&declared).unwrap();
    assert_eq!(site.rooms[0].name, "demo");
    assert_eq!(site.rooms[0].cookie.domain, None);
}

/// The example that `rooms.toml` has in its comments.
#[test]
fn the_example_that_ships_is_valid() {
    let text = include_str!("../rooms.toml");
    let example = text.split("\n#\n").skip(1).collect::<Vec<_>>().join("\n");
    let example: String = example
        .lines()
        .map(|line| format!("{}\n", line.trim_start_matches("# ")))
        .collect();
    let example = example.split("[[rooms]]").nth(1).unwrap();
    let lines = example
        .lines()
        .filter(|line| line.contains(" = ") || line.starts_with("[["));
    let toml = format!("[[rooms]]\n{}", lines.collect::<Vec<_>>().join("\n"));
    let site = common::site(&toml::from_str(&toml).unwrap()).unwrap();
    assert_eq!(site.rooms[0].routes.len(), 3);
    assert_eq!(site.rooms[0].cookie.name, "__cfwaitingroom_sale");
    assert_eq!(site.rooms[0].cookie.domain.as_deref(), Some("example.com"));
}
