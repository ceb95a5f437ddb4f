//! What each message comes to: somebody arrives, asks to come in, goes on, or leaves.

use super::book::{Effect, Standing};
use super::{Ledger, PROVISIONAL};
use crate::room::message::{Message, Reply};
use crate::room::number::{Incarnation, TicketId, TicketNumber};
use crate::room::policy::Policy;
use crate::time::{Instant, Span};

/// A renewal that would lengthen a session by less than this is answered but not stored: a hundred
/// requests sent at once make one row.
pub(super) const LEAST_RENEWAL: Span = Span::from_secs(1);

impl Ledger {
    pub(super) fn handle(&mut self, policy: &Policy, message: Message) -> Reply {
        match message {
            Message::Arrive { ticket, returning } => self.arrive(policy, ticket, returning),
            Message::Claim {
                number,
                incarnation,
                last_poll,
                joined,
            } => {
                let standing = self.standing(number, incarnation);
                let reply = self.asks(policy, number, standing, last_poll);
                if let (Standing::Called, Some(Reply::Admitted { .. }), Some(joined)) =
                    (standing, reply, joined)
                {
                    let waited = self.book.time.since(joined);
                    self.recorder.current().waited.record(waited);
                }
                reply.unwrap_or_else(|| {
                    // The same spent number gets the same new one, or a copied token would be
                    // good for any number of places.
                    let ticket = replacement_ticket(number, incarnation);
                    self.arrive(policy, ticket, true)
                })
            }
            Message::Renew {
                number,
                incarnation,
            } => self.renew(policy, number, incarnation),
            Message::Leave {
                number,
                incarnation,
                revoked,
            } => {
                self.leave(number, self.standing(number, incarnation), revoked);
                Reply::Over
            }
            Message::Reserve { reservation, count } => self.reserve(policy, reservation, count),
            Message::Return {
                reservation,
                incarnation,
                used,
            } => self.take_back(reservation, incarnation, used),
            Message::Find { number } => Reply::Found(self.position(number)),
            Message::End { number } => {
                self.leave(number, self.book.standing(number), true);
                Reply::Found(self.position(number))
            }
        }
    }

    pub(super) fn standing(&self, number: TicketNumber, incarnation: Incarnation) -> Standing {
        if incarnation == self.book.incarnation {
            self.book.standing(number)
        } else {
            Standing::Unknown
        }
    }

    /// Somebody with a number asks to come in. None if the number is over, or none of this room's.
    pub(super) fn asks(
        &mut self,
        policy: &Policy,
        number: TicketNumber,
        standing: Standing,
        last_poll: Instant,
    ) -> Option<Reply> {
        match standing {
            Standing::Active(slot) => Some(Reply::Admitted {
                number,
                expires: slot.expires,
                provisional: slot.provisional,
            }),
            Standing::Waiting => Some(self.keep_waiting(number)),
            Standing::Called => Some(self.claim(policy, number, last_poll)),
            Standing::Spent | Standing::Unknown => None,
        }
    }

    pub(super) fn arrive(&mut self, policy: &Policy, ticket: TicketId, returning: bool) -> Reply {
        if let Some(number) = self.book.number_of(ticket) {
            let standing = self.book.standing(number);
            if let Some(reply) = self.asks(policy, number, standing, self.book.time) {
                return reply;
            }
        }
        let walks_in = self.may_walk_in(policy);
        if !walks_in && (!returning || self.full) {
            return Reply::ComeBack;
        }
        let number = self.book.next_number();
        self.record(Effect::Issued { number, ticket });
        self.waiters.join(self.book.time);
        if walks_in {
            self.returns.given(number, self.book.time);
            let provisional = self.first_pass_is_provisional(policy);
            self.admit(policy, number, provisional)
        } else {
            let tally = self.recorder.current();
            tally.joined = tally.joined.saturating_add(1);
            let ahead = self.ahead_of(number);
            self.foretell(policy, ahead);
            Reply::Waiting {
                number,
                joined: Some(self.book.time),
                ahead: Some(ahead),
            }
        }
    }

    /// A called visitor asks to come in. They do if there are more free slots than visitors before
    /// them who stand at the door, or were called so lately that they may not have heard of it.
    pub(super) fn claim(
        &mut self,
        policy: &Policy,
        number: TicketNumber,
        last_poll: Instant,
    ) -> Reply {
        let place = self.book.place_of(number);
        self.invitations.close(place, true, self.book.time);
        self.drawn_comes(number);
        let free = self.ready(policy);
        let now = self.book.time;
        let ahead = self.book.door.held_before(place);
        if free > ahead && free - ahead > self.invitations.fresh_before(place, now) {
            return self.admit(policy, number, false);
        }
        if !self.book.door.contains(place) {
            self.record(Effect::CameToDoor { number });
        }
        // Edge clocks may be off; what lies ahead of the room's is no gap at all.
        self.book
            .door
            .ask(place, last_poll.min(now), now, policy.usual_gap());
        Reply::AtDoor { number, ahead }
    }

