//! The calls that only rooms can answer.

use serde::Serialize;
use serde_json::{Value, json};

use super::envelope::{Answer, Refusal, Success};
use crate::page::timestamp::iso8601;
use crate::room::figures::exposition;
use crate::room::figures::query::Window;
use crate::room::figures::told::{self, Question, Totals};
use crate::room::message::{Message, Reply, Request, Response, VERSION};
use crate::room::number::TicketNumber;
use crate::room::position::Position;
use crate::room::snapshot::Snapshot;
use crate::room::status::Status;
use crate::site::room::{Room, RoomId};

/// A call that the shell performs: it sends the room what [`RoomCall::sent`] says, and hands what comes
/// back to [`RoomCall::answer`] or [`RoomCall::told`].
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
    /// Where a number stands.
    Place(TicketNumber),
    /// How it was.
    Series(Window),
}

/// What a room is sent.
#[derive(Clone, Debug, PartialEq)]
pub enum Sent {
    /// As an edge would. Repeating it changes nothing.
    Request(Request),
    /// Something for its operator.
    Question(Question),
}

impl RoomCall {
    /// What the room is sent.
    pub fn sent(&self) -> Sent {
        Sent::Request(match self.ask {
            Ask::Status => Request {
                version: VERSION,
                ..Request::default()
            },
            Ask::End(number) => Request::of(Message::End { number }),
            Ask::Place(number) => Request::of(Message::Find { number }),
            Ask::Series(window) => return Sent::Question(Question::Series(window)),
        })
    }

    /// The answer to the call: none from the room means that it could not be reached.
    pub fn answer(&self, response: Option<&Response>) -> Answer {
        let snapshot = response.and_then(|response| response.snapshot.as_deref());
        let reply = response.and_then(|response| response.replies.first());
        match (self.ask, snapshot, reply) {
            (Ask::Status, Some(snapshot), _) => success(&Status::of(&self.room, snapshot)),
            (_, _, Some(Reply::Found(Position::NeverGiven))) => Refusal::not_found().answer(),
            (Ask::End(number), _, Some(Reply::Found(_))) => {
                success(&json!({ "id": number.get().to_string() }))
            }
            (Ask::Place(number), Some(snapshot), Some(Reply::Found(position))) => {
                success(&place(number, *position, snapshot))
            }
            _ => Answer::unavailable(),
        }
    }

    /// The answer to the call, by what the room has told.
    pub fn told(&self, answer: Option<&told::Answer>) -> Answer {
        match answer {
            Some(told::Answer::Series(series)) => success(series),
            _ => Answer::unavailable(),
        }
    }
}

/// Numbers and texts: there is nothing in it that JSON could not hold.
fn success(result: &impl Serialize) -> Answer {
    Success::of(serde_json::to_value(result).unwrap_or_default()).answer()
}

/// Where a number stands. What does not go with its state is null.
fn place(number: TicketNumber, position: Position, snapshot: &Snapshot) -> Value {
    let (state, ahead, at_door, since, until) = match position {
        Position::NeverGiven => ("never_given", None, None, None, None),
        Position::Waiting { ahead } => ("waiting", Some(ahead), None, None, None),
        Position::Called { at_door } => ("called", None, Some(at_door), None, None),
        Position::Active { admitted, expires } => {
            ("active", None, None, Some(admitted), Some(expires))
        }
        Position::Ending { expires } => ("ending", None, None, None, Some(expires)),
        Position::Over => ("over", None, None, None, None),
    };
    let wait = ahead.and_then(|ahead| snapshot.expected_wait(ahead.into()));
    json!({
        "number": number.get(),
        "state": state,
        "users_ahead": ahead,
        "estimated_time_minutes": wait.map(|wait| wait.as_secs().div_ceil(60)),
        "at_door": at_door,
        "admitted_on": since.map(iso8601),
        "expires_on": until.map(iso8601),
        "as_of": iso8601(snapshot.taken),
    })
}

/// The call for the figures of all rooms: the shell asks each room for [`Question::Totals`].
#[derive(Clone, Debug, PartialEq)]
pub struct MetricsCall {
    /// The rooms: id and name.
    pub rooms: Vec<(RoomId, String)>,
}

impl MetricsCall {
    /// The answer, by what the rooms have told, in their order.
    pub fn answer(&self, told: Vec<Option<Totals>>) -> Answer {
        let names = self.rooms.iter().map(|(_, name)| name.as_str());
        let rooms: Vec<_> = names.zip(told).collect();
        Answer::new(200, exposition::CONTENT_TYPE, exposition::write(&rooms))
    }
}
