//! Which settings are in force when: a pure function of a room's declaration and the time.

use std::sync::Arc;

use super::event::{Event, Running};
use super::moment::Moment;
use super::room::Room;

/// A room's settings over time.
#[derive(Clone, Debug, PartialEq)]
pub struct Timeline {
    room: Arc<Room>,
    /// In no order, since they do not overlap.
    periods: Vec<Period>,
}

#[derive(Clone, Debug, PartialEq)]
struct Period {
    from: Moment,
    until: Moment,
    room: Arc<Room>,
}

impl Timeline {
    /// Works out the settings of each event. A suspended room has none, nor has a suspended event.
    pub fn new(room: &Room) -> Self {
        let events = room.events.iter();
        let events = events.filter(|event| !event.suspended && !room.suspended);
        Self {
            periods: events.flat_map(|event| periods(room, event)).collect(),
            room: Arc::new(room.clone()),
        }
    }

    /// The settings, if they are the same at all times.
    pub const fn constant(&self) -> Option<&Arc<Room>> {
        if self.periods.is_empty() {
            Some(&self.room)
        } else {
            None
        }
    }

    /// The settings in force at a moment. [`Room::event`] names the event that shapes them, if any
    /// does.
    pub fn at(&self, moment: Moment) -> &Arc<Room> {
        let mut periods = self.periods.iter();
        let period = periods.find(|period| period.from <= moment && moment < period.until);
        period.map_or(&self.room, |period| &period.room)
    }
}

fn periods(room: &Room, event: &Event) -> impl Iterator<Item = Period> {
    let (begins, starts) = (event.begins(), event.event_start_time);
    let prequeue = (begins < starts).then(|| Period {
        from: begins,
        until: starts,
        room: Arc::new(during(room, event, true)),
    });
    let event = Period {
        from: starts,
        until: event.event_end_time,
        room: Arc::new(during(room, event, false)),
    };
    prequeue.into_iter().chain([event])
}

/// The room under an event. What the event sets holds from the beginning of its pre-queue, so that
/// sessions can be made to end before the start.
fn during(room: &Room, event: &Event, prequeueing: bool) -> Room {
    let details = event.details(room);
    Room {
        total_active_users: details.total_active_users,
        new_users_per_minute: details.new_users_per_minute,
        session_duration_seconds: details.session_duration_seconds,
        disable_session_renewal: details.disable_session_renewal,
        queueing_method: details.queueing_method,
        custom_page_html: details.custom_page_html.map(str::to_owned),
        event: Some(Running {
            id: event.id,
            name: event.name.clone(),
            prequeueing,
            start: event.event_start_time,
            end: event.event_end_time,
            shuffle: event.shuffle_at_event_start,
        }),
        ..room.clone()
    }
}
