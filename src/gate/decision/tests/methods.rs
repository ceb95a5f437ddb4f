//! Random order and the full line at the edge.

use super::*;
use crate::room::lottery::{EPOCH, Epoch, Probability};
use crate::room::seed::Seed;

fn full() -> Snapshot {
    Snapshot {
        full: true,
        ..queueing()
    }
}

#[test]
fn who_has_no_number_is_turned_away_from_a_full_line_without_a_call() {
    let (room, full) = (room(), full());
    for intent in [Intent::Navigation, Intent::Form, Intent::Api, Intent::Poll] {
        let turned_away = answer(request(&room, intent, Visitor::NEWCOMER, Some(&full)).decide());
        assert_eq!(turned_away.kind, Kind::Waits(State::Full));
        assert_eq!(turned_away.cookie, Change::Keep);
        assert_eq!(turned_away.refresh_seconds, room.poll_far_seconds);
        assert_eq!(turned_away.holds, None);
    }
    let head = request(&room, Intent::Head, Visitor::NEWCOMER, Some(&full)).decide();
    assert_eq!(state(&head), Some(State::Full));
    let held = Room {
        queue_all: true,
        ..room.clone()
    };
    let step = request(&held, Intent::Navigation, Visitor::NEWCOMER, Some(&full)).decide();
    assert_eq!(state(&step), Some(State::QueueAll));
}

#[test]
fn the_room_decides_about_a_ticket_and_those_in_line_notice_nothing() {
    let (room, full) = (room(), full());
    let with_ticket = request(&room, Intent::Poll, visitor(ticket()), Some(&full));
    assert!(matches!(
        with_ticket.decide(),
        Step::Ask(Message::Arrive {
            returning: true,
            ..
        })
    ));
    let settle = |request: &Request<'_>, snapshot: &Snapshot| match request
        .settle(Reply::ComeBack, snapshot)
    {
        Outcome::Answer(answer) => (answer.kind, answer.cookie),
        Outcome::Pass(_) => panic!("nobody was let in"),
    };
    let (kind, cookie) = settle(&with_ticket, &full);
    assert_eq!((kind, cookie), (Kind::Waits(State::Full), Change::Keep));
    let (kind, _) = settle(&with_ticket, &queueing());
    assert_eq!(kind, Kind::Waits(State::Joining));
    // A place that is over is taken from its visitor, who is a newcomer from then on.
    let lapsed = request(&room, Intent::Poll, visitor(waiting(3, 20)), Some(&full));
    assert_eq!(settle(&lapsed, &full).1, Change::Clear);
    let in_line = request(&room, Intent::Poll, visitor(waiting(60, 20)), Some(&full)).decide();
    assert_eq!(state(&in_line), Some(State::Queueing));
}

fn drawing(chance: f64, epochs: u64) -> Snapshot {
    let draw = |index| Epoch::new(&Seed::new([7; 32]), index, Probability::new(chance), 100);
    Snapshot {
        taken: Instant::from_millis((1_000 + epochs) * EPOCH.as_millis()),
        epochs: (1_000..1_000 + epochs).map(draw).collect(),
        ..queueing()
    }
}

#[test]
fn whoever_is_drawn_in_any_epoch_claims_and_nobody_else() {
    let room = Room {
        queueing_method: QueueingMethod::Random,
        ..room()
    };
    let snapshot = drawing(0.1, 5);
    let claims = |value| {
        let waiting = visitor(waiting(value, 20));
        let step = request(&room, Intent::Poll, waiting, Some(&snapshot)).decide();
        matches!(step, Step::Ask(Message::Claim { number, .. }) if number.get() == value)
    };
    for value in 21..=120 {
        let drawn = snapshot
            .epochs
            .iter()
            .any(|epoch| epoch.draws(number(value)));
        assert_eq!(claims(value), drawn, "{value}");
    }
    let drawn = (21..=100).filter(|value| claims(*value)).count();
    // 80 with a chance of 1 - 0.9^5 each: 33 and a deviation of 4.
    assert!((20..=46).contains(&drawn), "{drawn}");
    assert!(!(101..=120).any(claims), "they came after the draws");
}

#[test]
fn a_visitor_polls_often_when_being_drawn_is_near() {
    let room = Room {
        queueing_method: QueueingMethod::Random,
        ..room()
    };
    // Half of all are drawn within a minute: 1 - 0.86^6.
    for (chance, seconds) in [
        (0.15, room.poll_near_seconds),
        (0.02, room.poll_far_seconds),
    ] {
        let snapshot = drawing(chance, 10);
        let last = visitor(waiting(110, 20));
        let step = request(&room, Intent::Poll, last, Some(&snapshot)).decide();
        assert_eq!(answer(step).refresh_seconds, seconds, "{chance}");
    }
}
