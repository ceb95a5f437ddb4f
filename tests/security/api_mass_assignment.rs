//! Attack: a body sets what only anteroom sets: the id of a room, to take over another room's visitors
//! and passes, or its dates, to hide a change.
//!
//! Defence: such a field is taken only if it says what is the case already.

use serde_json::{Value, json};

use crate::api::{Api, ROOMS, request, room};

fn with(name: &str, value: Value) -> Value {
    let mut body = room();
    body[name] = value;
    body
}

#[test]
fn ids_and_dates_cannot_be_chosen() {
    let mut api = Api::new();
    let path = api.room();
    let before = api.configuration.clone();
    for (name, value) in [
        ("id", json!("0".repeat(32))),
        ("id", Value::Null),
        ("created_on", json!("2020-01-01T00:00:00.000Z")),
        ("modified_on", json!("2020-01-01T00:00:00.000Z")),
        ("next_event_start_time", json!("2020-01-01T00:00:00.000Z")),
        ("events", json!([])),
        (
            "rules",
            json!([{ "action": "bypass_waiting_room", "expression": "true" }]),
        ),
        ("version", json!(9)),
        ("declared", json!({})),
    ] {
        let mut new = with(name, value.clone());
        (new["name"], new["path"]) = (json!("new"), json!("/new"));
        for (method, path, body) in [
            ("POST", ROOMS, new),
            ("PUT", path.as_str(), with(name, value.clone())),
            ("PATCH", path.as_str(), json!({ name: value })),
        ] {
            let status = api.send(&request(method, path, body)).status;
            assert_eq!(status, 400, "{method} {name}");
        }
    }
    assert_eq!(api.configuration, before);
}

#[test]
fn an_event_or_a_rule_cannot_take_the_id_of_another() {
    let mut api = Api::new();
    let id = "0".repeat(32);
    let event = json!({
        "name": "opening", "id": id,
        "event_start_time": "2035-11-26T09:00:00Z", "event_end_time": "2035-11-26T12:00:00Z",
    });
    let rule = json!({ "action": "bypass_waiting_room", "expression": "ssl", "id": id });
    for (path, body) in [
        ("events", event),
        ("rules", rule.clone()),
        ("rules", json!([rule])),
    ] {
        let path = format!("{}/{path}", api.room());
        assert_eq!(api.send(&request("POST", &path, body)).status, 400);
    }
}
