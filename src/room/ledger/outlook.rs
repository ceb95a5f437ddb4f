//! What those who wait are told, and all that it rests on.

use super::forecast::Start;
use super::lifetimes::Lifetimes;
use super::patience::Patience;
use super::throughput::Throughput;
use super::tracers::Tracers;
use super::{EXPIRY_GRACE, Ledger};
use crate::room::forecast::{Reach, reaches};
use crate::room::policy::{Admits, Policy};
use crate::room::wait::Pace;
use crate::time::{Instant, Span};

/// A forecast is made so often.
const EVERY: Span = Span::from_secs(2);

/// So many passes that were ended, or were not renewed by half of their time, tell how long sessions last;
/// in a small room a tenth of its slots.
const ENOUGH_KNOWN: u64 = 40;

/// The measures, and the last forecast that was made of them.
#[derive(Clone, Debug, Default)]
pub(super) struct Outlook {
    pub(super) lifetimes: Lifetimes,
    pub(super) patience: Patience,
    pub(super) throughput: Throughput,
    pub(super) tracers: Tracers,
    next: Instant,
    told: Option<(Pace, Vec<Reach>)>,
}

impl Outlook {
    /// The forecast, and the pace that it comes to; none while it cannot be told.
    pub(super) fn told(&self) -> Option<(Pace, &[Reach])> {
        let told = self.told.as_ref();
        told.map(|(pace, forecast)| (*pace, forecast.as_slice()))
    }
}

impl Ledger {
    /// Measures, and makes a forecast of it when it is time. `moves` says whether people wait and the
    /// line moves.
    pub(super) fn look_ahead(&mut self, policy: &Policy, moves: bool) {
        let now = self.book.time;
        let pending = self.expected_at_door();
        let outlook = &mut self.outlook;
        outlook
            .throughput
            .observe(moves, self.book.active(), pending, now);
        if !moves {
            *outlook = Outlook {
                lifetimes: std::mem::take(&mut outlook.lifetimes),
                ..Outlook::default()
            };
        }
        outlook
            .lifetimes
            .look(policy.session, self.book.slots(), now);
        if !moves || policy.admits != Admits::InOrder {
            outlook.told = None;
            return;
        }
        outlook.patience.look(&self.waiters, now);
        if now >= outlook.next {
            outlook.next = now + EVERY;
            self.foresee(policy);
        }
    }

    fn foresee(&mut self, policy: &Policy) {
        let now = self.book.time;
        let called = self.expected_at_door();
        let forecast = self.forecast(policy, called);
        let points = &self.waiters.draw(now, policy.absent_after()).points;
        let outlook = &mut self.outlook;
        outlook.told = forecast
            .filter(|forecast| !forecast.is_empty())
            .map(|forecast| {
                outlook.tracers.note(&forecast, points, called, now);
                let line = points
                    .last()
                    .map_or(0, |point| point.1)
                    .saturating_add(called);
                let span = reaches(&forecast, u64::from(line) + 1);
                let millis = span.map_or(u64::MAX, Span::as_millis).max(1);
                let per_hour = (u64::from(line) + 1).saturating_mul(3_600_000) / millis;
                let pace = Pace {
                    calls_per_hour: u32::try_from(per_hour).unwrap_or(u32::MAX),
                    error_per_mille: outlook.tracers.error_per_mille(now),
                    ..Pace::default()
                };
                (pace, forecast)
            });
    }

    fn forecast(&self, policy: &Policy, called: u32) -> Option<Vec<Reach>> {
        let now = self.book.time;
        let (lifetimes, patience) = (&self.outlook.lifetimes, &self.outlook.patience);
        let (slots, per_minute) = (policy.total_active_users, policy.new_users_per_minute);
        let share = self.invitations.share_that_comes();
        let measured = self
            .outlook
            .throughput
            .measured(slots, per_minute, share, now)?;
        // If nobody renews and nobody leaves before the time.
        let whole = (policy.session + EXPIRY_GRACE).as_millis().max(1);
        let at_least = u64::from(slots) * 60_000 / whole;
        let enough = u64::from(slots / 10).clamp(1, ENOUGH_KNOWN);
        if at_least < per_minute.into() && lifetimes.known() < enough {
            return None;
        }
        let line = patience.groups(&self.waiters, now);
        let live: u32 = line.iter().map(|group| group.live).sum();
        let step = lifetimes.step();
        let steps = (60_000_u64).div_ceil(step.as_millis().max(1));
        let later = (1..=steps).map(|count| now + Span::from_millis(count * step.as_millis()));
        let start = Start {
            lifetimes,
            taken: lifetimes.taken(self.book.slots(), now),
            slots: measured.slots,
            per_minute: measured.per_minute,
            counted: later
                .map(|at| self.book.admissions_counted_at(at))
                .collect(),
            calls_per_admission: measured.calls_per_admission,
            called,
            line,
            with_missing: 1.0 + f64::from(patience.missing()) / f64::from(live.max(1)),
            staying: patience.staying(),
        };
        Some(start.forecast())
    }
}
