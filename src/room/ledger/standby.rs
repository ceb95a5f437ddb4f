//! How many visitors to have called beforehand.
//!
//! A called visitor comes with their next poll, some seconds later, and a slot that waits for them
//! stands empty meanwhile. So the room calls ahead: for the slots that will have become free by the
//! time those called now usually come, and a few more, because neither is certain. They stand at the
//! door, in order, until a slot is theirs.

use std::collections::VecDeque;

use super::{EXPIRY_GRACE, Ledger};
use crate::room::policy::{Admits, Policy};
use crate::time::{Instant, Span};

/// Sessions that were ended before their time are counted for so long.
const WINDOW: Span = Span::from_secs(60);

/// Sessions that were ended before their time, by seconds of the last minute.
#[derive(Clone, Debug, Default, Eq, Hash, PartialEq)]
pub(super) struct Departures {
    seconds: VecDeque<(u64, u32)>,
    total: u32,
}

impl Departures {
    /// One session is ended at `now`.
    pub(super) fn record(&mut self, now: Instant) {
        match self.seconds.back_mut() {
            Some((second, count)) if *second == now.as_secs() => *count = count.saturating_add(1),
            _ => self.seconds.push_back((now.as_secs(), 1)),
        }
        self.total = self.total.saturating_add(1);
    }

    /// Forgets what is older than a minute.
    pub(super) fn advance(&mut self, now: Instant) {
        while let Some(&(second, count)) = self.seconds.front() {
            if Instant::from_secs(second) + WINDOW > now {
                break;
            }
            self.total = self.total.saturating_sub(count);
            self.seconds.pop_front();
        }
    }

    /// How many are to be expected within `ahead`, rounded down.
    fn within(&self, ahead: Span) -> u32 {
        let expected = u64::from(self.total) * ahead.as_millis();
        u32::try_from(expected / WINDOW.as_millis()).unwrap_or(u32::MAX)
    }
}

impl Ledger {
    /// How many visitors, at the door or expected there, the room wants to have: those for whom a
    /// slot is free, or will be within the time that a called visitor takes to come, and a reserve.
    pub(super) fn wanted(&self, policy: &Policy) -> u32 {
        if policy.admits == Admits::Everybody {
            return u32::MAX;
        }
        // The door is asked every two seconds; what frees a slot may come in between.
        let ahead = self.invitations.usual_delay() + Span::from_secs(1);
        let by = self.book.time + ahead;
        let ending = self
            .book
            .ending_by(by)
            .saturating_add(self.departures.within(ahead));
        let slots = policy
            .total_active_users
            .saturating_sub(self.book.active().saturating_sub(ending));
        let rate = policy
            .new_users_per_minute
            .saturating_sub(self.book.admissions_counted_at(by));
        let free = slots.min(rate).min(self.pacing.ready_by(by));
        if free == 0 {
            return 0;
        }
        // Those who will have come by then vary with the root of their number, as coins do. Whoever
        // has no slot to come to asks in vain every two seconds, so there is a bound to it, and where
        // there are but a few places nobody is called for one that is not free.
        let coming = free.saturating_sub(self.ready(policy) / 2);
        let reserve = 1 + coming.saturating_mul(2).isqrt() * 3 / 2;
        free.saturating_add(reserve.min(policy.total_active_users / 4))
    }
}

impl super::book::Book {
    /// How many slots will have become free by `at` if nobody renews.
    fn ending_by(&self, at: Instant) -> u32 {
        self.slots().ending_by(at - EXPIRY_GRACE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn departures_of_the_last_minute_tell_those_to_come() {
        let at = Instant::from_secs;
        let mut departures = Departures::default();
        for second in 0..120 {
            departures.record(at(second));
            departures.advance(at(second));
        }
        assert_eq!(departures.within(Span::from_secs(6)), 6);
        departures.advance(at(150));
        assert_eq!(departures.within(Span::from_secs(60)), 29);
        departures.advance(at(200));
        assert_eq!(departures.within(Span::from_secs(6)), 0);
    }
}
