//! What to do with a request for a covered URL: first from what the edge knows, then, where the
//! room has to be asked, from what it says.
//!
//! The table in `docs/methods.md` is the specification of this file.

mod holding;
mod prequeue;

use super::intent::Intent;
use super::token::Standing;
use super::visitor::Visitor;
use crate::page::facts::{Notice, State};
use crate::room::message::{Message, Reply};
use crate::room::number::{Incarnation, TicketId, TicketNumber};
use crate::room::snapshot::Snapshot;
use crate::site::room::{FailMode, QueueingMethod, Room};
use crate::time::{Instant, Span};

/// A ticket without a number is good for so long.
const TICKET_LIFE: Span = Span::from_secs(60);

/// The seconds between two attempts of a visitor who stands at the door, or who is to come back for
/// a number.
const AT_ONCE_SECONDS: u32 = 2;

/// A called visitor asks the room no more often than this.
const CLAIM_INTERVAL: Span = Span::from_secs(1);

/// An expected wait up to this is near.
const NEAR: Span = Span::from_secs(60);

/// So few people ahead are near, however long they take.
const FEW: u64 = 5;

/// A request for a covered URL, and what the edge knows about it.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// The room that covers the URL.
    pub room: &'a Room,
    /// Whether a rule lets the request pass by the room.
    pub bypassed: bool,
    /// What the request wants.
    pub intent: Intent,
    /// Whether it comes from an origin that the room lists.
    pub is_listed_origin: bool,
    /// Who asks.
    pub visitor: Visitor,
    /// The last that is known of the room.
    pub snapshot: Option<&'a Snapshot>,
    /// Whether the room could be reached lately: false once a call has failed and none has
    /// succeeded since.
    pub reachable: bool,
    /// The edge's clock.
    pub now: Instant,
    /// The id for a new ticket, random.
    pub new_ticket: TicketId,
    /// The pass that a newcomer may have without asking the room, from slots that this edge has
    /// reserved.
    pub reserved: Option<Standing>,
}

/// What to do.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// The origin answers. The room learns nothing.
    Pass,
    /// The origin answers, and meanwhile the room is asked to renew the session.
    PassAndRenew(TicketNumber, Incarnation),
    /// The origin answers, and the newcomer gets this pass, which is [`Request::reserved`].
    Admit(Standing),
    /// The room is asked; its reply goes to [`Request::settle`], its silence to
    /// [`Request::unanswered`].
    Ask(Message),
    /// The edge answers a preflight for the allowed origins.
    Preflight,
    /// The edge answers.
    Answer(Answer),
}

/// How it ends, once the room has been asked.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// The origin answers. The token, if any, goes to the visitor with it.
    Pass(Option<Standing>),
    /// The edge answers.
    Answer(Answer),
}

/// What anteroom says to a visitor who does not reach the origin.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// Why.
    pub kind: Kind,
    /// What happens to the visitor's cookie.
    pub cookie: Change,
    /// What the visitor holds now, whether or not the cookie says so yet.
    pub holds: Option<Standing>,
    /// How many come before the visitor, where it is known.
    pub users_ahead: Option<u64>,
    /// Something the page adds.
    pub notice: Option<Notice>,
    /// Seconds until the visitor shall ask again; 0: not at all.
    pub refresh_seconds: u32,
    /// The visitor's last counted attempt.
    pub last_updated: Instant,
    /// The edge's clock.
    pub now: Instant,
}

/// Why the edge answers.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Kind {
    /// The visitor waits.
    Waits(State),
    /// The page's poll: the visitor may go to the site now.
    MayEnter,
    /// A speculative request, which takes no place.
    Speculative,
    /// A WebSocket cannot wait.
    NoSocket,
    /// The endpoint for leaving takes POST alone.
    PostOnly,
    /// The path leads to one place for some servers and to another for others.
    Ambiguous,
    /// Another site's page wanted the visitor to leave.
    Forged,
}

/// What happens to the visitor's cookie.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Change {
    /// Nothing: a slow answer cannot overwrite what a faster one has set since.
    Keep,
    /// It is set.
    Set(Standing),
    /// It is removed.
    Clear,
}

