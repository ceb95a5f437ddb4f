//! What a visitor who does not get in holds from now on, and when they ask again.

use super::{AT_ONCE_SECONDS, Answer, Change, FEW, Kind, NEAR, Request, Step, TICKET_LIFE};
use crate::gate::token::Standing;
use crate::page::facts::State;
use crate::room::ledger::PLACE_KEPT;
use crate::room::number::{Incarnation, TicketNumber};
use crate::room::snapshot::Snapshot;
use crate::room::wait::Promise;
use crate::site::room::QueueingMethod;
use crate::time::{Instant, Span};

impl Request<'_> {
    /// The visitor does not get in: they keep or renew what they hold, or get a ticket.
    pub(super) fn stays_out(&self, state: State) -> Step {
        if !self.intent.counts() {
            return self.without_a_place();
        }
        let waits = matches!(
            self.visitor.token.map(|token| token.standing),
            Some(Standing::Waiting { .. })
        );
        if state == State::Rejecting && !waits {
            let answer = self.answer(Kind::Waits(state), None);
            return Step::Answer(Answer {
                refresh_seconds: 0,
                ..answer
            });
        }
        match self.visitor.token.map(|token| token.standing) {
            Some(Standing::Waiting {
                number,
                incarnation,
                last_poll,
                joined,
                ahead_at_join,
                expires,
                promise,
            }) => {
                let ahead = self.ahead_of(number);
                let mut answer = self.answer(Kind::Waits(state), None);
                answer.users_ahead = ahead;
                answer.refresh_seconds = self.refresh_seconds(state, ahead);
                let interval = Span::from_secs(u64::from(answer.refresh_seconds));
                // An eighth of the interval early is in time: clients' timers are no clockwork, and
                // the page spreads its polls by a tenth.
                let early = Span::from_millis(interval.as_millis() / 8);
                let counts = self.now + early >= last_poll + interval;
                // Who asks early is told what they were told.
                let promise = match promise {
                    _ if state != State::Queueing => promise,
                    Some(_) if !counts => promise,
                    _ => self.promise(ahead, promise),
                };
                let last_poll = if counts { self.now } else { last_poll };
                let expires = if counts {
                    self.now + PLACE_KEPT
                } else {
                    expires
                };
                // How far somebody has come counts from the draw.
                let ahead_at_join = match ahead {
                    Some(ahead) if self.is_drawn(number) => ahead_at_join.max(small(ahead)),
                    _ => ahead_at_join,
                };
                let place = Standing::Waiting {
                    number,
                    incarnation,
                    last_poll,
                    joined,
                    ahead_at_join,
                    expires,
                    promise,
                };
                if state == State::Prequeueing {
                    answer.refresh_seconds = self.spread(number, answer.refresh_seconds);
                }
                answer.last_updated = last_poll;
                answer.holds = Some(place);
                answer.cookie = if counts {
                    Change::Set(place)
                } else {
                    Change::Keep
                };
                Step::Answer(answer)
            }
            _ => Step::Answer(self.joins(state)),
        }
    }

    /// The answer to a visitor who is to come back with a ticket without a number.
    pub(super) fn joins(&self, state: State) -> Answer {
        let id = match self.visitor.token.map(|token| token.standing) {
            Some(Standing::Ticket { id, .. }) => id,
            _ => self.new_ticket,
        };
        let ticket = Standing::Ticket {
            id,
            issued: self.now,
            expires: self.now + TICKET_LIFE,
        };
        let refresh_seconds = if self.reachable {
            AT_ONCE_SECONDS
        } else {
            // Before the ticket ends, and not all at once when the room is back.
            self.room.poll_far_seconds.min(30)
        };
        Answer {
            cookie: Change::Set(ticket),
            refresh_seconds,
            ..self.answer(Kind::Waits(state), Some(ticket))
        }
    }

    /// The answer to a visitor who gets no number, because the line is too long. A place that is
    /// over goes; a ticket is left to end by itself.
    pub(super) fn turned_away(&self) -> Answer {
        let cookie = match self.visitor.token.map(|token| token.standing) {
            Some(Standing::Waiting { .. } | Standing::Admitted { .. }) => Change::Clear,
            Some(Standing::Ticket { .. }) | None => Change::Keep,
        };
        Answer {
            cookie,
            refresh_seconds: self.refresh_seconds(State::Full, None),
            ..self.answer(Kind::Waits(State::Full), None)
        }
    }

    pub(super) fn place(
        &self,
        number: TicketNumber,
        incarnation: Incarnation,
        joined: Option<Instant>,
        ahead: Option<u64>,
    ) -> Standing {
        let ahead_now = ahead.map_or(0, small);
        let (joined, ahead_at_join, earlier) =
            match (joined, self.visitor.token.map(|held| held.standing)) {
                (
                    None,
                    Some(Standing::Waiting {
                        number: held,
                        joined,
                        ahead_at_join,
                        promise,
                        ..
                    }),
                ) if held == number => (joined, ahead_at_join, promise),
                (joined, _) => (joined.unwrap_or(self.now), ahead_now, None),
            };
        Standing::Waiting {
            number,
            incarnation,
            last_poll: self.now,
            expires: self.now + PLACE_KEPT,
            joined,
            ahead_at_join,
            promise: self.promise(ahead.filter(|_| !self.is_called(number)), earlier),
        }
    }

    fn is_called(&self, number: TicketNumber) -> bool {
        self.snapshot.is_some_and(|room| room.is_called(number))
    }

    /// What a visitor with `ahead` others before them is told of their wait, who was told `earlier`. In
    /// random order nobody is ahead of anybody.
    fn promise(&self, ahead: Option<u64>, earlier: Option<Promise>) -> Option<Promise> {
        let in_order = self.room.queueing_method != QueueingMethod::Random;
        let snapshot = self.snapshot.filter(|_| in_order)?;
        match ahead {
            Some(ahead) => snapshot.promise(ahead, earlier),
            None => earlier,
        }
    }

    pub(super) fn holds(&self, place: Standing, state: State, ahead: Option<u64>) -> Answer {
        let interval = self.refresh_seconds(state, ahead);
        let refresh_seconds = match place {
            Standing::Waiting { number, .. } if state == State::Prequeueing => {
                self.spread(number, interval)
            }
            _ => interval,
        };
        Answer {
            cookie: Change::Set(place),
            users_ahead: ahead,
            refresh_seconds,
            ..self.answer(Kind::Waits(state), Some(place))
        }
    }

    pub(super) fn refresh_seconds(&self, state: State, ahead: Option<u64>) -> u32 {
        let near = match self.room.queueing_method {
            QueueingMethod::Random => {
                let quartiles = self.snapshot.and_then(Snapshot::quartiles);
                quartiles.is_some_and(|wait| wait.p50 <= NEAR)
            }
            _ => ahead.is_some_and(|ahead| {
                let wait = self
                    .snapshot
                    .and_then(|snapshot| snapshot.expected_wait(ahead));
                ahead < FEW || wait.is_some_and(|wait| wait <= NEAR)
            }),
        };
        match state {
            State::Called | State::Joining => AT_ONCE_SECONDS,
            State::Rejecting | State::Left => 0,
            State::Queueing if near => self.room.poll_near_seconds,
            State::Queueing
            | State::QueueAll
            | State::Prequeueing
            | State::Full
            | State::Unavailable => self.room.poll_far_seconds,
        }
    }
}

/// As a token has it.
fn small(ahead: u64) -> u32 {
    u32::try_from(ahead).unwrap_or(u32::MAX)
}
