//! How a call changes the configuration: on a copy, which is checked as a whole and then takes the
//! place of the original; or not at all.

use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use super::super::audit::{Change, FieldChange};
use super::super::compile::{Surroundings, check};
use super::super::configuration::{Configuration, Declared};
use super::envelope::{Fault, Refusal};
use crate::page::template::check::check as check_page;
use crate::site::fault::Faults;
use crate::time::Instant;

/// The pages of all rooms together, in bytes: an isolate has 128 MB for everything.
const MOST_PAGES: usize = 8 << 20;

/// Who changes something, and when, and with what.
pub(super) struct Call<'a> {
    pub(super) actor: &'a str,
    pub(super) now: Instant,
    pub(super) around: Surroundings<'a>,
    random: [u8; 32],
    ids: u32,
}

impl<'a> Call<'a> {
    pub(super) const fn new(
        actor: &'a str,
        now: Instant,
        around: Surroundings<'a>,
        random: [u8; 32],
    ) -> Self {
        Self {
            actor,
            now,
            around,
            random,
            ids: 0,
        }
    }

    /// A new id: 32 hexadecimal digits that nobody can foretell.
    pub(super) fn id(&mut self) -> String {
        self.ids += 1;
        let mut hash = Sha256::new();
        hash.update(self.random);
        hash.update(self.ids.to_be_bytes());
        let digest = hash.finalize();
        let digits = digest.iter().take(16).map(|byte| format!("{byte:02x}"));
        digits.collect()
    }
}

/// What a call is about, so that faults are told where they are in its body.
#[derive(Clone, Copy)]
pub(super) enum Target<'a> {
    Settings,
    Room(&'a str),
    Event(&'a str, &'a str),
    /// The rules of a room from the one of this index on, as a list.
    Rules(&'a str, usize),
    /// One rule of a room.
    Rule(&'a str, usize),
}

impl Target<'_> {
    fn room(self) -> Option<String> {
        match self {
            Self::Settings => None,
            Self::Room(room)
            | Self::Event(room, _)
            | Self::Rules(room, _)
            | Self::Rule(room, _) => Some(room.to_owned()),
        }
    }

    /// As the audit trail names it.
    fn name(self) -> String {
        match self {
            Self::Settings => "settings".into(),
            Self::Room(room) => format!("rooms/{room}"),
            Self::Event(room, event) => format!("rooms/{room}/events/{event}"),
            Self::Rules(room, _) | Self::Rule(room, _) => format!("rooms/{room}/rules"),
        }
    }
}

/// A change that has been made to a copy.
pub(super) struct Draft<'a> {
    pub(super) configuration: Configuration,
    pub(super) target: Target<'a>,
    /// `create`, `update` or `delete`.
    pub(super) action: &'static str,
    pub(super) fields: Vec<FieldChange>,
}

impl Draft<'_> {
    /// Puts the copy into the original's place, if it is right as a whole.
    pub(super) fn commit(
        self,
        original: &mut Configuration,
        call: &Call<'_>,
    ) -> Result<(), Refusal> {
        let mut draft = self.configuration;
        self.target.check(&draft, call.around)?;
        draft.drop_unnamed_pages();
        let bytes: usize = draft.pages().values().map(String::len).sum();
        if bytes > MOST_PAGES {
            let message =
                format!("all pages together have {bytes} bytes: the limit is {MOST_PAGES}");
            return Err(Refusal::invalid(vec![Fault::invalid(
                "/custom_page_html",
                message,
            )]));
        }
        draft.version = original.version.saturating_add(1);
        draft.trail.note(Change {
            version: draft.version,
            at: call.now,
            by: call.actor.to_owned(),
            action: self.action.to_owned(),
            to: self.target.name(),
            fields: self.fields,
        });
        *original = draft;
        Ok(())
    }

    /// The same for a copy that may say the same as the original: then nothing happens. It is right
    /// even so, or refused.
    pub(super) fn commit_if_changed(
        self,
        original: &mut Configuration,
        call: &Call<'_>,
    ) -> Result<(), Refusal> {
        if self.fields.is_empty() {
            return self.target.check(&self.configuration, call.around);
        }
        self.commit(original, call)
    }
}

