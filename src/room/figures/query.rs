//! A window of a room's figures, cut into steps.

use serde::{Deserialize, Serialize};

use super::histogram::Histogram;
use super::keep::{RESOLUTIONS, Resolution};
use super::tally::{Level, Tally};
use crate::site::moment::Moment;
use crate::time::{Instant, Span};

/// An answer has no more points than this: a whole day has 1,440 minutes, and its ends two more.
pub const MOST_POINTS: u64 = 1_500;

/// The window of a question that names none.
const USUAL_WINDOW: Span = Span::from_secs(24 * 3_600);

/// What is asked for.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Window {
    /// From the step that this lies in.
    pub since: Instant,
    /// Up to the step before the one that this lies in; that one too, if this is not its beginning.
    pub until: Instant,
    /// The length of a step: whole minutes.
    pub step: Span,
}

/// Why a window is not answered.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum Unanswerable {
    /// A step that rows do not add up to.
    #[error("step must be a multiple of 60 seconds")]
    Step,
    /// It ends before it begins.
    #[error("until must be later than since")]
    Empty,
    /// Too many points.
    #[error("the window has {0} steps, at most {MOST_POINTS} are answered")]
    TooLong(u64),
    /// Rows that fine are gone.
    #[error("minutes are kept for 24 hours; before that, step must be a multiple of 900 seconds")]
    TooFine,
}

impl Window {
    /// The window of a question at `now`. What is left out: `until` is now, `since` a day before it,
    /// and `step` a minute in a window of six hours or less, else a quarter of an hour.
    ///
    /// # Errors
    ///
    /// Why it is not answered.
    pub fn new(
        since: Option<Instant>,
        until: Option<Instant>,
        step: Option<Span>,
        now: Instant,
    ) -> Result<Self, Unanswerable> {
        let until = until.unwrap_or(now);
        let since = since.unwrap_or(until - USUAL_WINDOW);
        let [minutes, quarters] = RESOLUTIONS;
        let is_short = until.since(since) <= Span::from_secs(6 * 3_600);
        let is_recent = since >= minutes.oldest(now);
        let usual = if is_short && is_recent {
            minutes.step
        } else {
            quarters.step
        };
        let window = Self {
            since,
            until,
            step: step.unwrap_or(usual),
        };
        if window.step == Span::ZERO || !is_multiple(window.step, minutes.step) {
            return Err(Unanswerable::Step);
        }
        if since >= until {
            return Err(Unanswerable::Empty);
        }
        if window.resolution() == minutes && !is_recent {
            return Err(Unanswerable::TooFine);
        }
        match window.end().since(window.start()).as_millis() / window.step.as_millis() {
            steps if steps > MOST_POINTS => Err(Unanswerable::TooLong(steps)),
            _ => Ok(window),
        }
    }

    /// The kind of rows that the answer is made of: the coarsest that adds up to steps.
    pub fn resolution(&self) -> Resolution {
        let [minutes, quarters] = RESOLUTIONS;
        if is_multiple(self.step, quarters.step) {
            quarters
        } else {
            minutes
        }
    }

    /// When the first step begins. Steps begin at multiples of their length since the Unix epoch.
    pub fn start(&self) -> Instant {
        self.step_of(self.since)
    }

    /// When the last step ends.
    pub fn end(&self) -> Instant {
        let start = self.step_of(self.until);
        if start == self.until {
            start
        } else {
            start + self.step
        }
    }

    fn step_of(&self, at: Instant) -> Instant {
        let step = self.step.as_millis().max(1);
        Instant::from_millis(at.as_millis() / step * step)
    }

    /// The points of the window out of its rows, which are given in their order. A step of which
    /// nothing is known has none.
    pub fn answer(&self, rows: impl IntoIterator<Item = (Instant, Tally)>) -> Series {
        let mut steps: Vec<(Instant, Tally)> = Vec::new();
        for (start, tally) in rows {
            let step = self.step_of(start);
            match steps.last_mut() {
                Some((last, sum)) if *last == step => sum.follow(&tally),
                _ => steps.push((step, tally)),
            }
        }
        let points = steps.iter().map(|(start, tally)| Point::of(*start, tally));
        Series {
            since: iso8601(self.start()),
            until: iso8601(self.end()),
            step_seconds: self.step.as_secs(),
            points: points.collect(),
        }
    }
}

