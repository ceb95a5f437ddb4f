//! What a declaration becomes, and how its faults read.
#![cfg(not(target_arch = "wasm32"))]
// clippy.toml allows these in tests, but does not know the functions that tests share.
#![allow(clippy::indexing_slicing, clippy::unwrap_used)]

mod common;

use anteroom::site::room::{BindPass, FailMode, Room, SameSite, Secure, Site};
use common::{faults, only, room};
use serde_json::{Value, json};

/// The faults of one room with these fields, without their common prefix.
fn of_room(more: Value) -> String {
    faults(&json!({ "rooms": [room("a", "example.com", more)] })).replace("rooms[0].", "")
}

fn cookie(room: &Room) -> String {
    let domain = room.cookie.domain.as_deref().unwrap_or("-");
    format!(
        "{}; Domain={domain}; Path={}",
        room.cookie.name, room.cookie.path
    )
}

fn routes(hosts: &[&str]) -> Value {
    let routes: Vec<Value> = hosts
        .iter()
        .map(|route| {
            let (host, path) = route.split_at(route.find('/').unwrap());
            json!({ "host": host, "path": path })
        })
        .collect();
    let mut room = room(
        "a",
        routes[0]["host"].as_str().unwrap(),
        json!({ "cookie_suffix": "s" }),
    );
    room["path"] = routes[0]["path"].clone();
    room["additional_routes"] = Value::Array(routes[1..].to_vec());
    room
}

#[test]
fn defaults_are_cloudflares() {
    let room = only(room("Shop", "WWW.Example.com.", json!({})));
    assert_eq!(room.routes[0].host, "www.example.com");
    assert_eq!(room.routes[0].path, "/");
    assert_eq!(room.session_duration_seconds, 300);
    assert_eq!(room.queueing_status_code, 200);
    assert_eq!(room.fail_mode, FailMode::Closed);
    assert_eq!(room.bind_pass, BindPass::None);
    assert_eq!(
        (room.cookie.samesite, room.cookie.secure),
        (SameSite::Auto, Secure::Auto)
    );
    assert_eq!((room.poll_far_seconds, room.poll_near_seconds), (20, 5));
    assert!(room.path_case_sensitive && !room.revoke_enabled && !room.suspended);
}

/// The id is part of every pass, so it must never change by itself.
#[test]
fn the_id_follows_from_the_name() {
    let a = only(room("Shop", "example.com", json!({})));
    let b = only(room("shop", "example.org", json!({ "path": "/x" })));
    let c = only(room("shop2", "example.com", json!({})));
    assert_eq!(a.id, b.id);
    assert_ne!(a.id, c.id);
    assert_eq!(a.id.as_str(), "b40ec45e29aecd80d9521e7e1b96176e");
    let id = "0123456789abcdef0123456789abcdef";
    assert_eq!(
        only(room("shop", "example.com", json!({ "id": id })))
            .id
            .as_str(),
        id
    );
}

#[test]
fn a_site_survives_packing() {
    let site = common::site(
        &json!({ "rooms": [room("a", "example.com", json!({ "session_duration": 7 }))] }),
    );
    let site = site.unwrap();
    assert_eq!(site.rooms[0].session_duration_seconds, 420);
    assert_eq!(
        serde_json::from_str::<Site>(&serde_json::to_string(&site).unwrap()).unwrap(),
        site
    );
}

#[test]
fn two_rooms_under_shoes_keep_apart() {
    let a = json!({
        "additional_routes": [{ "host": "b.example.com", "path": "/shoes/product_456" }],
        "path": "/shoes/product_123", "cookie_suffix": "a",
    });
    let b = json!({
        "additional_routes": [{ "host": "d.example.com", "path": "/shoes/product_012" }],
        "path": "/shoes/product_789", "cookie_suffix": "b",
    });
    let rooms = json!([room("A", "a.example.com", a), room("B", "c.example.com", b)]);
    let site = common::site(&json!({ "rooms": rooms })).unwrap();
    assert_eq!(
        cookie(&site.rooms[0]),
        "__cfwaitingroom_a; Domain=example.com; Path=/shoes"
    );
    assert_eq!(
        cookie(&site.rooms[1]),
        "__cfwaitingroom_b; Domain=example.com; Path=/shoes"
    );
}

