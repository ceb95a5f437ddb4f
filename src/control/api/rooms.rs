//! Rooms.

use serde_json::{Value, json};

use super::super::configuration::{Configuration, Declared, RoomEntry};
use super::super::fields::{ROOM, filled};
use super::change::{Call, Draft, Target, differences, merged, put_page, settable, take_page};
use super::envelope::{Fault, Refusal, Success};
use super::{events, stamp};
use crate::time::Instant;

/// So many rooms a zone has at most.
const MOST_ROOMS: usize = 200;

/// What only anteroom sets.
pub(super) const READ_ONLY: &[&str] = &[
    "id",
    "created_on",
    "modified_on",
    "next_event_prequeue_start_time",
    "next_event_start_time",
];

/// Fields of a declaration that have paths of their own.
const ELSEWHERE: [&str; 2] = ["events", "rules"];

/// The room as the API shows it.
pub(super) fn view(room: &RoomEntry, configuration: &Configuration, now: Instant) -> Declared {
    let mut view = filled(ROOM, &room.declared);
    put_page(&mut view, configuration);
    view.insert("id".into(), room.id.as_str().into());
    view.insert("created_on".into(), stamp(room.created));
    view.insert("modified_on".into(), stamp(room.modified));
    let (prequeue, start) = events::next(room, now);
    view.insert("next_event_prequeue_start_time".into(), prequeue);
    view.insert("next_event_start_time".into(), start);
    view
}

pub(super) fn list(configuration: &Configuration, now: Instant) -> Vec<Value> {
    let rooms = configuration.rooms.iter();
    rooms
        .map(|room| Value::Object(view(room, configuration, now)))
        .collect()
}

pub(super) fn get(
    configuration: &Configuration,
    id: &str,
    now: Instant,
) -> Result<Success, Refusal> {
    let room = configuration.room(id).ok_or_else(Refusal::not_found)?;
    Ok(Success::of(Value::Object(view(room, configuration, now))))
}

pub(super) fn create(
    configuration: &mut Configuration,
    call: &mut Call<'_>,
    body: Declared,
) -> Result<Success, Refusal> {
    let mut declared = settable(body, READ_ONLY, &Declared::new())?;
    refuse_elsewhere(&declared)?;
    if configuration.rooms.len() >= MOST_ROOMS {
        let message = format!("a zone has {MOST_ROOMS} rooms at most");
        return Err(Refusal::invalid(vec![Fault::invalid("", message)]));
    }
    let mut draft = configuration.clone();
    let odd = take_page(&mut declared, &mut draft)?;
    let id = call.id();
    let fields = differences(&Declared::new(), &declared);
    draft.rooms.push(RoomEntry {
        id: id.clone(),
        created: call.now,
        modified: call.now,
        declared,
        events: Vec::new(),
        rules: Vec::new(),
    });
    let target = Target::Room(&id);
    let draft = Draft {
        configuration: draft,
        target,
        action: "create",
        fields,
    };
    draft.commit(configuration, call)?;
    done(configuration, &id, call, odd)
}

/// How an update treats fields that it does not have.
#[derive(Clone, Copy, Eq, PartialEq)]
pub(super) enum Update {
    /// PUT: they have their defaults.
    Replace,
    /// PATCH: they stay as they are.
    Merge,
}

pub(super) fn update(
    configuration: &mut Configuration,
    call: &Call<'_>,
    id: &str,
    body: Declared,
    how: Update,
) -> Result<Success, Refusal> {
    let room = configuration.room(id).ok_or_else(Refusal::not_found)?;
    let sent = settable(body, READ_ONLY, &view(room, configuration, call.now))?;
    refuse_elsewhere(&sent)?;
    let mut draft = configuration.clone();
    let mut sent = sent;
    let odd = take_page(&mut sent, &mut draft)?;
    let declared = match how {
        Update::Replace => sent,
        Update::Merge => merged(&room.declared, sent),
    };
    let fields = differences(&filled(ROOM, &room.declared), &filled(ROOM, &declared));
    let entry = draft.room_mut(id).ok_or_else(Refusal::not_found)?;
    entry.declared = declared;
    entry.modified = call.now;
    let target = Target::Room(id);
    let draft = Draft {
        configuration: draft,
        target,
        action: "update",
        fields,
    };
    draft.commit_if_changed(configuration, call)?;
    done(configuration, id, call, odd)
}

pub(super) fn delete(
    configuration: &mut Configuration,
    call: &Call<'_>,
    id: &str,
) -> Result<Success, Refusal> {
    let room = configuration.room(id).ok_or_else(Refusal::not_found)?;
    let fields = differences(&room.declared, &Declared::new());
    let mut draft = configuration.clone();
    draft.rooms.retain(|room| room.id != id);
    let target = Target::Room(id);
    let draft = Draft {
        configuration: draft,
        target,
        action: "delete",
        fields,
    };
    draft.commit(configuration, call)?;
    Ok(Success::of(json!({ "id": id })))
}

fn done(
    configuration: &Configuration,
    id: &str,
    call: &Call<'_>,
    odd: Vec<String>,
) -> Result<Success, Refusal> {
    let room = configuration.room(id).ok_or_else(Refusal::not_found)?;
    let result = Value::Object(view(room, configuration, call.now));
    Ok(Success {
        messages: odd,
        ..Success::of(result)
    })
}

fn refuse_elsewhere(declared: &Declared) -> Result<(), Refusal> {
    let found = ELSEWHERE
        .into_iter()
        .filter(|name| declared.contains_key(*name));
    let faults: Vec<Fault> = found
        .map(|name| {
            let message = format!("{name} are set under /waiting_rooms/{{room}}/{name}");
            Fault::invalid(format!("/{name}"), message)
        })
        .collect();
    if faults.is_empty() {
        Ok(())
    } else {
        Err(Refusal::invalid(faults))
    }
}
