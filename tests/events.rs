//! Events: their declaration, and which settings are in force when.
#![cfg(not(target_arch = "wasm32"))]
// clippy.toml allows these in tests, but does not know the functions that tests share.
#![allow(clippy::indexing_slicing, clippy::unwrap_used)]

mod common;

use anteroom::room::policy::{Admits, Policy};
use anteroom::site::moment::Moment;
use anteroom::site::room::{QueueingMethod, Room};
use anteroom::site::timeline::Timeline;
use anteroom::time::{Instant, Span};
use serde_json::{Value, json};

/// An event at nine with a pre-queue from half past eight, and these fields.
fn event(more: Value) -> Value {
    let mut event = json!({
        "name": "opening",
        "prequeue_start_time": "2027-11-26T08:30:00Z",
        "event_start_time": "2027-11-26T09:00:00Z",
        "event_end_time": "2027-11-26T21:00:00Z",
    });
    for (name, value) in more.as_object().unwrap() {
        event[name] = value.clone();
    }
    event
}

fn with(events: Value) -> Value {
    common::room("sale", "example.com", json!({ "events": events }))
}

fn faults(events: Value) -> String {
    common::faults(&json!({ "rooms": [with(events)] }))
}

#[test]
fn every_rule_has_its_fault() {
    for (more, fault) in [
        (json!({}), ""),
        (json!({ "prequeue_start_time": null }), ""),
        (json!({ "event_end_time": "2027-11-26T09:01:00Z" }), ""),
        (json!({ "prequeue_start_time": "2027-11-26T08:55:00Z" }), ""),
        (
            json!({ "event_start_time": "2027-11-26T10:00:00+01:00" }),
            "",
        ),
        (
            json!({ "event_end_time": "2027-11-26T09:00:59Z" }),
            "event_end_time: must be at least 1 minute after event_start_time",
        ),
        (
            json!({ "prequeue_start_time": "2027-11-26T08:55:01Z" }),
            "prequeue_start_time: must be at least 5 minutes before event_start_time",
        ),
        (
            json!({ "prequeue_start_time": null, "shuffle_at_event_start": true }),
            "shuffle_at_event_start: needs a prequeue_start_time: the places of the pre-queue are \
             what is drawn",
        ),
        (
            json!({ "event_start_time": "2027-11-26 at nine" }),
            "event_start_time: must be an ISO 8601 time with its offset from UTC, such as \
             2027-11-26T09:00:00Z, not \"2027-11-26 at nine\"",
        ),
        (
            json!({ "event_start_time": null }),
            "event_start_time: is required",
        ),
        (
            json!({ "total_active_users": 5 }),
            "new_users_per_minute: goes with total_active_users: an event sets both or inherits \
             both",
        ),
        (
            json!({ "new_users_per_minute": 5 }),
            "total_active_users: goes with new_users_per_minute: an event sets both or inherits \
             both",
        ),
        (
            json!({ "name": "a b" }),
            "name: must be 1 to 128 letters, digits, - or _, not \"a b\"",
        ),
        (
            json!({ "event_begin_time": "" }),
            "event_begin_time: unknown field; did you mean event_end_time?",
        ),
        (
            json!({ "shufle_at_event_start": true }),
            "shufle_at_event_start: unknown field; did you mean shuffle_at_event_start?",
        ),
        (
            json!({ "queue_all": true }),
            "queue_all: is the room's alone: an event cannot override it",
        ),
        (
            json!({ "id": "x" }),
            "id: must be 32 lower-case hexadecimal digits",
        ),
        (
            json!({ "turnstile_mode": "invisible" }),
            "turnstile_mode: Turnstile is not built yet; it can only be off",
        ),
        (
            json!({ "session_duration": 31 }),
            "session_duration: must be a whole number from 1 to 30, not 31",
        ),
    ] {
        let expected = match fault {
            "" => String::new(),
            fault => format!("rooms[0].events[0].{fault}"),
        };
        assert_eq!(faults(json!([event(more)])), expected);
    }
}

#[test]
fn events_of_a_room_do_not_overlap_and_have_names_of_their_own() {
    let next = json!({
        "name": "encore",
        "prequeue_start_time": "2027-11-26T21:00:00Z",
        "event_start_time": "2027-11-26T21:05:00Z",
        "event_end_time": "2027-11-26T22:00:00Z",
    });
    assert_eq!(faults(json!([event(json!({})), next])), "");
    let mut early = next.clone();
    early["prequeue_start_time"] = json!("2027-11-26T20:59:59Z");
    let overlap = "overlaps rooms[0].events[0] (opening): a room has one event at a time, its \
                   pre-queue included";
    assert_eq!(
        faults(json!([event(json!({})), early])),
        format!("rooms[0].events[1].prequeue_start_time: {overlap}")
    );
    let mut twin = next.clone();
    twin["name"] = json!("Opening");
    assert_eq!(
        faults(json!([event(json!({})), twin])),
        "rooms[0].events[1].name: is also the name of rooms[0].events[0]; case does not matter"
    );
    let six: Vec<Value> = (0..6)
        .map(|n| {
            event(json!({
                "name": format!("e{n}"),
                "prequeue_start_time": null,
                "event_start_time": format!("2027-11-2{n}T09:00:00Z"),
                "event_end_time": format!("2027-11-2{n}T10:00:00Z"),
            }))
        })
        .collect();
    assert_eq!(
        faults(json!(six)),
        "rooms[0].events: must be 5 at most; remove those that are over"
    );
}