#[test]
fn the_scope_follows_from_the_routes() {
    for (hosts, expected) in [
        (
            &["example.com/", "checkout.example.com/"][..],
            "Domain=example.com; Path=/",
        ),
        (
            &["www.example.com/shop"],
            "Domain=www.example.com; Path=/shop",
        ),
        (
            &["a.b.example.com/x/y", "c.b.example.com/x/y/z"],
            "Domain=b.example.com; Path=/x/y",
        ),
        (
            &["a.example.com/shop", "a.example.com/shopping"],
            "Domain=a.example.com; Path=/",
        ),
        (
            &["xa.example.com/", "a.example.com/"],
            "Domain=example.com; Path=/",
        ),
        (
            &["shop.example.co.uk/", "example.co.uk/"],
            "Domain=example.co.uk; Path=/",
        ),
        (
            &["a.me.github.io/", "me.github.io/"],
            "Domain=me.github.io; Path=/",
        ),
        (&["me.github.io/"], "Domain=me.github.io; Path=/"),
        (&["github.io/"], "Domain=-; Path=/"),
        (&["intranet/"], "Domain=-; Path=/"),
        (&["localhost/a/b", "localhost/a/c"], "Domain=-; Path=/a"),
        (&["shop.localhost/"], "Domain=-; Path=/"),
        (&["127.0.0.1/"], "Domain=-; Path=/"),
        (&["::1/"], "Domain=-; Path=/"),
        (
            &["bücher.example.com/ü x"],
            "Domain=xn--bcher-kva.example.com; Path=/%C3%BC%20x",
        ),
    ] {
        assert_eq!(
            cookie(&only(routes(hosts))),
            format!("__cfwaitingroom_s; {expected}"),
            "{hosts:?}"
        );
    }
    let any_case = json!({ "path": "/Shop", "path_case_sensitive": false });
    let any_case = only(room("a", "example.com", any_case));
    assert_eq!(
        cookie(&any_case),
        "__cfwaitingroom; Domain=example.com; Path=/"
    );
}

#[test]
fn hosts_that_can_share_no_cookie_are_refused() {
    for (hosts, fault) in [
        (
            ["a.co.uk/", "b.co.uk/"],
            "its hosts share no domain that a cookie can have (a.co.uk, b.co.uk): co.uk is a public suffix",
        ),
        (
            ["a.公司.cn/", "b.公司.cn/"],
            "its hosts share no domain that a cookie can have (a.xn--55qx5d.cn, b.xn--55qx5d.cn): xn--55qx5d.cn is a public suffix",
        ),
        (
            ["a.github.io/", "b.github.io/"],
            "its hosts share no domain that a cookie can have (a.github.io, b.github.io): github.io is a public suffix",
        ),
        (
            ["example.com/", "example.org/"],
            "its hosts share no domain that a cookie can have (example.com, example.org)",
        ),
        (
            ["localhost/", "example.com/"],
            "covers several hosts, and localhost cannot share a cookie with another host",
        ),
        (
            ["10.0.0.1/", "11.0.0.1/"],
            "covers several hosts, and 10.0.0.1 cannot share a cookie with another host",
        ),
    ] {
        let found = faults(&json!({ "rooms": [routes(&hosts)] }));
        assert_eq!(found, format!("rooms[0].additional_routes: {fault}"));
    }
}

