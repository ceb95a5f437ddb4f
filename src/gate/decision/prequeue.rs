//! What is different for those who wait for an event to start.

use super::Request;
use crate::room::number::TicketNumber;
use crate::site::event::Running;
use crate::time::Instant;

impl Request<'_> {
    /// Whether the holder of `number` waits for an event to start. What the room has said of the
    /// draw goes before the edge's own clock.
    pub(super) fn prequeues(&self, number: TicketNumber) -> bool {
        if self.snapshot.is_some_and(|room| room.is_undrawn(number)) {
            return true;
        }
        let drawn = |event: &Running| {
            let draw = self.snapshot.and_then(|room| room.draws.of(number.get()));
            draw.is_some_and(|draw| draw.start.as_millis() == event.start.as_millis())
        };
        let event = self.room.event.as_ref();
        event.is_some_and(|event| event.prequeueing && !drawn(event))
    }

    /// How many come before `number`; none while that is up to a draw.
    pub(super) fn ahead_of(&self, number: TicketNumber) -> Option<u64> {
        let known = self.snapshot.filter(|room| !room.is_undrawn(number))?;
        Some(known.users_ahead(number))
    }

    /// Whether a draw has decided about the place of `number`.
    pub(super) fn is_drawn(&self, number: TicketNumber) -> bool {
        self.snapshot
            .is_some_and(|room| room.draws.of(number.get()).is_some())
    }

    /// Seconds until the next poll, about `interval`, of somebody in a pre-queue: so that the polls
    /// of all are spread over the interval, however many came in the same second. Each number has a
    /// moment of its own in the interval, and keeps it, so nothing comes together at the start.
    pub(super) fn spread(&self, number: TicketNumber, interval: u32) -> u32 {
        let interval = u64::from(interval.max(1)) * 1_000;
        // Multiples of the golden ratio fill an interval evenly, however many there are.
        let share = number.get().wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
        let moment = (share * interval) >> 32;
        let of = |now: Instant| now.as_millis() % interval;
        // By how much the moment comes after now, between half an interval before and behind.
        let after = (moment + interval + interval / 2 - of(self.now)) % interval;
        let millis = interval / 2 + after;
        u32::try_from((millis + 500) / 1_000).unwrap_or(1).max(1)
    }
}

#[cfg(test)]
mod tests;
