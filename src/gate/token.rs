//! The token in a visitor's cookie: a ticket, a place in line, or a pass.
//!
//! A JWT (RFC 7519) whose claims `docs/pass.md` lists. What the token entitles to is one of its
//! claims and becomes another variant here, so that no state can stand for another.

use serde::{Deserialize, Serialize};

use super::binding::Binding;
use super::jws;
use super::keys::Keys;
use crate::room::number::{Incarnation, TicketId, TicketNumber};
use crate::room::wait::Promise;
use crate::site::room::RoomId;
use crate::time::{Instant, Span};

/// The claim `iss` of every token.
const ISSUER: &str = "anteroom";

/// How far the clock of the place that issued a token may run ahead of the one that reads it.
pub const CLOCK_SKEW: Span = Span::from_secs(60);

/// What a visitor carries. Times are whole seconds once signed, rounded down.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Token {
    /// What the token stands for.
    pub standing: Standing,
    /// The client that may show it, where the room binds its passes.
    pub binding: Option<Binding>,
    /// The cookie is partitioned: the visitor is inside a frame of another site.
    pub embedded: bool,
}

/// What a token stands for.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Standing {
    /// First contact with a room that queues: to be exchanged for a number.
    Ticket {
        /// Always exchanged for the same number.
        id: TicketId,
        /// When it was made.
        issued: Instant,
        /// When it ends.
        expires: Instant,
    },
    /// A place in line.
    Waiting {
        /// The place.
        number: TicketNumber,
        /// The life of the room that gave it.
        incarnation: Incarnation,
        /// The last counted poll.
        last_poll: Instant,
        /// When the place lapses.
        expires: Instant,
        /// When the number was given.
        joined: Instant,
        /// How many were ahead then.
        ahead_at_join: u32,
        /// The wait that was told with the last counted poll.
        promise: Option<Promise>,
    },
    /// A session on the site.
    Admitted {
        /// The number that names the session.
        number: TicketNumber,
        /// The life of the room that admitted it.
        incarnation: Incarnation,
        /// When this pass was made.
        issued: Instant,
        /// When the session ends.
        expires: Instant,
        /// A first pass that has yet to come back once.
        provisional: bool,
    },
}

/// Why a text is not accepted as a token.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum Refusal {
    /// Not a token in form.
    #[error("not a token")]
    Malformed,
    /// Its header is none that our keys write: an unknown `kid`, another algorithm.
    #[error("signed by no key of ours")]
    Key,
    /// Not signed by the key it names.
    #[error("the signature does not match")]
    Signature,
    /// A genuine token of another room or another issuer.
    #[error("a token of another room")]
    OtherRoom,
    /// Made more than [`CLOCK_SKEW`] in the future.
    #[error("issued in the future")]
    IssuedInFuture,
    /// Shown by a client that it is not bound to.
    #[error("bound to another client")]
    Binding,
    /// Genuine, of this room and client, and over. The token may explain to its bearer what
    /// happened and entitles to nothing.
    #[error("expired")]
    Expired(Token),
}

impl Keys {
    /// Signs a token for a room with the first key: at most 439 bytes of `[A-Za-z0-9_.-]`.
    pub fn sign(&self, room: &RoomId, token: &Token) -> String {
        let audience = match token.standing.incarnation() {
            None => room.as_str().to_owned(),
            Some(incarnation) => format!("{room}.{:x}", incarnation.get()),
        };
        let subject = match token.standing {
            Standing::Ticket { id, .. } => format!("{:016x}", id.get()),
            Standing::Waiting { number, .. } | Standing::Admitted { number, .. } => {
                number.to_string()
            }
        };
        let claims = Claims::new(token, &audience, &subject);
        // Numbers, plain strings and no map: there is nothing in it that JSON could not hold.
        jws::seal(self, &serde_json::to_vec(&claims).unwrap_or_default())
    }

    /// Reads a token that one of the keys has signed for this room and that is valid at `now`.
    ///
    /// `binding` is the client's ([`super::binding::bind`]). None, from a room that binds to
    /// nothing, accepts bound tokens as well; a room that binds does not accept unbound ones.
    ///
    /// # Errors
    /// Why it is refused; [`Refusal::Expired`] when nothing else is wrong with it.
    pub fn verify(
        &self,
        room: &RoomId,
        text: &str,
        binding: Option<&Binding>,
        now: Instant,
    ) -> Result<Token, Refusal> {
        let mut buffer: jws::Buffer = [0; _];
        let claims = jws::open(self, text, &mut buffer)?;
        let claims: Claims<'_> = serde_json::from_slice(claims).map_err(|_| Refusal::Malformed)?;
        if claims.iss != ISSUER {
            return Err(Refusal::OtherRoom);
        }
        let incarnation = match claims.aud.strip_prefix(room.as_str()) {
            None => return Err(Refusal::OtherRoom),
            Some("") => None,
            Some(dotted) => Some(incarnation(dotted).ok_or(Refusal::OtherRoom)?),
        };
        let token = claims.token(incarnation).ok_or(Refusal::Malformed)?;
        if Instant::from_secs(claims.iat) > now + CLOCK_SKEW {
            return Err(Refusal::IssuedInFuture);
        }
        if binding.is_some() && binding != token.binding.as_ref() {
            return Err(Refusal::Binding);
        }
        if now >= token.standing.expires() {
            return Err(Refusal::Expired(token));
        }
        Ok(token)
    }
}

