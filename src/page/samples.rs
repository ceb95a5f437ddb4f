//! Facts for tests: one for each state, and some with a notice.

use super::facts::{Draw, Event, Facts, Held, Notice, State};
use crate::room::draw::DrawKey;
use crate::site::room::QueueingMethod;
use crate::time::{Instant, Span};

/// Number 1,235 of a first-come, first-served line, with ten minutes to go.
pub(crate) fn queueing() -> Facts {
    Facts {
        state: State::Queueing,
        position: Some(1235),
        users_ahead: Some(1234),
        progress_percent: Some(40),
        wait_minutes: Some(10),
        wait_range: Some([10, 11]),
        wait_quartiles: None,
        has_place: true,
        last_updated: Instant::from_millis(1_596_498_360_000),
        refresh_interval_seconds: 20,
        queueing_method: QueueingMethod::Fifo,
        notice: None,
        message: String::new(),
        event: None,
        number: None,
        draw: None,
    }
}

/// The pre-queue of an event that starts in an hour, five minutes and half a second.
pub(crate) fn prequeueing() -> Facts {
    let now = queueing().last_updated;
    let start = now + Span::from_millis(3_900_500);
    Facts {
        event: Some(Event {
            name: "opening".to_owned(),
            prequeueing: true,
            shuffle: true,
            start,
            end: start + Span::from_secs(3600),
            now,
        }),
        number: Some(1235),
        draw: Some(Draw {
            commitment: DrawKey::new([0; 32]).commitment(),
            start,
            first: 1000,
            held: None,
        }),
        ..without_place(State::Prequeueing, 20)
    }
}

/// The same once the draw was held.
pub(crate) fn drawn() -> Facts {
    let before = prequeueing();
    let held = Held {
        key: DrawKey::new([0; 32]),
        count: 900,
        place: Some(1777),
    };
    Facts {
        event: before.event.map(|event| Event {
            prequeueing: false,
            now: event.start,
            ..event
        }),
        number: before.number,
        draw: before.draw.map(|draw| Draw {
            held: Some(held),
            ..draw
        }),
        ..queueing()
    }
}

/// Somebody in a room that admits at random, with a median of ten minutes to go.
pub(crate) fn drawing() -> Facts {
    Facts {
        position: None,
        users_ahead: None,
        progress_percent: None,
        wait_range: None,
        wait_quartiles: Some([5, 10, 65]),
        queueing_method: QueueingMethod::Random,
        ..queueing()
    }
}

/// The facts of `state` without a place.
fn without_place(state: State, refresh_interval_seconds: u32) -> Facts {
    Facts {
        state,
        position: None,
        users_ahead: None,
        progress_percent: None,
        wait_minutes: None,
        has_place: false,
        refresh_interval_seconds,
        ..queueing()
    }
}

/// Every state, with what goes with it.
pub(crate) fn all() -> Vec<Facts> {
    vec![
        Facts {
            notice: Some(Notice::NothingSent),
            ..without_place(State::Joining, 2)
        },
        queueing(),
        Facts {
            wait_minutes: None,
            progress_percent: None,
            notice: Some(Notice::PlaceLapsed),
            ..queueing()
        },
        Facts {
            wait_minutes: Some(1500),
            notice: Some(Notice::SessionOver),
            ..queueing()
        },
        Facts {
            state: State::Called,
            users_ahead: Some(0),
            progress_percent: Some(100),
            refresh_interval_seconds: 1,
            ..queueing()
        },
        Facts {
            state: State::QueueAll,
            message: "Back at 15:00 & not before".to_owned(),
            ..queueing()
        },
        prequeueing(),
        drawn(),
        drawing(),
        without_place(State::Full, 20),
        Facts {
            queueing_method: QueueingMethod::Reject,
            ..without_place(State::Rejecting, 0)
        },
        Facts {
            state: State::Unavailable,
            wait_minutes: None,
            ..queueing()
        },
        without_place(State::Left, 0),
    ]
}
