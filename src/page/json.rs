//! The JSON that stands for the page.

use serde::Serialize;

use super::facts::Facts;
use super::view::{WaitingRoom, safe_path};

#[derive(Serialize)]
struct Body<'a> {
    #[serde(rename = "cfWaitingRoom")]
    room: WaitingRoom<'a>,
}

/// The body for a program that prefers JSON: `{"cfWaitingRoom": {...}}`. `leave_url` is where it gives
/// its place up, by POST: a path of the same host.
pub fn body(facts: &Facts, leave_url: &str) -> String {
    let leave_url = safe_path(leave_url);
    written(&Body {
        room: WaitingRoom::new(facts, &leave_url),
    })
}

/// The answer to a poll of the page's script: the same with `admitted`, which tells it to open what it
/// waited for.
pub fn poll(facts: &Facts, leave_url: &str, admitted: bool) -> String {
    let leave_url = safe_path(leave_url);
    let room = WaitingRoom::new(facts, &leave_url).told(admitted);
    written(&Body { room })
}

fn written(body: &impl Serialize) -> String {
    // Structs of plain fields can always be written.
    serde_json::to_string(body).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    use crate::page::samples;
    use crate::room::draw::DrawKey;

    /// The sample of Cloudflare's reference, then our fields.
    const EXPECTED: &str = concat!(
        r#"{"cfWaitingRoom":{"inWaitingRoom":true,"waitTimeKnown":true,"waitTime":10,"#,
        r#""waitTime25Percentile":0,"waitTime50Percentile":0,"waitTime75Percentile":0,"#,
        r#""waitTimeFormatted":"10 minutes","queueIsFull":false,"queueAll":false,"#,
        r#""lastUpdated":"2020-08-03T23:46:00.000Z","refreshIntervalSeconds":20,"#,
        r#""queueingMethod":"fifo","isFIFOQueue":true,"isRandomQueue":false,"#,
        r#""isPassthroughQueue":false,"isRejectQueue":false,"isEventActive":false,"#,
        r#""isEventPrequeueing":false,"timeUntilEventStart":0,"#,
        r#""timeUntilEventStartFormatted":"unavailable","timeUntilEventEnd":0,"#,
        r#""timeUntilEventEndFormatted":"unavailable","shuffleAtEventStart":false,"#,
        r#""turnstile":"","infiniteQueue":false,"#,
        r#""state":"queueing","positionKnown":true,"position":1235,"usersAheadKnown":true,"#,
        r#""usersAhead":1234,"progressKnown":true,"progress":40,"waitTimeLow":10,"waitTimeHigh":11,"nothingSent":false,"#,
        r#""placeLapsed":false,"sessionOver":false,"leaveUrl":"/leave""#,
    );

    #[test]
    fn the_body_is_pinned() {
        let body = body(&samples::queueing(), "/leave");
        assert_eq!(body, format!("{EXPECTED}}}}}"));
    }

    #[test]
    fn the_poll_adds_whether_the_visitor_is_admitted() {
        for admitted in [true, false] {
            let poll = poll(&samples::queueing(), "/leave", admitted);
            assert_eq!(poll, format!(r#"{EXPECTED},"admitted":{admitted}}}}}"#));
        }
    }

    #[test]
    fn a_pre_queue_is_told_with_its_draw_and_the_draw_with_all_to_check_it() {
        let read = |facts| -> serde_json::Value {
            let body: serde_json::Value = serde_json::from_str(&body(&facts, "/leave")).unwrap();
            body["cfWaitingRoom"].clone()
        };
        let before = read(samples::prequeueing());
        let commitment = DrawKey::new([0; 32]).commitment().to_string();
        for (name, value) in [
            ("state", json!("prequeueing")),
            ("isEventActive", json!(true)),
            ("isEventPrequeueing", json!(true)),
            ("shuffleAtEventStart", json!(true)),
            ("timeUntilEventStart", json!(66)),
            ("timeUntilEventStartFormatted", json!("1 hour 6 minutes")),
            ("timeUntilEventEnd", json!(126)),
            ("waitTimeKnown", json!(false)),
            ("positionKnown", json!(false)),
            ("leaveUrl", json!("/leave")),
            ("eventName", json!("opening")),
            ("eventStartTime", json!("2020-08-04T00:51:00.500Z")),
            ("secondsUntilEventStart", json!(3901)),
            ("drawCommitment", json!(commitment)),
            ("drawFirst", json!(1000)),
            ("drawNumber", json!(1235)),
            ("drawKey", json!("")),
            ("drawCount", json!(0)),
        ] {
            assert_eq!(before[name], value, "{name}");
        }
        let after = read(samples::drawn());
        for (name, value) in [
            ("isEventActive", json!(true)),
            ("isEventPrequeueing", json!(false)),
            ("timeUntilEventStart", json!(0)),
            ("timeUntilEventStartFormatted", json!("unavailable")),
            ("timeUntilEventEndFormatted", json!("1 hour")),
            ("drawCommitment", json!(commitment)),
            ("drawKey", json!("0".repeat(64))),
            ("drawCount", json!(900)),
            ("drawPlace", json!(1777)),
        ] {
            assert_eq!(after[name], value, "{name}");
        }
    }

    #[test]
    fn a_place_that_is_not_known_is_zero() {
        let mut facts = samples::queueing();
        facts.position = None;
        facts.has_place = false;
        let body: serde_json::Value = serde_json::from_str(&body(&facts, "/leave")).unwrap();
        let room = &body["cfWaitingRoom"];
        assert_eq!(
            (&room["positionKnown"], &room["position"]),
            (&false.into(), &0.into())
        );
        assert_eq!(
            (&room["usersAheadKnown"], &room["usersAhead"]),
            (&false.into(), &0.into())
        );
        assert_eq!(room["leaveUrl"], "");
    }
}
