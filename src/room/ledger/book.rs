//! The durable part of a room, and the only ways in which it changes.
//!
//! A [`Book`] changes through [`Effect`]s, which are stored, and through the passing of time, which
//! needs no storing: applying the stored effects at their times to the stored checkpoint gives the
//! same book again.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use super::door::Door;
use super::epochs::Epochs;
use super::lot::Lots;
use super::rate::RateWindow;
use super::reserve::{RESERVED_FOR, Reservation, Reservations};
use super::slots::{Slot, Slots};
use super::spent::Spent;
use super::tickets::Tickets;
use super::{EXPIRY_GRACE, PLACE_MEMORY};
use crate::room::draw::DrawKey;
use crate::room::figures::histogram::Histogram;
use crate::room::lottery::{Epoch, Probability};
use crate::room::number::{Incarnation, TicketId, TicketNumber};
use crate::room::place::Place;
use crate::room::seed::Seed;
use crate::time::{Instant, Span};

/// So many ended sessions whose pass has not run out are told to the edges at a time.
pub const MOST_REVOKED: usize = 1024;

/// Calls that follow one another within this time are kept as one.
const CALLS_JOINED_WITHIN: Span = Span::from_secs(1);

/// A change that must outlast the object's memory.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub enum Effect {
    /// The next number is given.
    Issued {
        /// The number: always the one after the last.
        number: TicketNumber,
        /// Whose it is.
        ticket: TicketId,
    },
    /// Everybody up to this place may come to the door.
    Called {
        /// The highest place called.
        up_to: Place,
    },
    /// A called visitor has come while every slot was taken.
    CameToDoor {
        /// The visitor's number.
        number: TicketNumber,
    },
    /// A visitor takes a slot.
    Admitted {
        /// The visitor's number.
        number: TicketNumber,
        /// When the pass ends.
        expires: Instant,
        /// Whether the pass is provisional.
        provisional: bool,
    },
    /// A visitor keeps the slot for longer.
    Renewed {
        /// The visitor's number.
        number: TicketNumber,
        /// When the pass ends.
        expires: Instant,
    },
    /// A visitor gives up the slot or the place in line.
    Ended {
        /// The visitor's number.
        number: TicketNumber,
    },
    /// An edge takes the slots of the next numbers.
    Reserved {
        /// Which reservation this is.
        reservation: TicketId,
        /// How many.
        count: u32,
        /// When the passes end.
        expires: Instant,
        /// Whether the passes are provisional.
        provisional: bool,
    },
    /// An edge gives back what it has not used of a reservation.
    Returned {
        /// Which reservation.
        reservation: TicketId,
        /// How many it has used.
        used: u32,
    },
    /// A pre-queue begins, and the room commits to the key of its draw.
    DrawAnnounced {
        /// The event's id.
        event: [u8; 16],
        /// When the event starts.
        start: Instant,
        /// The key.
        key: DrawKey,
    },
    /// The pre-queue is over, and the key decides about the places of its numbers.
    DrawHeld,
    /// A draw is held among the waiting numbers.
    EpochDrawn {
        /// The index of its epoch.
        epoch: u64,
        /// Each number's chance.
        chance: Probability,
        /// The highest number that takes part.
        up_to: TicketNumber,
    },
}

/// What a number stands for.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Standing {
    /// It was never given.
    Unknown,
    /// Its turn has not come.
    Waiting,
    /// It may come to the door, or stands there.
    Called,
    /// It holds a slot.
    Active(Slot),
    /// Its turn is over.
    Spent,
}

/// The durable part of a room.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Book {
    /// Which life of the storage this is.
    pub incarnation: Incarnation,
    /// Rows stored so far.
    pub sequence: u64,
    /// The room's time. Never goes back.
    pub time: Instant,
    /// The highest number given.
    pub issued: u64,
    /// The highest place called.
    pub called: u64,
    /// Every place up to here is active, at the door or spent.
    pub(super) floor: u64,
    slots: Slots,
    pub(super) spent: Spent,
    rate: RateWindow,
    tickets: Tickets,
    /// The calls since `floor`: the highest place and the time of each.
    calls: VecDeque<(u64, Instant)>,
    /// The visitors at the door.
    pub(super) door: Door,
    /// Ended sessions whose pass has not run out, and when it does.
    revoked: VecDeque<(TicketNumber, Instant)>,
    // What format 2 has added. New fields come last, see `journal::decode_book`.
    /// The secret from which the room's keys are made.
    pub(super) seed: Seed,
    /// Slots that edges have taken for newcomers to come.
    pub(super) reservations: Reservations,
    /// The draws of pre-queues.
    pub(super) lots: Lots,
    /// The draws that still count.
    pub(super) epochs: Epochs,
    /// How long the sessions lasted that have ended since this was emptied. Not stored.
    #[serde(skip)]
    pub(super) stayed: Histogram,
}