#[test]
fn every_fault_is_reported_with_its_place() {
    let declaration = json!({
        "cookie_name": "a b",
        "cookie_names": 1,
        "rooms": [
            { "name": "a b", "host": "https://example.com", "total_active_user": 1,
              "new_users_per_minute": 0, "queue_all": "yes", "session_duration": 31 },
            { "name": "b", "host": "example.com", "path": "shop", "total_active_users": 2.5,
              "new_users_per_minute": 2147483648u64, "additional_routes": [
                { "path": "/shop?x=1" }, { "host": "*.example.com", "paht": "/" }, 7 ] },
            "c",
        ],
    });
    assert_eq!(
        faults(&declaration).lines().collect::<Vec<_>>(),
        [
            "cookie_names: unknown field; did you mean cookie_name?",
            "cookie_name: must be a cookie name: 1 to 64 letters, digits or !#$%&'*+-.^_`|~",
            "rooms[0].total_active_user: unknown field; did you mean total_active_users?",
            "rooms[0].total_active_users: is required",
            "rooms[0].name: must be 1 to 128 letters, digits, - or _, not \"a b\"",
            "rooms[0].host: must be a host alone, without a scheme",
            "rooms[0].new_users_per_minute: must be a whole number from 1 to 2147483647, not 0",
            "rooms[0].session_duration: must be a whole number from 1 to 30, not 31",
            "rooms[0].queue_all: must be true or false, not \"yes\"",
            "rooms[1].path: must start with /",
            "rooms[1].additional_routes[0].path: must not contain a query",
            "rooms[1].additional_routes[1].paht: unknown field; did you mean path?",
            "rooms[1].additional_routes[1].host: must not contain a wildcard; list each host as a route",
            "rooms[1].additional_routes[2]: must be a table, not 7",
            "rooms[1].total_active_users: must be a whole number from 1 to 2147483647, not 2.5",
            "rooms[1].new_users_per_minute: must be a whole number from 1 to 2147483647, not 2147483648",
            "rooms[2]: must be a table, not \"c\"",
        ]
    );
    assert_eq!(
        faults(&json!([])),
        "(the whole): must be a table, not a list"
    );
    assert_eq!(
        faults(&json!({})),
        "rooms: is required; a site without rooms says so with rooms = []"
    );
    assert_eq!(faults(&json!({ "rooms": [] })), "");
}

