//! What the recorder is told.

use super::*;
use crate::room::figures::counts::Counts;
use crate::room::figures::tally::Tally;

#[test]
fn minutes_count_what_happened_in_them() {
    let mut room = Watched::new(policy(1, 100));
    room.arrive(1);
    room.arrive(2);
    room.pass_time(306);
    let claim = Message::Claim {
        number: number(2),
        incarnation: room.incarnation(),
        last_poll: room.clock,
        joined: Some(START),
    };
    assert!(is_admitted(room.send(&[claim])[0]));
    room.pass_time(60);
    let minutes = room.ledger.recorder().take_finished();
    let (first, last) = (minutes.first().unwrap(), minutes.last().unwrap());
    assert_eq!((minutes.len(), first.start), (6, START));
    let tally = &first.tally;
    assert_eq!((tally.granted, tally.joined), (1, 1));
    assert_eq!((tally.active.highest, tally.queued.highest), (1, 1));
    assert_eq!(tally.watched, Span::from_secs(60));
    assert_eq!(
        (tally.total_active_users, tally.new_users_per_minute),
        (1, 100)
    );
    assert_eq!(tally.waited.count() + tally.stayed.count(), 0);
    let tally = &last.tally;
    assert_eq!(
        (last.start, tally.granted),
        (START + Span::from_secs(300), 1)
    );
    assert_eq!(
        (tally.waited.count(), tally.waited.sum()),
        (1, Span::from_secs(306))
    );
    assert_eq!(
        (tally.stayed.count(), tally.stayed.sum()),
        (1, Span::from_secs(300))
    );
}

#[test]
fn slots_taken_ahead_are_granted_until_they_are_given_back() {
    let mut room = Ledger::new(Incarnation::new(1), SEED, START);
    let reservation = TicketId::new(7);
    let count = 100;
    let back = Message::Return {
        reservation,
        incarnation: Incarnation::new(1),
        used: 40,
    };
    let reserve = Message::Reserve { reservation, count };
    let requests = [reserve, back, back].map(Request::of);
    room.batch(START, &policy(1_000, 100_000), &requests);
    let tally = room.recorder().totals();
    assert_eq!(
        (tally.granted, tally.returned, tally.admitted()),
        (100, 60, 40)
    );
    assert_eq!(tally.stayed.count(), 0, "nobody was there");
}

#[test]
fn what_edges_count_adds_up() {
    let mut room = Ledger::new(Incarnation::new(1), SEED, START);
    let report = Request {
        counts: Counts {
            passed: 5,
            bypassed: 2,
            ..Counts::default()
        },
        gathered: 40,
        ..Request::default()
    };
    room.batch(START, &policy(1, 1), &[report.clone(), report]);
    let Tally { calls, edges, .. } = room.recorder().totals();
    assert_eq!((calls, edges.passed, edges.bypassed), (2, 10, 4));
}

#[test]
fn a_session_that_ended_is_counted_once_across_a_restart() {
    let policy = policy(1, 1);
    let mut room = Ledger::new(Incarnation::new(1), SEED, START);
    let checkpoint = room.book().clone();
    let arrival = Request::of(Message::Arrive {
        ticket: TicketId::new(1),
        returning: false,
    });
    let arrived = room.batch(START, &policy, &[arrival]).row.unwrap();
    let later = START + Span::from_secs(310);
    assert_eq!(room.batch(later, &policy, &[]).row, None);
    let ended = |room: &mut Ledger| room.recorder().totals().stayed.count();
    assert_eq!(ended(&mut room), 1);
    let counted_after = |rows: Vec<Row>| {
        let mut again = Ledger::recover(checkpoint.clone(), rows, later);
        again.batch(later, &policy, &[]);
        ended(&mut again)
    };
    assert_eq!(
        counted_after(vec![arrived.clone()]),
        1,
        "its minute was lost"
    );
    let mark = room.mark();
    assert_eq!(
        counted_after(vec![arrived, mark]),
        0,
        "its minute was stored"
    );
}
