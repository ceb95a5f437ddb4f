//! Calls as a client makes them, one after the other at one configuration.

use serde_json::json;
use sha2::{Digest, Sha256};

use super::*;
use crate::control::audit::{Change, FieldChange, Trail};
use crate::site::room::is_id;
use crate::time::Span;

mod properties;
mod rules;

pub(super) const ZONE: &str = "0000000000000000000000000000000a";
const ACCOUNT: &str = "0000000000000000000000000000000b";

/// An API with its configuration, whose clock goes on by a second with each call.
pub(super) struct Api {
    pub(super) configuration: Configuration,
    /// What the object of the atlas has noted.
    of_hints: Trail,
    access: Access,
    buckets: Buckets,
    now: Instant,
    calls: u8,
}

impl Api {
    pub(super) fn new() -> Self {
        let hash = |token: &str| {
            let digest = Sha256::digest(token);
            digest
                .iter()
                .map(|byte| format!("{byte:02x}"))
                .collect::<String>()
        };
        let secret = json!({
            "zone_id": ZONE, "account_id": ACCOUNT, "zone_names": ["example.com"],
            "tokens": [
                { "name": "reader", "scope": "read", "sha256": hash("r") },
                { "name": "writer", "scope": "write", "sha256": hash("w") },
            ],
        });
        Self {
            configuration: Configuration::default(),
            of_hints: Trail::default(),
            access: Access::parse(&secret.to_string()).unwrap(),
            buckets: Buckets::default(),
            now: Instant::from_secs(1_800_000_000),
            calls: 0,
        }
    }

    pub(super) fn outcome(&mut self, request: &Request) -> Outcome {
        self.now = self.now + Span::from_secs(1);
        self.calls = self.calls.wrapping_add(1);
        let languages = ["de-DE".to_owned(), "en-US".to_owned()];
        let around = Surroundings {
            zones: self.access.zone_names(),
            languages: &languages,
        };
        let keys = ["k2".to_owned(), "k1".to_owned()];
        let moment = Moment {
            now: self.now,
            random: [self.calls; 32],
            around,
            keys: &keys,
            site: None,
        };
        answer(
            &mut self.configuration,
            &self.access,
            &mut self.buckets,
            request,
            moment,
        )
    }

    /// The status and the body.
    pub(super) fn call(&mut self, method: &str, path: &str, body: Option<Value>) -> (u16, Value) {
        let request = request("w", method, path, body);
        match self.outcome(&request) {
            Outcome::Answer(answer) => (answer.status, serde_json::from_str(&answer.body).unwrap()),
            Outcome::Audit(call) => {
                let answer = call.answer(Some(&self.of_hints));
                (answer.status, serde_json::from_str(&answer.body).unwrap())
            }
            other => panic!("{other:?}"),
        }
    }

    /// The result of a call that succeeds.
    pub(super) fn ok(&mut self, method: &str, path: &str, body: Option<Value>) -> Value {
        let (status, body) = self.call(method, path, body);
        assert_eq!((status, &body["success"]), (200, &json!(true)), "{body}");
        body["result"].clone()
    }

    /// Status, pointer and message of the first error of a call that fails.
    pub(super) fn fails(
        &mut self,
        method: &str,
        path: &str,
        body: Option<Value>,
    ) -> (u16, String, String) {
        let before = self.configuration.clone();
        let (status, body) = self.call(method, path, body);
        assert_eq!(
            (&body["success"], &body["result"]),
            (&json!(false), &Value::Null),
            "{body}"
        );
        assert_eq!(self.configuration, before, "nothing has changed");
        let error = &body["errors"][0];
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        (
            status,
            text(&error["source"]["pointer"]),
            text(&error["message"]),
        )
    }
}

pub(super) fn request(token: &str, method: &str, path: &str, body: Option<Value>) -> Request {
    let (path, query) = path.split_once('?').unwrap_or((path, ""));
    Request {
        method: method.into(),
        origin: "https://api.example.com".into(),
        path: format!("/client/v4{path}"),
        query: query.into(),
        authorization: Some(format!("Bearer {token}")),
        content_type: body.as_ref().map(|_| "application/json".into()),
        body: body
            .map(|body| body.to_string().into_bytes())
            .unwrap_or_default(),
    }
}

pub(super) fn rooms() -> String {
    format!("/zones/{ZONE}/waiting_rooms")
}

