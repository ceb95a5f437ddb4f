//! Events: a room with other settings for a time, and a pre-queue before it.
//!
//! `docs/events.md` is the page for operators.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::moment::Moment;
use super::room::{QueueingMethod, Room, RoomId};

/// The id of an event: 32 lower-case hexadecimal digits, which follow from the room's id and the
/// event's name.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct EventId([u8; 16]);

impl EventId {
    pub(super) const fn new(bits: [u8; 16]) -> Self {
        Self(bits)
    }

    /// The 128 bits.
    pub const fn bits(self) -> [u8; 16] {
        self.0
    }
}

impl fmt::Display for EventId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl Serialize for EventId {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for EventId {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let digits = std::borrow::Cow::<str>::deserialize(deserializer)?;
        let bits = u128::from_str_radix(&digits, 16).map_err(serde::de::Error::custom)?;
        Ok(Self(bits.to_be_bytes()))
    }
}

/// An event after validation. Field names are those of Cloudflare's; what is none is inherited from
/// the room.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Event {
    /// Who the event is to the draw of its pre-queue.
    pub id: EventId,
    /// `[A-Za-z0-9_-]+`, unique in the room without regard to case.
    pub name: String,
    /// A free note.
    pub description: String,
    /// When newcomers begin to be held: at least 5 minutes before the start.
    pub prequeue_start_time: Option<Moment>,
    /// When the event starts.
    pub event_start_time: Moment,
    /// When it ends: at least a minute after the start.
    pub event_end_time: Moment,
    /// Whether the places of the pre-queue are drawn at the start.
    pub shuffle_at_event_start: bool,
    /// Whether the event does not take place.
    pub suspended: bool,
    /// Goes with `new_users_per_minute`: both are there or neither.
    pub total_active_users: Option<u32>,
    /// Goes with `total_active_users`.
    pub new_users_per_minute: Option<u32>,
    /// In seconds; declared as `session_duration` (minutes) or `session_duration_seconds`.
    pub session_duration_seconds: Option<u32>,
    /// See the room.
    pub disable_session_renewal: Option<bool>,
    /// See the room.
    pub queueing_method: Option<QueueingMethod>,
    /// See the room.
    pub custom_page_html: Option<String>,
}

impl Event {
    /// When the event begins to have its way: with the pre-queue, or at the start.
    pub fn begins(&self) -> Moment {
        self.prequeue_start_time.unwrap_or(self.event_start_time)
    }

    /// The event with everything that it inherits filled in: Cloudflare's view of an event's
    /// details.
    pub fn details<'a>(&'a self, room: &'a Room) -> Details<'a> {
        let (total, rate) = match (self.total_active_users, self.new_users_per_minute) {
            (Some(total), Some(rate)) => (total, rate),
            _ => (room.total_active_users, room.new_users_per_minute),
        };
        let page = self.custom_page_html.as_deref();
        Details {
            id: self.id,
            room: &room.id,
            name: &self.name,
            description: &self.description,
            prequeue_start_time: self.prequeue_start_time,
            event_start_time: self.event_start_time,
            event_end_time: self.event_end_time,
            shuffle_at_event_start: self.shuffle_at_event_start,
            suspended: self.suspended,
            total_active_users: total,
            new_users_per_minute: rate,
            session_duration_seconds: self
                .session_duration_seconds
                .unwrap_or(room.session_duration_seconds),
            disable_session_renewal: self
                .disable_session_renewal
                .unwrap_or(room.disable_session_renewal),
            queueing_method: self.queueing_method.unwrap_or(room.queueing_method),
            custom_page_html: page.or(room.custom_page_html.as_deref()),
        }
    }
}

/// An event whose every setting is known.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[allow(missing_docs, reason = "the fields are those of Event and Room")]
pub struct Details<'a> {
    pub id: EventId,
    pub room: &'a RoomId,
    pub name: &'a str,
    pub description: &'a str,
    #[serde(serialize_with = "perhaps_iso8601")]
    pub prequeue_start_time: Option<Moment>,
    #[serde(serialize_with = "iso8601")]
    pub event_start_time: Moment,
    #[serde(serialize_with = "iso8601")]
    pub event_end_time: Moment,
    pub shuffle_at_event_start: bool,
    pub suspended: bool,
    pub total_active_users: u32,
    pub new_users_per_minute: u32,
    pub session_duration_seconds: u32,
    pub disable_session_renewal: bool,
    pub queueing_method: QueueingMethod,
    pub custom_page_html: Option<&'a str>,
}

fn iso8601<S: serde::Serializer>(moment: &Moment, serializer: S) -> Result<S::Ok, S::Error> {
    moment.iso8601().serialize(serializer)
}

fn perhaps_iso8601<S: serde::Serializer>(
    moment: &Option<Moment>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    moment.and_then(Moment::iso8601).serialize(serializer)
}

/// The event that has its way in a room just now.
#[derive(Clone, Debug, PartialEq)]
pub struct Running {
    /// The event's id.
    pub id: EventId,
    /// The event's name.
    pub name: String,
    /// Whether the event has not started yet, so that all newcomers are held.
    pub prequeueing: bool,
    /// When the event starts, or has started.
    pub start: Moment,
    /// When it ends.
    pub end: Moment,
    /// Whether the places of the pre-queue are drawn at the start.
    pub shuffle: bool,
}
