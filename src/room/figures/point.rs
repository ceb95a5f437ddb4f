//! The data point of a minute, for Workers Analytics Engine.
//!
//! A point has one index, which sampling goes by, and columns that are told apart by their position
//! alone. So columns are only ever added at the end.

use super::recorder::Minute;
use super::tally::Tally;

/// A column of numbers: what it is called in `docs/numbers.md`, and its value.
pub type Column = (&'static str, fn(&Tally) -> f64);

fn percentile(histogram: &super::histogram::Histogram, percent: u8) -> f64 {
    let value = histogram.percentile(percent);
    value.map_or(0.0, |span| span.as_millis() as f64 / 1_000.0)
}

/// `double1` and the following: 20 at the most.
#[rustfmt::skip]
pub const DOUBLES: [Column; 20] = [
    ("active_users.max", |tally| tally.active.highest.into()),
    ("active_users.mean", |tally| tally.active.mean(tally.watched).unwrap_or(0.0)),
    ("queued_users.max", |tally| tally.queued.highest.into()),
    ("queued_users.mean", |tally| tally.queued.mean(tally.watched).unwrap_or(0.0)),
    ("total_active_users", |tally| tally.total_active_users.into()),
    ("new_users_per_minute", |tally| tally.new_users_per_minute.into()),
    ("admitted", |tally| tally.admitted().into()),
    ("joined", |tally| tally.joined.into()),
    ("gave_up", |tally| tally.gave_up.into()),
    ("sessions_revoked", |tally| tally.revoked.into()),
    ("requests_passed", |tally| tally.edges.passed.into()),
    ("requests_bypassed", |tally| tally.edges.bypassed.into()),
    ("requests_answered", |tally| tally.edges.answered.into()),
    ("room_errors", |tally| tally.edges.room_failed.into()),
    ("origin_errors", |tally| tally.edges.origin_failed.into()),
    ("wait_seconds.p50", |tally| percentile(&tally.waited, 50)),
    ("wait_seconds.p95", |tally| percentile(&tally.waited, 95)),
    ("foretold_wait_seconds.p50", |tally| percentile(&tally.foretold, 50)),
    ("session_seconds.p50", |tally| percentile(&tally.stayed, 50)),
    ("session_seconds.p95", |tally| percentile(&tally.stayed, 95)),
];

/// What a column of text is called in `docs/numbers.md`: `blob1` and the following.
pub const BLOBS: [&str; 2] = ["room name", "start"];

/// The numbers of a minute.
pub fn doubles(minute: &Minute) -> [f64; DOUBLES.len()] {
    DOUBLES.map(|(_, value)| value(&minute.tally))
}
