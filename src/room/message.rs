//! What an edge says to a room and what the room answers: JSON, in both directions.
//!
//! An object keeps old code for minutes after a deploy, so an edge of one version talks to a room of
//! another. Hence every body carries [`VERSION`], unknown fields are skipped, and new fields have
//! defaults. Every message is idempotent: sent twice it changes nothing more and gets an answer of
//! the same meaning. So a caller whose answer was lost sends the message again.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::value::{RawValue, to_raw_value};

use super::figures::counts::Counts;
use super::number::{Incarnation, TicketId, TicketNumber};
use super::numbers::Numbers;
use super::position::Position;
use super::snapshot::{READS_SETS, Snapshot, Stamp};
use crate::control::version::Version;
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
    /// The numbers whose waiting polls this edge has counted since its last report, as a room reads
    /// them that knows no sets.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub polled: Vec<TicketNumber>,
    /// The numbers whose first pass this edge has seen come back since its last report, likewise.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub returned: Vec<TicketNumber>,
    /// The same as [`Request::polled`], for a room that reads sets
    /// ([`READS_SETS`](super::snapshot::READS_SETS)).
    #[serde(default, skip_serializing_if = "Numbers::is_empty")]
    pub polls: Numbers,
    /// The same as [`Request::returned`], likewise.
    #[serde(default, skip_serializing_if = "Numbers::is_empty")]
    pub returns: Numbers,
    /// The snapshot that the sender has. The room leaves its own out of the response where that
    /// would tell little more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub knows: Option<Stamp>,
    /// For how many requests of edges a relay sends this one; 0 from an edge itself.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub gathered: u32,
    /// What this edge has counted since its last report. A room of before does not read it.
    #[serde(default, skip_serializing_if = "Counts::is_zero")]
    pub counts: Counts,
    /// The configuration that the sender goes by. A room that goes by an older one asks for it.
    #[serde(default, skip_serializing_if = "Version::is_embedded")]
    pub configuration: Version,
}

fn is_zero(value: &u32) -> bool {
    *value == 0
}

impl Request {
    /// Reads a request.
    ///
    /// # Errors
    ///
    /// What a caller is told of one that this version does not understand.
    pub fn read(body: &str) -> Result<Self, String> {
        let request: Self = serde_json::from_str(body).map_err(|error| error.to_string())?;
        if request.version > VERSION {
            let version = request.version;
            return Err(format!("message version {version}, known {VERSION}"));
        }
        Ok(request)
    }

    /// Says who has polled and who has returned, in the form that a room reads whose snapshots say
    /// `reads` ([`Snapshot::reads`]).
    pub fn reporting(
        self,
        reads: u32,
        polled: Vec<TicketNumber>,
        returned: Vec<TicketNumber>,
    ) -> Self {
        if reads >= READS_SETS {
            Self {
                polls: polled.into_iter().collect(),
                returns: returned.into_iter().collect(),
                ..self
            }
        } else {
            Self {
                polled,
                returned,
                ..self
            }
        }
    }

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
    /// The life of the room's storage. An older room says it in the snapshot alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub life: Option<Incarnation>,
    /// The room after the last of them; none if the sender of the request knows enough.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub snapshot: Option<Arc<Snapshot>>,
}

impl Response {
    /// The life of the room's storage; none if the response does not say.
    pub fn life(&self) -> Option<Incarnation> {
        let of = |snapshot: &Arc<Snapshot>| snapshot.incarnation;
        self.snapshot.as_ref().map(of).or(self.life)
    }
}

/// Writes responses as JSON. A snapshot that several of them share is written once: it is by far the
/// largest part.
#[derive(Debug, Default)]
pub struct Writer {
    written: Option<(Arc<Snapshot>, Box<RawValue>)>,
}

impl Writer {
    /// The response as JSON: what its `Serialize` gives.
    ///
    /// # Errors
    ///
    /// None that is known; the encoder's own are passed on.
    pub fn write(&mut self, response: &Response) -> Result<String, serde_json::Error> {
        #[derive(Serialize)]
        struct Written<'a> {
            v: u32,
            replies: &'a [Reply],
            #[serde(skip_serializing_if = "Option::is_none")]
            life: Option<Incarnation>,
            #[serde(skip_serializing_if = "Option::is_none")]
            snapshot: Option<&'a RawValue>,
        }
        if let Some(snapshot) = &response.snapshot {
            let is_written = |(last, _): &(Arc<Snapshot>, _)| Arc::ptr_eq(last, snapshot);
            if !self.written.as_ref().is_some_and(is_written) {
                self.written = Some((Arc::clone(snapshot), to_raw_value(snapshot)?));
            }
        }
        let raw = self.written.as_ref().map(|(_, raw)| raw.as_ref());
        serde_json::to_string(&Written {
            v: response.version,
            replies: &response.replies,
            life: response.life,
            snapshot: response.snapshot.as_ref().and(raw),
        })
    }
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
        /// When the number was given, by the visitor's token; for figures alone. An older edge does
        /// not say.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        joined: Option<Instant>,
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
        /// Whether the origin has ended the session; for figures alone.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        revoked: bool,
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
    /// Somebody of the operator's asks where a number stands. Like [`Message::End`] it is sent to
    /// the room itself and never through a relay, because an older one does not know it.
    Find {
        /// The number.
        number: TicketNumber,
    },
    /// Somebody of the operator's ends the session of a number, or its place in line.
    End {
        /// The number.
        number: TicketNumber,
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
        /// How many live visitors come before this one. An older room leaves it to the snapshot.
        #[serde(default)]
        ahead: Option<u32>,
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
    /// Where the number stands; after [`Message::End`] where it stands from now on.
    Found(Position),
}

