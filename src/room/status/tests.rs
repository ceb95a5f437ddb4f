use serde_json::{Value, json};

use super::*;
use crate::room::wait::Pace;
use crate::site::host::Names;
use crate::site::moment::Moment;
use crate::site::timeline::Timeline;
use crate::site::{Context, validate};
use crate::time::Instant;

fn timeline(more: Value) -> Timeline {
    let mut room = json!({
        "name": "a", "host": "a.test", "total_active_users": 10, "new_users_per_minute": 10,
    });
    let fields = room.as_object_mut().unwrap();
    fields.extend(more.as_object().unwrap().clone());
    let context = Context {
        names: Names {
            to_ascii: &|name| Some(name.to_owned()),
            is_public_suffix: &|_| false,
        },
        languages: &["en-US".to_owned()],
    };
    Timeline::new(
        &validate(&json!({ "rooms": [room] }), context)
            .unwrap()
            .rooms[0],
    )
}

/// 2027-11-26T09:00:00Z
const START: Moment = Moment::from_millis(1_827_219_600_000);

fn at(more: Value, snapshot: &Snapshot) -> Status {
    Status::of(timeline(more).at(START), snapshot)
}

fn busy() -> Snapshot {
    Snapshot {
        taken: Instant::from_secs(1),
        active: 10,
        admitted_last_minute: 4,
        queueing: true,
        queued: 100,
        called: 20,
        pace: Some(Pace {
            calls_per_hour: 600,
            ..Pace::default()
        }),
        ..Snapshot::default()
    }
}

#[test]
fn a_room_that_lets_everybody_in_is_not_queueing() {
    let status = at(json!({}), &Snapshot::default());
    assert_eq!(status.status, State::NotQueueing);
    assert_eq!(
        (
            status.estimated_queued_users,
            status.max_estimated_time_minutes
        ),
        (0, 0)
    );
    assert_eq!(status.event_id, "");
}

#[test]
fn a_line_is_told_with_the_wait_of_its_last() {
    let status = at(json!({}), &busy());
    assert_eq!(
        serde_json::to_value(status).unwrap(),
        json!({
            "event_id": "", "status": "queueing",
            "estimated_queued_users": 120, "estimated_total_active_users": 10,
            "max_estimated_time_minutes": 12,
            "active_users": 10, "admitted_last_minute": 4, "called_users": 20, "queue_is_full": false,
            "as_of": "1970-01-01T00:00:01.000Z",
        })
    );
}

#[test]
fn switches_hold_newcomers_and_tell_no_wait() {
    let status = at(json!({ "queue_all": true }), &busy());
    assert_eq!(
        (status.status, status.max_estimated_time_minutes),
        (State::Queueing, 0)
    );
    let status = at(json!({ "suspended": true }), &busy());
    assert_eq!(
        (status.status, status.max_estimated_time_minutes),
        (State::Suspended, 0)
    );
    assert_eq!(status.active_users, 10, "sessions run on");
}

#[test]
fn a_room_that_rejects_is_queueing_only_while_others_still_wait() {
    let reject = json!({ "queueing_method": "reject" });
    let nobody = Snapshot {
        queueing: true,
        ..Snapshot::default()
    };
    assert_eq!(at(reject.clone(), &nobody).status, State::NotQueueing);
    assert_eq!(at(reject, &busy()).status, State::Queueing);
}

#[test]
fn events_are_named_and_their_pre_queue_is_a_state_of_its_own() {
    let event = |start: &str| {
        json!({ "events": [{
            "name": "sale", "event_start_time": start, "event_end_time": "2027-11-26T12:00:00Z",
            "prequeue_start_time": "2027-11-26T08:30:00Z",
        }] })
    };
    let before = at(event("2027-11-26T09:30:00Z"), &busy());
    assert_eq!(
        (before.status, before.max_estimated_time_minutes),
        (State::EventPrequeueing, 0)
    );
    assert_eq!(before.event_id.len(), 32);
    let during = at(event("2027-11-26T09:00:00Z"), &busy());
    assert_eq!(
        (during.status, during.max_estimated_time_minutes),
        (State::Queueing, 12)
    );
    assert_eq!(during.event_id, before.event_id);
}
