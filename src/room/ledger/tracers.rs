//! How well waits are foretold.
//!
//! Every ten seconds the room notes what it would tell the last in line, and one at a quarter of it,
//! and when their places are called it sees how long that took. Whatever makes waits uncertain is in
//! it: chance, visitors who leave, sessions that end in waves.

use std::collections::VecDeque;

use crate::room::forecast::{Reach, reaches};
use crate::room::snapshot::Ahead;
use crate::time::{Instant, Span};

/// A note is made so often, and so many are kept: an hour's.
const EVERY: Span = Span::from_secs(10);
const KEPT: usize = 360;

/// What is told in minutes is not judged by seconds.
const SHORTEST: Span = Span::from_secs(60);

/// What is assumed before anything was foretold, in thousandths.
const ASSUMED: u32 = 200;

/// The share of the latest note in the mean.
const WEIGHT: u32 = 32;

/// Who was wrong by more than this was simply wrong.
const MOST: u64 = 2_000;

/// What was foretold of one place.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
struct Tracer {
    place: u64,
    at: Instant,
    foretold: Span,
}

impl Tracer {
    /// How wrong it was if the place is called at `now`, in thousandths of what was foretold.
    fn error(&self, now: Instant) -> u32 {
        let (took, foretold) = (now.since(self.at).as_millis(), self.foretold.as_millis());
        let error = took.abs_diff(foretold) * 1_000 / foretold.max(1);
        error.min(MOST) as u32
    }

    fn is_overdue(&self, now: Instant) -> bool {
        now.since(self.at) > self.foretold
    }
}

/// The places that are watched, and the mean error so far, in 1/32 of a thousandth.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub(super) struct Tracers {
    /// At a quarter of the line, and at its end.
    watched: [VecDeque<Tracer>; 2],
    next: Instant,
    error: u32,
}

impl Default for Tracers {
    fn default() -> Self {
        Self {
            watched: Default::default(),
            next: Instant::default(),
            error: ASSUMED * WEIGHT,
        }
    }
}

impl Tracers {
    /// Notes what `forecast` foretells of the line that `points` draws, with `called` before it.
    pub(super) fn note(&mut self, forecast: &[Reach], points: &[Ahead], called: u32, now: Instant) {
        let (Some(last), true) = (points.last(), now >= self.next) else {
            return;
        };
        self.next = now + EVERY;
        for (watched, share) in self.watched.iter_mut().zip([4, 1]) {
            let ahead = last.1 / share;
            let Some(point) = points.iter().find(|point| point.1 >= ahead) else {
                continue;
            };
            let people = u64::from(point.1.saturating_add(called));
            let rises = watched.back().is_none_or(|before| before.place < point.0);
            if let (Some(foretold), true, true) =
                (reaches(forecast, people), rises, watched.len() < KEPT)
                && foretold >= SHORTEST
            {
                watched.push_back(Tracer {
                    place: point.0,
                    at: now,
                    foretold,
                });
            }
        }
    }

    /// Every place up to `serving` is called.
    pub(super) fn reached(&mut self, serving: u64, now: Instant) {
        for watched in &mut self.watched {
            while let Some(tracer) = watched.pop_front_if(|tracer| tracer.place <= serving) {
                self.error = self.error - self.error / WEIGHT + tracer.error(now);
            }
        }
    }

    /// How wrong waits were lately, in thousandths. A place that should have been called counts too.
    pub(super) fn error_per_mille(&self, now: Instant) -> u32 {
        let first = self.watched.iter().filter_map(VecDeque::front);
        let overdue = first.filter(|tracer| tracer.is_overdue(now));
        let overdue = overdue.map(|tracer| tracer.error(now)).max().unwrap_or(0);
        overdue.max(self.error / WEIGHT)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A line of a thousand that is called one a second, while so many calls an hour are told; for `seconds`.
    fn watched(calls_per_hour: u32, seconds: u64) -> (Tracers, Instant) {
        let forecast = [Reach(3_600, calls_per_hour)];
        let mut tracers = Tracers::default();
        for second in 0..seconds {
            let now = Instant::from_secs(second);
            let points: Vec<Ahead> = (0..=1_000)
                .step_by(50)
                .map(|ahead| Ahead(second + u64::from(ahead), ahead))
                .collect();
            tracers.note(&forecast, &points, 0, now);
            tracers.reached(second, now);
        }
        (tracers, Instant::from_secs(seconds))
    }

    #[test]
    fn what_comes_true_is_sure_and_what_does_not_is_not() {
        assert_eq!(
            watched(3_600, 100)
                .0
                .error_per_mille(Instant::from_secs(100)),
            ASSUMED
        );
        let (right, now) = watched(3_600, 3_000);
        assert!(
            right.error_per_mille(now) < 20,
            "{}",
            right.error_per_mille(now)
        );
        let (wrong, now) = watched(2_400, 3_000);
        let error = wrong.error_per_mille(now);
        assert!(error.abs_diff(333) < 20, "{error}");
    }

    #[test]
    fn a_line_that_stands_still_is_seen_before_it_moves_again() {
        let (tracers, now) = watched(3_600, 2_000);
        assert!(tracers.error_per_mille(now) < 50);
        // The quarter's places were to be called within 250 s.
        assert!(tracers.error_per_mille(now + Span::from_secs(500)) > 900);
    }
}
