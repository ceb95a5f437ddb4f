//! The events of a room.

use serde_json::{Value, json};

use super::super::configuration::{Configuration, Declared, EventEntry, RoomEntry};
use super::super::fields::{EVENT, ROOM, filled};
use super::change::{Call, Draft, Target, differences, merged, put_page, settable, take_page};
use super::envelope::{Fault, Refusal, Success};
use super::rooms::Update;
use super::stamp;
use crate::site::moment::Moment;
use crate::time::Instant;

/// What only anteroom sets.
const READ_ONLY: &[&str] = &["id", "created_on", "modified_on"];

/// What an event inherits.
const INHERITED: [&str; 7] = [
    "new_users_per_minute",
    "total_active_users",
    "session_duration",
    "disable_session_renewal",
    "queueing_method",
    "custom_page_html",
    "turnstile_mode",
];

/// When the next event of a room begins to pre-queue, and when it starts, as they were sent; null if
/// there is none.
pub(super) fn next(room: &RoomEntry, now: Instant) -> (Value, Value) {
    let time = |event: &EventEntry, name: &str| {
        let text = event.declared.get(name)?.as_str()?.to_owned();
        Some((Moment::parse(&text)?.as_millis(), text))
    };
    let events = room.events.iter();
    let events = events.filter(|event| event.declared.get("suspended") != Some(&true.into()));
    let coming = events.filter_map(|event| {
        let (start, text) = time(event, "event_start_time")?;
        let prequeue = time(event, "prequeue_start_time").map(|(_, text)| text);
        (start > now.as_millis()).then_some((start, prequeue, text))
    });
    match coming.min_by_key(|(start, ..)| *start) {
        Some((_, prequeue, start)) => (json!(prequeue), json!(start)),
        None => (Value::Null, Value::Null),
    }
}

/// The event as the API shows it.
fn view(event: &EventEntry, configuration: &Configuration) -> Declared {
    let mut view = filled(EVENT, &event.declared);
    put_page(&mut view, configuration);
    view.insert("id".into(), event.id.as_str().into());
    view.insert("created_on".into(), stamp(event.created));
    view.insert("modified_on".into(), stamp(event.modified));
    view
}

pub(super) fn list(configuration: &Configuration, room: &str) -> Result<Vec<Value>, Refusal> {
    let room = configuration.room(room).ok_or_else(Refusal::not_found)?;
    let events = room.events.iter();
    Ok(events
        .map(|event| Value::Object(view(event, configuration)))
        .collect())
}

pub(super) fn get(configuration: &Configuration, room: &str, id: &str) -> Result<Success, Refusal> {
    let (_, event) = find(configuration, room, id)?;
    Ok(Success::of(Value::Object(view(event, configuration))))
}

/// The event with what it inherits filled in.
pub(super) fn details(
    configuration: &Configuration,
    room: &str,
    id: &str,
) -> Result<Success, Refusal> {
    let (room, event) = find(configuration, room, id)?;
    let mut details = view(event, configuration);
    let mut inherited = filled(ROOM, &room.declared);
    put_page(&mut inherited, configuration);
    for name in INHERITED {
        if details.get(name).is_none_or(Value::is_null)
            && let Some(value) = inherited.get(name)
        {
            details.insert(name.into(), value.clone());
        }
    }
    if let Some(seconds) = inherited.get("session_duration_seconds")
        && details.get("session_duration").is_some_and(Value::is_null)
    {
        details.remove("session_duration");
        details.insert("session_duration_seconds".into(), seconds.clone());
    }
    // An event has no action of its own; the room's is all there is.
    details.insert("turnstile_action".into(), "log".into());
    Ok(Success::of(Value::Object(details)))
}

