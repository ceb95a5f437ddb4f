//! The variables of the page, from the facts.

mod occasion;

use serde::Serialize;
use serde_json::{Map, Value};

use self::occasion::{Occasion, minutes_until_end, minutes_until_start};
use super::facts::{Facts, Notice, State};
use super::language::Language;
use super::texts::{Direction, Wording};
use super::timestamp::iso8601;
use crate::site::room::QueueingMethod;

/// How long a place is kept after the visitor's last poll, in minutes.
pub const PLACE_KEPT_MINUTES: u64 = 5;

/// The longest wait that is told in words, in minutes.
const LONGEST_WAIT_MINUTES: u32 = 24 * 60;

/// What stands for a wait or a time that is not known.
const UNAVAILABLE: &str = "unavailable";

/// The object `cfWaitingRoom`: Cloudflare's fields in Cloudflare's order, then ours. All of them are
/// variables of templates too. A number that is not known is 0, so that `{{position}}` in a script is
/// a number in every state; the field in front of it tells.
///
/// Turnstile is not there, and its field says so.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct WaitingRoom<'a> {
    in_waiting_room: bool,
    wait_time_known: bool,
    wait_time: u32,
    #[serde(rename = "waitTime25Percentile")]
    wait_time_25_percentile: u32,
    #[serde(rename = "waitTime50Percentile")]
    wait_time_50_percentile: u32,
    #[serde(rename = "waitTime75Percentile")]
    wait_time_75_percentile: u32,
    wait_time_formatted: String,
    queue_is_full: bool,
    queue_all: bool,
    last_updated: String,
    refresh_interval_seconds: u32,
    queueing_method: QueueingMethod,
    #[serde(rename = "isFIFOQueue")]
    is_fifo_queue: bool,
    is_random_queue: bool,
    is_passthrough_queue: bool,
    is_reject_queue: bool,
    is_event_active: bool,
    is_event_prequeueing: bool,
    time_until_event_start: u32,
    time_until_event_start_formatted: String,
    time_until_event_end: u32,
    time_until_event_end_formatted: String,
    shuffle_at_event_start: bool,
    turnstile: &'static str,
    infinite_queue: bool,
    state: &'static str,
    position_known: bool,
    position: u64,
    users_ahead_known: bool,
    users_ahead: u64,
    progress_known: bool,
    progress: u8,
    wait_time_low: u32,
    wait_time_high: u32,
    nothing_sent: bool,
    place_lapsed: bool,
    session_over: bool,
    leave_url: &'a str,
    /// Plain text.
    #[serde(skip_serializing_if = "String::is_empty")]
    message: String,
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    occasion: Option<Occasion>,
    /// For polls alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    admitted: Option<bool>,
}

impl<'a> WaitingRoom<'a> {
    /// Writes the facts in fields. `leave_url` must have gone through [`safe_path`]; it is left out
    /// where there is no place to give up.
    pub(super) fn new(facts: &Facts, leave_url: &'a str) -> Self {
        let known = facts
            .wait_minutes
            .filter(|_| facts.state != State::QueueAll);
        let quartiles = facts.wait_quartiles.filter(|_| known.is_some());
        let [p25, p50, p75] = quartiles.unwrap_or_default();
        let [low, high] = match (quartiles, facts.wait_range, known) {
            (Some([least, _, most]), ..) => [least, most],
            (None, Some([least, most]), Some(likely)) => [least.min(likely), most.max(likely)],
            (None, None, known) => [known.unwrap_or(0); 2],
            (None, Some(_), None) => [0; 2],
        };
        let in_line = !matches!(facts.state, State::Full | State::Rejecting | State::Left);
        let position = facts.position.filter(|_| in_line);
        // In a pre-queue there is a place to give up before it is known which.
        let has_place = facts.has_place || facts.state == State::Prequeueing;
        let method = facts.queueing_method;
        let event = facts.event.as_ref();
        let (start, end) = (minutes_until_start(event), minutes_until_end(event));
        Self {
            in_waiting_room: true,
            wait_time_known: known.is_some(),
            wait_time: known.unwrap_or(0),
            wait_time_25_percentile: p25,
            wait_time_50_percentile: p50,
            wait_time_75_percentile: p75,
            wait_time_formatted: match (known, quartiles) {
                (_, Some(_)) => format!("{} to {}", formatted(p25), formatted(p75)),
                (Some(minutes), None) => formatted(minutes),
                (None, None) => UNAVAILABLE.into(),
            },
            queue_is_full: facts.state == State::Full,
            queue_all: facts.state == State::QueueAll,
            last_updated: iso8601(facts.last_updated),
            refresh_interval_seconds: facts.refresh_interval_seconds,
            queueing_method: method,
            is_fifo_queue: method == QueueingMethod::Fifo,
            is_random_queue: method == QueueingMethod::Random,
            is_passthrough_queue: method == QueueingMethod::Passthrough,
            is_reject_queue: method == QueueingMethod::Reject,
            is_event_active: event.is_some(),
            is_event_prequeueing: event.is_some_and(|event| event.prequeueing),
            time_until_event_start: start.unwrap_or(0),
            time_until_event_start_formatted: start.map_or_else(|| UNAVAILABLE.into(), formatted),
            time_until_event_end: end.unwrap_or(0),
            time_until_event_end_formatted: end.map_or_else(|| UNAVAILABLE.into(), formatted),
            shuffle_at_event_start: event.is_some_and(|event| event.shuffle),
            turnstile: "",
            infinite_queue: false,
            state: name(facts.state),
            position_known: position.is_some(),
            position: position.unwrap_or(0),
            users_ahead_known: position.is_some() && facts.users_ahead.is_some(),
            users_ahead: position.and(facts.users_ahead).unwrap_or(0),
            progress_known: position.is_some() && facts.progress_percent.is_some(),
            progress: position.and(facts.progress_percent).unwrap_or(0).min(100),
            wait_time_low: low,
            wait_time_high: high,
            nothing_sent: facts.notice == Some(Notice::NothingSent),
            place_lapsed: facts.notice == Some(Notice::PlaceLapsed),
            session_over: facts.notice == Some(Notice::SessionOver),
            leave_url: if has_place && in_line { leave_url } else { "" },
            message: facts.message.clone(),
            occasion: Occasion::of(facts),
            admitted: None,
        }
    }