const fn is_multiple(span: Span, of: Span) -> bool {
    span.as_millis().is_multiple_of(of.as_millis())
}

fn iso8601(at: Instant) -> String {
    let moment = Moment::from_millis(at.as_millis());
    moment.iso8601().unwrap_or_default()
}

/// The answer to a window.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Series {
    /// When the first step begins, in ISO 8601.
    pub since: String,
    /// When the last step ends.
    pub until: String,
    /// The length of a step.
    pub step_seconds: u64,
    /// The steps of which something is known, in their order.
    pub points: Vec<Point>,
}

/// One step. `docs/numbers.md` has the meaning, source and error of each field.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[allow(missing_docs, reason = "the fields are described in docs/numbers.md")]
pub struct Point {
    pub start: String,
    pub watched_seconds: u64,
    pub active_users: Levels,
    pub queued_users: Levels,
    pub total_active_users: u32,
    pub new_users_per_minute: u32,
    pub admitted: u32,
    pub admitted_per_minute: Option<f64>,
    pub joined: u32,
    pub gave_up: u32,
    pub sessions_left: u32,
    pub sessions_revoked: u32,
    pub requests_passed: u32,
    pub requests_bypassed: u32,
    pub requests_answered: u32,
    pub room_errors: u32,
    pub origin_errors: u32,
    pub room_calls: u32,
    pub wait_seconds: Durations,
    pub foretold_wait_seconds: Durations,
    pub session_seconds: Durations,
}

/// A number of people over a step.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
pub struct Levels {
    /// The mean over the time that was watched; null if none was.
    pub mean: Option<f64>,
    /// The highest.
    pub max: u32,
    /// At the end.
    pub last: u32,
}

/// Durations in seconds; all but the count are null where it is 0.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
pub struct Durations {
    /// How many.
    pub count: u64,
    /// The mean: exact.
    pub mean: Option<f64>,
    /// What half of them do not exceed.
    pub p50: Option<f64>,
    /// What nine tenths of them do not exceed.
    pub p90: Option<f64>,
    /// What 95 percent of them do not exceed.
    pub p95: Option<f64>,
    /// What 99 percent of them do not exceed.
    pub p99: Option<f64>,
}

impl Point {
    /// The step that begins at `start`.
    pub fn of(start: Instant, tally: &Tally) -> Self {
        let minutes = tally.watched.as_millis() as f64 / 60_000.0;
        Self {
            start: iso8601(start),
            watched_seconds: tally.watched.as_secs(),
            active_users: Levels::of(tally.active, tally.watched),
            queued_users: Levels::of(tally.queued, tally.watched),
            total_active_users: tally.total_active_users,
            new_users_per_minute: tally.new_users_per_minute,
            admitted: tally.admitted(),
            admitted_per_minute: (minutes > 0.0)
                .then(|| rounded(f64::from(tally.admitted()) / minutes)),
            joined: tally.joined,
            gave_up: tally.gave_up,
            sessions_left: tally.left,
            sessions_revoked: tally.revoked,
            requests_passed: tally.edges.passed,
            requests_bypassed: tally.edges.bypassed,
            requests_answered: tally.edges.answered,
            room_errors: tally.edges.room_failed,
            origin_errors: tally.edges.origin_failed,
            room_calls: tally.calls,
            wait_seconds: Durations::of(&tally.waited),
            foretold_wait_seconds: Durations::of(&tally.foretold),
            session_seconds: Durations::of(&tally.stayed),
        }
    }
}

impl Levels {
    fn of(level: Level, watched: Span) -> Self {
        Self {
            mean: level.mean(watched).map(rounded),
            max: level.highest,
            last: level.last,
        }
    }
}

impl Durations {
    fn of(histogram: &Histogram) -> Self {
        let seconds = |span: Span| rounded(span.as_millis() as f64 / 1_000.0);
        let percentile = |percent| histogram.percentile(percent).map(seconds);
        let count = histogram.count();
        let sum = histogram.sum().as_millis() as f64 / 1_000.0;
        Self {
            count,
            mean: (count > 0).then(|| rounded(sum / count as f64)),
            p50: percentile(50),
            p90: percentile(90),
            p95: percentile(95),
            p99: percentile(99),
        }
    }
}