    /// Grants a slot to a visitor. The caller has checked [`Ledger::free`] or [`Ledger::ready`].
    pub(super) fn admit(
        &mut self,
        policy: &Policy,
        number: TicketNumber,
        provisional: bool,
    ) -> Reply {
        let expires = self.book.time + Self::life(policy, provisional);
        let called = self.book.called;
        self.record(Effect::Admitted {
            number,
            expires,
            provisional,
        });
        if self.book.called > called {
            self.waiters
                .call_first(self.book.time, policy.absent_after());
        } else {
            self.waiters.left(self.book.place_of(number));
        }
        self.pacing.take(1);
        self.outlook.throughput.record(self.book.active());
        let tally = self.recorder.current();
        tally.granted = tally.granted.saturating_add(1);
        Reply::Admitted {
            number,
            expires,
            provisional,
        }
    }

    /// How long a new pass lives.
    pub(super) fn life(policy: &Policy, provisional: bool) -> Span {
        // An event may have longer sessions than its room.
        let longest = policy.session_max.unwrap_or(policy.session);
        let session = policy.session.min(longest);
        if provisional {
            PROVISIONAL.min(session)
        } else {
            session
        }
    }

    pub(super) fn keep_waiting(&mut self, number: TicketNumber) -> Reply {
        self.waiters
            .polled(self.book.place_of(number), self.book.time);
        Reply::Waiting {
            number,
            joined: None,
            ahead: Some(self.ahead_of(number)),
        }
    }

    /// How many live visitors come before one in line.
    pub(super) fn ahead_of(&self, number: TicketNumber) -> u32 {
        let before = self.waiters.before(self.book.place_of(number));
        self.expected_at_door().saturating_add(before)
    }

    pub(super) fn renew(
        &mut self,
        policy: &Policy,
        number: TicketNumber,
        from: Incarnation,
    ) -> Reply {
        let Standing::Active(slot) = self.standing(number, from) else {
            return Reply::Over;
        };
        let expires = if policy.renewal {
            policy.session_ends(slot.admitted, self.book.time)
        } else if slot.provisional {
            slot.admitted + policy.session
        } else {
            // Made whole before; the acknowledgement may have been lost.
            slot.expires
        };
        if policy.drain_over_limit && self.book.active() > policy.total_active_users {
            return Reply::NotRenewed;
        }
        self.returns.returned(number);
        if !slot.provisional && expires < slot.expires + LEAST_RENEWAL {
            return Reply::Admitted {
                number,
                expires: slot.expires,
                provisional: false,
            };
        }
        self.outlook.lifetimes.renewed(slot.expires);
        self.record(Effect::Renewed { number, expires });
        Reply::Admitted {
            number,
            expires: slot.expires.max(expires),
            provisional: false,
        }
    }

    pub(super) fn leave(&mut self, number: TicketNumber, standing: Standing, revoked: bool) {
        match standing {
            Standing::Unknown | Standing::Spent => return,
            Standing::Waiting => self.waiters.left(self.book.place_of(number)),
            Standing::Called => {
                let place = self.book.place_of(number);
                self.waiters.left(place);
                self.invitations.close(place, false, self.book.time);
            }
            Standing::Active(_) => {}
        }
        self.count_end(standing, revoked);
        self.record(Effect::Ended { number });
        // A slot whose pass could not be revoked stays taken until the pass is over.
        if let (Standing::Active(slot), None) = (standing, self.book.slots().get(number)) {
            self.departures.record(self.book.time);
            self.outlook.lifetimes.ended(slot.expires);
        }
    }
}

/// The ticket under which the holder of a spent number arrives again. Edges choose ids below 2^63,
/// so it is no other visitor's.
pub(super) fn replacement_ticket(number: TicketNumber, incarnation: Incarnation) -> TicketId {
    // 2^64 divided by the golden ratio spreads incarnations over the bits above a number's 53.
    let life = incarnation.get().wrapping_mul(0x9e37_79b9_7f4a_7c15) << 53;
    TicketId::new(1 << 63 | (life ^ number.get()))
}
