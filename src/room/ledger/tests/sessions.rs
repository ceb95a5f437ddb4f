//! Sessions and numbers from their beginning to their end, and what outlives a restart.

use super::*;

#[test]
fn a_pass_renewed_a_thousand_times_at_once_changes_nothing_else() {
    let mut room = Watched::new(policy(3, 100));
    room.arrive(1);
    room.arrive(2);
    let other_ends = room.session_of(2);
    room.pass_time(80);
    let rows = room.rows.len();
    let renewals = vec![
        Message::Renew {
            number: number(1),
            incarnation: room.incarnation()
        };
        1000
    ];
    assert!(room.send(&renewals).into_iter().all(is_admitted));
    assert_eq!(room.snapshot.active, 2);
    assert_eq!(room.session_of(2), other_ends);
    assert_eq!(room.rows.len(), rows + 1);
    assert_eq!(room.rows[rows].effects.len(), 1);
}

#[test]
fn a_kept_copy_of_a_spent_token_gets_one_new_number_behind_everybody() {
    let mut room = Watched::new(policy(1, 100));
    room.arrive(1);
    room.arrive(2);
    room.arrive(3);
    room.leave(1);
    assert!(is_admitted(room.claim(2)));
    room.leave(2);
    let reply = room.claim(2);
    assert!(matches!(reply, Reply::Waiting { number, .. } if number.get() == 4));
    assert_eq!(
        room.claim(2),
        Reply::Waiting {
            number: number(4),
            joined: None,
            ahead: Some(1),
        }
    );
}

#[test]
fn lower_limits_stop_grants_and_end_no_session() {
    let mut room = Watched::new(policy(4, 100));
    (1..=4).for_each(|ticket| assert!(is_admitted(room.arrive(ticket))));
    room.arrive(5);
    room.policy.total_active_users = 2;
    assert!(
        is_admitted(room.renew(1)),
        "renewal over the limit is the default"
    );
    room.leave(2);
    room.leave(3);
    assert!(!is_admitted(room.claim(5)), "two are still in");
    room.leave(4);
    assert!(is_admitted(room.claim(5)));
}

#[test]
fn drain_over_limit_ends_renewals_until_the_room_fits() {
    let mut room = Watched::new(policy(2, 100));
    room.arrive(1);
    room.arrive(2);
    room.policy = Policy {
        total_active_users: 1,
        drain_over_limit: true,
        ..room.policy
    };
    room.pass_time(100);
    assert_eq!(room.renew(1), Reply::NotRenewed);
    room.leave(2);
    assert!(is_admitted(room.renew(1)));
}

#[test]
fn a_slot_is_taken_until_five_seconds_after_the_pass() {
    let mut room = Watched::new(policy(1, 100));
    room.arrive(1);
    room.arrive(2);
    room.pass_time(304);
    assert!(!is_admitted(room.claim(2)));
    room.pass_time(1);
    room.claim(2);
    assert!(is_admitted(room.claim(2)));
    assert_eq!(room.renew(1), Reply::Over);
}

#[test]
fn a_place_outlives_a_room_that_nobody_can_reach() {
    let mut room = Watched::new(policy(1, 100));
    room.arrive(1);
    room.arrive(2);
    room.leave(1);
    assert_eq!(room.snapshot.serving, 2);
    room.clock = room.clock + Span::from_secs(3_600);
    room.crash();
    assert!(is_admitted(room.claim(2)));

    room.arrive(3);
    room.leave(2);
    room.clock = room.clock + Span::from_secs(3_600);
    assert!(is_admitted(room.claim(3)), "the same without a restart");
}

#[test]
fn a_room_down_for_longer_than_a_session_lets_nobody_over_the_limit_when_it_is_back() {
    let mut room = Watched::new(policy(2, 100));
    for ticket in 1..=4 {
        room.arrive(ticket);
    }
    room.clock = room.clock + Span::from_secs(1_000);
    room.crash();
    // Both sessions ended meanwhile. Who was inside asks anew, behind those who waited.
    assert_eq!(room.renew(1), Reply::Over);
    assert!(!is_admitted(room.arrive(5)));
    assert!(is_admitted(room.claim(3)));
    assert!(is_admitted(room.claim(4)));
    assert!(!is_admitted(room.claim(5)));
}

#[test]
fn without_renewal_a_session_ends_when_it_must() {
    let mut room = Watched::new(Policy {
        renewal: false,
        ..policy(1, 100)
    });
    room.arrive(1);
    let end = room.clock + Span::from_secs(300);
    room.pass_time(200);
    let reply = room.renew(1);
    assert!(
        matches!(reply, Reply::Admitted { expires, .. } if expires == end),
        "{reply:?}"
    );
    room.pass_time(105);
    assert_eq!(room.renew(1), Reply::Over);
}

#[test]
fn a_provisional_pass_becomes_whole_when_it_comes_back() {
    let mut room = Watched::new(Policy {
        first_pass: FirstPass::Provisional,
        ..policy(2, 100)
    });
    let first = room.arrive(1);
    assert!(matches!(
        first,
        Reply::Admitted {
            provisional: true,
            ..
        }
    ));
    room.arrive(2);
    room.pass_time(30);
    assert!(
        matches!(room.renew(1), Reply::Admitted { provisional: false, expires, .. }
        if expires == room.clock + room.policy.session)
    );
    room.pass_time(36);
    room.claim(1);
    assert_eq!(room.snapshot.active, 1, "2 never came back");
}

#[test]
fn revoked_passes_are_told_until_they_run_out_and_beyond_the_list_slots_stay_taken() {
    let most = book::MOST_REVOKED as u64;
    let mut room = Watched::new(policy(2_000, 100_000));
    for ticket in 1..=most + 2 {
        room.arrive(ticket);
    }
    let leave = |value| Message::Leave {
        number: number(value),
        incarnation: room.incarnation(),
        revoked: false,
    };
    let messages: Vec<_> = (1..=most + 1).map(leave).map(Request::of).collect();
    let batch = room.ledger.batch(room.clock, &room.policy, &messages);
    let snapshot = batch.responses[0].snapshot.as_ref().unwrap();
    assert_eq!(snapshot.revoked.len(), book::MOST_REVOKED);
    assert_eq!(
        snapshot.active, 2,
        "the one who could not be told of keeps the slot"
    );
    assert_eq!(
        room.ledger.book().standing(number(most + 1)),
        Standing::Spent
    );
    let later = room.clock + Span::from_secs(305);
    let batch = room
        .ledger
        .batch(later, &room.policy, &[Request::default()]);
    let snapshot = batch.responses[0].snapshot.as_ref().unwrap();
    assert_eq!((snapshot.revoked.len(), snapshot.active), (0, 0));
}

#[test]
fn numbers_of_a_lost_storage_mean_nothing() {
    let mut room = Watched::new(policy(5, 100));
    room.arrive(1);
    let incarnation = Incarnation::new(1);
    let foreign = |message| room_reply(&mut room, message);
    fn room_reply(room: &mut Watched, message: Message) -> Reply {
        room.send(&[message])[0]
    }
    let mut foreign = foreign;
    assert_eq!(
        foreign(Message::Renew {
            number: number(1),
            incarnation,
        }),
        Reply::Over
    );
    assert_eq!(
        foreign(Message::Leave {
            number: number(1),
            incarnation,
            revoked: false,
        }),
        Reply::Over
    );
    let claim = Message::Claim {
        number: number(1),
        incarnation,
        last_poll: START,
        joined: None,
    };
    let reply = foreign(claim);
    assert!(matches!(reply, Reply::Admitted { number, .. } if number.get() == 2));
}