pub(super) fn sale() -> Value {
    json!({
        "name": "sale", "host": "Shop.example.com", "total_active_users": 300,
        "new_users_per_minute": 200,
    })
}

fn with(mut one: Value, more: Value) -> Value {
    one.as_object_mut()
        .unwrap()
        .extend(more.as_object().unwrap().clone());
    one
}

/// Makes a room and gives its path.
pub(super) fn created(api: &mut Api) -> String {
    let id = api.ok("POST", &rooms(), Some(sale()))["id"].clone();
    format!("{}/{}", rooms(), id.as_str().unwrap())
}

#[test]
fn a_room_is_made_with_its_defaults_and_read_as_it_was_made() {
    let mut api = Api::new();
    let made = api.ok("POST", &rooms(), Some(sale()));
    for (name, value) in [
        ("host", json!("Shop.example.com")),
        ("path", json!("/")),
        ("additional_routes", json!([])),
        (
            "cookie_attributes",
            json!({ "samesite": "auto", "secure": "auto" }),
        ),
        ("session_duration", json!(5)),
        ("queueing_method", json!("fifo")),
        ("queueing_status_code", json!(200)),
        ("custom_page_html", json!("")),
        ("enabled_origin_commands", json!([])),
        ("turnstile_mode", json!("off")),
        ("next_event_start_time", Value::Null),
        ("created_on", json!("2027-01-15T08:00:01.000Z")),
        ("modified_on", json!("2027-01-15T08:00:01.000Z")),
    ] {
        assert_eq!(made[name], value, "{name}");
    }
    assert!(is_id(made["id"].as_str().unwrap()));
    let path = format!("{}/{}", rooms(), made["id"].as_str().unwrap());
    assert_eq!(api.ok("GET", &path, None), made);
    assert_eq!(api.ok("GET", &rooms(), None), json!([made]));
    let of_account = format!("/accounts/{ACCOUNT}/waiting_rooms");
    assert_eq!(api.ok("GET", &of_account, None), json!([made]));
}

#[test]
fn put_replaces_and_patch_merges() {
    let mut api = Api::new();
    let path = created(&mut api);
    let patched = api.ok(
        "PATCH",
        &path,
        Some(json!({ "queue_all": true, "session_duration": 9 })),
    );
    assert_eq!(
        (&patched["queue_all"], &patched["session_duration"]),
        (&json!(true), &json!(9))
    );
    assert_eq!(patched["name"], "sale");
    let put = api.ok(
        "PUT",
        &path,
        Some(with(sale(), json!({ "description": "x" }))),
    );
    assert_eq!(
        (&put["queue_all"], &put["session_duration"]),
        (&json!(false), &json!(5))
    );
    let (status, pointer, _) = api.fails("PUT", &path, Some(json!({ "name": "sale" })));
    assert_eq!((status, pointer.as_str()), (400, "/host"));
}

#[test]
fn the_same_again_is_no_change() {
    let mut api = Api::new();
    let path = created(&mut api);
    let put = api.ok("PUT", &path, Some(sale()));
    let version = api.configuration.version;
    assert_eq!(version, 1, "a PUT of what was made is none either");
    for (method, body) in [
        ("PUT", sale()),
        ("PUT", put.clone()),
        (
            "PUT",
            with(sale(), json!({ "description": "", "path": "/" })),
        ),
        ("PATCH", json!({})),
        ("PATCH", json!({ "queue_all": false })),
    ] {
        assert_eq!(api.ok(method, &path, Some(body)), put);
        assert_eq!(api.configuration.version, version);
    }
}

#[test]
fn what_only_anteroom_sets_cannot_be_set() {
    let mut api = Api::new();
    let path = created(&mut api);
    for name in rooms::READ_ONLY {
        let wrong = json!({ *name: "2020-01-01T00:00:00.000Z" });
        for (method, at, body) in [
            ("POST", rooms(), with(sale(), wrong.clone())),
            ("PUT", path.clone(), with(sale(), wrong.clone())),
            ("PATCH", path.clone(), wrong),
        ] {
            let (status, pointer, message) = api.fails(method, &at, Some(body));
            assert_eq!((status, pointer), (400, format!("/{name}")));
            assert!(message.contains("read-only"), "{message}");
        }
    }
}

