//! The report: one HTML file that needs nothing else.

use std::fmt::Write;

use crate::judge::{Judge, Second};
use crate::plot::{Form, Series, figure};

const BLUE: &str = "#2563eb";
const RED: &str = "#dc2626";
const GREEN: &str = "#15803d";
const ORANGE: &str = "#c2410c";

/// The report of one run. `lines` is the summary.
pub(crate) fn html(title: &str, lines: &[(&'static str, String)], judge: &Judge) -> String {
    let line = |name, color, of: &dyn Fn(&Second) -> f64| Series {
        name,
        color,
        form: Form::Line,
        points: over_time(judge, of),
    };
    let limit = |name, value: u32| Series {
        name,
        color: RED,
        form: Form::Dashed,
        points: over_time(judge, &|_| value.into()),
    };
    let minutes = |ms: u32| f64::from(ms) / 60_000.0;
    let told = judge
        .compared
        .iter()
        .map(|one| (minutes(one.true_wait), minutes(one.told)));
    let told: Vec<_> = every(told.collect(), 3000);
    let longest = told.iter().map(|point| point.0).fold(0.0, f64::max);
    let figures = [
        figure(
            "Waiting",
            "minutes",
            &[
                line("in line", BLUE, &|second| second.queued.into()),
                line("called, not in yet", ORANGE, &|second| second.called.into()),
            ],
        ),
        figure(
            "Active sessions against the limit",
            "minutes",
            &[
                line("slots taken", GREEN, &|second| second.active.into()),
                line("valid passes", BLUE, &|second| second.valid.into()),
                limit("total_active_users", judge.limit),
            ],
        ),
        figure(
            "Admissions of the last 60 seconds",
            "minutes",
            &[
                line("admissions", BLUE, &|second| {
                    second.admitted_last_minute.into()
                }),
                limit("new_users_per_minute", judge.per_minute),
            ],
        ),
        figure(
            "Told wait against true wait, in minutes",
            "true wait, minutes",
            &[
                Series {
                    name: "told",
                    color: BLUE,
                    form: Form::Dots,
                    points: told,
                },
                Series {
                    name: "exact",
                    color: GREEN,
                    form: Form::Line,
                    points: vec![(0.0, 0.0), (longest, longest)],
                },
            ],
        ),
        figure(
            "Polls of waiting visitors per second",
            "minutes",
            &[line("polls", BLUE, &|second| second.polls.into())],
        ),
        figure(
            "Messages per second to one object",
            "minutes",
            &[
                line("to the room", BLUE, &|second| second.room_messages.into()),
                line("to the busiest relay", ORANGE, &|second| {
                    second.relay_messages.into()
                }),
            ],
        ),
    ];
    let rows = lines.iter().fold(String::new(), |mut rows, (name, value)| {
        let _ = write!(
            rows,
            "<tr><th>{}</th><td>{}</td></tr>",
            escape(name),
            escape(value)
        );
        rows
    });
    format!(
        "<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\"><title>{0}</title>\
         <meta name=\"viewport\" content=\"width=device-width\"><style>{STYLE}</style>\n\
         <h1>{0}</h1>\n<table>{rows}</table>\n{1}</html>\n",
        escape(title),
        figures.concat(),
    )
}

const STYLE: &str = "body{font:15px/1.5 system-ui,sans-serif;max-width:900px;margin:2rem auto;\
    padding:0 1rem;color:#1f2937;background:#fff}th{text-align:left;font-weight:400;\
    padding-right:2rem}td{font-variant-numeric:tabular-nums}figure{margin:1.5rem 0}svg{width:100%}\
    .grid{stroke:#e5e7eb}.tick{font-size:11px;fill:#4b5563}";

fn over_time(judge: &Judge, of: &dyn Fn(&Second) -> f64) -> Vec<(f64, f64)> {
    let seconds = (1..).zip(&judge.seconds);
    seconds
        .map(|(second, state)| (f64::from(second) / 60.0, of(state)))
        .collect()
}

/// At most about `most` of the points, evenly chosen.
fn every<T>(points: Vec<T>, most: usize) -> Vec<T> {
    let step = points.len().div_ceil(most).max(1);
    points.into_iter().step_by(step).collect()
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
}
