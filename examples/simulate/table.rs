//! The summary in the terminal.

use crate::judge::Verdict;
use crate::scenario::Scenario;

/// One run as lines of `name value`.
pub(crate) fn lines(scenario: &Scenario, verdict: &Verdict) -> Vec<(&'static str, String)> {
    let room = &scenario.room;
    let percent =
        |share: Option<f64>| share.map_or("-".into(), |share| format!("{:.1} %", share * 100.0));
    let mut lines = vec![
        ("visitors and bots", scenario.everybody().to_string()),
        (
            "admitted",
            format!("{} ({} walked in)", verdict.admitted, verdict.walked_in),
        ),
        ("gave up the line", verdict.gone.to_string()),
        (
            "valid passes, most",
            format!("{} of {}", verdict.most_valid, room.total_active_users),
        ),
        (
            "admitted in 60 s, most",
            format!(
                "{} of {}",
                verdict.most_in_minute, room.new_users_per_minute
            ),
        ),
        (
            "busiest 5 s of admissions",
            verdict
                .lurch
                .map_or("-".into(), |lurch| format!("{lurch:.2} times the average")),
        ),
        ("slots in use", percent(verdict.slots_used)),
        ("binding limit in use", percent(verdict.limit_used)),
        (
            "overtaken per 1,000",
            format!(
                "{:.1}; kept their slot {:.1}; called, but slower {:.1}",
                verdict.inversions.overtaken, verdict.inversions.kept, verdict.inversions.slower
            ),
        ),
    ];
    lines.push((
        "wait, median / P90 / longest",
        verdict.waits.map_or("-".into(), |(median, p90, most)| {
            format!("{} / {} / {}", clock(median), clock(p90), clock(most))
        }),
    ));
    lines.push((
        "error of told wait, median / P90",
        verdict.error.map_or("-".into(), |(median, p90)| {
            format!("{:.1} % / {:.1} %", median * 100.0, p90 * 100.0)
        }),
    ));
    lines.push((
        "told above true, P10 / median / P90",
        verdict.lean.map_or("-".into(), |(p10, median, p90)| {
            let percent = |share: f64| format!("{:+.1} %", share * 100.0);
            format!("{} / {} / {}", percent(p10), percent(median), percent(p90))
        }),
    ));
    lines.push(("within the range told", percent(Some(verdict.within))));
    lines.push(("told no estimate", percent(Some(verdict.untold))));
    lines.push((
        "saw the wait rise, per 1,000",
        format!("{:.1}", verdict.rises),
    ));
    lines.push(("polls/s, most", verdict.most_polls.to_string()));
    lines.push((
        "messages/s to the room, most",
        verdict.most_room_messages.to_string(),
    ));
    lines.push((
        "messages/s to a relay, most",
        verdict.most_relay_messages.to_string(),
    ));
    lines
}

/// `1:02:03` or `2:03`.
pub(crate) fn clock(seconds: f64) -> String {
    let seconds = seconds.round() as u64;
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    if hours > 0 {
        format!("{hours}:{minutes:02}:{seconds:02}")
    } else {
        format!("{minutes}:{seconds:02}")
    }
}
