//! The status of a room: Cloudflare's object, and what a room knows exactly besides.

use serde::{Deserialize, Serialize};

use super::snapshot::Snapshot;
use crate::page::timestamp::iso8601;
use crate::site::room::{QueueingMethod, Room};
use crate::time::Span;

/// What a room is doing.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// Whoever comes is let in, or turned away without a place (`reject`).
    NotQueueing,
    /// Newcomers wait, or others still do.
    Queueing,
    /// Newcomers wait for an event to start.
    EventPrequeueing,
    /// The room is off.
    Suspended,
}

/// The status of a room. The first five fields are Cloudflare's.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Status {
    /// The id of the event that is under way, its pre-queue included; empty if none is.
    pub event_id: String,
    /// What the room is doing.
    pub status: State,
    /// Visitors in line, called ones included. Who has not polled for long is left out.
    pub estimated_queued_users: u32,
    /// Active sessions. Not an estimate here, but Cloudflare's name for it.
    pub estimated_total_active_users: u32,
    /// The longest wait that a visitor is told just now, in minutes, rounded up; 0 where no wait is
    /// told.
    pub max_estimated_time_minutes: u32,
    /// Active sessions: exact.
    pub active_users: u32,
    /// Admissions of the last 60 seconds: exact.
    pub admitted_last_minute: u32,
    /// Of those in line, how many were called: an estimate.
    pub called_users: u32,
    /// Whether the line is so long that newcomers get no number.
    pub queue_is_full: bool,
    /// The room's time of all these, in ISO 8601.
    pub as_of: String,
}

impl Status {
    /// The status of a room whose settings in force are `room`, by what it has told last.
    pub fn of(room: &Room, snapshot: &Snapshot) -> Self {
        let queued = snapshot.queued.saturating_add(snapshot.called);
        let rejects = room.queueing_method == QueueingMethod::Reject && !room.holds_everybody();
        let status = if room.suspended {
            State::Suspended
        } else if room.is_prequeueing() && !room.queue_all {
            State::EventPrequeueing
        } else if queued > 0 || (snapshot.queueing && !rejects) {
            State::Queueing
        } else {
            State::NotQueueing
        };
        let event = room.event.as_ref().filter(|_| !room.suspended);
        Self {
            event_id: event.map_or_else(String::new, |event| event.id.to_string()),
            status,
            estimated_queued_users: queued,
            estimated_total_active_users: snapshot.active,
            max_estimated_time_minutes: longest_wait(room, snapshot, queued).map_or(0, minutes),
            active_users: snapshot.active,
            admitted_last_minute: snapshot.admitted_last_minute,
            called_users: snapshot.called,
            queue_is_full: snapshot.full,
            as_of: iso8601(snapshot.taken),
        }
    }
}

/// The wait of the last in line; in a room that admits at random what three quarters wait at most.
fn longest_wait(room: &Room, snapshot: &Snapshot, queued: u32) -> Option<Span> {
    let before_the_last = queued.checked_sub(1)?;
    if room.suspended || room.holds_everybody() {
        return None;
    }
    match room.queueing_method {
        QueueingMethod::Fifo => snapshot
            .wait(before_the_last.into())
            .map(|wait| wait.likely),
        QueueingMethod::Random => snapshot.quartiles().map(|quartiles| quartiles.p75),
        QueueingMethod::Passthrough | QueueingMethod::Reject => None,
    }
}

fn minutes(wait: Span) -> u32 {
    u32::try_from(wait.as_secs().div_ceil(60).max(1)).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests;
