use std::collections::BTreeMap;

use super::super::tests::{NOW, number, queueing, request, room, visitor, waiting};
use super::super::{Change, Kind, Outcome, Request, Step};
use super::*;
use crate::gate::intent::Intent;
use crate::gate::visitor::Visitor;
use crate::page::facts::State;
use crate::room::draw::DrawKey;
use crate::room::message::{Message, Reply};
use crate::room::place::{Announcement, Draw};
use crate::room::snapshot::Snapshot;
use crate::site::event::{Event, EventId};
use crate::site::moment::Moment;
use crate::site::room::{QueueingMethod, Room};
use crate::site::timeline::Timeline;
use crate::time::Span;

const KEY: DrawKey = DrawKey::new([9; 32]);

/// When the event starts: five minutes from now, after a pre-queue that began five minutes ago.
fn start() -> Moment {
    Moment::from_millis(NOW.as_millis() + 300_000)
}

/// The room in the event's pre-queue, and after its start.
fn rooms(method: QueueingMethod) -> (Room, Room) {
    let id = serde_json::from_str::<EventId>("\"0123456789abcdef0123456789abcdef\"").unwrap();
    let event = Event {
        id,
        name: "opening".to_owned(),
        description: String::new(),
        prequeue_start_time: Some(Moment::from_millis(NOW.as_millis() - 300_000)),
        event_start_time: start(),
        event_end_time: Moment::from_millis(start().as_millis() + 3_600_000),
        shuffle_at_event_start: true,
        suspended: false,
        total_active_users: None,
        new_users_per_minute: None,
        session_duration_seconds: None,
        disable_session_renewal: None,
        queueing_method: None,
        custom_page_html: None,
    };
    let declared = Room {
        events: vec![event],
        queueing_method: method,
        ..room()
    };
    let timeline = Timeline::new(&declared);
    let now = Moment::from_millis(NOW.as_millis());
    let at = |moment| Room::clone(timeline.at(moment));
    (at(now), at(start()))
}

/// Numbers from 100 on are of the pre-queue.
fn announced() -> Snapshot {
    Snapshot {
        announced: Some(Announcement {
            start: Instant::from_millis(start().as_millis()),
            first: 100,
            commitment: KEY.commitment(),
        }),
        ..queueing()
    }
}

fn drawn() -> Snapshot {
    let mut snapshot = queueing();
    snapshot.draws.push(Draw {
        start: Instant::from_millis(start().as_millis()),
        first: 100,
        count: 21,
        key: KEY,
        held: NOW,
    });
    snapshot
}

fn state(request: &Request<'_>) -> State {
    match request.decide() {
        Step::Answer(answer) => match answer.kind {
            Kind::Waits(state) => state,
            other => panic!("{other:?}"),
        },
        other => panic!("{other:?}"),
    }
}

fn with_number<'a>(room: &'a Room, snapshot: &'a Snapshot, value: u64) -> Request<'a> {
    let asks = visitor(waiting(value, 20));
    request(room, Intent::Poll, asks, Some(snapshot))
}

#[test]
fn everybody_in_line_waits_for_the_start_and_only_a_drawn_place_is_unknown() {
    let (before, _) = rooms(QueueingMethod::Fifo);
    let snapshot = announced();
    for (value, ahead) in [(50, Some(29)), (99, Some(78)), (100, None), (120, None)] {
        let asks = with_number(&before, &snapshot, value);
        let Step::Answer(answer) = asks.decide() else {
            panic!()
        };
        assert_eq!(answer.kind, Kind::Waits(State::Prequeueing));
        assert_eq!(answer.users_ahead, ahead, "number {value}");
    }
    // queue_all goes before, and the room that cannot be reached is told of as ever.
    let held = Room {
        queue_all: true,
        ..before.clone()
    };
    assert_eq!(state(&with_number(&held, &snapshot, 120)), State::QueueAll);
    let cut_off = Request {
        reachable: false,
        ..with_number(&before, &snapshot, 120)
    };
    assert_eq!(state(&cut_off), State::Unavailable);
}

