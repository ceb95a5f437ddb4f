//! What is said of an event and its draw.

use crate::gate::cors::Field;
use crate::gate::header;
use crate::page::facts::{Draw, Event, Facts, Held};
use crate::room::number::TicketNumber;
use crate::room::snapshot::Snapshot;
use crate::site::room::Room;
use crate::time::Instant;

/// The event that is under way at `now`, told in whole seconds, so that the pages of newcomers are the
/// same for a second.
pub(super) fn event(room: &Room, now: Instant) -> Option<Event> {
    let event = room.event.as_ref()?;
    Some(Event {
        name: event.name.clone(),
        prequeueing: event.prequeueing,
        shuffle: event.shuffle,
        start: Instant::from_millis(event.start.as_millis()),
        end: Instant::from_millis(event.end.as_millis()),
        now: Instant::from_secs(now.as_secs()),
    })
}

/// The draw that concerns the holder of `number`, or, for somebody without one, the draw that they
/// would take part in.
pub(super) fn draw(snapshot: &Snapshot, number: Option<TicketNumber>) -> Option<Draw> {
    let announced = snapshot.announced.as_ref();
    if let Some(announced) = announced.filter(|_| number.is_none_or(|it| snapshot.is_undrawn(it))) {
        return Some(Draw {
            commitment: announced.commitment,
            start: announced.start,
            first: announced.first,
            held: None,
        });
    }
    let number = number?;
    let draw = snapshot.draws.of(number.get())?;
    Some(Draw {
        commitment: draw.key.commitment(),
        start: draw.start,
        first: draw.first,
        held: Some(Held {
            key: draw.key,
            count: draw.count,
            place: Some(snapshot.draws.place_of(number).get()),
        }),
    })
}

/// The header field that says the same.
pub(super) fn draw_field(facts: &Facts) -> Option<Field<'static>> {
    let draw = facts.draw.as_ref()?;
    let start = draw.start.as_millis();
    let mut value = format!(
        "commitment={}, first={}, start={start}",
        draw.commitment, draw.first
    );
    if let Some(number) = facts.number {
        value += &format!(", number={number}");
    }
    if let Some(held) = draw.held {
        value += &format!(", count={}, key={}", held.count, held.key);
        if let Some(place) = held.place {
            value += &format!(", place={place}");
        }
    }
    Some((header::DRAW, value.into()))
}
