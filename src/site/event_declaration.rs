//! Reads and checks the events of a room.

use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use super::declaration::{
    LIMIT, declared_id, is_word, page, queueing_method, session_duration, turnstile,
};
use super::event::{Event, EventId};
use super::fault::Notes;
use super::fields;
use super::moment::Moment;
use super::room::RoomId;
use super::table::Table;

/// A room has no more events than this, as at Cloudflare.
const MOST_EVENTS: usize = 5;
/// An event takes a minute at least, in milliseconds.
const SHORTEST_EVENT: u64 = 60_000;
/// A pre-queue takes five minutes at least, in milliseconds.
const SHORTEST_PREQUEUE: u64 = 300_000;
/// Length in bytes.
const LONGEST_NAME: usize = 128;

/// The events of a room, or what is wrong with them.
pub(super) fn events(table: &Table<'_>, room: &RoomId, notes: &mut Notes) -> Vec<Event> {
    let declared = table.list("events", notes);
    if declared.len() > MOST_EVENTS {
        let message = format!("must be {MOST_EVENTS} at most; remove those that are over");
        notes.add(table.at("events"), message);
    }
    let mut events: Vec<(String, Event)> = Vec::new();
    for (place, value) in declared {
        let value = without_nulls(value);
        let Some(table) = Table::open(&value, place.clone(), &fields::EVENT, notes) else {
            continue;
        };
        if let Some(event) = event(&table, room, notes) {
            for (other, first) in &events {
                beside(&place, &event, other, first, notes);
            }
            events.push((place, event));
        }
    }
    events.into_iter().map(|(_, event)| event).collect()
}

/// `null` says the same as leaving a field out: it is inherited.
fn without_nulls(value: &Value) -> Value {
    match value {
        Value::Object(map) => {
            let set = map.iter().filter(|(_, value)| !value.is_null());
            let set: Map<String, Value> = set.map(|(k, v)| (k.clone(), v.clone())).collect();
            Value::Object(set)
        }
        other => other.clone(),
    }
}

/// None if a time is missing: then there is nothing to compare with others.
fn event(table: &Table<'_>, room: &RoomId, notes: &mut Notes) -> Option<Event> {
    table.require("name", notes);
    table.require("event_start_time", notes);
    table.require("event_end_time", notes);
    let name = table.text("name", notes).unwrap_or_default().to_owned();
    if table.has("name") && !is_word(&name, LONGEST_NAME) {
        let message = format!("must be 1 to {LONGEST_NAME} letters, digits, - or _, not {name:?}");
        notes.add(table.at("name"), message);
    }
    let limits = ["total_active_users", "new_users_per_minute"];
    if let [(here, true), (missing, false)] | [(missing, false), (here, true)] =
        limits.map(|limit| (limit, table.has(limit)))
    {
        let message = format!("goes with {here}: an event sets both or inherits both");
        notes.add(table.at(missing), message);
    }
    let [total, rate] = limits.map(|limit| table.number(limit, LIMIT, notes));
    let session = session_duration(table, notes);
    let shuffle = table.flag("shuffle_at_event_start", false, notes);
    if shuffle && !table.has("prequeue_start_time") {
        notes.add(
            table.at("shuffle_at_event_start"),
            "needs a prequeue_start_time: the places of the pre-queue are what is drawn",
        );
    }
    turnstile(table, notes);
    let description = table.text("description", notes).unwrap_or_default();
    let suspended = table.flag("suspended", false, notes);
    let renewal = table.flag("disable_session_renewal", false, notes);
    let method = queueing_method(table, notes);
    let page = page(table, notes);
    let prequeue_start_time = time(table, "prequeue_start_time", notes);
    let start = time(table, "event_start_time", notes);
    let end = time(table, "event_end_time", notes);
    let (start, end) = (start?, end?);
    distances(table, prequeue_start_time, start, end, notes);
    Some(Event {
        id: id(table, room, &name, notes),
        name,
        description: description.to_owned(),
        prequeue_start_time,
        event_start_time: start,
        event_end_time: end,
        shuffle_at_event_start: shuffle,
        suspended,
        total_active_users: total,
        new_users_per_minute: rate,
        session_duration_seconds: session,
        disable_session_renewal: table.has("disable_session_renewal").then_some(renewal),
        queueing_method: table.has("queueing_method").then_some(method),
        custom_page_html: page,
    })
}

fn time(table: &Table<'_>, name: &str, notes: &mut Notes) -> Option<Moment> {
    let text = table.text(name, notes)?;
    let moment = Moment::parse(text);
    if moment.is_none() {
        notes.add(
            table.at(name),
            format!(
                "must be an ISO 8601 time with its offset from UTC, such as \
                 2027-11-26T09:00:00Z, not {text:?}"
            ),
        );
    }
    moment
}

fn distances(
    table: &Table<'_>,
    prequeue: Option<Moment>,
    start: Moment,
    end: Moment,
    notes: &mut Notes,
) {
    if end.as_millis() < start.as_millis().saturating_add(SHORTEST_EVENT) {
        notes.add(
            table.at("event_end_time"),
            "must be at least 1 minute after event_start_time",
        );
    }
    let too_late = |prequeue: Moment| {
        prequeue.as_millis().saturating_add(SHORTEST_PREQUEUE) > start.as_millis()
    };
    if prequeue.is_some_and(too_late) {
        notes.add(
            table.at("prequeue_start_time"),
            "must be at least 5 minutes before event_start_time",
        );
    }
}

/// Two events of a room have different names and do not overlap, whether they are suspended or not.
fn beside(place: &str, event: &Event, other_place: &str, other: &Event, notes: &mut Notes) {
    if !event.name.is_empty() && event.name.eq_ignore_ascii_case(&other.name) {
        let message = format!("is also the name of {other_place}; case does not matter");
        notes.add(format!("{place}.name"), message);
    }
    if event.begins() < other.event_end_time && other.begins() < event.event_end_time {
        let field = match event.prequeue_start_time {
            Some(_) => "prequeue_start_time",
            None => "event_start_time",
        };
        let message = format!(
            "overlaps {other_place} ({}): a room has one event at a time, its pre-queue included",
            other.name
        );
        notes.add(format!("{place}.{field}"), message);
    }
}

/// The declared id; else one that follows from the names, so that an event keeps its draw when its
/// settings change.
fn id(table: &Table<'_>, room: &RoomId, name: &str, notes: &mut Notes) -> EventId {
    if let Some(id) = declared_id(table, notes) {
        let bits = u128::from_str_radix(id, 16).unwrap_or_default();
        return EventId::new(bits.to_be_bytes());
    }
    let name = name.to_ascii_lowercase();
    let digest = Sha256::digest(format!("anteroom event id\0{room}\0{name}"));
    let mut bits = [0; 16];
    for (bit, byte) in bits.iter_mut().zip(digest) {
        *bit = byte;
    }
    EventId::new(bits)
}
