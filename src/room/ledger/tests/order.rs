//! Who is let in when: in order, past those who do not come, and as the room's switches say.

use super::*;

#[test]
fn newcomers_walk_in_while_there_is_room_and_then_wait_in_order() {
    let mut room = Watched::new(policy(2, 100));
    assert!(is_admitted(room.arrive(1)));
    assert!(is_admitted(room.arrive(2)));
    assert!(matches!(
        room.arrive(3),
        Reply::Waiting {
            joined: Some(_),
            ..
        }
    ));
    assert!(matches!(room.arrive(4), Reply::Waiting { .. }));
    assert_eq!(room.snapshot.users_ahead(number(3)), 0);
    assert_eq!(room.snapshot.users_ahead(number(4)), 1);
    room.leave(1);
    assert_eq!(room.snapshot.serving, 3);
    assert!(is_admitted(room.claim(3)));
    assert!(matches!(room.claim(4), Reply::Waiting { .. }));
}

#[test]
fn a_full_room_gives_no_number_to_one_who_has_not_come_back() {
    let mut room = Watched::new(policy(1, 100));
    room.arrive(1);
    let first = Message::Arrive {
        ticket: TicketId::new(2),
        returning: false,
    };
    assert_eq!(room.send(&[first]), [Reply::ComeBack]);
    assert_eq!(room.snapshot.issued, 1);
}

#[test]
fn the_same_ticket_sent_a_hundred_times_gets_one_number() {
    let mut room = Watched::new(policy(1, 100));
    room.arrive(1);
    for _ in 0..100 {
        let reply = room.arrive(2);
        assert!(matches!(reply, Reply::Waiting { number, .. } if number.get() == 2));
    }
    assert_eq!(room.snapshot.issued, 2);
}

#[test]
fn who_is_called_together_with_others_does_not_overtake_them_by_asking_first() {
    let mut room = Watched::new(policy(8, 100));
    for ticket in 1..=20 {
        room.arrive(ticket);
    }
    room.leave(1);
    room.leave(2);
    // 9 and 10 are called for the two slots, and two more stand by.
    assert_eq!(room.snapshot.serving, 12);
    assert!(matches!(room.claim(12), Reply::AtDoor { .. }));
    assert!(is_admitted(room.claim(9)));
    assert!(matches!(room.claim(11), Reply::AtDoor { .. }));
    // When 10 has had the time to hear of the call, the slot is kept for them no longer.
    room.clock = room.clock + Span::from_secs(8);
    assert!(is_admitted(room.claim(11)));
}

#[test]
fn one_called_early_who_polls_late_goes_in_before_those_behind() {
    // 51 to 100 are called for 50 slots, and some more stand by. 51 is late: it still goes in before
    // those, or keeps its place at the door.
    let mut room = Watched::new(policy(50, 10_000));
    for ticket in 1..=150 {
        room.arrive(ticket);
    }
    for value in 1..=50 {
        room.leave(value);
    }
    assert!(room.snapshot.serving >= 100);
    for value in 52..=100 {
        assert!(is_admitted(room.claim(value)));
    }
    room.pass_time(31);
    // 51's call has lapsed: the next one who comes takes the slot.
    assert!(is_admitted(room.claim(101)));
    assert!(matches!(room.claim(51), Reply::AtDoor { ahead: 0, .. }));
    room.leave(52);
    assert!(
        matches!(room.claim(102), Reply::AtDoor { ahead: 1, .. }),
        "the slot is kept for 51"
    );
    assert!(is_admitted(room.claim(51)));
}

#[test]
fn no_shows_do_not_keep_the_room_empty() {
    let mut room = Watched::new(policy(1, 10_000));
    for ticket in 1..=20 {
        room.arrive(ticket);
    }
    room.leave(1);
    // Nobody but 20 polls. Each claim window calls on, further and further.
    let mut windows = 0;
    while !is_admitted(room.claim(20)) {
        room.pass_time(31);
        windows += 1;
        assert!(windows < 12, "20 still waits at {:?}", room.snapshot);
    }
}

#[test]
fn those_who_stopped_polling_are_skipped() {
    let mut room = Watched::new(policy(1, 10_000));
    for ticket in 1..=1_000 {
        room.arrive(ticket);
    }
    let polled = |room: &mut Watched, value: u64| {
        let request = Request {
            polled: vec![number(value)],
            ..Request::default()
        };
        let batch = room.ledger.batch(room.clock, &room.policy, &[request]);
        batch.responses[0].snapshot.clone().unwrap()
    };
    for _ in 0..10 {
        room.pass_time(20);
        polled(&mut room, 1_000);
    }
    let snapshot = polled(&mut room, 1_000);
    assert_eq!(
        (snapshot.queued, snapshot.users_ahead(number(1_000))),
        (1, 0)
    );
    room.leave(1);
    assert_eq!(room.snapshot.serving, 1_000);
    assert!(is_admitted(room.claim(1_000)));
}

#[test]
fn passthrough_counts_everybody_and_holds_nobody() {
    let mut room = Watched::new(Policy {
        admits: Admits::Everybody,
        ..policy(1, 1)
    });
    (1..=5).for_each(|ticket| assert!(is_admitted(room.arrive(ticket))));
    assert_eq!(room.snapshot.active, 5);
    assert!(!room.snapshot.queueing);
    room.policy.admits = Admits::InOrder;
    assert!(!is_admitted(room.arrive(6)));
}

#[test]
fn queue_all_holds_everybody_and_the_order_stays() {
    let mut room = Watched::new(Policy {
        admits: Admits::Nobody,
        ..policy(5, 100)
    });
    assert!(!is_admitted(room.arrive(1)));
    assert!(!is_admitted(room.arrive(2)));
    assert!(room.snapshot.queueing);
    room.policy.admits = Admits::InOrder;
    assert!(is_admitted(room.claim(1)) || is_admitted(room.claim(1)));
    assert!(is_admitted(room.claim(2)));
}