const START: Instant = Instant::from_secs(1_827_219_600);

/// The settings so many seconds after the start, or before it.
fn at(room: &Room, seconds: i64) -> Room {
    let span = Span::from_secs(seconds.unsigned_abs());
    let now = if seconds < 0 {
        START - span
    } else {
        START + span
    };
    Room::clone(Timeline::new(room).at(Moment::from_millis(now.as_millis())))
}

#[test]
fn settings_change_with_the_event_and_come_back() {
    let declared = event(json!({
        "total_active_users": 500,
        "new_users_per_minute": 100,
        "session_duration": 2,
        "disable_session_renewal": true,
        "queueing_method": "fifo",
        "custom_page_html": "minimal.html",
        "shuffle_at_event_start": true,
    }));
    let mut declared = with(json!([declared]));
    declared["queueing_method"] = json!("reject");
    let room = common::only(declared);
    let plain = |seconds| {
        let then = at(&room, seconds);
        assert_eq!(
            then,
            Room {
                event: None,
                ..room.clone()
            },
            "{seconds}"
        );
        Policy::from(&then)
    };
    for seconds in [-100_000, -1_801, 12 * 3_600, 100_000] {
        assert_eq!(plain(seconds).admits, Admits::Nobody, "{seconds}");
        assert_eq!(plain(seconds).drawing, None);
        assert_eq!(plain(seconds).total_active_users, 10);
    }
    for seconds in [-1_800, -1, 0, 12 * 3_600 - 1] {
        let then = at(&room, seconds);
        let policy = Policy::from(&then);
        assert_eq!(policy.total_active_users, 500);
        assert_eq!(policy.new_users_per_minute, 100);
        assert_eq!(policy.session, Span::from_secs(120));
        assert!(!policy.renewal);
        assert_eq!(then.custom_page_html.as_deref(), Some("minimal.html"));
        assert_eq!(then.queueing_method, QueueingMethod::Fifo);
        let prequeueing = seconds < 0;
        assert_eq!(then.holds_everybody(), prequeueing, "{seconds}");
        let admits = if prequeueing {
            Admits::Nobody
        } else {
            Admits::InOrder
        };
        assert_eq!(policy.admits, admits, "{seconds}");
        assert_eq!(
            policy.drawing.map(|drawing| drawing.start),
            prequeueing.then_some(START)
        );
    }
}

#[test]
fn queue_all_goes_before_an_event_and_a_suspended_one_does_not_take_place() {
    let mut held = with(json!([event(json!({ "queueing_method": "passthrough" }))]));
    held["queue_all"] = json!(true);
    let held = common::only(held);
    assert_eq!(Policy::from(&at(&held, 10)).admits, Admits::Nobody);
    for suspended in [json!({ "suspended": true }), json!({})] {
        let mut room = with(json!([event(suspended.clone())]));
        room["suspended"] = json!(suspended == json!({}));
        let room = common::only(room);
        assert_eq!(at(&room, -10).event, None);
        assert_eq!(at(&room, 10).event, None);
    }
}

#[test]
fn details_have_what_is_inherited_and_nothing_is_left_open() {
    let room = common::only(with(json!([event(json!({
        "total_active_users": 7,
        "new_users_per_minute": 9,
        "session_duration": null,
    }))])));
    let details = serde_json::to_value(room.events[0].details(&room)).unwrap();
    for (name, value) in [
        ("name", json!("opening")),
        ("room", json!(room.id.as_str())),
        ("total_active_users", json!(7)),
        ("new_users_per_minute", json!(9)),
        ("session_duration_seconds", json!(300)),
        ("disable_session_renewal", json!(false)),
        ("queueing_method", json!("fifo")),
        ("event_start_time", json!("2027-11-26T09:00:00Z")),
        ("prequeue_start_time", json!("2027-11-26T08:30:00Z")),
    ] {
        assert_eq!(details[name], value, "{name}");
    }
}

#[test]
fn an_event_keeps_its_id_when_its_settings_change_and_so_its_draw() {
    let id = |more| common::only(with(json!([event(more)]))).events[0].id;
    let plain = id(json!({}));
    assert_eq!(
        plain,
        id(json!({ "event_start_time": "2027-11-26T09:30:00Z" }))
    );
    assert_eq!(plain, id(json!({ "name": "Opening" })));
    assert_ne!(plain, id(json!({ "name": "encore" })));
}