#[test]
fn newcomers_of_any_method_get_in_line_during_the_pre_queue() {
    for method in [
        QueueingMethod::Fifo,
        QueueingMethod::Passthrough,
        QueueingMethod::Reject,
    ] {
        let (before, _) = rooms(method);
        let snapshot = announced();
        let newcomer = request(
            &before,
            Intent::Navigation,
            Visitor::NEWCOMER,
            Some(&snapshot),
        );
        assert_eq!(state(&newcomer), State::Joining, "{method:?}");
        let reply = Reply::Waiting {
            number: number(121),
            joined: Some(NOW),
            ahead: Some(120),
        };
        let Outcome::Answer(answer) = newcomer.settle(reply, &snapshot) else {
            panic!()
        };
        assert_eq!(answer.kind, Kind::Waits(State::Prequeueing));
        assert_eq!(answer.users_ahead, None);
        assert!(matches!(answer.cookie, Change::Set(_)));
    }
}

#[test]
fn what_the_room_has_said_of_the_draw_goes_before_the_clock_of_the_edge() {
    let (before, after) = rooms(QueueingMethod::Fifo);
    // The edge's clock is ahead: it has not heard of the draw.
    assert_eq!(
        state(&with_number(&after, &announced(), 110)),
        State::Prequeueing
    );
    // It is behind: the draw was held.
    let snapshot = drawn();
    for value in 100..=120 {
        let place = snapshot.draws.place_of(number(value)).get();
        let asks = with_number(&before, &snapshot, value);
        let Step::Answer(answer) = asks.decide() else {
            panic!()
        };
        assert_eq!(answer.kind, Kind::Waits(State::Queueing));
        assert_eq!(answer.users_ahead, Some(place - 21));
    }
}

#[test]
fn the_drawn_place_decides_who_is_called() {
    let (_, after) = rooms(QueueingMethod::Fifo);
    let snapshot = Snapshot {
        serving: 103,
        ..drawn()
    };
    let mut called = 0;
    for value in 100..=120 {
        let claims = matches!(
            with_number(&after, &snapshot, value).decide(),
            Step::Ask(Message::Claim { .. })
        );
        assert_eq!(claims, snapshot.draws.place_of(number(value)).get() <= 103);
        called += u32::from(claims);
    }
    assert_eq!(called, 4);
}

#[test]
fn polls_of_a_pre_queue_are_spread_over_the_interval_and_stay_so() {
    let (before, _) = rooms(QueueingMethod::Fifo);
    let snapshot = announced();
    // 10,000 have come in the same second. Each polls when told to.
    let mut at: Vec<(u64, Instant)> = (100..10_100).map(|value| (value, NOW)).collect();
    let mut polls: BTreeMap<u64, u32> = BTreeMap::new();
    for _ in 0..6 {
        for (value, now) in &mut at {
            let asks = Request {
                now: *now,
                ..with_number(&before, &snapshot, *value)
            };
            let wait = asks.spread(number(*value), 20);
            assert!((10..=30).contains(&wait), "{wait}");
            *now = *now + Span::from_secs(u64::from(wait));
            *polls.entry(now.as_secs()).or_default() += 1;
        }
    }
    // From when all have found their moment to when the first are done: 500 in each second.
    let steady = polls.range(NOW.as_secs() + 31..NOW.as_secs() + 100);
    for (second, count) in steady {
        assert!((400..=600).contains(count), "{count} polls at {second}");
    }
}

#[test]
fn a_poll_in_time_keeps_the_place_however_it_was_spread() {
    let (before, _) = rooms(QueueingMethod::Fifo);
    let snapshot = announced();
    for value in 100..120 {
        let Step::Answer(answer) = with_number(&before, &snapshot, value).decide() else {
            panic!()
        };
        assert!(matches!(answer.cookie, Change::Set(_)), "number {value}");
    }
}
