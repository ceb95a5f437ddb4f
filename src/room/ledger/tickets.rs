//! The memory of arrivals: the same ticket gets the same number however often it is sent.

use std::collections::{BTreeMap, VecDeque};

use serde::{Deserialize, Serialize};

use crate::room::number::{TicketId, TicketNumber};
use crate::time::{Instant, Span};

/// How long a ticket is remembered: twice the 60 seconds for which an edge takes it, because edge
/// clocks may be up to a minute apart.
const MEMORY: Span = Span::from_secs(120);

/// The tickets of the last two minutes.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub(super) struct Tickets {
    numbers: BTreeMap<TicketId, (TicketNumber, Instant)>,
    order: VecDeque<(Instant, TicketId)>,
}

impl Tickets {
    /// The number that `ticket` was given last.
    pub(super) fn get(&self, ticket: TicketId) -> Option<TicketNumber> {
        self.numbers.get(&ticket).map(|(number, _)| *number)
    }

    /// Notes that `ticket` was given `number`.
    pub(super) fn insert(&mut self, ticket: TicketId, number: TicketNumber, now: Instant) {
        self.numbers.insert(ticket, (number, now));
        self.order.push_back((now, ticket));
    }

    /// Forgets what is older than [`MEMORY`].
    pub(super) fn advance(&mut self, now: Instant) {
        while let Some(&(at, ticket)) = self.order.front() {
            if at + MEMORY > now {
                break;
            }
            self.order.pop_front();
            // A ticket whose first number was spent may have been given another one since.
            if self
                .numbers
                .get(&ticket)
                .is_some_and(|(_, noted)| *noted == at)
            {
                self.numbers.remove(&ticket);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ticket_is_remembered_for_two_minutes_after_its_latest_number() {
        let (ticket, at) = (TicketId::new(7), Instant::from_secs);
        let mut tickets = Tickets::default();
        tickets.insert(ticket, TicketNumber::FIRST, at(0));
        tickets.insert(ticket, TicketNumber::FIRST.next(), at(60));
        tickets.advance(at(179));
        assert_eq!(tickets.get(ticket), Some(TicketNumber::FIRST.next()));
        tickets.advance(at(180));
        assert_eq!(tickets.get(ticket), None);
    }
}
