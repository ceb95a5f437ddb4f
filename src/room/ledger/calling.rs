//! How many are called, and how many may come in.

use super::Ledger;
use super::book::Effect;
use super::invitations::MOST_CALLS_PER_SLOT;
use crate::room::place::Place;
use crate::room::policy::{Admits, Policy};
use crate::site::room::FirstPass;

impl Ledger {
    /// Raises `serving` so far that those expected to come are as many as are wanted.
    pub(super) fn call(&mut self, policy: &Policy) {
        match policy.admits {
            Admits::Nobody => return,
            Admits::AtRandom if self.draw_epoch(policy) => return,
            _ => {}
        }
        let now = self.book.time;
        let wanted = self.wanted(policy);
        let missing = wanted.saturating_sub(self.book.door.held());
        let most = wanted.saturating_mul(MOST_CALLS_PER_SLOT);
        let mut open = self
            .invitations
            .open_since(self.invitations.usual_delay(), now);
        let mut expected = self.invitations.expected(now);
        let mut called = self.book.called;
        while called < self.book.callable() {
            let place = Place::new(called + 1);
            let enough = expected.fill(missing) || open >= most;
            let spent = self.book.spent.contains(place);
            if enough && !spent {
                break;
            }
            // One who has not polled for long is called too, and may come, but is not counted on.
            let present = self
                .waiters
                .call_first(now, policy.absent_after())
                .unwrap_or(false);
            if present && !spent {
                self.invitations.invite(place, now);
                self.outlook.throughput.called(1);
                expected.one_more();
                open = open.saturating_add(1);
            }
            called = place.get();
        }
        if called > self.book.called {
            let up_to = Place::new(called);
            self.record(Effect::Called { up_to });
            self.outlook.tracers.reached(called, now);
        }
    }

    /// Slots that may be granted now: the lesser of what both limits leave.
    pub(super) fn free(&self, policy: &Policy) -> u32 {
        match policy.admits {
            Admits::Nobody => 0,
            Admits::Everybody => u32::MAX,
            Admits::InOrder | Admits::AtRandom => {
                let slots = policy.total_active_users.saturating_sub(self.book.active());
                let rate = self.book.admitted_last_minute();
                slots.min(policy.new_users_per_minute.saturating_sub(rate))
            }
        }
    }

    /// Those of them that may be granted to whoever has waited: no more than the pace allows.
    pub(super) fn ready(&self, policy: &Policy) -> u32 {
        match policy.admits {
            Admits::Everybody => u32::MAX,
            _ => self.free(policy).min(self.pacing.ready()),
        }
    }

    /// Whether a newcomer may go in at once: nobody waits, and a slot is left beside those who were
    /// called.
    pub(super) fn may_walk_in(&self, policy: &Policy) -> bool {
        match policy.admits {
            Admits::Nobody => false,
            Admits::Everybody => true,
            Admits::InOrder | Admits::AtRandom => {
                let called = self.expected_at_door();
                let free = if called == 0 {
                    self.free(policy)
                } else {
                    self.ready(policy)
                };
                self.book.called == self.book.issued && free > called
            }
        }
    }

    /// How many of the called are expected to take a slot.
    pub(super) fn expected_at_door(&self) -> u32 {
        self.invitations.open() + self.book.door.held()
    }

    pub(super) fn first_pass_is_provisional(&self, policy: &Policy) -> bool {
        match policy.first_pass {
            FirstPass::Full => false,
            FirstPass::Provisional => true,
            FirstPass::Auto => self.returns.suspicious(),
        }
    }
}