    /// The same for a poll, which is told whether it may go to the site.
    pub(super) fn told(self, admitted: bool) -> Self {
        Self {
            admitted: Some(admitted),
            ..self
        }
    }
}

/// The variables that only templates have.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Extras<'a> {
    wait_time_hours: u32,
    wait_time_hour_minutes: u32,
    time_until_event_start_hours: u32,
    time_until_event_start_hour_minutes: u32,
    time_until_event_end_hours: u32,
    time_until_event_end_hour_minutes: u32,
    is_joining: bool,
    is_queueing: bool,
    is_called: bool,
    is_prequeueing: bool,
    is_rejecting: bool,
    is_unavailable: bool,
    has_left: bool,
    language: &'a str,
    direction: &'a str,
    heading: &'a str,
    explanation: &'a str,
    notice_text: &'a str,
    /// Here as well, since a template's variable is there even if it is empty.
    message: String,
    position_label: &'a str,
    position_text: String,
    users_ahead_text: String,
    wait_time_label: &'a str,
    wait_time_text: String,
    event_start_label: &'a str,
    event_start_text: String,
    by_lot_text: &'a str,
    draw_label: &'a str,
    draw_proof: String,
    progress_label: &'a str,
    keep_open_text: String,
    refresh_text: &'a str,
    leave_label: &'a str,
    texts: &'a str,
}

impl<'a> Extras<'a> {
    fn new(facts: &Facts, room: &WaitingRoom<'_>, language: &'a Language) -> Self {
        let texts = &language.texts;
        let wording = wording(language, facts);
        Self {
            wait_time_hours: room.wait_time / 60,
            wait_time_hour_minutes: room.wait_time % 60,
            time_until_event_start_hours: room.time_until_event_start / 60,
            time_until_event_start_hour_minutes: room.time_until_event_start % 60,
            time_until_event_end_hours: room.time_until_event_end / 60,
            time_until_event_end_hour_minutes: room.time_until_event_end % 60,
            is_joining: facts.state == State::Joining,
            is_queueing: facts.state == State::Queueing,
            is_called: facts.state == State::Called,
            is_prequeueing: facts.state == State::Prequeueing,
            is_rejecting: facts.state == State::Rejecting,
            is_unavailable: facts.state == State::Unavailable,
            has_left: facts.state == State::Left,
            language: language.tag,
            direction: match texts.direction {
                Direction::Ltr => "ltr",
                Direction::Rtl => "rtl",
            },
            heading: wording.heading,
            explanation: wording.explanation,
            notice_text: match facts.notice {
                Some(Notice::NothingSent) => texts.nothing_sent,
                Some(Notice::PlaceLapsed) => texts.place_lapsed,
                Some(Notice::SessionOver) => texts.session_over,
                None => "",
            },
            message: facts.message.clone(),
            position_label: texts.position,
            position_text: match room.position_known {
                true => language.number(room.position),
                false => String::new(),
            },
            users_ahead_text: match (room.users_ahead_known, room.users_ahead) {
                (false, _) => String::new(),
                (true, 0) => texts.next.into(),
                (true, ahead) => language.count(&texts.ahead, ahead),
            },
            wait_time_label: texts.wait,
            wait_time_text: wait_text(facts.state, room, language),
            event_start_label: texts.starts,
            event_start_text: match (facts.state, room.time_until_event_start) {
                (State::Prequeueing, minutes) => language.wait(minutes.into()),
                _ => String::new(),
            },
            by_lot_text: match facts.state {
                State::Prequeueing if room.shuffle_at_event_start => texts.by_lot,
                _ => "",
            },
            draw_label: texts.draw,
            draw_proof: room
                .occasion
                .as_ref()
                .map(Occasion::proof)
                .unwrap_or_default(),
            progress_label: texts.progress,
            keep_open_text: language.count(&texts.keep_open, PLACE_KEPT_MINUTES),
            refresh_text: texts.refresh,
            leave_label: texts.leave,
            texts: language.script_texts,
        }
    }
}