#[test]
fn faults_are_told_where_they_are() {
    let mut api = Api::new();
    created(&mut api);
    let other = with(sale(), json!({ "name": "other", "path": "/other" }));
    for (body, pointer, told) in [
        (
            json!({ "descripton": "x" }),
            "/descripton",
            "did you mean description?",
        ),
        (json!({ "host": "https://x" }), "/host", "without a scheme"),
        (
            json!({ "host": "x.other" , "path": "/a?b"}),
            "/path",
            "query",
        ),
        (
            json!({ "total_active_users": 0 }),
            "/total_active_users",
            "from 1 to 2147483647",
        ),
        (
            json!({ "turnstile_mode": "invisible" }),
            "/turnstile_mode",
            "not built yet",
        ),
        (
            json!({ "turnstile_action": "infinite_queue" }),
            "/turnstile_action",
            "not built yet",
        ),
        (
            json!({ "name": "SALE" }),
            "/name",
            "is also the name of the room sale",
        ),
        (json!({ "path": "/" }), "/path", "belongs to the room sale"),
        (json!({ "events": [] }), "/events", "/events"),
        (
            json!({ "cookie_suffix": "x", "additional_routes": [{ "host": "a.example.com" }, { "path": "b" }] }),
            "/additional_routes/1/path",
            "must start with /",
        ),
        (
            json!({ "cookie_suffix": "x", "additional_routes": [{ "host": "a.example.org" }] }),
            "/additional_routes",
            "share no domain",
        ),
        (
            json!({ "custom_page_html": "a\n{{#x}}" }),
            "/custom_page_html",
            "line 2",
        ),
        (
            json!({ "custom_page_html": 1 }),
            "/custom_page_html",
            "must be text",
        ),
    ] {
        let (status, at, message) = api.fails("POST", &rooms(), Some(with(other.clone(), body)));
        assert_eq!((status, at.as_str()), (400, pointer), "{message}");
        assert!(message.contains(told), "{message}");
        assert!(!message.contains("rooms["), "{message}");
    }
}

/// Also where the other room comes later in the list.
#[test]
fn what_does_not_go_together_is_told_of_the_room_that_was_sent() {
    let mut api = Api::new();
    let path = created(&mut api);
    api.ok(
        "POST",
        &rooms(),
        Some(with(sale(), json!({ "name": "b", "path": "/b" }))),
    );
    let (_, pointer, message) = api.fails("PATCH", &path, Some(json!({ "name": "B" })));
    assert_eq!(pointer, "/name");
    assert!(
        message.contains("is also the name of the room b"),
        "{message}"
    );
    let names: Vec<Value> = api.ok("GET", &rooms(), None).as_array().unwrap().clone();
    assert_eq!(
        names.iter().map(|room| &room["name"]).collect::<Vec<_>>(),
        ["sale", "b"]
    );
}

#[test]
fn a_page_is_kept_as_text_and_published_under_a_name() {
    let mut api = Api::new();
    let path = created(&mut api);
    let page = "<p>{{positoin}}</p>";
    let (_, body) = api.call("PATCH", &path, Some(json!({ "custom_page_html": page })));
    assert_eq!(body["result"]["custom_page_html"], page);
    let odd = body["messages"][0]["message"].as_str().unwrap();
    assert!(odd.contains("did you mean position?"), "{odd}");
    assert_eq!(api.ok("GET", &path, None)["custom_page_html"], page);
    let around = Surroundings {
        zones: &[],
        languages: &["en-US".to_owned()],
    };
    let published = api.configuration.compile(around).unwrap();
    let name = published.site.rooms[0].custom_page_html.clone().unwrap();
    assert_eq!(published.pages[&name], page);
    api.ok("PATCH", &path, Some(json!({ "custom_page_html": "" })));
    assert!(
        api.configuration.pages().is_empty(),
        "and forgotten when no room has it"
    );
}

#[test]
fn lists_come_in_pages() {
    let mut api = Api::new();
    for n in 0..7 {
        let more = json!({ "name": format!("r{n}"), "path": format!("/{n}") });
        api.ok("POST", &rooms(), Some(with(sale(), more)));
    }
    let (_, body) = api.call("GET", &format!("{}?page=2&per_page=5", rooms()), None);
    assert_eq!(body["result"].as_array().unwrap().len(), 2);
    assert_eq!(
        body["result_info"],
        json!({ "page": 2, "per_page": 5, "count": 2, "total_count": 7, "total_pages": 2 })
    );
    assert_eq!(
        api.ok("GET", &format!("{}?page=3&per_page=5", rooms()), None),
        json!([])
    );
    for wrong in ["page=0", "per_page=7", "per_page=0", "page=x"] {
        assert_eq!(
            api.fails("GET", &format!("{}?{wrong}", rooms()), None).0,
            400,
            "{wrong}"
        );
    }
}