/// To the hundredth: more digits would say more than is known.
fn rounded(value: f64) -> f64 {
    (value * 100.0).round() / 100.0
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A full quarter of an hour, and midnight.
    const MIDNIGHT: u64 = 20_000 * 86_400;

    fn at(seconds: u64) -> Instant {
        Instant::from_secs(MIDNIGHT + seconds)
    }

    fn window(since: u64, until: u64, step: u64) -> Result<Window, Unanswerable> {
        let step = Some(Span::from_secs(step));
        Window::new(Some(at(since)), Some(at(until)), step, at(86_400))
    }

    #[test]
    fn what_is_left_out_has_a_default() {
        let now = at(86_400);
        let usual = Window::new(None, None, None, now).unwrap();
        assert_eq!((usual.since, usual.until), (at(0), now));
        assert_eq!(usual.step, Span::from_secs(900));
        let short = Window::new(Some(at(80_000)), None, None, now).unwrap();
        assert_eq!(short.step, Span::from_secs(60));
        let long_ago = Instant::from_secs(MIDNIGHT - 86_400);
        let old = Window::new(
            Some(long_ago),
            Some(long_ago + Span::from_secs(60)),
            None,
            now,
        );
        assert_eq!(old.unwrap().step, Span::from_secs(900));
    }

    #[test]
    fn what_cannot_be_answered_is_refused_with_the_reason() {
        assert_eq!(window(0, 600, 0), Err(Unanswerable::Step));
        assert_eq!(window(0, 600, 90), Err(Unanswerable::Step));
        assert_eq!(window(600, 600, 60), Err(Unanswerable::Empty));
        assert_eq!(window(0, 90_060, 60), Err(Unanswerable::TooLong(1_501)));
        let now = at(86_401);
        assert!(Window::new(None, None, Some(Span::from_secs(60)), now).is_ok());
        let step = Some(Span::from_secs(60));
        let old = Window::new(Some(at(0)), Some(at(60)), step, at(86_400 + 60));
        assert_eq!(old, Err(Unanswerable::TooFine));
    }

    #[test]
    fn a_window_is_widened_to_whole_steps() {
        let window = window(61, 179, 60).unwrap();
        assert_eq!((window.start(), window.end()), (at(60), at(180)));
        assert_eq!(window.resolution(), RESOLUTIONS[0]);
        let window = Window::new(
            Some(at(950)),
            Some(at(1_800)),
            Some(Span::from_secs(900)),
            at(0),
        );
        let window = window.unwrap();
        assert_eq!((window.start(), window.end()), (at(900), at(1_800)));
        assert_eq!(window.resolution(), RESOLUTIONS[1]);
    }

    #[test]
    fn rows_add_up_to_steps_and_steps_without_rows_are_left_out() {
        let tally = |granted, returned, waited: u64| {
            let mut tally = Tally {
                watched: Span::from_secs(60),
                granted,
                returned,
                ..Tally::default()
            };
            tally.active.hold(granted, tally.watched);
            tally.waited.record(Span::from_secs(waited));
            tally
        };
        let window = window(0, 600, 120).unwrap();
        let series = window.answer([
            (at(0), tally(10, 2, 4)),
            (at(60), tally(30, 0, 6)),
            (at(480), tally(1, 5, 100)),
        ]);
        assert_eq!(series.since, "2024-10-04T00:00:00Z");
        assert_eq!(series.until, "2024-10-04T00:10:00Z");
        let [first, second] = &series.points[..] else {
            panic!("two steps have rows");
        };
        assert_eq!(
            (first.admitted, first.admitted_per_minute),
            (38, Some(19.0))
        );
        assert_eq!(first.active_users.mean, Some(20.0));
        assert_eq!((first.active_users.max, first.active_users.last), (30, 30));
        assert_eq!(first.wait_seconds.count, 2);
        assert_eq!(first.wait_seconds.mean, Some(5.0));
        assert_eq!(first.wait_seconds.p50, Some(4.5));
        assert_eq!(first.wait_seconds.p99, Some(6.5));
        assert_eq!(first.session_seconds.p50, None);
        assert_eq!(second.start, "2024-10-04T00:08:00Z");
        assert_eq!(
            second.admitted, 0,
            "given back slots of before count in neither"
        );
    }
}
