//! Reservations: while slots are plenty, an edge that sees many newcomers takes some slots ahead, so
//! that letting one of them in costs no call.
//!
//! To the room a reserved slot is a taken one, with a number, from the moment of the answer. What an
//! edge has not used it gives back; an edge that dies with a reservation leaves its slots taken until
//! their passes would have ended, because passes may have been made. So the limits hold whatever
//! edges do, and the price of a dead edge is bounded: all open reservations together are at most
//! [`SHARE`] of the free slots.

use std::collections::{BTreeMap, VecDeque};

use serde::{Deserialize, Serialize};

use super::Ledger;
use super::book::Effect;
use crate::room::message::Reply;
use crate::room::number::{Incarnation, TicketId, TicketNumber};
use crate::room::policy::Policy;
use crate::time::{Instant, Span};

/// An edge makes passes of a reservation for so long after it has sent for it, on its own clock. The
/// room grants it later than that, so on any clock that runs evenly it is over here no sooner.
pub const RESERVED_FOR: Span = Span::from_secs(2);

/// How long a reservation is remembered, so that an answer or a return that was lost can be repeated.
const MEMORY: Span = Span::from_secs(60);

/// Open reservations take no more than one in so many of the free slots.
const SHARE: u32 = 4;

/// One reservation takes no more than this: it makes one row.
const MOST: u32 = 512;

/// Fewer are not worth a call.
const FEWEST: u32 = 8;

/// Slots that an edge has taken.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, PartialEq, Serialize)]
pub(super) struct Reservation {
    pub(super) first: TicketNumber,
    pub(super) count: u32,
    /// The last instant at which a pass may be made.
    pub(super) until: Instant,
    pub(super) expires: Instant,
    pub(super) provisional: bool,
    pub(super) returned: bool,
}

impl Reservation {
    /// Its numbers.
    pub(super) fn numbers(&self) -> impl Iterator<Item = TicketNumber> + use<> {
        let first = self.first.get();
        (first..first + u64::from(self.count)).filter_map(TicketNumber::new)
    }
}

/// The reservations of the last minute.
#[derive(Clone, Debug, Default, Deserialize, Eq, Hash, PartialEq, Serialize)]
pub(super) struct Reservations {
    given: BTreeMap<TicketId, Reservation>,
    /// The same, in the order in which they were given.
    order: VecDeque<(Instant, TicketId)>,
}

impl Reservations {
    /// The reservation of this id.
    pub(super) fn get(&self, id: TicketId) -> Option<Reservation> {
        self.given.get(&id).copied()
    }

    /// Notes a new one.
    pub(super) fn insert(&mut self, id: TicketId, reservation: Reservation) {
        self.given.insert(id, reservation);
        self.order.push_back((reservation.until, id));
    }

    /// Closes a reservation and tells which of its numbers have become no pass.
    pub(super) fn give_back(&mut self, id: TicketId, used: u32) -> Vec<TicketNumber> {
        match self.given.get_mut(&id) {
            Some(reservation) if !reservation.returned => {
                reservation.returned = true;
                reservation.numbers().skip(used as usize).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Forgets what is older than [`MEMORY`].
    pub(super) fn advance(&mut self, now: Instant) {
        while let Some(&(until, id)) = self.order.front() {
            if until + MEMORY > now {
                break;
            }
            self.order.pop_front();
            self.given.remove(&id);
        }
    }

    /// How many slots edges hold now without having used them, as far as the room knows.
    fn open(&self, now: Instant) -> u32 {
        let open = self
            .given
            .values()
            .filter(|given| !given.returned && now <= given.until);
        open.fold(0, |sum, given| sum.saturating_add(given.count))
    }
}

impl Ledger {
    /// How many slots an edge may reserve now.
    pub(super) fn spare(&self, policy: &Policy) -> u32 {
        if !self.may_walk_in(policy) {
            return 0;
        }
        let open = self.book.reservations.open(self.book.time);
        let free = self.free(policy).saturating_sub(self.expected_at_door());
        // What is open was free before it was reserved.
        let share = free.saturating_add(open) / SHARE;
        let spare = share.saturating_sub(open).min(MOST);
        if spare < FEWEST { 0 } else { spare }
    }

    pub(super) fn reserve(&mut self, policy: &Policy, id: TicketId, count: u32) -> Reply {
        if self.book.reservations.get(id).is_none() {
            let count = count.min(self.spare(policy));
            if count == 0 {
                return Reply::NotReserved;
            }
            let provisional = self.first_pass_is_provisional(policy);
            self.record(Effect::Reserved {
                reservation: id,
                count,
                expires: self.book.time + Self::life(policy, provisional),
                provisional,
            });
            self.pacing.take(count);
            let numbers = self.book.reservations.get(id).map(|given| given.numbers());
            for number in numbers.into_iter().flatten() {
                self.waiters.join(self.book.time);
                self.waiters
                    .call_first(self.book.time, policy.absent_after());
                self.returns.given(number, self.book.time);
            }
            let tally = self.recorder.current();
            tally.granted = tally.granted.saturating_add(count);
        }
        match self.book.reservations.get(id) {
            Some(given) if !given.returned => Reply::Reserved {
                first: given.first,
                count: given.count,
                expires: given.expires,
                provisional: given.provisional,
            },
            _ => Reply::NotReserved,
        }
    }

    pub(super) fn take_back(&mut self, id: TicketId, from: Incarnation, used: u32) -> Reply {
        if from == self.book.incarnation
            && let Some(given) = self.book.reservations.get(id)
            && !given.returned
        {
            for number in given.numbers().skip(used as usize) {
                self.returns.withdraw(number);
            }
            let tally = self.recorder.current();
            let unused = given.count.saturating_sub(used);
            tally.returned = tally.returned.saturating_add(unused);
            self.record(Effect::Returned {
                reservation: id,
                used,
            });
        }
        Reply::Over
    }
}

#[cfg(test)]
mod tests;