/// All variables of a template, as `names::VARIABLES` lists them.
pub(super) fn variables(facts: &Facts, leave_url: &str, language: &Language) -> Map<String, Value> {
    let room = WaitingRoom::new(facts, leave_url);
    // A variable of a template is there always.
    let mut variables = object(&Occasion::default());
    variables.append(&mut object(&room));
    variables.append(&mut object(&Extras::new(facts, &room, language)));
    variables
}

/// A path that can do no harm wherever a template puts it, even unescaped into a script: what may not
/// stand in a path or query (RFC 3986), and the apostrophe, is percent-encoded. What does not start with
/// exactly one slash would lead to another site, and is refused: empty.
pub(super) fn safe_path(path: &str) -> String {
    let local = path.starts_with('/') && !path.starts_with("//") && !path.starts_with("/\\");
    let mut safe = String::with_capacity(path.len());
    for byte in path.bytes().filter(|_| local) {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' => safe.push(char::from(byte)),
            b'-' | b'.' | b'_' | b'~' | b'!' | b'$' | b'&' | b'(' | b')' | b'*' | b'+' | b','
            | b';' | b'=' | b':' | b'@' | b'/' | b'?' | b'%' => safe.push(char::from(byte)),
            _ => safe += &format!("%{byte:02X}"),
        }
    }
    safe
}

fn object(fields: &impl Serialize) -> Map<String, Value> {
    match serde_json::to_value(fields) {
        Ok(Value::Object(fields)) => fields,
        // A struct of plain fields is always an object.
        _ => Map::new(),
    }
}

/// In English, as in Cloudflare's variable: `10 minutes`, `1 hour 5 minutes`.
fn formatted(minutes: u32) -> String {
    let counted = |n: u32, unit: &str| match n {
        1 => format!("1 {unit}"),
        n => format!("{n} {unit}s"),
    };
    match (minutes / 60, minutes % 60) {
        (0, minutes) => counted(minutes, "minute"),
        (hours, 0) => counted(hours, "hour"),
        (hours, minutes) => counted(hours, "hour") + " " + &counted(minutes, "minute"),
    }
}

/// The expected wait in the visitor's language; empty where the page has no place for it.
fn wait_text(state: State, room: &WaitingRoom<'_>, language: &Language) -> String {
    match state {
        State::Called | State::Full | State::Prequeueing => String::new(),
        _ if room.wait_time > LONGEST_WAIT_MINUTES => language.texts.longer_than_a_day.into(),
        _ if is_wide(room) => {
            language.wait_between(room.wait_time_low.into(), room.wait_time_high.into())
        }
        _ if room.wait_time_known => language.wait(room.wait_time.into()),
        _ => language.texts.unknown.into(),
    }
}

/// Whether a single number would say more than is known: the wait may differ by a quarter, and by more
/// than what comes of whole minutes.
fn is_wide(room: &WaitingRoom<'_>) -> bool {
    let range = room.wait_time_high.saturating_sub(room.wait_time_low);
    let is_random = room.wait_time_75_percentile > 0;
    range > 0 && (is_random || (range > 2 && range > room.wait_time / 4))
}

/// The state as the variable `state` has it, and as the language files do.
fn name(state: State) -> &'static str {
    match state {
        State::Joining => "joining",
        State::Queueing => "queueing",
        State::Called => "called",
        State::QueueAll => "queueAll",
        State::Prequeueing => "prequeueing",
        State::Full => "full",
        State::Rejecting => "rejecting",
        State::Unavailable => "unavailable",
        State::Left => "left",
    }
}

fn wording<'a>(language: &'a Language, facts: &Facts) -> &'a Wording<&'static str> {
    let texts = &language.texts;
    match facts.state {
        State::Joining => &texts.joining,
        State::Queueing if facts.queueing_method == QueueingMethod::Random => &texts.drawing,
        State::Queueing => &texts.queueing,
        State::Called => &texts.called,
        State::QueueAll => &texts.queue_all,
        State::Prequeueing => &texts.prequeueing,
        State::Full => &texts.full,
        State::Rejecting => &texts.rejecting,
        State::Unavailable => &texts.unavailable,
        State::Left => &texts.left,
    }
}

#[cfg(test)]
mod tests;