impl Request<'_> {
    /// The first step.
    pub fn decide(&self) -> Step {
        match self.intent {
            Intent::Leave => return self.leave(),
            // Of a suspended room only its page asks, and of who passes by.
            _ if self.room.suspended || self.bypassed => return self.fail_open(),
            Intent::Preflight if self.queues() && self.is_listed_origin => {
                return Step::Preflight;
            }
            Intent::Preflight | Intent::Options => return Step::Pass,
            _ => {}
        }
        match self.visitor.token.map(|token| token.standing) {
            Some(
                admitted @ Standing::Admitted {
                    number,
                    incarnation,
                    ..
                },
            ) => match self.intent {
                Intent::Poll => Step::Answer(self.answer(Kind::MayEnter, Some(admitted))),
                _ if self.intent.counts() && renewal_is_due(self.room, &admitted, self.now) => {
                    Step::PassAndRenew(number, incarnation)
                }
                _ => Step::Pass,
            },
            _ if self.rejects() => self.stays_out(State::Rejecting),
            Some(Standing::Ticket { id, .. }) if self.intent.counts() => {
                Step::Ask(Message::Arrive {
                    ticket: id,
                    returning: true,
                })
            }
            Some(Standing::Waiting {
                number,
                incarnation,
                last_poll,
                joined,
                ..
            }) => {
                let called = self
                    .snapshot
                    .is_some_and(|snapshot| snapshot.is_called(number));
                let early = self.now < last_poll + CLAIM_INTERVAL;
                if called && !early && self.intent.counts() {
                    Step::Ask(Message::Claim {
                        number,
                        incarnation,
                        last_poll,
                        joined: Some(joined),
                    })
                } else if called {
                    self.stays_out(State::Called)
                } else if !self.reachable && self.room.fail_mode == FailMode::Open {
                    self.fail_open()
                } else {
                    self.stays_out(self.waiting_state(number))
                }
            }
            _ if !self.intent.counts() => self.without_a_place(),
            _ if self.is_full() => Step::Answer(self.turned_away()),
            _ if self.snapshot.is_some_and(|snapshot| snapshot.queueing) && self.reachable => {
                self.stays_out(self.joining_state())
            }
            // A poll is answered by the edge and not by the origin, so it takes the long way.
            None if self.intent != Intent::Poll
                && !self.room.holds_everybody()
                && let Some(pass) = self.reserved =>
            {
                Step::Admit(pass)
            }
            _ => Step::Ask(Message::Arrive {
                ticket: self.new_ticket,
                returning: false,
            }),
        }
    }

    /// How it ends when the room has replied. `snapshot` came with the reply.
    pub fn settle(&self, reply: Reply, snapshot: &Snapshot) -> Outcome {
        let informed = Request {
            snapshot: Some(snapshot),
            reachable: true,
            ..*self
        };
        let incarnation = snapshot.incarnation;
        match reply {
            Reply::Admitted {
                number,
                expires,
                provisional,
            } => {
                let issued = self.now;
                let pass = Standing::Admitted {
                    number,
                    incarnation,
                    issued,
                    expires,
                    provisional,
                };
                if self.intent == Intent::Poll {
                    let mut answer = informed.answer(Kind::MayEnter, Some(pass));
                    answer.cookie = Change::Set(pass);
                    Outcome::Answer(answer)
                } else {
                    Outcome::Pass(Some(pass))
                }
            }
            Reply::Waiting {
                number,
                joined,
                ahead,
            } => {
                let told = ahead
                    .map(u64::from)
                    .filter(|_| !snapshot.is_undrawn(number));
                let ahead = told.or_else(|| informed.ahead_of(number));
                let place = informed.place(number, incarnation, joined, ahead);
                let mut answer = informed.holds(place, informed.waiting_state(number), ahead);
                if self.held_number().is_some_and(|held| held != number) {
                    answer.notice = answer.notice.or(Some(Notice::PlaceLapsed));
                }
                Outcome::Answer(answer)
            }
            Reply::AtDoor { number, ahead } => {
                let ahead = Some(u64::from(ahead));
                let place = informed.place(number, incarnation, None, ahead);
                let state = if self.room.queue_all {
                    State::QueueAll
                } else if self.room.is_prequeueing() {
                    State::Prequeueing
                } else {
                    State::Called
                };
                Outcome::Answer(informed.holds(place, state, ahead))
            }
            Reply::ComeBack if informed.is_full() => Outcome::Answer(informed.turned_away()),
            Reply::ComeBack => Outcome::Answer(informed.joins(informed.joining_state())),
            Reply::Over | Reply::NotRenewed => Outcome::Answer(Answer {
                cookie: Change::Clear,
                ..informed.answer(Kind::Waits(State::Left), None)
            }),
            // No answer to anything that is asked for a visitor.
            Reply::Reserved { .. } | Reply::NotReserved | Reply::Found(_) => self.unanswered(),
        }
    }

    /// How it ends when the room has not replied in time.
    pub fn unanswered(&self) -> Outcome {
        let cut_off = Self {
            reachable: false,
            ..*self
        };
        if self.intent == Intent::Leave {
            // The visitor is gone in any case; the slot frees itself when the pass has run out.
            return Outcome::Answer(Answer {
                cookie: Change::Clear,
                ..cut_off.answer(Kind::Waits(State::Left), None)
            });
        }
        let step = match self.room.fail_mode {
            FailMode::Open => cut_off.fail_open(),
            FailMode::Closed => cut_off.stays_out(State::Unavailable),
        };
        match step {
            Step::Answer(answer) => Outcome::Answer(answer),
            _ => Outcome::Pass(None),
        }
    }

    fn held_number(&self) -> Option<TicketNumber> {
        match self.visitor.token?.standing {
            Standing::Ticket { .. } => None,
            Standing::Waiting { number, .. } | Standing::Admitted { number, .. } => Some(number),
        }
    }

    fn queues(&self) -> bool {
        self.room.holds_everybody()
            || self.room.queueing_method == QueueingMethod::Reject
            || self.snapshot.is_some_and(|snapshot| snapshot.queueing)
    }

    fn rejects(&self) -> bool {
        self.room.queueing_method == QueueingMethod::Reject && !self.room.holds_everybody()
    }

    /// Whether newcomers get no number, by what the room has said last.
    fn is_full(&self) -> bool {
        let full = |snapshot: &Snapshot| snapshot.queueing && snapshot.full;
        self.reachable && !self.room.holds_everybody() && self.snapshot.is_some_and(full)
    }

    fn waiting_state(&self, number: TicketNumber) -> State {
        if self.room.queue_all {
            State::QueueAll
        } else if !self.reachable {
            State::Unavailable
        } else if self.prequeues(number) {
            State::Prequeueing
        } else {
            State::Queueing
        }
    }

    const fn joining_state(&self) -> State {
        if self.room.queue_all {
            State::QueueAll
        } else {
            State::Joining
        }
    }

    /// A request that takes no place and finds no pass.
    fn without_a_place(&self) -> Step {
        match self.intent {
            Intent::Prefetch => self.refuse(Kind::Speculative),
            Intent::WebSocket => self.refuse(Kind::NoSocket),
            // A HEAD costs the origin what a GET does, so it passes only where a GET would.
            _ if self.queues() || self.visitor.token.is_some() => {
                let state = match self.visitor.token.map(|token| token.standing) {
                    _ if self.room.queue_all => State::QueueAll,
                    _ if self.rejects() => State::Rejecting,
                    Some(Standing::Waiting { number, .. }) if self.prequeues(number) => {
                        State::Prequeueing
                    }
                    Some(Standing::Waiting { .. }) => State::Queueing,
                    _ if self.is_full() => State::Full,
                    _ => State::Joining,
                };
                let answer = self.answer(Kind::Waits(state), None);
                let refresh_seconds = self.refresh_seconds(state, None);
                Step::Answer(Answer {
                    refresh_seconds,
                    ..answer
                })
            }
            _ => Step::Pass,
        }
    }

    fn leave(&self) -> Step {
        match self.visitor.token.map(|token| token.standing) {
            Some(
                Standing::Waiting {
                    number,
                    incarnation,
                    ..
                }
                | Standing::Admitted {
                    number,
                    incarnation,
                    ..
                },
            ) => Step::Ask(Message::Leave {
                number,
                incarnation,
                revoked: false,
            }),
            Some(Standing::Ticket { .. }) | None => Step::Answer(Answer {
                cookie: Change::Clear,
                ..self.answer(Kind::Waits(State::Left), None)
            }),
        }
    }

    fn fail_open(&self) -> Step {
        if self.intent == Intent::Poll {
            Step::Answer(self.answer(Kind::MayEnter, None))
        } else {
            Step::Pass
        }
    }

    /// A refusal, which changes nothing.
    pub fn refuse(&self, kind: Kind) -> Step {
        Step::Answer(self.answer(kind, None))
    }

    /// An answer that changes nothing.
    fn answer(&self, kind: Kind, holds: Option<Standing>) -> Answer {
        let notice = match self.intent {
            Intent::Form if kind != Kind::MayEnter => Some(Notice::NothingSent),
            _ => self.visitor.notice,
        };
        Answer {
            kind,
            cookie: Change::Keep,
            holds,
            users_ahead: None,
            notice,
            refresh_seconds: 0,
            last_updated: self.now,
            now: self.now,
        }
    }
}

/// Whether a pass shall be renewed: a quarter of the session has passed, or it is provisional.
pub fn renewal_is_due(room: &Room, standing: &Standing, now: Instant) -> bool {
    let Standing::Admitted {
        issued,
        expires,
        provisional,
        ..
    } = *standing
    else {
        return false;
    };
    let quarter = Span::from_millis(expires.since(issued).as_millis() / 4);
    provisional || (!room.disable_session_renewal && now >= issued + quarter)
}

#[cfg(test)]
mod tests;
