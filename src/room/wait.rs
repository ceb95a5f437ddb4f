//! How long a visitor has to wait in a line that is served in its order, as far as it can be told.
//!
//! The room publishes how fast the line moves and how well that has foretold so far ([`Pace`]). An edge
//! makes a [`Wait`] of it for each visitor. What a visitor was told once is a [`Promise`], which the
//! visitor's token carries: the wait that is shown does not rise, unless the line has slowed down since.

use serde::{Deserialize, Serialize};

use super::forecast::reaches;
use super::snapshot::Snapshot;
use crate::time::Span;

/// How fast the line moves.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, Hash, PartialEq, Serialize)]
pub struct Pace {
    /// Calls of present visitors, whether they come or not.
    pub calls_per_hour: u32,
    /// Of a million who wait, so many leave the line in a minute.
    #[serde(default)]
    pub leaving_per_million: u32,
    /// By how much the waits foretold lately were wrong, in thousandths of what was foretold. Rooms of
    /// an earlier version do not say.
    #[serde(default)]
    pub error_per_mille: u32,
}

/// Up to this error a wait is told, in thousandths. Where waits were wrong by more, nothing is told:
/// it would mean nothing.
const LARGEST_ERROR: u32 = 600;

/// Errors are spread about their mean. Nine in ten waits lie between `likely / (1 + S)` and
/// `likely * (1 + S)`, where `S` is so many halves of the mean error: measured in simulations, see
/// `docs/simulator.md`.
const SPREAD_HALVES: u32 = 4;

/// A wait is told anew, though it is longer than was told before, when it is longer by this part of it
/// and so much.
const LONGER: u64 = 8;
const SLACK: Span = Span::from_secs(60);

/// A wait of more than a year says nothing.
const LONGEST_MINUTES: f64 = 525_600.0;
const LONGEST_SECS: u64 = 31_536_000;

impl Pace {
    /// How long it takes until `people` at the head of the line are called or gone, in minutes.
    pub fn minutes(&self, people: u64) -> f64 {
        let calls = f64::from(self.calls_per_hour) / 60.0;
        let leaving = f64::from(self.leaving_per_million) / 1e6;
        let line = people as f64;
        if leaving * line < calls * 1e-6 {
            line / calls
        } else {
            (leaving * line / calls).ln_1p() / leaving
        }
    }

    /// The same as a span; none where it is more than a year.
    pub fn span(&self, people: u64) -> Option<Span> {
        span(self.minutes(people))
    }

    /// Whether waits were foretold so well lately that one is told.
    pub const fn is_trusted(&self) -> bool {
        self.error_per_mille <= LARGEST_ERROR
    }
}

/// How long a visitor has to wait.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Wait {
    /// About one in twenty waits for less.
    pub least: Span,
    /// As many wait for less as for more.
    pub likely: Span,
    /// About one in twenty waits for more.
    pub most: Span,
}

/// What a visitor was told, in whole seconds once it is signed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Promise {
    /// [`Wait::likely`].
    pub likely: Span,
    /// [`Wait::most`], not less.
    pub most: Span,
}

impl Promise {
    /// What is told now: `wait`, and no more than was promised before, unless the wait has become clearly
    /// longer. Where no wait can be told now, what was promised stands.
    pub fn next(wait: Option<Wait>, earlier: Option<Self>) -> Option<Self> {
        let Some(wait) = wait else {
            return earlier;
        };
        let kept = earlier.filter(|promise| {
            let likely = promise.likely.as_millis();
            let longer = Span::from_millis(likely.saturating_add(likely / LONGER));
            wait.likely <= longer + SLACK
        });
        let (likely, most) = kept.map_or((wait.likely, wait.most), |promise| {
            (promise.likely.min(wait.likely), promise.most.min(wait.most))
        });
        Some(Self { likely, most })
    }

    /// The wait that was promised. It lies as far above the least as it lies below the most, in
    /// proportion.
    pub fn wait(self) -> Wait {
        let (likely, most) = (self.likely.as_millis(), self.most.as_millis().max(1));
        let least = u128::from(likely) * u128::from(likely) / u128::from(most);
        Wait {
            least: Span::from_millis(u64::try_from(least).unwrap_or(likely)),
            likely: self.likely,
            most: self.most,
        }
    }
}

impl Snapshot {
    /// The expected wait of a visitor with `ahead` others before them; none where it cannot be told, or
    /// could not be trusted.
    pub fn wait(&self, ahead: u64) -> Option<Wait> {
        let pace = self.pace.unwrap_or_default();
        let likely = self.expected_wait(ahead).filter(|_| pace.is_trusted())?;
        let error = pace.error_per_mille;
        let spread = u64::from(error * SPREAD_HALVES / 2);
        let scaled =
            |by: u64, of: u64| Span::from_millis(likely.as_millis().saturating_mul(by) / of);
        Some(Wait {
            least: scaled(1000, 1000 + spread),
            likely,
            most: scaled(1000 + spread, 1000),
        })
    }

