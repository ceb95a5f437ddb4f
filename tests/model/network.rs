//! What is on its way between an edge, a relay and the room.

use std::sync::Arc;

use anteroom::gate::intent::Intent;
use anteroom::gate::visitor::Visitor;
use anteroom::room::message::{Request, Response};
use anteroom::room::number::TicketId;
use anteroom::room::relay::Part;
use anteroom::room::snapshot::Snapshot;
use anteroom::time::Instant;

use super::printed::Printed;

/// One call of an edge. The calls of a state are a set: any of them may be the next to arrive, late,
/// never, or more than once.
#[derive(Clone, Debug, Hash, PartialEq)]
pub(crate) struct Call {
    /// By which a relay knows it.
    pub(crate) id: u8,
    /// Who waits for the answer; nobody once the edge has given up.
    pub(crate) waits: Option<usize>,
    /// Whether the edge's keeper of reservations waits for the answer.
    pub(crate) keeps: bool,
    pub(crate) edge: usize,
    /// The relay that it goes through.
    pub(crate) relay: Option<usize>,
    pub(crate) asked: Printed<Asked>,
    pub(crate) stage: Stage,
}

impl Call {
    /// Whether the relay knows the call by this id, and it has not gone on without the relay.
    pub(crate) fn is_known_to(&self, relay: usize, id: u8) -> bool {
        self.relay == Some(relay) && self.id == id
    }
}

/// What the edge was about when it asked.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) visitor: Visitor,
    pub(crate) intent: Intent,
    pub(crate) now: Instant,
    pub(crate) new_ticket: TicketId,
    /// One message; none where only a snapshot is wanted, and some of a keeper.
    pub(crate) request: Request,
    /// The snapshot that the edge had.
    pub(crate) known: Option<Arc<Snapshot>>,
}

/// How far a call has come.
#[derive(Clone, Debug, Hash, PartialEq)]
pub(crate) enum Stage {
    /// On its way to the room.
    ToRoom,
    /// Its relay has it and will send it on with others.
    AtRelay,
    /// Its relay has sent it on.
    Bundled,
    /// On its way back.
    Answered(Printed<Response>),
}

/// A request of a relay, on its way to the room.
#[derive(Clone, Debug, Hash, PartialEq)]
pub(crate) struct Bundle {
    /// Who hears the response; nobody once the relay has vanished.
    pub(crate) relay: Option<usize>,
    pub(crate) sent: Printed<(Request, Vec<Part<u8>>)>,
}

/// Whom the room answers.
#[derive(Clone, Debug, Hash, PartialEq)]
pub(crate) enum Caller {
    Edge(Call),
    Relay(Bundle),
}