impl Book {
    /// An empty room.
    pub fn new(incarnation: Incarnation, seed: Seed, now: Instant) -> Self {
        Self {
            seed,
            reservations: Reservations::default(),
            incarnation,
            sequence: 0,
            time: now,
            issued: 0,
            called: 0,
            floor: 0,
            slots: Slots::default(),
            spent: Spent::default(),
            rate: RateWindow::default(),
            tickets: Tickets::default(),
            calls: VecDeque::new(),
            door: Door::default(),
            revoked: VecDeque::new(),
            lots: Lots::default(),
            epochs: Epochs::default(),
            stayed: Histogram::default(),
        }
    }

    /// What `number` stands for.
    pub(super) fn standing(&self, number: TicketNumber) -> Standing {
        if let Some(slot) = self.slots.get(number) {
            return if slot.closing {
                Standing::Spent
            } else {
                Standing::Active(slot)
            };
        }
        let place = self.place_of(number);
        if number.get() > self.issued {
            Standing::Unknown
        } else if self.spent.contains(place) {
            Standing::Spent
        } else if self.door.contains(place) {
            Standing::Called
        } else if place.get() <= self.floor {
            Standing::Spent
        } else if place.get() <= self.called || self.epochs.drew(number).is_some() {
            Standing::Called
        } else {
            Standing::Waiting
        }
    }

    /// The place of `number` in line.
    pub(super) fn place_of(&self, number: TicketNumber) -> Place {
        self.lots.held.place_of(number)
    }

    /// The highest place that may be called.
    pub(super) fn callable(&self) -> u64 {
        let undrawn = self.lots.undrawn_from();
        undrawn.map_or(self.issued, |first| first.saturating_sub(1))
    }

    /// Active sessions.
    pub fn active(&self) -> u32 {
        self.slots.active()
    }

    /// Admissions of the last 60 seconds.
    pub fn admitted_last_minute(&self) -> u32 {
        self.rate.count()
    }

    /// How many admissions of the last 60 seconds will still count at `at`.
    pub(super) fn admissions_counted_at(&self, at: Instant) -> u32 {
        self.rate.count_at(at)
    }

    /// The slots that are taken.
    pub(super) const fn slots(&self) -> &Slots {
        &self.slots
    }

    /// The number that `ticket` was given.
    pub fn number_of(&self, ticket: TicketId) -> Option<TicketNumber> {
        self.tickets.get(ticket)
    }

    /// The number that the next arrival gets.
    pub fn next_number(&self) -> TicketNumber {
        TicketNumber::new(self.issued + 1).unwrap_or(TicketNumber::MAX)
    }

    /// The places that were called after `since` and whose visitor has not come yet.
    pub fn expected_since(&self, since: Instant) -> Vec<(Place, Instant)> {
        let mut expected = Vec::new();
        let mut first = self.floor + 1;
        for &(up_to, at) in &self.calls {
            if at > since {
                let places = (first..=up_to).map(Place::new);
                let not_come = places.filter(|place| {
                    let number = self.lots.held.number_at(*place);
                    let standing = number.map(|number| self.standing(number));
                    !self.door.contains(*place) && standing == Some(Standing::Called)
                });
                expected.extend(not_come.map(|place| (place, at)));
            }
            first = up_to + 1;
        }
        expected
    }

    /// The places in line whose visitor is no longer there: has left, or was drawn and has come.
    pub fn left(&self) -> Vec<Place> {
        let waiting = (self.called + 1..=self.issued).map(Place::new);
        let is_in = |place| {
            let number = self.lots.held.number_at(place);
            number.is_some_and(|number| self.slots.get(number).is_some())
        };
        waiting
            .filter(|place| {
                self.spent.contains(*place) || self.door.contains(*place) || is_in(*place)
            })
            .collect()
    }

    /// The numbers whose passes are no longer good.
    pub fn revoked(&self) -> Vec<TicketNumber> {
        self.revoked.iter().map(|(number, _)| *number).collect()
    }

