//! What an edge says to a room and what the room answers: JSON, in both directions.
//!
//! An object keeps old code for minutes after a deploy, so an edge of one version talks to a room of
//! another. Hence every body carries [`VERSION`], unknown fields are skipped, and new fields have
//! defaults. Every message is idempotent: sent twice it changes nothing more and gets an answer of
//! the same meaning. So a caller whose answer was lost sends the message again.

use serde::{Deserialize, Serialize};

use super::number::{Incarnation, TicketId, TicketNumber};
use super::snapshot::Snapshot;
use crate::time::Instant;

/// The version of the bodies. A reader refuses a larger one.
pub const VERSION: u32 = 1;

/// The body of a request to a room.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct Request {
    /// [`VERSION`] of the sender.
    #[serde(rename = "v")]
    pub version: u32,
    /// What the room shall do, in this order. May be empty: then the caller just wants a snapshot.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub messages: Vec<Message>,
    /// The numbers whose waiting polls this edge has counted since its last report.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub polled: Vec<TicketNumber>,
    /// The numbers whose first pass this edge has seen come back since its last report.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub returned: Vec<TicketNumber>,
}

impl Request {
    /// A request that carries one message.
    pub fn of(message: Message) -> Self {
        Self {
            version: VERSION,
            messages: vec![message],
            ..Self::default()
        }
    }
}

/// The body of a room's answer.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Response {
    /// [`VERSION`] of the room.
    #[serde(rename = "v")]
    pub version: u32,
    /// One reply for each message, in their order.
    pub replies: Vec<Reply>,
    /// The room after the last of them.
    pub snapshot: Snapshot,
}

/// One thing that a room shall do for a visitor.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Message {
    /// A visitor without a number comes.
    Arrive {
        /// Tells this arrival from others.
        ticket: TicketId,
        /// Whether the visitor has brought back the number-less ticket of an earlier answer. Only
        /// then a full room gives a number: a client that keeps no cookies takes no place in line.
        returning: bool,
    },
    /// A visitor who was called comes to the door.
    Claim {
        /// The number called.
        number: TicketNumber,
        /// Where the number comes from.
        incarnation: Incarnation,
        /// The visitor's last counted poll, on the edge's clock.
        last_poll: Instant,
    },
    /// An admitted visitor goes on.
    Renew {
        /// The visitor's number.
        number: TicketNumber,
        /// Where the number comes from.
        incarnation: Incarnation,
    },
    /// A visitor leaves the line or the site, or the origin ends their session.
    Leave {
        /// The visitor's number.
        number: TicketNumber,
        /// Where the number comes from.
        incarnation: Incarnation,
    },
    /// An edge takes slots for the newcomers that it expects within [`RESERVED_FOR`]. Only to be
    /// sent to a room whose snapshot has [`Snapshot::spare`]: an older one does not know it.
    ///
    /// [`RESERVED_FOR`]: super::ledger::RESERVED_FOR
    Reserve {
        /// Tells this reservation from others.
        reservation: TicketId,
        /// How many slots at the most.
        count: u32,
    },
    /// An edge gives back the slots of a reservation that it has not used, and will not use any
    /// more.
    Return {
        /// Which reservation.
        reservation: TicketId,
        /// Where its numbers come from.
        incarnation: Incarnation,
        /// How many of its numbers, from the first on, have become passes.
        used: u32,
    },
}

/// The room's answer to one [`Message`].
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Reply {
    /// The visitor holds a slot.
    Admitted {
        /// The visitor's number.
        number: TicketNumber,
        /// When the pass ends. The slot stays taken for [`EXPIRY_GRACE`] longer.
        ///
        /// [`EXPIRY_GRACE`]: super::ledger::EXPIRY_GRACE
        expires: Instant,
        /// Whether the pass is provisional, to be renewed by the first request that brings it back.
        provisional: bool,
    },
    /// The visitor holds a place in line.
    Waiting {
        /// The visitor's number; after a claim of a spent number a new one.
        number: TicketNumber,
        /// When the number was given, if this message gave it.
        joined: Option<Instant>,
    },
    /// The visitor stands at the door: called, but every slot is taken for now.
    AtDoor {
        /// The visitor's number.
        number: TicketNumber,
        /// How many at the door come before this visitor.
        ahead: u32,
    },
    /// The room is full and the visitor has not shown that they keep a cookie: they shall come back
    /// with their number-less ticket.
    ComeBack,
    /// The session has ended or was never there; the number is spent.
    Over,
    /// The session goes on to its end but is not renewed (`drain_over_limit`).
    NotRenewed,
    /// The edge holds `count` slots and may make a pass for each, within [`RESERVED_FOR`] from when
    /// it has asked.
    ///
    /// [`RESERVED_FOR`]: super::ledger::RESERVED_FOR
    Reserved {
        /// The first of the numbers, which follow one another.
        first: TicketNumber,
        /// How many.
        count: u32,
        /// When the passes end, all of them.
        expires: Instant,
        /// Whether the passes are provisional.
        provisional: bool,
    },
    /// There is nothing to spare: newcomers are to be asked for one by one.
    NotReserved,
}