#[test]
fn events_are_made_changed_and_deleted() {
    let mut api = Api::new();
    let room = created(&mut api);
    let events = format!("{room}/events");
    let event = json!({
        "name": "opening",
        "event_start_time": "2027-11-26T09:00:00+01:00",
        "event_end_time": "2027-11-26T12:00:00.000Z",
        "queueing_method": null,
    });
    let made = api.ok("POST", &events, Some(event.clone()));
    assert_eq!(
        made["event_start_time"], "2027-11-26T09:00:00+01:00",
        "as it was sent"
    );
    assert_eq!(
        (&made["queueing_method"], &made["suspended"]),
        (&Value::Null, &json!(false))
    );
    assert_eq!(
        api.ok("GET", &room, None)["next_event_start_time"],
        made["event_start_time"]
    );
    let path = format!("{events}/{}", made["id"].as_str().unwrap());
    let renamed = api.ok(
        "PATCH",
        &path,
        Some(json!({ "name": "doors", "session_duration": 3 })),
    );
    assert_eq!(
        (&renamed["id"], &renamed["session_duration"]),
        (&made["id"], &json!(3))
    );
    let details = api.ok("GET", &format!("{path}/details"), None);
    assert_eq!(
        (&details["session_duration"], &details["queueing_method"]),
        (&json!(3), &json!("fifo"))
    );
    let patched = api.ok("PATCH", &path, Some(json!({ "session_duration": null })));
    assert_eq!(patched["session_duration"], Value::Null);
    assert_eq!(api.ok("PUT", &path, Some(patched.clone())), patched);
    let overlapping = with(event, json!({ "name": "x" }));
    let seconds = json!({ "session_duration_seconds": 90 });
    api.ok("PATCH", &path, Some(seconds.clone()));
    let both = with(seconds, json!({ "session_duration": {} }));
    assert_eq!(
        api.fails("PATCH", &path, Some(both)).0,
        400,
        "also where nothing would change"
    );
    api.ok("PATCH", &path, Some(json!({ "session_duration": null })));
    for name in ["suspended", "name", "unknown"] {
        let (_, pointer, _) = api.fails("PATCH", &path, Some(json!({ name: null })));
        assert_eq!(pointer, format!("/{name}"), "null is for what is inherited");
    }
    let (_, pointer, message) = api.fails("POST", &events, Some(overlapping));
    assert_eq!(pointer, "/event_start_time");
    assert!(message.contains("overlaps the event doors"), "{message}");
    assert_eq!(api.ok("DELETE", &path, None), json!({ "id": made["id"] }));
    assert_eq!(api.fails("GET", &path, None).0, 404);
    assert_eq!(api.ok("GET", &events, None), json!([]));
}

#[test]
fn settings_have_one_field() {
    let mut api = Api::new();
    let path = format!("{}/settings", rooms());
    let off = json!({ "search_engine_crawler_bypass": false });
    assert_eq!(api.ok("GET", &path, None), off);
    assert_eq!(api.ok("PUT", &path, Some(json!({}))), off);
    assert_eq!(api.ok("PATCH", &path, Some(off.clone())), off);
    assert_eq!(api.configuration.version, 0);
    let (status, pointer, _) = api.fails("PATCH", &path, Some(json!({ "x": 1 })));
    assert_eq!((status, pointer.as_str()), (400, "/x"));
}

#[test]
fn who_may_not_is_refused() {
    let mut api = Api::new();
    let zone = rooms();
    let of_another = zone.replace('a', "c");
    for (token, method, path, status) in [
        ("", "GET", zone.as_str(), 401),
        ("x", "GET", "/nowhere", 401),
        ("r", "GET", &zone, 200),
        ("r", "POST", &zone, 403),
        ("w", "GET", "/nowhere", 404),
        ("w", "GET", &of_another, 404),
        ("w", "DELETE", &zone, 405),
        ("w", "OPTIONS", &zone, 405),
    ] {
        let Outcome::Answer(answer) = api.outcome(&request(token, method, path, None)) else {
            panic!("{method} {path}");
        };
        assert_eq!(answer.status, status, "{token} {method} {path}");
        let cors = |(name, _): &(&str, String)| name.starts_with("Access-Control");
        assert!(!answer.headers.iter().any(cors));
    }
}