#[cfg(test)]
mod tests {
    //! Bodies as they are on the wire, of this version and of the one before. A line here may be
    //! added, never changed: both versions live side by side for minutes after a deploy.

    use serde_json::{from_str, to_string};

    use super::*;

    fn number(value: u64) -> TicketNumber {
        TicketNumber::new(value).unwrap()
    }

    fn admitted() -> Reply {
        Reply::Admitted {
            number: number(7),
            expires: Instant::from_millis(1_800_000_300_000),
            provisional: false,
        }
    }

    fn snapshot() -> Snapshot {
        Snapshot {
            incarnation: Incarnation::new(0x19a),
            sequence: 3,
            taken: Instant::from_millis(1_800_000_000_000),
            issued: 7,
            ..Snapshot::default()
        }
    }

    #[test]
    fn requests_of_the_version_before_are_read() {
        let before = r#"{"v":1,"messages":[{"claim":{"number":7,"incarnation":"19a","last_poll":5}}],"polled":[9,8],"returned":[7]}"#;
        let request: Request = from_str(before).unwrap();
        assert_eq!(request.messages.len(), 1);
        assert_eq!(request.polled, [number(9), number(8)]);
        assert_eq!((request.knows, request.gathered), (None, 0));
        assert_eq!(to_string(&request).unwrap(), before, "and written so");
    }

    #[test]
    fn requests_say_what_their_sender_knows() {
        let request = Request {
            version: VERSION,
            polls: [8, 9, 12].map(number).into_iter().collect(),
            knows: Some(snapshot().stamp()),
            gathered: 4,
            ..Request::default()
        };
        let text = r#"{"v":1,"polls":"EQAE","knows":["19a",3,1800000000000],"gathered":4}"#;
        assert_eq!(to_string(&request).unwrap(), text);
        assert_eq!(from_str::<Request>(text).unwrap(), request);
    }

    #[test]
    fn requests_say_which_configuration_their_sender_goes_by() {
        let request = Request {
            version: VERSION,
            configuration: Version(0x19a, 7),
            ..Request::default()
        };
        let text = r#"{"v":1,"configuration":[410,7]}"#;
        assert_eq!(to_string(&request).unwrap(), text);
        assert_eq!(from_str::<Request>(text).unwrap(), request);
        let embedded: Request = from_str(r#"{"v":1}"#).unwrap();
        assert!(embedded.configuration.is_embedded());
    }

    #[test]
    fn responses_of_the_version_before_are_read() {
        let before = r#"{"v":1,"replies":[{"waiting":{"number":7,"joined":null}}],"snapshot":{"incarnation":"19a","sequence":3,"taken":1800000000000,"serving":0,"issued":7,"active":0,"admitted_last_minute":0,"queueing":false,"called":0,"queued":0,"admissions_per_minute":null,"ahead":[],"provisional":false,"revoked":[]}}"#;
        let response: Response = from_str(before).unwrap();
        assert_eq!(response.life(), Some(Incarnation::new(0x19a)));
        assert_eq!(response.snapshot.as_deref(), Some(&snapshot()));
        let waiting = Reply::Waiting {
            number: number(7),
            joined: None,
            ahead: None,
        };
        assert_eq!(response.replies, [waiting]);
    }

    #[test]
    fn a_response_without_a_snapshot_is_short() {
        let response = Response {
            version: VERSION,
            replies: vec![admitted()],
            life: Some(Incarnation::new(0x19a)),
            snapshot: None,
        };
        let text = r#"{"v":1,"replies":[{"admitted":{"number":7,"expires":1800000300000,"provisional":false}}],"life":"19a"}"#;
        assert_eq!(to_string(&response).unwrap(), text);
        assert_eq!(Writer::default().write(&response).unwrap(), text);
        assert_eq!(from_str::<Response>(text).unwrap(), response);
        assert!(text.len() < 150);
    }

    #[test]
    fn the_writer_writes_what_the_response_is() {
        let shared = Arc::new(snapshot());
        let other = Arc::new(Snapshot {
            issued: 8,
            ..snapshot()
        });
        let mut writer = Writer::default();
        for snapshot in [Some(&shared), None, Some(&shared), Some(&other)] {
            let response = Response {
                version: VERSION,
                replies: vec![admitted(), Reply::Over],
                life: Some(Incarnation::new(0x19a)),
                snapshot: snapshot.cloned(),
            };
            let text = writer.write(&response).unwrap();
            assert_eq!(text, to_string(&response).unwrap());
        }
    }
}