    /// Lets time pass up to `now`. In the last `silence` of it nobody could be heard, so nobody's
    /// place lapses for it.
    pub fn advance(&mut self, now: Instant, silence: Span) {
        self.time = self.time.max(now);
        if silence > Span::ZERO {
            for (_, at) in &mut self.calls {
                *at = *at + silence;
            }
            self.door.excuse(self.time);
        }
        let now = self.time;
        while let Some((number, slot)) = self.slots.expire_one(now) {
            self.spend(number);
            if !slot.closing {
                self.stayed.record(slot.expires.since(slot.admitted));
            }
        }
        self.rate.advance(now);
        self.door.advance(now);
        self.tickets.advance(now);
        self.reservations.advance(now);
        self.revoked
            .retain(|(_, expires)| *expires + EXPIRY_GRACE > now);
        while let Some(&(up_to, at)) = self.calls.front() {
            if at + PLACE_MEMORY > now {
                break;
            }
            self.calls.pop_front();
            self.floor = up_to;
            self.spent.forget_up_to(up_to);
        }
        self.forget_draws();
    }

    /// The turn of `number` is over. Up to the floor that goes without saying.
    fn spend(&mut self, number: TicketNumber) {
        let place = self.place_of(number);
        if place.get() > self.floor {
            self.spent.insert(place);
        }
    }

    /// Applies one change at the room's present time.
    pub fn apply(&mut self, effect: Effect) {
        let now = self.time;
        match effect {
            Effect::Issued { number, ticket } => {
                self.issued = self.issued.max(number.get());
                self.tickets.insert(ticket, number, now);
            }
            Effect::Called { up_to } => self.call(up_to.get()),
            Effect::CameToDoor { number } => {
                self.door.ask(self.place_of(number), now, now, Span::ZERO)
            }
            Effect::Admitted {
                number,
                expires,
                provisional,
            } => {
                // A newcomer who walks in was never called, and their place is the next in line; one
                // who was drawn leaves those before them where they are.
                let place = self.place_of(number);
                if place.get() == self.called + 1 {
                    self.call(place.get());
                }
                self.door.remove(place);
                self.rate.record(now, 1);
                let slot = Slot {
                    admitted: now,
                    expires,
                    provisional,
                    closing: false,
                };
                self.slots.set(number, slot);
            }
            Effect::Renewed { number, expires } => {
                if let Some(slot) = self.slots.get(number) {
                    let expires = slot.expires.max(expires);
                    self.slots.set(
                        number,
                        Slot {
                            expires,
                            provisional: false,
                            ..slot
                        },
                    );
                }
            }
            Effect::Ended { number } => self.end(number),
            Effect::Reserved {
                reservation,
                count,
                expires,
                provisional,
            } => {
                let reserved = Reservation {
                    first: self.next_number(),
                    count,
                    until: now + RESERVED_FOR,
                    expires,
                    provisional,
                    returned: false,
                };
                self.reservations.insert(reservation, reserved);
                // The passes may be made at any time until then.
                self.rate.record(reserved.until, count);
                let slot = Slot {
                    admitted: now,
                    expires,
                    provisional,
                    closing: false,
                };
                for number in reserved.numbers() {
                    self.issued = self.issued.max(number.get());
                    self.slots.set(number, slot);
                }
                self.call(self.issued);
            }
            Effect::Returned { reservation, used } => {
                for number in self.reservations.give_back(reservation, used) {
                    self.slots.remove(number);
                    self.spend(number);
                }
            }
            Effect::DrawAnnounced { event, start, key } => {
                self.lots.announce(event, start, self.issued + 1, key);
            }
            Effect::DrawHeld => self.hold_draw(),
            Effect::EpochDrawn {
                epoch,
                chance,
                up_to,
            } => {
                let epoch = Epoch::new(&self.seed, epoch, chance, up_to.get());
                self.epochs.push(epoch);
            }
        }
    }

    fn call(&mut self, up_to: u64) {
        if up_to <= self.called {
            return;
        }
        self.called = up_to;
        self.epochs.forget_up_to(up_to);
        match self.calls.back_mut() {
            Some((last, at)) if self.time < *at + CALLS_JOINED_WITHIN => *last = up_to,
            _ => self.calls.push_back((up_to, self.time)),
        }
    }

    fn end(&mut self, number: TicketNumber) {
        self.door.remove(self.place_of(number));
        let Some(slot) = self.slots.get(number) else {
            self.spend(number);
            return;
        };
        self.stayed.record(self.time.since(slot.admitted));
        if self.revoked.len() < MOST_REVOKED {
            self.slots.remove(number);
            self.spend(number);
            self.revoked.push_back((number, slot.expires));
        } else {
            // The edges cannot be told, so the pass stays good, and its slot stays taken.
            self.slots.set(
                number,
                Slot {
                    closing: true,
                    ..slot
                },
            );
        }
    }
}