impl Target<'_> {
    /// Checks a configuration with what the call is about at the end of its lists: whatever does not
    /// go together is then told of that.
    fn check(self, draft: &Configuration, around: Surroundings<'_>) -> Result<(), Refusal> {
        let ordered = self.last(draft);
        match check(&ordered.declaration(), around) {
            Ok(_) => Ok(()),
            Err(faults) => Err(self.refusal(&ordered, &faults)),
        }
    }

    fn last(self, draft: &Configuration) -> Configuration {
        let mut ordered = draft.clone();
        let Some(target) = self.room() else {
            return ordered;
        };
        ordered.rooms.sort_by_key(|room| room.id == target);
        if let Self::Event(_, event) = self
            && let Some(room) = ordered.rooms.last_mut()
        {
            room.events.sort_by_key(|entry| entry.id == event);
        }
        ordered
    }

    fn refusal(self, checked: &Configuration, faults: &Faults) -> Refusal {
        let faults = faults.iter().map(|fault| {
            let message = by_name(&fault.message, checked);
            match self.pointer(&fault.path, checked) {
                Some(pointer) => {
                    let field = pointer.trim_start_matches('/').replace('/', ".");
                    let told = if field.is_empty() {
                        message
                    } else {
                        format!("{field} {message}")
                    };
                    Fault::invalid(pointer, told)
                }
                None => {
                    let place = by_name(&fault.path, checked);
                    Fault::invalid("", format!("{place} {message}"))
                }
            }
        });
        Refusal::invalid(faults.collect())
    }

    /// Where a fault is in the body of the call; none if it is elsewhere.
    fn pointer(self, place: &str, checked: &Configuration) -> Option<String> {
        let target = self.room();
        let room = checked
            .rooms
            .iter()
            .position(|room| Some(&room.id) == target.as_ref());
        let of_room = || place.strip_prefix(&format!("rooms[{}]", room?));
        let rest = match self {
            Self::Settings => return Some(format!("/{place}")),
            Self::Room(_) => of_room()?,
            Self::Event(_, event) => {
                let events = &checked.rooms.get(room?)?.events;
                let index = events.iter().position(|entry| entry.id == event)?;
                of_room()?.strip_prefix(&format!(".events[{index}]"))?
            }
            Self::Rule(_, index) => of_room()?.strip_prefix(&format!(".rules[{index}]"))?,
            Self::Rules(_, first) => {
                let (index, rest) = of_room()?.strip_prefix(".rules[")?.split_once(']')?;
                let index = index.parse::<usize>().ok()?.checked_sub(first)?;
                return Some(format!("/{index}{}", slashes(rest)));
            }
        };
        Some(slashes(rest))
    }
}

/// `.a[0].b` as a JSON pointer.
fn slashes(place: &str) -> String {
    place.replace(['.', '['], "/").replace(']', "")
}

/// A message with the names of rooms and events instead of their places.
fn by_name(message: &str, checked: &Configuration) -> String {
    let mut message = message.to_owned();
    let name = |declared: &Declared| {
        let name = declared.get("name").and_then(Value::as_str);
        name.unwrap_or_default().to_owned()
    };
    for (n, room) in checked.rooms.iter().enumerate() {
        let (place, called) = (format!("rooms[{n}]"), name(&room.declared));
        for (m, event) in room.events.iter().enumerate() {
            let called = name(&event.declared);
            let (place, event) = (
                format!("{place}.events[{m}]"),
                format!("the event {called}"),
            );
            message = message.replace(&format!("{place} ({called})"), &event);
            message = message.replace(&place, &event);
        }
        let room = format!("the room {called}");
        message = message.replace(&format!("{place} ({called})"), &room);
        message = message.replace(&place, &room);
    }
    message
}

/// The fields in which two objects differ, for the audit trail.
pub(super) fn differences(before: &Declared, after: &Declared) -> Vec<FieldChange> {
    let mut names: Vec<&String> = before.keys().chain(after.keys()).collect();
    names.sort_unstable();
    names.dedup();
    let changed = names
        .into_iter()
        .filter(|name| before.get(*name) != after.get(*name));
    changed
        .map(|name| FieldChange::of(name, before.get(name), after.get(name)))
        .collect()
}

/// The fields of a body that can be set. One that only anteroom sets may be sent along if it says what
/// is the case: so an answer can be sent back with other settings.
pub(super) fn settable(
    mut body: Declared,
    read_only: &[&str],
    present: &Map<String, Value>,
) -> Result<Declared, Refusal> {
    let mut faults = Vec::new();
    for name in read_only {
        let Some(sent) = body.remove(*name) else {
            continue;
        };
        if present.get(*name) != Some(&sent) {
            let now = present.get(*name).unwrap_or(&Value::Null);
            let message = format!("{name} is read-only: anteroom sets it; it is {now}");
            faults.push(Fault::invalid(format!("/{name}"), message));
        }
    }
    if faults.is_empty() {
        Ok(body)
    } else {
        Err(Refusal::invalid(faults))
    }
}

/// Lays the fields that were sent over those that were set. Of two that say the same the one that was
/// sent remains.
pub(super) fn merged(set: &Declared, mut sent: Declared) -> Declared {
    let mut merged = set.clone();
    for (one, other) in [
        ("session_duration", "session_duration_seconds"),
        ("session_duration_seconds", "session_duration"),
    ] {
        if sent.contains_key(one) && !sent.contains_key(other) {
            merged.remove(other);
        }
    }
    merged.append(&mut sent);
    merged
}

/// Replaces the text of a page by the name under which it is kept, if the page can be shown. Gives
/// what is odd about it.
pub(super) fn take_page(
    declared: &mut Declared,
    draft: &mut Configuration,
) -> Result<Vec<String>, Refusal> {
    let Some(Value::String(source)) = declared.get_mut("custom_page_html") else {
        return Ok(Vec::new());
    };
    let odd = check_page(source).map_err(|fault| {
        let message = format!("custom_page_html {fault}");
        Refusal::invalid(vec![Fault::invalid("/custom_page_html", message)])
    })?;
    *source = draft.keep_page(source);
    Ok(odd)
}

/// Replaces the name of a page by its text.
pub(super) fn put_page(view: &mut Declared, configuration: &Configuration) {
    if let Some(Value::String(name)) = view.get_mut("custom_page_html")
        && let Some(source) = configuration.pages().get(name.as_str())
    {
        name.clone_from(source);
    }
}
