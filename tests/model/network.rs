//! What is on its way between an edge, a relay and the room.

use anteroom::gate::intent::Intent;
use anteroom::gate::visitor::Visitor;
use anteroom::room::message::{Reply, Request, Response};
use anteroom::room::number::TicketId;
use anteroom::room::snapshot::Snapshot;
use anteroom::time::Instant;

use super::printed::Printed;

/// One call of an edge. The calls of a state are a set: any of them may be the next to arrive, late,
/// never, or more than once.
#[derive(Clone, Debug, Hash, PartialEq)]
pub(crate) struct Call {
    /// Who waits for the answer; nobody once the edge has given up.
    pub(crate) waits: Option<usize>,
    pub(crate) edge: usize,
    pub(crate) asked: Printed<Asked>,
    pub(crate) stage: Stage,
}

/// What the edge was about when it asked.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) visitor: Visitor,
    pub(crate) intent: Intent,
    pub(crate) now: Instant,
    pub(crate) new_ticket: TicketId,
    /// One message, or none where only a snapshot is wanted.
    pub(crate) request: Request,
}

/// How far a call has come.
#[derive(Clone, Debug, Hash, PartialEq)]
pub(crate) enum Stage {
    /// On its way to the room.
    ToRoom,
    /// A relay has it and will send it on with others.
    AtRelay(usize),
    /// On its way to the room together with others of this relay.
    Bundled(usize),
    /// On its way back, through this relay if any.
    Answered(Option<usize>, Printed<Answered>),
}

/// What a call brings back.
#[derive(Clone, Debug)]
pub(crate) struct Answered {
    pub(crate) reply: Option<Reply>,
    pub(crate) snapshot: Snapshot,
}

impl Answered {
    pub(crate) fn of(response: &Response) -> Self {
        Self {
            reply: response.replies.first().copied(),
            snapshot: response.snapshot.clone(),
        }
    }
}