pub(super) fn create(
    configuration: &mut Configuration,
    call: &mut Call<'_>,
    room: &str,
    body: Declared,
) -> Result<Success, Refusal> {
    configuration.room(room).ok_or_else(Refusal::not_found)?;
    let mut declared = without_nulls(settable(body, READ_ONLY, &Declared::new())?)?;
    let mut draft = configuration.clone();
    let odd = take_page(&mut declared, &mut draft)?;
    let id = call.id();
    let fields = differences(&Declared::new(), &declared);
    let entry = draft.room_mut(room).ok_or_else(Refusal::not_found)?;
    entry.events.push(EventEntry {
        id: id.clone(),
        created: call.now,
        modified: call.now,
        declared,
    });
    let target = Target::Event(room, &id);
    let draft = Draft {
        configuration: draft,
        target,
        action: "create",
        fields,
    };
    draft.commit(configuration, call)?;
    done(configuration, (room, &id), odd)
}

pub(super) fn update(
    configuration: &mut Configuration,
    call: &Call<'_>,
    (room, id): (&str, &str),
    body: Declared,
    how: Update,
) -> Result<Success, Refusal> {
    let (_, event) = find(configuration, room, id)?;
    let mut sent = settable(body, READ_ONLY, &view(event, configuration))?;
    let mut draft = configuration.clone();
    let odd = take_page(&mut sent, &mut draft)?;
    let declared = without_nulls(match how {
        Update::Replace => sent,
        Update::Merge => merged(&event.declared, sent),
    })?;
    let fields = differences(&filled(EVENT, &event.declared), &filled(EVENT, &declared));
    let events = draft.room_mut(room).map(|room| room.events.iter_mut());
    for entry in events.into_iter().flatten().filter(|event| event.id == id) {
        entry.declared.clone_from(&declared);
        entry.modified = call.now;
    }
    let target = Target::Event(room, id);
    let draft = Draft {
        configuration: draft,
        target,
        action: "update",
        fields,
    };
    draft.commit_if_changed(configuration, call)?;
    done(configuration, (room, id), odd)
}

pub(super) fn delete(
    configuration: &mut Configuration,
    call: &Call<'_>,
    room: &str,
    id: &str,
) -> Result<Success, Refusal> {
    let (_, event) = find(configuration, room, id)?;
    let fields = differences(&event.declared, &Declared::new());
    let mut draft = configuration.clone();
    if let Some(room) = draft.room_mut(room) {
        room.events.retain(|event| event.id != id);
    }
    let target = Target::Event(room, id);
    let draft = Draft {
        configuration: draft,
        target,
        action: "delete",
        fields,
    };
    draft.commit(configuration, call)?;
    Ok(Success::of(json!({ "id": id })))
}

fn find<'c>(
    configuration: &'c Configuration,
    room: &str,
    id: &str,
) -> Result<(&'c RoomEntry, &'c EventEntry), Refusal> {
    let room = configuration.room(room).ok_or_else(Refusal::not_found)?;
    let event = room.events.iter().find(|event| event.id == id);
    Ok((room, event.ok_or_else(Refusal::not_found)?))
}

fn done(
    configuration: &Configuration,
    (room, id): (&str, &str),
    odd: Vec<String>,
) -> Result<Success, Refusal> {
    let (_, event) = find(configuration, room, id)?;
    let result = Value::Object(view(event, configuration));
    Ok(Success {
        messages: odd,
        ..Success::of(result)
    })
}

/// Null says of what is inherited the same as leaving it out, and can be said of nothing else.
fn without_nulls(mut declared: Declared) -> Result<Declared, Refusal> {
    for field in EVENT {
        let inherits = field.default == Some("null");
        if inherits && declared.get(field.name).is_some_and(Value::is_null) {
            declared.remove(field.name);
        }
    }
    let nulls = declared.iter().filter(|(_, value)| value.is_null());
    let faults: Vec<Fault> = nulls
        .map(|(name, _)| Fault::invalid(format!("/{name}"), format!("{name} must not be null")))
        .collect();
    if faults.is_empty() {
        Ok(declared)
    } else {
        Err(Refusal::invalid(faults))
    }
}