#[test]
fn single_faults_read_well() {
    for (more, fault) in [
        (
            json!({ "turnstile_mode": "invisible" }),
            "turnstile_mode: Turnstile is not built yet; it can only be off",
        ),
        (
            json!({ "turnstile_action": "infinite_queue" }),
            "turnstile_action: Turnstile is not built yet; it can only be log",
        ),
        (
            json!({ "session_max_minutes": 4 }),
            "session_max_minutes: must not be shorter than a session, which lasts 300 seconds",
        ),
        (
            json!({ "queueing_method": "FIFO" }),
            "queueing_method: must be one of fifo, random, passthrough, reject, not \"FIFO\"; did you mean fifo?",
        ),
        (
            json!({ "search_engine_crawler_bypass": true }),
            "search_engine_crawler_bypass: is the whole site's: write it above the rooms",
        ),
        (
            json!({ "created_on": "x" }),
            "created_on: is read-only: anteroom sets it",
        ),
        (json!({ "xyz": 1 }), "xyz: unknown field"),
        (
            json!({ "queueing_status_code": 503 }),
            "queueing_status_code: must be 200, 202 or 429",
        ),
        (
            json!({ "session_duration": 1, "session_duration_seconds": 60 }),
            "session_duration_seconds: does not go with session_duration (minutes): both say how long a session lasts",
        ),
        (
            json!({ "session_duration_seconds": 86401 }),
            "session_duration_seconds: must be a whole number from 1 to 86400, not 86401",
        ),
        (
            json!({ "session_duration": null }),
            "session_duration: must be a whole number from 1 to 30, not null",
        ),
        (
            json!({ "id": "ABC" }),
            "id: must be 32 lower-case hexadecimal digits",
        ),
        (
            json!({ "cookie_attributes": { "samesite": "none", "secure": "never" } }),
            "cookie_attributes: samesite = \"none\" does not go with secure = \"never\": browsers drop such a cookie",
        ),
        (
            json!({ "cookie_suffix": "a b" }),
            "cookie_suffix: must be at most 64 letters, digits, - or _, not \"a b\"",
        ),
        (
            json!({ "custom_page_html": "../x.html" }),
            "custom_page_html: must be the name of a file in templates/: letters, digits, - _ and . alone",
        ),
        (
            json!({ "custom_page_html": ".." }),
            "custom_page_html: must be the name of a file in templates/: letters, digits, - _ and . alone",
        ),
        (
            json!({ "default_template_language": "ko-KR" }),
            "default_template_language: ko-KR is not translated yet; there are de-DE, en-US, ja-JP",
        ),
        (
            json!({ "default_template_language": "en" }),
            "default_template_language: must be one of de-DE, en-US, ja-JP, not \"en\"",
        ),
        (
            json!({ "enabled_origin_commands": ["revoke", "ban"] }),
            "enabled_origin_commands[1]: must be \"revoke\", not \"ban\"",
        ),
        (
            json!({ "poll_near_seconds": 30 }),
            "poll_near_seconds: must not exceed poll_far_seconds (20)",
        ),
        (
            json!({ "bind_pass": "ip" }),
            "bind_pass: must be one of none, ua, ip_prefix, not \"ip\"",
        ),
        (
            json!({ "path": "/shop#x" }),
            "path: must not contain a fragment",
        ),
        (
            json!({ "path": "/shop/*" }),
            "path: must not contain a wildcard; a path covers everything below it as it is",
        ),
        (
            json!({ "path": "/x/../shop" }),
            "path: must be written plainly, as /shop",
        ),
        (
            json!({ "path": "//shop" }),
            "path: must be written plainly, as /shop",
        ),
        (
            json!({ "path": "/shop;v" }),
            "path: must be written plainly, as /shop",
        ),
        (
            json!({ "path": "/%FF" }),
            "path: must be UTF-8 once it is decoded",
        ),
        (
            json!({ "path": "/a%0D" }),
            "path: must not contain control characters",
        ),
        (
            json!({ "path": "/a/.anteroom" }),
            "path: must not contain the segment .anteroom, which is anteroom's own",
        ),
        (
            json!({ "additional_routes": [{ "path": "/x" }] }),
            "cookie_suffix: is required for a room with more than one route: its cookie reaches further than one path, and has to keep apart from those of other rooms",
        ),
        (
            json!({ "additional_routes": [{}], "cookie_suffix": "a" }),
            "additional_routes[0]: example.com/ belongs to this room already",
        ),
    ] {
        assert_eq!(of_room(more.clone()), fault, "{more}");
    }
}

#[test]
fn hosts_are_checked() {
    for (host, fault) in [
        ("", "must not be empty"),
        (
            "example.com:8080",
            "must not contain a port: a room covers all ports of its host",
        ),
        (
            "example.com/shop",
            "must be a host alone; the path has a field of its own",
        ),
        (
            "me@example.com",
            "must be a host alone, without a user name",
        ),
        ("exa mple.com", "is no valid host name"),
        ("a..example.com", "is no valid host name"),
        ("-a.example.com", "is no valid host name"),
        ("1.2.3", "is no valid host name"),
    ] {
        let found = faults(&json!({ "rooms": [room("a", host, json!({}))] }));
        assert_eq!(found, format!("rooms[0].host: {fault}"), "{host:?}");
    }
}

#[test]
fn origins_are_spelled_as_browsers_do() {
    let right = json!([
        "https://app.example.com",
        "http://localhost:3000",
        "https://[::1]:8443",
        "capacitor://localhost",
    ]);
    let room = only(room(
        "a",
        "example.com",
        json!({ "allowed_origins": right }),
    ));
    assert_eq!(room.allowed_origins.len(), 4);
    for (origin, fault) in [
        (
            "null",
            "must not be null: every sandboxed page and local file has that origin",
        ),
        ("*", "must not contain a wildcard; list each origin"),
        (
            "https://*.example.com",
            "must not contain a wildcard; list each origin",
        ),
        (
            "app.example.com",
            "must have a scheme, as in https://app.example.com",
        ),
        (
            "https://app.example.com/x",
            "must be an origin alone, without a path",
        ),
        (
            "https://app.example.com/",
            "must be spelled as browsers do: https://app.example.com",
        ),
        (
            "HTTPS://App.example.com:443",
            "must be spelled as browsers do: https://app.example.com",
        ),
        (
            "https://bücher.example",
            "must be spelled as browsers do: https://xn--bcher-kva.example",
        ),
        (
            "https://a.example:99999",
            "its port must be a number up to 65535",
        ),
        (
            "https://me@a.example",
            "its host must be a host alone, without a user name",
        ),
        ("https://", "its host must not be empty"),
        ("1x://a", "\"1x\" is no scheme"),
    ] {
        assert_eq!(
            of_room(json!({ "allowed_origins": [origin] })),
            format!("allowed_origins[0]: {fault}")
        );
    }
    let twice = json!(["https://a.example", "https://a.example"]);
    assert_eq!(
        of_room(json!({ "allowed_origins": twice })),
        "allowed_origins[1]: is listed twice"
    );
}