    /// What a visitor with `ahead` others before them is told, who was told `earlier`.
    pub fn promise(&self, ahead: u64, earlier: Option<Promise>) -> Option<Promise> {
        Promise::next(self.wait(ahead), earlier)
    }

    /// The expected wait of a visitor with `ahead` others before them, however uncertain.
    pub fn expected_wait(&self, ahead: u64) -> Option<Span> {
        let people = ahead.saturating_add(1);
        if !self.forecast.is_empty() {
            return reaches(&self.forecast, people).filter(|wait| wait.as_secs() < LONGEST_SECS);
        }
        // A room of an earlier version.
        match self.pace.filter(|pace| pace.calls_per_hour > 0) {
            Some(pace) => pace.span(people),
            None => {
                let rate = f64::from(self.admissions_per_minute.filter(|rate| *rate > 0.0)?);
                span(people as f64 / rate)
            }
        }
    }
}

/// Minutes as a span, as long as the number is small enough to convert and says something.
fn span(minutes: f64) -> Option<Span> {
    (minutes < LONGEST_MINUTES).then(|| Span::from_millis((minutes * 60_000.0) as u64))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::room::forecast::Reach;

    const MINUTE: Span = Span::from_secs(60);

    fn minutes(minutes: u64) -> Span {
        Span::from_secs(60 * minutes)
    }

    fn promise(likely: u64, most: u64) -> Promise {
        Promise {
            likely: minutes(likely),
            most: minutes(most),
        }
    }

    /// Sixty calls an hour.
    fn room(error_per_mille: u32) -> Snapshot {
        Snapshot {
            pace: Some(Pace {
                calls_per_hour: 60,
                error_per_mille,
                ..Pace::default()
            }),
            ..Snapshot::default()
        }
    }

    #[test]
    fn the_expected_wait_counts_the_visitor_too_and_is_not_made_up() {
        let rate = |rate| Snapshot {
            admissions_per_minute: rate,
            ..Snapshot::default()
        };
        assert_eq!(rate(Some(2.0)).expected_wait(3), Some(Span::from_secs(120)));
        assert_eq!(rate(Some(0.0)).expected_wait(3), None);
        assert_eq!(rate(None).expected_wait(3), None);
        assert_eq!(rate(Some(0.001)).expected_wait(1_000_000), None);
    }

    #[test]
    fn a_wait_is_as_wide_as_waits_were_wrong_and_is_not_told_when_they_were_very() {
        let exact = room(0).wait(9).unwrap();
        assert_eq!(
            (exact.least, exact.likely, exact.most),
            (minutes(10), minutes(10), minutes(10))
        );
        let wide = room(250).wait(8).unwrap();
        assert_eq!(
            (wide.least, wide.likely, wide.most),
            (minutes(6), minutes(9), Span::from_secs(810))
        );
        assert_eq!(room(601).wait(8), None);
    }

    #[test]
    fn what_was_told_does_not_rise_unless_the_wait_is_clearly_longer() {
        let told = |room: &Snapshot, ahead, earlier| room.promise(ahead, earlier);
        let first = told(&room(0), 39, None);
        assert_eq!(first, Some(promise(40, 40)));
        assert_eq!(
            told(&room(0), 45, first),
            first,
            "an eighth and a minute more"
        );
        assert_eq!(told(&room(250), 39, first), first, "it is less sure");
        assert_eq!(told(&room(0), 36, first), Some(promise(37, 37)));
        assert_eq!(told(&room(0), 46, first), Some(promise(47, 47)));
        assert_eq!(
            told(&room(900), 39, first),
            first,
            "nothing new can be told"
        );
    }

    #[test]
    fn a_forecast_goes_before_the_pace_and_waves_are_seen_in_it() {
        let waves = Snapshot {
            forecast: vec![
                Reach(600, 0),
                Reach(610, 100),
                Reach(1_200, 100),
                Reach(1_210, 200),
            ],
            ..room(0)
        };
        let seconds = |ahead| waves.expected_wait(ahead).unwrap().as_secs();
        assert_eq!(seconds(49), 605);
        assert_eq!(seconds(149), 1_205);
        assert_eq!(seconds(249), 1_215, "beyond the last point it goes on");
        let stands = Snapshot {
            forecast: vec![Reach(600, 0)],
            ..room(0)
        };
        assert_eq!(stands.expected_wait(0), None);
    }

    #[test]
    fn a_promise_is_read_as_the_wait_it_was() {
        let wait = room(250).wait(8).unwrap();
        assert_eq!(room(250).promise(8, None).unwrap().wait(), wait);
        let nothing = Promise {
            likely: Span::ZERO,
            most: Span::ZERO,
        };
        assert_eq!(nothing.wait().least, Span::ZERO);
        assert!(MINUTE > nothing.wait().most);
    }
}
