//! What the page says of an event and its draw: our fields, which are there only while there is
//! something to say.

use serde::Serialize;

use crate::page::facts::{Event, Facts};
use crate::page::timestamp::iso8601;

/// The variables of an event and its draw. What is not known is empty or 0.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Occasion {
    event_name: String,
    event_start_time: String,
    event_end_time: String,
    seconds_until_event_start: u64,
    draw_commitment: String,
    draw_start_time: String,
    draw_first: u64,
    draw_number: u64,
    draw_count: u64,
    draw_key: String,
    draw_place: u64,
}

impl Occasion {
    /// None where no event is under way and no draw concerns the visitor.
    pub(super) fn of(facts: &Facts) -> Option<Self> {
        if facts.event.is_none() && facts.draw.is_none() {
            return None;
        }
        let event = facts.event.as_ref();
        let held = facts.draw.and_then(|draw| draw.held);
        Some(Self {
            event_name: event.map(|event| event.name.clone()).unwrap_or_default(),
            event_start_time: event.map(|event| iso8601(event.start)).unwrap_or_default(),
            event_end_time: event.map(|event| iso8601(event.end)).unwrap_or_default(),
            seconds_until_event_start: event.map(seconds_until_start).unwrap_or_default(),
            draw_commitment: facts
                .draw
                .map(|draw| draw.commitment.to_string())
                .unwrap_or_default(),
            draw_start_time: facts
                .draw
                .map(|draw| iso8601(draw.start))
                .unwrap_or_default(),
            draw_first: facts.draw.map(|draw| draw.first).unwrap_or_default(),
            draw_number: facts.number.unwrap_or_default(),
            draw_count: held.map(|held| held.count).unwrap_or_default(),
            draw_key: held.map(|held| held.key.to_string()).unwrap_or_default(),
            draw_place: held.and_then(|held| held.place).unwrap_or_default(),
        })
    }

    /// The draw in lines of a name and a value, as the page's script writes them too.
    pub(super) fn proof(&self) -> String {
        let mut lines = Vec::new();
        let mut line = |name: &str, value: String| {
            if !value.is_empty() && value != "0" {
                lines.push(format!("{name}: {value}"));
            }
        };
        line("drawCommitment", self.draw_commitment.clone());
        line("drawStartTime", self.draw_start_time.clone());
        line("drawFirst", self.draw_first.to_string());
        line("drawNumber", self.draw_number.to_string());
        line("drawCount", self.draw_count.to_string());
        line("drawKey", self.draw_key.clone());
        line("drawPlace", self.draw_place.to_string());
        lines.join("\n")
    }
}

/// Rounded up; 0 once it has started.
fn seconds_until_start(event: &Event) -> u64 {
    event.start.since(event.now).as_millis().div_ceil(1_000)
}

/// Minutes until the start of an event whose pre-queue is under way, rounded up.
pub(super) fn minutes_until_start(event: Option<&Event>) -> Option<u32> {
    let event = event.filter(|event| event.prequeueing)?;
    u32::try_from(seconds_until_start(event).div_ceil(60)).ok()
}

/// Minutes until the end of an event, rounded up.
pub(super) fn minutes_until_end(event: Option<&Event>) -> Option<u32> {
    let event = event?;
    let left = event.end.since(event.now).as_millis();
    u32::try_from(left.div_ceil(60_000)).ok()
}
