//! What a room tells of itself: the headline, whose changes are news to every edge, and the snapshot.

use std::sync::Arc;

use super::Ledger;
use crate::room::news::Headline;
use crate::room::policy::Policy;
use crate::room::snapshot::{Ahead, READS_SETS, Snapshot};

impl Ledger {
    /// How many are in line, called ones included.
    pub(super) fn in_line(&self) -> u32 {
        self.waiters
            .present()
            .saturating_add(self.expected_at_door())
    }

    pub(super) fn headline(&self, policy: &Policy) -> Headline {
        let queueing = !self.may_walk_in(policy);
        Headline {
            queueing,
            full: queueing && self.is_full(policy, self.in_line()),
            provisional: self.first_pass_is_provisional(policy),
            relays: self.load.relays(policy.relays),
            undrawn_from: self.book.lots.undrawn_from(),
            drawn_from: self.book.lots.held.last().map(|draw| draw.first),
        }
    }

    pub(super) fn snapshot(&mut self, policy: &Policy, headline: Headline) -> Arc<Snapshot> {
        let now = self.book.time;
        let called = self.expected_at_door();
        let spare = self.spare(policy);
        let drawn = self.turnout.open().round() as u32;
        let Headline {
            queueing,
            full,
            provisional,
            relays,
            ..
        } = headline;
        let drawing = self.waiters.draw(now, policy.absent_after());
        let told = self.outlook.told();
        let behind = |point: &Ahead| Ahead(point.0, point.1.saturating_add(called));
        Arc::new(Snapshot {
            incarnation: self.book.incarnation,
            sequence: self.book.sequence,
            taken: now,
            serving: self.book.called,
            issued: self.book.issued,
            active: self.book.active(),
            admitted_last_minute: self.book.admitted_last_minute(),
            called: called.saturating_add(drawn),
            queued: drawing.queued.saturating_sub(drawn),
            admissions_per_minute: self.outlook.throughput.per_minute(now),
            pace: told.map(|(pace, _)| pace),
            forecast: told.map_or_else(Vec::new, |(_, forecast)| forecast.to_vec()),
            ahead: drawing.points.iter().map(behind).collect(),
            queueing,
            full,
            epochs: self.book.epochs.iter().copied().collect(),
            spare,
            provisional,
            revoked: self.book.revoked(),
            announced: self.book.lots.announcement(),
            draws: self.book.lots.held.clone(),
            reads: READS_SETS,
            relays,
        })
    }
}
