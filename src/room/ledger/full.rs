//! When the line is so long that newcomers get no number.

use super::Ledger;
use crate::room::policy::{Admits, Policy};

impl Ledger {
    /// Whether one more would wait for longer than the operator lets anybody wait, with `before` of
    /// them ahead. As long as the wait cannot be told, or nobody is let in for another reason, nobody
    /// is turned away.
    pub(super) fn is_full(&self, policy: &Policy, before: u32) -> bool {
        if !matches!(policy.admits, Admits::InOrder | Admits::AtRandom) {
            return false;
        }
        let per_minute = self.outlook.throughput.per_minute(self.book.time);
        let Some((longest, rate)) = policy.full_after.zip(per_minute) else {
            return false;
        };
        let minutes = (f64::from(before) + 1.0) / f64::from(rate);
        minutes * 60_000.0 > longest.as_millis() as f64
    }
}
