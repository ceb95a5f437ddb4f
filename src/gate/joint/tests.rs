use proptest::prelude::*;

use super::*;
use crate::room::number::{Incarnation, TicketId, TicketNumber};

const NOW: Instant = Instant::from_secs(1_800_000_000);

fn at(millis: u64) -> Instant {
    NOW + Span::from_millis(millis)
}

fn arrives(ticket: u64) -> Message {
    Message::Arrive {
        ticket: TicketId::new(ticket),
        returning: true,
    }
}

/// The reply to whoever came as this: the room numbers tickets as they are.
fn reply(ticket: u64) -> Reply {
    Reply::Waiting {
        number: TicketNumber::new(ticket).unwrap(),
        joined: None,
        ahead: None,
    }
}

fn snapshot() -> Arc<Snapshot> {
    Arc::new(Snapshot {
        incarnation: Incarnation::new(1),
        ..Snapshot::default()
    })
}

/// The room answers a call.
fn answer(joint: &mut Joint, batch: &[(Seat, Message)]) {
    let replies: Vec<_> = batch
        .iter()
        .map(|(_, message)| match message {
            Message::Arrive { ticket, .. } => reply(ticket.get()),
            other => panic!("{other:?}"),
        })
        .collect();
    joint.tell(batch, Some((&replies, &snapshot())));
}

fn called(turn: Turn) -> Vec<(Seat, Message)> {
    match turn {
        Turn::Call(batch) => batch,
        other => panic!("{other:?}"),
    }
}

#[test]
fn who_is_alone_calls_at_once() {
    let mut joint = Joint::default();
    let seat = joint.enter(arrives(1));
    let batch = called(joint.look(seat, arrives(1), at(0)));
    assert_eq!(batch, [(seat, arrives(1))]);
    answer(&mut joint, &batch);
    let told = joint.look(seat, arrives(1), at(5));
    assert_eq!(told, Turn::Told(Some((reply(1), snapshot()))));
}

#[test]
fn who_comes_during_a_call_goes_with_the_next() {
    let mut joint = Joint::default();
    let first = joint.enter(arrives(1));
    let batch = called(joint.look(first, arrives(1), at(0)));
    let others: Vec<_> = (2..=5).map(|n| (joint.enter(arrives(n)), n)).collect();
    for (seat, n) in &others {
        assert_eq!(joint.look(*seat, arrives(*n), at(5)), Turn::Wait);
    }
    answer(&mut joint, &batch);
    // Whoever looks first takes all along, in the order in which they came.
    let (third, _) = others[1];
    let batch = called(joint.look(third, arrives(3), at(10)));
    let tickets: Vec<_> = batch.iter().map(|(_, message)| *message).collect();
    assert_eq!(tickets, [2, 3, 4, 5].map(arrives));
    assert_eq!(joint.look(others[0].0, arrives(2), at(12)), Turn::Wait);
    answer(&mut joint, &batch);
    for (seat, n) in others {
        let told = joint.look(seat, arrives(n), at(20));
        assert_eq!(told, Turn::Told(Some((reply(n), snapshot()))));
    }
}

#[test]
fn a_call_that_died_is_made_again_after_a_second() {
    let mut joint = Joint::default();
    let first = joint.enter(arrives(1));
    called(joint.look(first, arrives(1), at(0)));
    let second = joint.enter(arrives(2));
    assert_eq!(joint.look(second, arrives(2), at(999)), Turn::Wait);
    let batch = called(joint.look(second, arrives(2), at(1_000)));
    assert_eq!(batch, [(second, arrives(2))]);
    // That of the request that had been taken along by the dead call asks anew as well.
    answer(&mut joint, &batch);
    let batch = called(joint.look(first, arrives(1), at(1_010)));
    assert_eq!(batch, [(first, arrives(1))]);
}

#[test]
fn a_call_that_comes_late_ends_no_other() {
    let mut joint = Joint::default();
    let first = joint.enter(arrives(1));
    let late = called(joint.look(first, arrives(1), at(0)));
    let second = joint.enter(arrives(2));
    called(joint.look(second, arrives(2), at(1_000)));
    let third = joint.enter(arrives(3));
    answer(&mut joint, &late);
    assert_eq!(joint.look(third, arrives(3), at(1_001)), Turn::Wait);
    let told = joint.look(first, arrives(1), at(1_001));
    assert_eq!(told, Turn::Told(Some((reply(1), snapshot()))));
}

#[test]
fn no_answer_is_everybody_s() {
    let mut joint = Joint::default();
    let seats = [1, 2].map(|n| joint.enter(arrives(n)));
    let batch = called(joint.look(seats[0], arrives(1), at(0)));
    assert_eq!(batch.len(), 2);
    joint.tell(&batch, None);
    for (seat, n) in seats.into_iter().zip(1..) {
        assert_eq!(joint.look(seat, arrives(n), at(9)), Turn::Told(None));
    }
    // A room that says too little has not answered who is left.
    let seats = [3, 4].map(|n| joint.enter(arrives(n)));
    let batch = called(joint.look(seats[0], arrives(3), at(10)));
    joint.tell(&batch, Some((&[reply(3)], &snapshot())));
    assert!(matches!(
        joint.look(seats[0], arrives(3), at(20)),
        Turn::Told(Some(_))
    ));
    assert_eq!(joint.look(seats[1], arrives(4), at(20)), Turn::Told(None));
}