/// The incarnation behind the room's id in an audience: a dot and a hexadecimal number.
fn incarnation(dotted: &str) -> Option<Incarnation> {
    let hex = dotted.strip_prefix('.')?;
    u64::from_str_radix(hex, 16).ok().map(Incarnation::new)
}

impl Standing {
    /// When it ends: from this instant on the token is refused.
    pub const fn expires(&self) -> Instant {
        match *self {
            Self::Ticket { expires, .. }
            | Self::Waiting { expires, .. }
            | Self::Admitted { expires, .. } => expires,
        }
    }

    /// The life of the room that it belongs to; none before there is a number.
    pub const fn incarnation(&self) -> Option<Incarnation> {
        match *self {
            Self::Ticket { .. } => None,
            Self::Waiting { incarnation, .. } | Self::Admitted { incarnation, .. } => {
                Some(incarnation)
            }
        }
    }
}

impl From<jws::Fault> for Refusal {
    fn from(fault: jws::Fault) -> Self {
        match fault {
            jws::Fault::Malformed => Self::Malformed,
            jws::Fault::Key => Self::Key,
            jws::Fault::Signature => Self::Signature,
        }
    }
}

/// The claims in the order in which they are written. Unknown ones are passed over: a token of a
/// newer version stays readable after a roll-back.
#[derive(Deserialize, Serialize)]
struct Claims<'a> {
    iss: &'a str,
    aud: &'a str,
    sub: &'a str,
    iat: u64,
    exp: u64,
    state: State,
    #[serde(skip_serializing_if = "Option::is_none")]
    joined: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    from: Option<u32>,
    /// Seconds: the likely wait, and the longest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    wait: Option<[u32; 2]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bnd: Option<Binding>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    emb: bool,
}

/// The claim `state`.
#[derive(Clone, Copy, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
enum State {
    Ticket,
    Waiting,
    Admitted,
    Provisional,
}

impl<'a> Claims<'a> {
    fn new(token: &Token, aud: &'a str, sub: &'a str) -> Self {
        let (state, iat, joined, from, wait) = match token.standing {
            Standing::Ticket { issued, .. } => (State::Ticket, issued, None, None, None),
            Standing::Waiting {
                last_poll,
                joined,
                ahead_at_join,
                promise,
                ..
            } => (
                State::Waiting,
                last_poll,
                Some(joined.as_secs()),
                Some(ahead_at_join),
                promise.map(|promise| [promise.likely, promise.most].map(seconds)),
            ),
            Standing::Admitted {
                issued,
                provisional: false,
                ..
            } => (State::Admitted, issued, None, None, None),
            Standing::Admitted {
                issued,
                provisional: true,
                ..
            } => (State::Provisional, issued, None, None, None),
        };
        Self {
            iss: ISSUER,
            aud,
            sub,
            iat: iat.as_secs(),
            exp: token.standing.expires().as_secs(),
            state,
            joined,
            from,
            wait,
            bnd: token.binding,
            emb: token.embedded,
        }
    }

    /// The token, when the claims fit together.
    fn token(&self, incarnation: Option<Incarnation>) -> Option<Token> {
        let issued = Instant::from_secs(self.iat);
        let expires = Instant::from_secs(self.exp);
        let standing = match (self.state, incarnation) {
            (State::Ticket, None) => {
                let id = TicketId::new(u64::from_str_radix(self.sub, 16).ok()?);
                Standing::Ticket {
                    id,
                    issued,
                    expires,
                }
            }
            (State::Waiting, Some(incarnation)) => Standing::Waiting {
                number: TicketNumber::new(self.sub.parse().ok()?)?,
                incarnation,
                last_poll: issued,
                expires,
                joined: Instant::from_secs(self.joined?),
                ahead_at_join: self.from?,
                promise: self.wait.map(|told| {
                    let [likely, most] = told.map(|secs| Span::from_secs(secs.into()));
                    Promise { likely, most }
                }),
            },
            (State::Admitted | State::Provisional, Some(incarnation)) => Standing::Admitted {
                number: TicketNumber::new(self.sub.parse().ok()?)?,
                incarnation,
                issued,
                expires,
                provisional: matches!(self.state, State::Provisional),
            },
            _ => return None,
        };
        Some(Token {
            standing,
            binding: self.bnd,
            embedded: self.emb,
        })
    }
}

/// A wait as a token has it; no wait that is told is as long as a year.
fn seconds(wait: Span) -> u32 {
    u32::try_from(wait.as_secs()).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests;
