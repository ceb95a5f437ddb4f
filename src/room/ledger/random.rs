//! Random order: whom the room calls when its method is `random`.
//!
//! Numbers are not called up to a point but drawn, see [`lottery`](crate::room::lottery). Whoever is
//! drawn may come to the door like one who was called, and the door, the limits and the grant are the
//! same. The point up to which everybody is called stays where it is, so a room that goes back to
//! first come, first served goes on in the order of the numbers.

use super::book::Effect;
use super::{Ledger, PLACE_KEPT};
use crate::room::lottery::{EPOCH, Epoch, Probability};
use crate::room::number::TicketNumber;
use crate::room::place::Place;
use crate::room::policy::Policy;

impl Ledger {
    /// Draws, if it is time to. False when there is no need, because whoever waits may come in: then
    /// everybody is to be called.
    pub(super) fn draw_epoch(&mut self, policy: &Policy) -> bool {
        self.pass_over_the_gone();
        let now = self.book.time;
        self.turnout.advance(now, policy);
        let free = f64::from(self.ready(policy));
        let at_door = f64::from(self.book.door.held());
        // Called before the method was random, and counted on to come.
        let invited = f64::from(self.invitations.open());
        let index = Epoch::index_at(now);
        let is_due = self
            .book
            .epochs
            .latest()
            .is_none_or(|latest| latest < index);
        if !is_due && free <= at_door + invited {
            return true;
        }
        let waiting = f64::from(self.waiters.present());
        if free >= at_door + invited + waiting {
            return false;
        }
        if !is_due {
            return true;
        }
        let drawn = self.turnout.open();
        let share = self.turnout.share();
        let coming = at_door + self.invitations.expected(now).coming() + drawn * share;
        let wanted = self.to_be_filled(policy) - coming;
        let undrawn = waiting - drawn;
        // Numbers whose place is yet to be drawn by lot take no part.
        let last = TicketNumber::new(self.book.callable());
        if let Some(up_to) = last.filter(|_| wanted > 0.0 && undrawn > 0.0) {
            let chance = Probability::new(wanted / (share * undrawn));
            self.record(Effect::EpochDrawn {
                epoch: index,
                chance,
                up_to,
            });
            self.turnout.drawn(index, now, chance.share() * undrawn);
        }
        true
    }

    /// The slots that those who come shall fill until those of the next draw can be here: the free
    /// ones, and those that become free in an epoch and half an interval of polls, as fast as they
    /// were filled lately; and a standard deviation more, as a draw is a matter of chance. Who comes
    /// too early stands at the door.
    fn to_be_filled(&self, policy: &Policy) -> f64 {
        let ahead = (EPOCH.as_millis() + policy.poll_far.as_millis() / 2) as f64;
        let per_minute = self.outlook.throughput.per_minute(self.book.time);
        let flow = f64::from(per_minute.unwrap_or(0.0)) * ahead / 60_000.0;
        let slots = f64::from(self.ready(policy)) + flow;
        slots + slots.sqrt()
    }

    /// Calls the first in line as long as they are not there any more: drawn and come, gone, or not
    /// heard of for so long that their place has lapsed. So the line does not grow without end.
    fn pass_over_the_gone(&mut self) {
        let now = self.book.time;
        let mut called = self.book.called;
        while called < self.book.callable() && self.waiters.first_is_gone(now, PLACE_KEPT) {
            self.waiters.call_first(now, PLACE_KEPT);
            called += 1;
        }
        if called > self.book.called {
            let up_to = Place::new(called);
            self.record(Effect::Called { up_to });
        }
    }

    /// A drawn visitor has come to the door: they wait in line no more.
    pub(super) fn drawn_comes(&mut self, number: TicketNumber) {
        let place = self.book.place_of(number);
        if place.get() > self.book.called && !self.book.door.contains(place) {
            self.waiters.left(place);
            if let Some(index) = self.book.epochs.drew(number) {
                self.turnout.came(index);
            }
        }
    }
}