#[test]
fn changes_are_remembered_with_who_made_them() {
    let mut api = Api::new();
    let path = created(&mut api);
    api.ok("PATCH", &path, Some(json!({ "queue_all": true })));
    let trail = api.ok("GET", &format!("/zones/{ZONE}/anteroom/audit"), None);
    assert_eq!(trail[0]["by"], "writer");
    assert_eq!(
        (&trail[0]["version"], &trail[0]["action"]),
        (&json!(2), &json!("update"))
    );
    let change = json!([{ "field": "queue_all", "from": "false", "to": "true" }]);
    assert_eq!(trail[0]["fields"], change);
    assert_eq!(trail[1]["action"], "create");
}

#[test]
fn the_trail_has_hints_and_purges_in_the_order_of_time() {
    let mut api = Api::new();
    let audit = format!("/zones/{ZONE}/anteroom/audit");
    let path = created(&mut api);
    api.of_hints.note(Change {
        version: 7,
        at: api.now + Span::from_secs(1),
        by: "hinter".into(),
        action: "create".into(),
        to: "cloud_regions/192.0.2.1".into(),
        fields: vec![FieldChange::of(
            "192.0.2.1",
            None,
            Some(&json!("aws:us-east-1")),
        )],
    });
    let purge = format!("/zones/{ZONE}/purge_cache");
    for n in 0..60 {
        let files = json!({ "files": [format!("https://shop.example.com/{n}")] });
        api.ok("POST", &purge, Some(files));
    }
    api.ok("DELETE", &path, None);
    let all = api.ok("GET", &format!("{audit}?per_page=100"), None);
    let actions: Vec<&str> = all
        .as_array()
        .unwrap()
        .iter()
        .map(|change| change["action"].as_str().unwrap())
        .collect();
    // Purges take no more than their share of what is remembered.
    let purges = ["purge"; 50];
    let expected: Vec<&str> = ["delete"]
        .into_iter()
        .chain(purges)
        .chain(["create"; 2])
        .collect();
    assert_eq!(actions, expected);
    let newest = json!([{ "field": "files", "to": "[\"https://shop.example.com/59\"]" }]);
    assert_eq!(
        (&all[1]["to"], &all[1]["fields"]),
        (&json!("cache"), &newest)
    );
    assert_eq!(
        (&all[51]["by"], &all[52]["by"]),
        (&json!("hinter"), &json!("writer"))
    );

    let Outcome::Audit(call) = api.outcome(&request("r", "GET", &audit, None)) else {
        panic!("no trail");
    };
    let answer: Value = serde_json::from_str(&call.answer(None).body).unwrap();
    assert!(
        answer["messages"][0].to_string().contains("are missing"),
        "{answer}"
    );
}

#[test]
fn previews_are_sandboxed() {
    let mut api = Api::new();
    let body = json!({ "custom_html": "<p>{{waitTime}} min {{#isEventPrequeueing}}soon{{/isEventPrequeueing}}</p>" });
    let path = format!("{}/preview", rooms());
    let outcome = api.outcome(&request("w", "POST", &path, Some(body)));
    let Outcome::KeepPreview {
        id, html, answer, ..
    } = outcome
    else {
        panic!("{outcome:?}");
    };
    assert!(answer.body.contains(&format!(
        "https://api.example.com/client/v4/anteroom/preview/{id}"
    )));
    for (query, expected) in [
        ("", "<p>10 min </p>"),
        ("waitTime=35", "<p>35 min </p>"),
        (
            "event=prequeueing&shuffle_at_event_start=true",
            "<p>0 min soon</p>",
        ),
        ("queueing_method=passthrough", "Welcome"),
        ("queueing_method=passthrough&force_queue", "<p>0 min </p>"),
    ] {
        let mut shown = request("", "GET", "", None);
        shown.path = format!("/client/v4/anteroom/preview/{id}");
        shown.query = query.into();
        let Outcome::ShowPreview { show, .. } = api.outcome(&shown) else {
            panic!("{query}");
        };
        let answer = show.answer(Some(&html));
        assert!(answer.body.contains(expected), "{query}: {}", answer.body);
        let policy = |(name, value): &(&str, String)| {
            *name == "Content-Security-Policy" && value.starts_with("sandbox allow-scripts;")
        };
        assert!(answer.headers.iter().any(policy));
    }
}
