//! Draws: when the places of a pre-queue are given by lot, and what the book keeps of it.
//!
//! With the first batch of a pre-queue the room commits to a key; the pre-queue's numbers are those
//! given from then on. With the first batch after the pre-queue, for whatever reason it ended (its
//! event has started, or the operator has moved or removed it), the draw is held. So whoever was
//! told of a draw gets one.

use serde::{Deserialize, Serialize};

use super::Ledger;
use super::book::{Book, Effect};
use crate::room::draw::DrawKey;
use crate::room::place::{Announcement, Draw, Draws, Place};
use crate::room::policy::Drawing;
use crate::time::{Instant, Span};

/// A draw is told at least for so long after it was held, so that anybody can check it.
const TOLD: Span = Span::from_secs(24 * 60 * 60);

/// The book's part about draws.
#[derive(Clone, Debug, Default, Deserialize, Eq, Hash, PartialEq, Serialize)]
pub(super) struct Lots {
    /// The draws that were held and are in force.
    pub(super) held: Draws,
    /// The draw of the pre-queue that is under way.
    announced: Option<Announced>,
}

/// A draw that is to be held.
#[derive(Clone, Debug, Deserialize, Eq, Hash, PartialEq, Serialize)]
struct Announced {
    event: [u8; 16],
    start: Instant,
    first: u64,
    key: DrawKey,
}

impl Lots {
    /// What is told of the draw that is to be held.
    pub(super) fn announcement(&self) -> Option<Announcement> {
        let announced = self.announced.as_ref()?;
        Some(Announcement {
            start: announced.start,
            first: announced.first,
            commitment: announced.key.commitment(),
        })
    }

    /// The first number of the pre-queue that is under way: nobody from it on is called.
    pub(super) fn undrawn_from(&self) -> Option<u64> {
        self.announced.as_ref().map(|announced| announced.first)
    }

    /// Commits to a key for the numbers from `first` on.
    pub(super) fn announce(&mut self, event: [u8; 16], start: Instant, first: u64, key: DrawKey) {
        self.announced = Some(Announced {
            event,
            start,
            first,
            key,
        });
    }

    /// Holds the draw, if anybody takes part.
    pub(super) fn hold(&mut self, issued: u64, now: Instant) -> Option<Draw> {
        let announced = self.announced.take()?;
        let draw = Draw {
            start: announced.start,
            first: announced.first,
            count: (issued + 1).saturating_sub(announced.first),
            key: announced.key,
            held: now,
        };
        if draw.count == 0 {
            return None;
        }
        self.held.push(draw.clone());
        Some(draw)
    }
}

impl Book {
    /// The draw is held: what is known by number goes to the places.
    pub(super) fn hold_draw(&mut self) {
        let Some(draw) = self.lots.hold(self.issued, self.time) else {
            return;
        };
        let left = self.spent.take(draw.first, draw.last());
        if left.is_empty() {
            return;
        }
        let mut left = left
            .into_iter()
            .map(|number| number - draw.first)
            .peekable();
        for (number, place) in (0..).zip(draw.permutation().places()) {
            if left.next_if_eq(&number).is_some() {
                self.spent.insert(Place::new(draw.first + place));
            }
        }
    }

    /// Forgets the draws that nobody needs any more: all their places are over, nobody in them
    /// stands at the door, and they were told for long enough.
    pub(super) fn forget_draws(&mut self) {
        let (floor, now, door) = (self.floor, self.time, &self.door);
        self.lots.held.retain(|draw| {
            let (first, last) = (Place::new(draw.first), Place::new(draw.last()));
            draw.held + TOLD > now || last.get() > floor || door.any_within(first, last)
        });
    }
}

impl Ledger {
    /// Commits to a draw when a pre-queue begins, and holds it when the pre-queue has ended.
    pub(super) fn draw_lots(&mut self, drawing: Option<Drawing>) {
        let announced = self.book.lots.announced.as_ref();
        if announced.map(|announced| announced.event) == drawing.map(|drawing| drawing.event) {
            return;
        }
        if announced.is_some() {
            self.record(Effect::DrawHeld);
            if let Some(draw) = self.book.lots.held.last()
                && draw.held == self.book.time
            {
                self.waiters.shuffle(draw);
            }
        }
        if let Some(Drawing { event, start }) = drawing {
            // A key of its own even for a pre-queue that is begun anew.
            let first = self.book.issued + 1;
            let of = [
                &event[..],
                &start.as_millis().to_be_bytes(),
                &first.to_be_bytes(),
            ]
            .concat();
            let key = DrawKey::new(self.book.seed.key("draw", &of));
            self.record(Effect::DrawAnnounced { event, start, key });
        }
    }
}

#[cfg(test)]
mod tests;