#[test]
fn rooms_keep_apart() {
    let id = "0123456789abcdef0123456789abcdef";
    let any_case = |path: &str| json!({ "path": path, "path_case_sensitive": false });
    for (a, b, fault) in [
        (
            room("a", "a.example", json!({})),
            room("A", "b.example", json!({})),
            "rooms[1].name: is also the name of rooms[0]; case does not matter",
        ),
        (
            room("a", "a.example", json!({ "id": id })),
            room("b", "b.example", json!({ "id": id })),
            "rooms[1].id: is also the id of rooms[0] (a)",
        ),
        (
            room("a", "a.example", json!({ "path": "/x" })),
            room("b", "A.example.", json!({ "path": "/%78/" })),
            "rooms[1].path: a.example/x belongs to rooms[0] (a)",
        ),
        (
            room("a", "a.example", json!({ "path": "/x" })),
            room("b", "a.example", any_case("/X")),
            "rooms[1].path: a.example/X belongs to rooms[0] (a)",
        ),
        (
            room("a", "a.example", any_case("/x")),
            room(
                "b",
                "a.example",
                json!({ "path": "/X", "cookie_suffix": "b" }),
            ),
            "rooms[1].path: a.example/X belongs to rooms[0] (a)",
        ),
        (
            room("a", "a.example", json!({ "cookie_suffix": "s" })),
            room("b", "b.example", json!({ "cookie_suffix": "s" })),
            "rooms[1].cookie_suffix: is also the suffix of rooms[0] (a)",
        ),
        (
            room("a", "a.example", any_case("/x")),
            room("b", "a.example", any_case("/y")),
            "rooms[1].cookie_suffix: is required: without one, rooms[0] (a) has the same cookie (__cfwaitingroom; Domain=a.example; Path=/)",
        ),
    ] {
        assert_eq!(faults(&json!({ "rooms": [a, b] })), fault);
    }
}

#[test]
fn rooms_may_nest_and_share_names_of_cookies() {
    let at = |name: &str, host: &str, path: &str| room(name, host, json!({ "path": path }));
    for rooms in [
        [at("a", "example.com", "/"), at("b", "example.com", "/shop")],
        [at("a", "example.com", "/x"), at("b", "example.com", "/X")],
        [
            at("a", "example.com", "/x"),
            at("b", "www.example.com", "/x"),
        ],
        [at("a", "localhost", "/x"), at("b", "127.0.0.1", "/x")],
    ] {
        assert_eq!(faults(&json!({ "rooms": rooms })), "");
    }
}

#[test]
fn the_base_name_of_the_cookie_can_be_changed() {
    let named = |name: &str| json!({ "cookie_name": name, "rooms": [room("a", "a.example", json!({ "cookie_suffix": "x" }))] });
    assert_eq!(
        common::site(&named("queue")).unwrap().rooms[0].cookie.name,
        "queue_x"
    );
    assert_eq!(
        faults(&named("__Host-q")),
        "cookie_name: must not start with __Host-: such a cookie cannot have a Domain"
    );
    assert_eq!(
        faults(&named("__secure-q")),
        "cookie_name: must not start with __Secure-: such a cookie is refused over http"
    );
}
