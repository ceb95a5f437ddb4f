//! The slots: one lease for each active session, named by the visitor's number.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::EXPIRY_GRACE;
use crate::room::number::TicketNumber;
use crate::time::Instant;

/// A lease on a slot.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub(super) struct Slot {
    /// When the visitor was admitted.
    pub(super) admitted: Instant,
    /// When the visitor's pass ends; the slot is taken for `EXPIRY_GRACE` longer.
    pub(super) expires: Instant,
    /// Whether the visitor's pass is provisional.
    pub(super) provisional: bool,
    /// Whether the session was ended but its pass could not be revoked: the slot stays taken until
    /// the pass has run out.
    pub(super) closing: bool,
}

/// All slots that are taken.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(from = "Vec<(TicketNumber, Slot)>", into = "Vec<(TicketNumber, Slot)>")]
pub(super) struct Slots {
    leases: BTreeMap<TicketNumber, Slot>,
    /// The same leases by their end, so that expiry looks at those alone that are over.
    ends: BTreeSet<(Instant, TicketNumber)>,
    /// How many end in each second.
    ends_by_second: BTreeMap<u64, u32>,
}

impl Slots {
    /// How many are taken.
    pub(super) fn active(&self) -> u32 {
        u32::try_from(self.leases.len()).unwrap_or(u32::MAX)
    }

    /// The lease of `number`.
    pub(super) fn get(&self, number: TicketNumber) -> Option<Slot> {
        self.leases.get(&number).copied()
    }

    /// Grants or changes the lease of `number`.
    pub(super) fn set(&mut self, number: TicketNumber, slot: Slot) {
        if let Some(old) = self.leases.insert(number, slot) {
            self.forget_end(old.expires, number);
        }
        self.ends.insert((slot.expires, number));
        *self
            .ends_by_second
            .entry(slot.expires.as_secs())
            .or_default() += 1;
    }

    /// Frees the slot of `number`.
    pub(super) fn remove(&mut self, number: TicketNumber) -> Option<Slot> {
        let slot = self.leases.remove(&number)?;
        self.forget_end(slot.expires, number);
        Some(slot)
    }

    fn forget_end(&mut self, expires: Instant, number: TicketNumber) {
        self.ends.remove(&(expires, number));
        if let Entry::Occupied(mut second) = self.ends_by_second.entry(expires.as_secs()) {
            *second.get_mut() -= 1;
            if *second.get() == 0 {
                second.remove();
            }
        }
    }

    /// How many passes end in each second, the soonest first.
    pub(super) fn ends_by_second(&self) -> impl Iterator<Item = (u64, u32)> {
        self.ends_by_second
            .iter()
            .map(|(second, ending)| (*second, *ending))
    }

    /// How many passes end by `at`, to the second.
    pub(super) fn ending_by(&self, at: Instant) -> u32 {
        let seconds = self.ends_by_second.range(..=at.as_secs());
        seconds.fold(0, |sum, (_, ending)| sum.saturating_add(*ending))
    }

    /// Frees one slot whose pass has been over for `EXPIRY_GRACE`, the longest over first.
    pub(super) fn expire_one(&mut self, now: Instant) -> Option<(TicketNumber, Slot)> {
        let &(expires, number) = self.ends.first()?;
        if expires + EXPIRY_GRACE > now {
            return None;
        }
        Some((number, self.remove(number)?))
    }
}

impl From<Vec<(TicketNumber, Slot)>> for Slots {
    fn from(leases: Vec<(TicketNumber, Slot)>) -> Self {
        let mut slots = Self::default();
        for (number, slot) in leases {
            slots.set(number, slot);
        }
        slots
    }
}

impl From<Slots> for Vec<(TicketNumber, Slot)> {
    fn from(slots: Slots) -> Self {
        slots.leases.into_iter().collect()
    }
}
