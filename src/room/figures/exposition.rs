//! The figures of all rooms in the text format of Prometheus
//! (<https://prometheus.io/docs/instrumenting/exposition_formats/>, version 0.0.4).

use std::fmt::{self, Write};

use super::histogram::Histogram;
use super::tally::Tally;
use super::told::Totals;
use crate::room::status::State;

/// The media type of the text.
pub const CONTENT_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// A metric that is one number for a room.
pub struct Metric {
    /// Its name.
    pub name: &'static str,
    /// `gauge` or `counter`.
    pub kind: &'static str,
    help: &'static str,
    read: fn(&Totals) -> u64,
}

const fn gauge(name: &'static str, help: &'static str, read: fn(&Totals) -> u64) -> Metric {
    let kind = "gauge";
    Metric {
        name,
        kind,
        help,
        read,
    }
}

const fn counter(name: &'static str, help: &'static str, read: fn(&Totals) -> u64) -> Metric {
    let kind = "counter";
    Metric {
        kind,
        ..gauge(name, help, read)
    }
}

/// The metrics that are one number. Counters begin at 0 when a room's object is started.
#[rustfmt::skip]
pub const METRICS: [Metric; 19] = [
    gauge("anteroom_active_users", "Active sessions.",
        |told| told.status.active_users.into()),
    gauge("anteroom_queued_users", "Visitors in line, called ones included (estimate).",
        |told| told.status.estimated_queued_users.into()),
    gauge("anteroom_queueing", "Whether newcomers have to wait: 0 or 1.",
        |told| matches!(told.status.status, State::Queueing | State::EventPrequeueing).into()),
    gauge("anteroom_queue_full", "Whether newcomers get no number because the line is too long: 0 or 1.",
        |told| told.status.queue_is_full.into()),
    gauge("anteroom_max_wait_seconds", "The longest wait that a visitor is told just now.",
        |told| u64::from(told.status.max_estimated_time_minutes) * 60),
    gauge("anteroom_active_users_limit", "total_active_users in force.",
        |told| told.tally.total_active_users.into()),
    gauge("anteroom_new_users_per_minute_limit", "new_users_per_minute in force.",
        |told| told.tally.new_users_per_minute.into()),
    counter("anteroom_slots_granted_total", "Slots granted, those included that edges took ahead.",
        |told| told.tally.granted.into()),
    counter("anteroom_slots_returned_total", "Slots that edges had taken ahead and gave back unused.",
        |told| told.tally.returned.into()),
    counter("anteroom_joined_total", "Numbers given to visitors who have to wait.",
        |told| told.tally.joined.into()),
    counter("anteroom_gave_up_total", "Places in line that were given up.",
        |told| told.tally.gave_up.into()),
    counter("anteroom_sessions_left_total", "Sessions that their visitor ended.",
        |told| told.tally.left.into()),
    counter("anteroom_sessions_revoked_total", "Sessions that the origin or an operator ended.",
        |told| told.tally.revoked.into()),
    counter("anteroom_requests_passed_total", "Requests handed to the origin for holders of a pass.",
        |told| told.tally.edges.passed.into()),
    counter("anteroom_requests_bypassed_total", "Requests handed to the origin because a rule exempts them.",
        |told| told.tally.edges.bypassed.into()),
    counter("anteroom_requests_answered_total", "Requests answered by anteroom itself.",
        |told| told.tally.edges.answered.into()),
    counter("anteroom_room_errors_total", "Calls of the room that had no answer.",
        |told| told.tally.edges.room_failed.into()),
    counter("anteroom_origin_errors_total", "Requests that the origin did not answer.",
        |told| told.tally.edges.origin_failed.into()),
    counter("anteroom_room_calls_total", "Calls that the room's object has heard.",
        |told| told.tally.calls.into()),
];

/// A metric that is a histogram for a room.
pub struct Durations {
    /// Its name.
    pub name: &'static str,
    help: &'static str,
    read: fn(&Tally) -> &Histogram,
}

/// The histograms, in seconds.
pub const HISTOGRAMS: [Durations; 3] = [
    Durations {
        name: "anteroom_wait_seconds",
        help: "How long those waited who had to wait and were let in.",
        read: |tally| &tally.waited,
    },
    Durations {
        name: "anteroom_foretold_wait_seconds",
        help: "The wait that was foretold with a number.",
        read: |tally| &tally.foretold,
    },
    Durations {
        name: "anteroom_session_seconds",
        help: "How long the sessions lasted that have ended.",
        read: |tally| &tally.stayed,
    },
];

/// Whether a room has answered.
pub const UP: &str = "anteroom_room_up";

/// The upper bounds of the histograms' buckets are `2^0` to `2^16` seconds: 18 hours.
const OCTAVES: u32 = 17;

/// Writes the rooms, each by its name, and none for one that has not answered.
pub fn write(rooms: &[(&str, Option<Totals>)]) -> String {
    let mut text = String::new();
    // Writing to a string does not fail.
    let _ = try_write(&mut text, rooms);
    text
}

fn try_write(text: &mut String, rooms: &[(&str, Option<Totals>)]) -> fmt::Result {
    head(text, UP, "gauge", "Whether the room has answered: 0 or 1.")?;
    for (name, told) in rooms {
        let up = u8::from(told.is_some());
        writeln!(text, "{UP}{{room=\"{}\"}} {up}", Label(name))?;
    }
    let answered = || {
        let all = rooms.iter();
        all.filter_map(|(name, told)| Some((Label(name), told.as_ref()?)))
    };
    for metric in &METRICS {
        head(text, metric.name, metric.kind, metric.help)?;
        for (room, told) in answered() {
            let value = (metric.read)(told);
            writeln!(text, "{}{{room=\"{room}\"}} {value}", metric.name)?;
        }
    }
    for Durations { name, help, read } in &HISTOGRAMS {
        head(text, name, "histogram", help)?;
        for (room, told) in answered() {
            let histogram = read(&told.tally);
            for octave in 0..OCTAVES {
                let (bound, below) = (1_u64 << octave, histogram.below_octave(octave));
                writeln!(
                    text,
                    "{name}_bucket{{room=\"{room}\",le=\"{bound}\"}} {below}"
                )?;
            }
            let (count, sum) = (histogram.count(), histogram.sum().as_millis());
            writeln!(text, "{name}_bucket{{room=\"{room}\",le=\"+Inf\"}} {count}")?;
            let (seconds, millis) = (sum / 1_000, sum % 1_000);
            writeln!(text, "{name}_sum{{room=\"{room}\"}} {seconds}.{millis:03}")?;
            writeln!(text, "{name}_count{{room=\"{room}\"}} {count}")?;
        }
    }
    Ok(())
}

fn head(text: &mut String, name: &str, kind: &str, help: &str) -> fmt::Result {
    writeln!(text, "# HELP {name} {help}")?;
    writeln!(text, "# TYPE {name} {kind}")
}

/// The value of a label, in which the format wants three characters escaped.
struct Label<'a>(&'a str);

impl fmt::Display for Label<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.chars().try_for_each(|character| match character {
            '\\' => f.write_str("\\\\"),
            '"' => f.write_str("\\\""),
            '\n' => f.write_str("\\n"),
            other => f.write_char(other),
        })
    }
}

#[cfg(test)]
mod tests;
