//! An edge: the production decision, tokens and memory, and the shell between them as `worker/edge.rs`
//! and `worker/renewal.rs` have it.

use std::sync::Arc;

use anteroom::gate::decision::{Answer, Change, Outcome, Request as Deciding, Step};
use anteroom::gate::intent::Intent;
use anteroom::gate::memory::{Memory, Renewed};
use anteroom::gate::token::{Standing, Token};
use anteroom::gate::visitor::Visitor;
use anteroom::room::ledger::RESERVED_FOR;
use anteroom::room::message::{Message, Reply, Request, Response, VERSION};
use anteroom::room::number::TicketId;
use anteroom::room::snapshot::Snapshot;
use anteroom::time::{Instant, Span};

use super::network::Asked;
use super::printed::Printed;
use super::scenario::{Plant, Scenario};

/// The room is not asked again for so long after it has refused a renewal.
const REFUSED_FOR: Span = Span::from_secs(10);

/// So many newcomers are seen before each turn of a keeper: enough that it asks for more.
const NEWCOMERS: u32 = 8;

/// What a visitor's cookie becomes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Cookie {
    Keep,
    Set(Standing),
    Clear,
}

/// What a request of a visitor comes to at once.
pub(crate) struct Met {
    pub(crate) cookie: Cookie,
    pub(crate) ask: Option<Asked>,
}

impl Met {
    const NOTHING: Self = Self {
        cookie: Cookie::Keep,
        ask: None,
    };
}

/// An edge with its clock.
pub(crate) struct Edge<'a> {
    pub(crate) scenario: &'a Scenario,
    pub(crate) memory: &'a mut Printed<Memory>,
    pub(crate) now: Instant,
}

