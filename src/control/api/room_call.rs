//! The calls that only the room itself can answer.

use serde_json::json;

use super::envelope::{Answer, Refusal, Success};
use crate::page::timestamp::iso8601;
use crate::room::message::{Message, Request, Response, VERSION};
use crate::room::number::TicketNumber;
use crate::room::snapshot::Snapshot;
use crate::site::room::Room;

/// A call that the shell performs: it sends the room [`RoomCall::first`], then what
/// [`RoomCall::second`] makes of the answer, if anything, and hands the last answer to
/// [`RoomCall::answer`].
#[derive(Clone, Debug, PartialEq)]
pub struct RoomCall {
    /// The room's settings of the moment.
    pub room: Room,
    /// What is asked.
    pub ask: Ask,
}

/// What a room is asked.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Ask {
    /// How it is.
    Status,
    /// To end the session or the place of a number.
    End(TicketNumber),
    /// Where a number is in line.
    Place(TicketNumber),
}

impl RoomCall {
    /// What the room is sent first: it answers with a snapshot.
    pub fn first(&self) -> Request {
        Request {
            version: VERSION,
            ..Request::default()
        }
    }

    /// What it is sent then, if the call needs more than a snapshot. Repeating it changes nothing.
    pub fn second(&self, response: &Response) -> Option<Request> {
        let Ask::End(number) = self.ask else {
            return None;
        };
        let snapshot = response.snapshot.as_ref()?;
        let incarnation = response.life()?;
        let known = number.get() <= snapshot.issued;
        known.then(|| {
            Request::of(Message::Leave {
                number,
                incarnation,
            })
        })
    }

    /// The answer to the call: none from the room means that it could not be reached.
    pub fn answer(&self, response: Option<&Response>) -> Answer {
        let Some(snapshot) = response.and_then(|response| response.snapshot.as_deref()) else {
            return Answer::unavailable();
        };
        match self.ask {
            Ask::Status => self.status(snapshot),
            Ask::End(number) | Ask::Place(number) if number.get() > snapshot.issued => {
                Refusal::not_found().answer()
            }
            Ask::End(number) => Success::of(json!({ "id": number.get().to_string() })).answer(),
            Ask::Place(number) => place(number, snapshot),
        }
    }

    /// Cloudflare's fields, then ours, which are exact.
    fn status(&self, snapshot: &Snapshot) -> Answer {
        let event = self.room.event.as_ref();
        let status = match () {
            () if self.room.suspended => "suspended",
            () if self.room.is_prequeueing() => "event_prequeueing",
            () if snapshot.queueing || self.room.queue_all => "queueing",
            () => "not_queueing",
        };
        Success::of(json!({
            "status": status,
            "event_id": event.map(|event| event.id.to_string()).unwrap_or_default(),
            "estimated_queued_users": snapshot.queued,
            "estimated_total_active_users": snapshot.active,
            "max_estimated_time_minutes": longest_wait(snapshot),
            "active_users": snapshot.active,
            "admitted_last_minute": snapshot.admitted_last_minute,
            "called_users": snapshot.called,
            "as_of": iso8601(snapshot.taken),
        }))
        .answer()
    }
}

fn longest_wait(snapshot: &Snapshot) -> u64 {
    minutes(snapshot, u64::from(snapshot.queued)).unwrap_or(0)
}

/// The expected wait behind so many people, rounded up; none if it cannot be told.
fn minutes(snapshot: &Snapshot, ahead: u64) -> Option<u64> {
    let minutes = snapshot.pace?.minutes(ahead);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "finite, and from 0 to a year"
    )]
    minutes
        .is_finite()
        .then(|| minutes.clamp(0.0, 525_600.0).ceil() as u64)
}

fn place(number: TicketNumber, snapshot: &Snapshot) -> Answer {
    let called = snapshot.is_called(number);
    let ahead = (!called && !snapshot.is_undrawn(number)).then(|| snapshot.users_ahead(number));
    Success::of(json!({
        "number": number.get(),
        // Called, inside, or gone: a number is not counted back.
        "called": called,
        "users_ahead": ahead,
        "estimated_time_minutes": ahead.and_then(|ahead| minutes(snapshot, ahead)),
        "revoked": snapshot.revoked.contains(&number),
        "as_of": iso8601(snapshot.taken),
    }))
    .answer()
}
