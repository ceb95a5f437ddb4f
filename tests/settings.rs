//! `docs/settings.md` describes the fields there are, and their defaults.
#![cfg(not(target_arch = "wasm32"))]
// clippy.toml allows these in tests, but does not know the functions that tests share.
#![allow(clippy::indexing_slicing, clippy::unwrap_used)]

mod common;

use anteroom::site::cached_hosts;
use anteroom::site::fields::{
    CACHED_HOST, CACHED_ROUTE, COOKIE_ATTRIBUTES, EVENT, Fields, IP_LIST, ROOM, ROUTE, RULE, SITE,
    TIER,
};
use serde_json::{Value, json};

const PAGE: &str = include_str!("../docs/settings.md");
const PARTS: [(&str, &Fields); 10] = [
    ("## The site", &SITE),
    ("## A room", &ROOM),
    ("## An additional route", &ROUTE),
    ("## Cookie attributes", &COOKIE_ATTRIBUTES),
    ("## An event", &EVENT),
    ("## A rule", &RULE),
    ("## A list of addresses", &IP_LIST),
    ("## A cached host", &CACHED_HOST),
    ("## A cached route", &CACHED_ROUTE),
    ("## An upper tier", &TIER),
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

/// Cached hosts that are declared so.
fn cached(declared: &Value) -> Result<Vec<anteroom::site::cached_host::CachedHost>, String> {
    let to_ascii = |name: &str| idna::domain_to_ascii(name).ok();
    let names = anteroom::site::host::Names {
        to_ascii: &to_ascii,
        is_public_suffix: &|_| false,
    };
    cached_hosts(Some(declared), names).map_err(|faults| faults.to_string())
}

#[test]
fn every_known_field_of_a_cached_host_is_read() {
    for name in CACHED_HOST.known {
        let mut host = json!({ "host": "a.test" });
        host[*name] = json!(1.5);
        let faults = cached(&json!([host])).unwrap_err();
        let place = format!("cached_hosts[0].{name}: ");
        assert!(faults.starts_with(&place), "{name}: {faults}");
    }
    for name in CACHED_ROUTE.known {
        let mut route = json!({ "path": "/a" });
        route[*name] = json!(1.5);
        let host = json!({ "host": "a.test", "routes": [route] });
        let faults = cached(&json!([host])).unwrap_err();
        let place = format!("cached_hosts[0].routes[0].{name}: ");
        assert!(faults.starts_with(&place), "{name}: {faults}");
    }
}

#[test]
fn a_route_is_as_its_host_where_it_says_nothing_itself() {
    let hosts = cached(&json!([{
        "host": "B\u{fc}cher.example",
        "origins": ["2001:DB8::1", "Origin.example."],
        "stale_if_error_seconds": 9,
        "bypass_cookies": ["a"],
        "routes": [
            { "path": "/a", "bypass_cookies": [] },
            { "path": "/a/b", "cache": false, "default_ttl_seconds": 5 },
        ],
    }]));
    let host = hosts.unwrap().remove(0);
    assert_eq!(host.host, "xn--bcher-kva.example");
    let origins: Vec<&str> = host.origins.iter().map(|origin| origin.as_str()).collect();
    assert_eq!(origins, ["2001:db8::1", "origin.example"]);
    let at = |path: &str| host.settings(path.as_bytes()).unwrap().clone();
    assert!(at("/").cache && at("/a").cache && !at("/a/b/c").cache);
    assert_eq!(at("/a/b").stale_if_error_seconds, 9);
    assert_eq!(at("/a/b").default_ttl_seconds, Some(5));
    assert_eq!(
        (at("/").bypass_cookies.len(), at("/a").bypass_cookies.len()),
        (1, 0)
    );
}

#[test]
fn what_is_wrong_with_cached_hosts_is_told() {
    for (declared, told) in [
        (json!({}), "cached_hosts: must be a list of tables"),
        (json!([{}]), "cached_hosts[0].host: is required"),
        (
            json!([{ "host": "a.test" }, { "host": "A.test" }]),
            "cached_hosts[1].host: is declared twice",
        ),
        (
            json!([{ "host": "a.test", "origins": ["https://b.test"] }]),
            "cached_hosts[0].origins[0]: must be an IP address or a host name",
        ),
        (
            json!([{ "host": "a.test", "origins": ["192.0.2.1", "192.0.2.1"] }]),
            "cached_hosts[0].origins[1]: is declared twice",
        ),
        (
            json!([{ "host": "a.test", "routes": [{ "path": "/" }] }]),
            "cached_hosts[0].routes[0].path: is the whole host",
        ),
        (
            json!([{ "host": "a.test", "routes": [{ "path": "/a" }, { "path": "/a/" }] }]),
            "cached_hosts[0].routes[1].path: is declared twice",
        ),
        (
            json!([{ "host": "a.test", "bypass_cookies": ["a b"] }]),
            "cached_hosts[0].bypass_cookies[0]: must be a cookie name",
        ),
        (
            json!([{ "host": "a.test", "chache": true }]),
            "cached_hosts[0].chache: unknown field; did you mean cache?",
        ),
    ] {
        let faults = cached(&declared).unwrap_err();
        assert!(faults.starts_with(told), "{faults}");
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