#[test]
fn a_call_takes_so_many_along_and_no_more() {
    let mut joint = Joint::default();
    let seats: Vec<_> = (1..=300).map(|n| joint.enter(arrives(n))).collect();
    for calls in [1..=128, 129..=256, 257..=300] {
        let batch = called(joint.look(seats[299], arrives(300), at(0)));
        let messages = batch.iter().map(|(_, message)| *message);
        assert!(messages.eq(calls.map(arrives)));
        answer(&mut joint, &batch);
    }
    let told = joint.look(seats[299], arrives(300), at(0));
    assert_eq!(told, Turn::Told(Some((reply(300), snapshot()))));
}

#[test]
fn who_has_left_is_not_spoken_for() {
    let mut joint = Joint::default();
    let seats = [1, 2].map(|n| joint.enter(arrives(n)));
    joint.leave(seats[1]);
    let batch = called(joint.look(seats[0], arrives(1), at(0)));
    assert_eq!(batch.len(), 1);
    for n in 0..10_000 {
        joint.tell(&[(Seat(n), arrives(1))], None);
    }
    assert_eq!(joint.outcomes.len(), MOST_KEPT);
}

/// A call: who makes it, what it takes along, since when.
type UnderWay = (Seat, Vec<(Seat, Message)>, u64);

/// What may happen to a crowd of requests.
#[derive(Clone, Copy, Debug)]
enum Event {
    Comes,
    /// The nth that waits looks.
    Looks(usize),
    /// The nth call under way is answered, or fails.
    Answered(usize, bool),
    /// The nth that waits is cancelled, with its call, if it makes one.
    Cancelled(usize),
    Passes(u64),
}

fn events() -> impl Strategy<Value = Vec<Event>> {
    let event = prop_oneof![
        3 => Just(Event::Comes),
        6 => any::<usize>().prop_map(Event::Looks),
        3 => (any::<usize>(), any::<bool>()).prop_map(|(n, fails)| Event::Answered(n, fails)),
        1 => any::<usize>().prop_map(Event::Cancelled),
        3 => (0_u64..700).prop_map(Event::Passes),
    ];
    proptest::collection::vec(event, 0..200)
}

proptest! {
    /// Nobody gets the reply to another's message, everybody who keeps looking gets one or hears that there is
    /// none, and calls do not overlap but after the deadline.
    #[test]
    fn everybody_hears_of_their_own(events in events()) {
        let (mut joint, mut now, mut tickets) = (Joint::default(), 0, 0);
        let mut waiting: Vec<(Seat, u64)> = Vec::new();
        let mut calls: Vec<UnderWay> = Vec::new();
        let look = |joint: &mut Joint, calls: &mut Vec<UnderWay>, (seat, ticket), now: u64| {
            match joint.look(seat, arrives(ticket), at(now)) {
                Turn::Told(Some((told, _))) => {
                    assert_eq!(told, reply(ticket));
                    true
                }
                Turn::Told(None) => true,
                Turn::Wait => false,
                Turn::Call(batch) => {
                    assert!(calls.iter().all(|(_, _, begun)| now >= begun + 1_000));
                    assert!(batch.contains(&(seat, arrives(ticket))));
                    calls.push((seat, batch, now));
                    false
                }
            }
        };
        for event in events {
            // Who makes a call does not look until it is over.
            let free: Vec<_> = (0..waiting.len())
                .filter(|n| calls.iter().all(|(by, ..)| *by != waiting[*n].0))
                .collect();
            match event {
                Event::Comes => {
                    tickets += 1;
                    waiting.push((joint.enter(arrives(tickets)), tickets));
                }
                Event::Looks(n) if !free.is_empty() => {
                    let n = free[n % free.len()];
                    if look(&mut joint, &mut calls, waiting[n], now) {
                        waiting.remove(n);
                    }
                }
                Event::Answered(n, fails) if !calls.is_empty() => {
                    let n = n % calls.len();
                    let (_, batch, _) = calls.remove(n);
                    if fails { joint.tell(&batch, None) } else { answer(&mut joint, &batch) }
                }
                Event::Cancelled(n) if !waiting.is_empty() => {
                    let n = n % waiting.len();
                    let (seat, _) = waiting.remove(n);
                    calls.retain(|(by, ..)| *by != seat);
                }
                Event::Passes(millis) => now += millis,
                _ => {}
            }
        }
        // From here on calls are answered at once.
        for (_, batch, _) in calls.drain(..) {
            answer(&mut joint, &batch);
        }
        for _ in 0..3 {
            now += 1_000;
            waiting.retain(|who| {
                let told = look(&mut joint, &mut calls, *who, now);
                for (_, batch, _) in calls.drain(..) {
                    answer(&mut joint, &batch);
                }
                !told
            });
        }
        prop_assert!(waiting.is_empty(), "{waiting:?}");
    }
}