impl Edge<'_> {
    /// Who shows this cookie, as this edge sees it.
    pub(crate) fn recognize(&self, cookie: Option<&str>) -> Visitor {
        let keys = &self.scenario.keys;
        let room = self.scenario.room_at(self.now);
        let header = cookie.map(|text| format!("{}={text}", room.cookie.name));
        Visitor::recognize(keys, room, header.as_deref(), None, self.now)
            .checked(self.memory.snapshot().map(Arc::as_ref))
    }

    /// A visitor's request.
    pub(crate) fn meet(&mut self, cookie: Option<&str>, intent: Intent, ticket: TicketId) -> Met {
        let asked = Asked {
            visitor: self.recognize(cookie),
            intent,
            now: self.now,
            new_ticket: ticket,
            request: Request::default(),
            known: self.memory.snapshot().cloned(),
        };
        let mut deciding = self.deciding(&asked, asked.known.as_deref());
        deciding.reserved = self.memory.next_reserved(self.reserving_clock());
        let step = deciding.decide();
        match step {
            Step::Pass | Step::Preflight => Met::NOTHING,
            Step::Admit(pass) => {
                *self.memory = self.memory.with(|memory| memory.reserved.take());
                Met {
                    cookie: Cookie::Set(pass),
                    ask: None,
                }
            }
            Step::PassAndRenew(number, incarnation) => self.renew(
                asked,
                Message::Renew {
                    number,
                    incarnation,
                },
            ),
            Step::Answer(answer) => Met {
                cookie: self.says(&answer),
                ask: None,
            },
            Step::Ask(message) => {
                let asked = asking(message, asked);
                if self.memory.is_resting(self.now) {
                    return Met {
                        cookie: self.unanswered(&asked),
                        ask: None,
                    };
                }
                Met {
                    cookie: Cookie::Keep,
                    ask: Some(asked),
                }
            }
        }
    }

    fn renew(&mut self, asked: Asked, message: Message) -> Met {
        let Message::Renew { number, .. } = message else {
            return Met::NOTHING;
        };
        let Some(Standing::Admitted {
            incarnation,
            expires: end,
            ..
        }) = asked.visitor.token.map(|token| token.standing)
        else {
            return Met::NOTHING;
        };
        let mut remembered = None;
        *self.memory = self
            .memory
            .with(|memory| remembered = memory.take_renewal(number));
        let until = |expires| {
            Cookie::Set(Standing::Admitted {
                number,
                incarnation,
                issued: self.now,
                expires,
                provisional: false,
            })
        };
        match remembered {
            Some(Renewed::Until(expires)) if expires > end => Met {
                cookie: until(expires),
                ask: None,
            },
            Some(Renewed::Refused(at)) if self.now < at + REFUSED_FOR => Met::NOTHING,
            _ if self.memory.is_resting(self.now) => Met::NOTHING,
            _ => Met {
                cookie: if self.scenario.plant == Some(Plant::RenewUnacknowledged) {
                    until(self.now + self.scenario.policy.session)
                } else {
                    Cookie::Keep
                },
                ask: Some(asking(message, asked)),
            },
        }
    }

    /// Asks for a snapshot alone, if it is time to.
    pub(crate) fn look(&mut self) -> Option<Asked> {
        let mut report = None;
        let memory = self
            .memory
            .with(|memory| report = memory.start_refresh(self.now, true));
        let request = report?;
        *self.memory = memory;
        Some(Asked {
            visitor: Visitor::NEWCOMER,
            intent: Intent::Navigation,
            now: self.now,
            new_ticket: TicketId::new(0),
            request,
            known: self.memory.snapshot().cloned(),
        })
    }

    /// The turn of the keeper, who has seen many come just now. None if there is nothing to say.
    pub(crate) fn keep(&mut self, id: TicketId) -> Option<Asked> {
        let known = self.memory.snapshot().cloned();
        let spare = known.as_ref().map_or(0, |snapshot| snapshot.spare);
        let mut messages = Vec::new();
        *self.memory = self.memory.with(|memory| {
            for _ in 0..NEWCOMERS {
                memory.note_newcomer(self.now);
            }
            messages = memory.reserved.ask(spare, id, self.now);
        });
        if self.scenario.plant == Some(Plant::ForgetUsed) {
            for message in &mut messages {
                if let Message::Return { used, .. } = message {
                    *used = used.saturating_sub(1);
                }
            }
        }
        (!messages.is_empty()).then(|| Asked {
            visitor: Visitor::NEWCOMER,
            intent: Intent::Navigation,
            now: self.now,
            new_ticket: id,
            request: Request {
                version: VERSION,
                messages,
                knows: known.as_ref().map(|known| known.stamp()),
                ..Request::default()
            },
            known,
        })
    }

    /// The room has answered the keeper.
    pub(crate) fn keeper_hears(&mut self, asked: &Asked, response: &Response) {
        let known = asked.known.as_ref();
        let of_this_life = known.filter(|known| response.life() == Some(known.incarnation));
        let Some(snapshot) = response.snapshot.as_ref().or(of_this_life).cloned() else {
            return self.keeper_unheard(asked);
        };
        let (messages, replies) = (&asked.request.messages, &response.replies);
        *self.memory = self.memory.with(|memory| {
            let life = snapshot.incarnation;
            memory.reserved.answered(messages, replies, life, asked.now);
            memory.learn(snapshot, self.now);
        });
    }

    /// The room has not answered the keeper.
    pub(crate) fn keeper_unheard(&mut self, asked: &Asked) {
        let life = asked.known.as_ref().map(|known| known.incarnation);
        *self.memory = self.memory.with(|memory| {
            let messages = asked.request.messages.clone();
            memory.reserved.failed(messages, life.unwrap_or_default());
            memory.fail(self.now);
        });
    }

    /// The room has answered, and the visitor hears of it if `waits`.
    pub(crate) fn hear(&mut self, asked: &Asked, response: &Response, waits: bool) -> Cookie {
        let known = asked.known.as_ref();
        let of_this_life = known.filter(|known| response.life() == Some(known.incarnation));
        let Some(snapshot) = response.snapshot.as_ref().or(of_this_life).cloned() else {
            return self.unheard(asked);
        };
        let reply = response.replies.first().copied();
        let renewal = match (asked.request.messages.first(), reply) {
            (Some(Message::Renew { number, .. }), Some(reply)) => Some((*number, reply)),
            _ => None,
        };
        *self.memory = self.memory.with(|memory| {
            memory.learn(Arc::clone(&snapshot), self.now);
            match renewal {
                Some((number, Reply::Admitted { expires, .. })) if !waits => {
                    memory.remember_renewal(number, Renewed::Until(expires));
                }
                Some((number, reply)) if !matches!(reply, Reply::Admitted { .. }) => {
                    memory.remember_renewal(number, Renewed::Refused(self.now));
                }
                _ => {}
            }
        });
        let Some(reply) = reply.filter(|_| waits) else {
            return Cookie::Keep;
        };
        if renewal.is_some() {
            return match reply {
                Reply::Admitted {
                    number,
                    expires,
                    provisional,
                } => Cookie::Set(Standing::Admitted {
                    number,
                    incarnation: snapshot.incarnation,
                    issued: self.now,
                    expires,
                    provisional,
                }),
                _ => Cookie::Keep,
            };
        }
        let outcome = self.deciding(asked, None).settle(reply, &snapshot);
        self.ends(outcome)
    }

    /// The room has not answered in time, or not at all.
    pub(crate) fn unheard(&mut self, asked: &Asked) -> Cookie {
        *self.memory = self.memory.with(|memory| memory.fail(self.now));
        self.unanswered(asked)
    }

    /// A relay has not answered: the call goes on to the room itself.
    pub(crate) fn relay_unheard(&mut self) {
        *self.memory = self.memory.with(|memory| memory.relay_fail(self.now));
    }

    fn unanswered(&mut self, asked: &Asked) -> Cookie {
        match asked.request.messages.first() {
            // The old pass stays.
            None | Some(Message::Renew { .. }) => Cookie::Keep,
            Some(_) => {
                let outcome = self.deciding(asked, asked.known.as_deref()).unanswered();
                self.ends(outcome)
            }
        }
    }

    /// The time at which a reservation has to be good.
    fn reserving_clock(&self) -> Instant {
        if self.scenario.plant == Some(Plant::ReservedTooLong) {
            return self.now - RESERVED_FOR - RESERVED_FOR;
        }
        self.now
    }

    fn deciding<'a>(&'a self, asked: &Asked, snapshot: Option<&'a Snapshot>) -> Deciding<'a> {
        Deciding {
            room: self.scenario.room_at(asked.now),
            intent: asked.intent,
            is_listed_origin: false,
            visitor: asked.visitor,
            snapshot,
            reachable: self.memory.is_reachable(),
            now: asked.now,
            new_ticket: asked.new_ticket,
            reserved: None,
            bypassed: false,
        }
    }

    fn ends(&mut self, outcome: Outcome) -> Cookie {
        match outcome {
            Outcome::Pass(standing) => standing.map_or(Cookie::Keep, Cookie::Set),
            Outcome::Answer(answer) => self.says(&answer),
        }
    }

    fn says(&mut self, answer: &Answer) -> Cookie {
        match answer.cookie {
            Change::Keep => Cookie::Keep,
            Change::Clear => Cookie::Clear,
            Change::Set(standing) => {
                if let Standing::Waiting { number, .. } = standing {
                    *self.memory = self.memory.with(|memory| memory.note_poll(number));
                }
                Cookie::Set(standing)
            }
        }
    }
}

/// The call for a message.
fn asking(message: Message, asked: Asked) -> Asked {
    Asked {
        request: Request {
            knows: asked.known.as_ref().map(|known| known.stamp()),
            ..Request::of(message)
        },
        ..asked
    }
}

/// The text of a token.
pub(crate) fn sign(scenario: &Scenario, standing: Standing) -> Arc<str> {
    let token = Token {
        standing,
        binding: None,
        embedded: false,
    };
    scenario.keys.sign(&scenario.room.id, &token).into()
}
