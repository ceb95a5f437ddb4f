//! Random order, switching between methods while people wait, the full line, the longest session.

use std::collections::BTreeSet;

use super::*;
use crate::room::lottery::EPOCH;

impl Watched {
    /// A waiting visitor polls, as an edge handles it: one who is called claims, of another the room
    /// hears with the next report.
    fn poll(&mut self, value: u64) -> Option<Reply> {
        if self.snapshot.is_called(number(value)) {
            return Some(self.claim(value));
        }
        let report = Request {
            polled: vec![number(value)],
            ..Request::default()
        };
        self.report(&report);
        None
    }

    fn fill(&mut self, tickets: std::ops::RangeInclusive<u64>) {
        for ticket in tickets {
            self.arrive(ticket);
        }
    }

    /// Lets `secs` seconds pass in which each of `waiting` polls every `interval` seconds, and tells
    /// in which order they came in. One who stands at the door polls every 2 seconds.
    fn crowd(&mut self, waiting: &mut BTreeSet<u64>, interval: u64, secs: u64) -> Vec<u64> {
        let mut admitted = Vec::new();
        for _ in 0..secs {
            self.clock = self.clock + Span::from_secs(1);
            let second = self.clock.as_secs();
            for value in waiting.clone() {
                let at_door = self.reference.is_at_door(number(value)) && second.is_multiple_of(2);
                let is_time = second % interval == value * 7 % interval;
                if (at_door || is_time) && self.poll(value).is_some_and(is_admitted) {
                    waiting.remove(&value);
                    admitted.push(value);
                }
            }
        }
        admitted
    }
}

/// A room with one slot, taken by number 1, in which numbers 2 to `last` wait.
fn line(admits: Admits, last: u64) -> Watched {
    let mut room = Watched::new(Policy {
        admits,
        ..policy(1, 1_000)
    });
    room.fill(1..=last);
    room
}

fn drawn(room: &Watched, last: u64) -> Vec<u64> {
    let is_drawn = |value: &u64| room.snapshot.is_called(number(*value));
    (room.snapshot.serving + 1..=last)
        .filter(is_drawn)
        .collect()
}

#[test]
fn a_room_in_random_order_fills_its_slots_and_lets_everybody_in() {
    let mut room = Watched::new(Policy {
        admits: Admits::AtRandom,
        session: Span::from_secs(35),
        ..policy(6, 1_000)
    });
    room.fill(1..=66);
    let mut waiting: BTreeSet<u64> = (7..=66).collect();
    let mut order = room.crowd(&mut waiting, 20, 400);
    // A slot is taken for 40 seconds: 400 seconds are ten of them for each of six slots, and the
    // first of those were taken by who walked in.
    assert!(order.len() >= 50, "{} came in", order.len());
    let inversions = order.windows(2).filter(|pair| pair[0] > pair[1]).count();
    assert!(inversions > 15, "hardly random: {order:?}");
    order.extend(room.crowd(&mut waiting, 20, 200));
    assert_eq!(waiting, BTreeSet::new());
    assert_eq!(order.iter().collect::<BTreeSet<_>>().len(), 60);
    assert_eq!(room.snapshot.serving, room.snapshot.issued);
    assert!(room.snapshot.epochs.is_empty(), "no draw counts any more");
    room.pass_time(60);
    assert!(is_admitted(room.arrive(100)), "newcomers walk in again");
}

#[test]
fn a_draw_is_published_once_an_epoch_and_outlasts_a_crash() {
    let mut room = line(Admits::AtRandom, 40);
    assert_eq!(room.snapshot.epochs, [], "nothing to draw for");
    room.leave(1);
    let [epoch] = room.snapshot.epochs[..] else {
        panic!("{:?}", room.snapshot.epochs);
    };
    assert_eq!(epoch.up_to, 40);
    // One slot and a deviation of one, for 39 who wait.
    assert!((epoch.chance.share() - 2.0 / 39.0).abs() < 1e-9);
    assert_eq!(room.snapshot.serving, 1);
    room.arrive(41);
    room.clock = room.clock + Span::from_secs(1);
    room.look();
    assert_eq!(room.snapshot.epochs, [epoch], "not twice in an epoch");
    assert!(
        !drawn(&room, 41).contains(&41),
        "it was given after the draw"
    );
    let before = drawn(&room, 41);
    room.crash();
    room.look();
    assert_eq!(drawn(&room, 41), before);
    // Nobody who was not drawn gets in, whatever their edge believes.
    let undrawn = (2..=40).find(|value| !before.contains(value)).unwrap();
    assert!(matches!(room.claim(undrawn), Reply::Waiting { .. }));
}

#[test]
fn who_is_drawn_keeps_the_right_until_they_come() {
    let mut room = line(Admits::AtRandom, 30);
    room.leave(1);
    while drawn(&room, 30).is_empty() {
        room.clock = room.clock + EPOCH;
        for value in 2..=30 {
            room.poll(value);
        }
    }
    let lucky = drawn(&room, 30)[0];
    // The room stops drawing, and goes on four minutes later.
    room.policy.admits = Admits::Nobody;
    room.pass_time(240);
    room.look();
    assert!(room.snapshot.is_called(number(lucky)));
    assert!(matches!(room.claim(lucky), Reply::AtDoor { ahead: 0, .. }));
    room.policy.admits = Admits::AtRandom;
    assert!(is_admitted(room.claim(lucky)));
}

#[test]
fn from_order_to_random_and_back_nobody_loses_a_place_and_the_order_is_the_old_one() {
    let mut room = line(Admits::InOrder, 12);
    let mut waiting: BTreeSet<u64> = (2..=12).collect();
    room.leave(1);
    // Two are called for the one slot; where both ask at once, the first in line gets it.
    assert_eq!(room.crowd(&mut waiting, 1, 10), [2]);
    room.policy.admits = Admits::AtRandom;
    let mut holder = 2;
    let mut at_random = Vec::new();
    for _ in 0..4 {
        room.leave(holder);
        while room.snapshot.active == 0 {
            at_random.extend(room.crowd(&mut waiting, 5, 5));
        }
        holder = *at_random.last().unwrap();
    }
    let mut sorted = at_random.clone();
    sorted.sort_unstable();
    assert_ne!(at_random, sorted, "in order by chance? choose another seed");
    // Who was drawn and has not come may still do so; from then on it goes by number.
    room.policy.admits = Admits::InOrder;
    let mut left: Vec<u64> = waiting.iter().copied().collect();
    let privileged = drawn(&room, 12);
    left.sort_by_key(|value| (!privileged.contains(value), *value));
    let mut in_order = Vec::new();
    while !waiting.is_empty() {
        room.leave(holder);
        room.crash();
        in_order.extend(room.crowd(&mut waiting, 1, 10));
        holder = *in_order.last().unwrap();
    }
    let mut by_number = in_order.clone();
    by_number.sort_unstable();
    let rest = in_order.iter().filter(|value| !privileged.contains(value));
    assert!(rest.is_sorted(), "{in_order:?} after {at_random:?}");
    assert_eq!(
        by_number.len() + at_random.len() + 2,
        12,
        "somebody is lost"
    );
}

#[test]
fn places_outlast_reject_and_passthrough() {
    for between in [Admits::Nobody, Admits::Everybody] {
        for method in [Admits::InOrder, Admits::AtRandom] {
            let mut room = line(method, 20);
            let mut waiting: BTreeSet<u64> = (2..=20).collect();
            room.policy.admits = between;
            let meanwhile = room.crowd(&mut waiting, 20, 60);
            let expected = if between == Admits::Nobody { 0 } else { 19 };
            assert_eq!(meanwhile.len(), expected, "{between:?}");
            room.policy = Policy {
                total_active_users: 100,
                ..policy(100, 1_000)
            };
            room.policy.admits = method;
            let after = room.crowd(&mut waiting, 20, 100);
            assert_eq!(meanwhile.len() + after.len(), 19, "{between:?} {method:?}");
        }
    }
}

#[test]
fn who_is_gone_is_not_counted_and_does_not_hold_up_the_line() {
    let mut room = line(Admits::AtRandom, 101);
    let mut waiting: BTreeSet<u64> = (52..=101).collect();
    // Numbers 2 to 51 never poll.
    room.crowd(&mut waiting, 20, 90);
    assert_eq!(room.snapshot.queued, 50);
    room.leave(1);
    let chance = room.snapshot.epochs[0].chance.share();
    assert!((chance - 2.0 / 50.0).abs() < 1e-9, "{chance}");
    room.policy.total_active_users = 0;
    room.crowd(&mut waiting, 20, 300);
    assert_eq!(room.snapshot.serving, 51, "their places have lapsed");
    assert_eq!(waiting.len(), 50);
}

#[test]
fn no_shows_are_made_up_for() {
    let mut room = Watched::new(Policy {
        admits: Admits::AtRandom,
        session: Span::from_secs(55),
        ..policy(10, 1_000)
    });
    room.fill(1..=310);
    // Every second one polls, and would never come when drawn; only the others do.
    let mut come: BTreeSet<u64> = (11..=310).filter(|value| value % 2 == 0).collect();
    let stay_away: Vec<_> = (11..=310).step_by(2).map(number).collect();
    let (mut taken, mut seconds) = (0, 0);
    for minute in 0..10 {
        for _ in 0..4 {
            room.report(&Request {
                polled: stay_away.clone(),
                ..Request::default()
            });
            for _ in 0..15 {
                room.crowd(&mut come, 20, 1);
                if minute >= 2 {
                    taken += room.snapshot.active;
                    seconds += 1;
                }
            }
        }
    }
    let share = f64::from(taken) / f64::from(seconds * 10);
    assert!(share > 0.9, "{share} of the slots are taken");
}

#[test]
fn a_line_that_is_too_long_takes_nobody_until_it_is_shorter() {
    let mut room = Watched::new(Policy {
        session: Span::from_secs(55),
        full_after: Some(Span::from_secs(300)),
        ..policy(1, 1_000)
    });
    room.fill(1..=4);
    let mut waiting: BTreeSet<u64> = (2..=4).collect();
    assert!(
        !room.snapshot.full,
        "no estimate yet, so nobody is turned away"
    );
    room.crowd(&mut waiting, 5, 70);
    // One a minute: the line takes five.
    let mut ticket = 5;
    while !room.snapshot.full {
        assert!(matches!(room.arrive(ticket), Reply::Waiting { .. }));
        waiting.insert(ticket);
        ticket += 1;
        assert!(ticket < 20);
    }
    let issued = room.snapshot.issued;
    assert_eq!(room.arrive(ticket), Reply::ComeBack);
    assert_eq!(room.snapshot.issued, issued);
    assert!(
        matches!(room.arrive(ticket - 1), Reply::Waiting { .. }),
        "who has a number keeps it"
    );
    let mut admitted = Vec::new();
    while room.snapshot.full {
        admitted.extend(room.crowd(&mut waiting, 5, 5));
        assert!(admitted.len() < 3);
    }
    assert!(matches!(room.arrive(ticket), Reply::Waiting { .. }));
    assert_eq!(room.snapshot.issued, issued + 1);
}

#[test]
fn a_session_ends_with_the_longest_time_however_often_it_is_renewed() {
    let mut room = Watched::new(Policy {
        session_max: Some(Span::from_secs(700)),
        ..policy(1, 1_000)
    });
    room.arrive(1);
    let mut ends = room.clock;
    while room.clock < START + Span::from_secs(700) {
        let Reply::Admitted { expires, .. } = room.renew(1) else {
            panic!("ended at {:?}", room.clock);
        };
        assert!(expires >= ends);
        ends = expires;
        room.clock = room.clock + Span::from_secs(100);
    }
    assert_eq!(ends, START + Span::from_secs(700));
    room.clock = ends + EXPIRY_GRACE;
    assert_eq!(room.renew(1), Reply::Over);
    // The visitor lines up again like anybody else.
    let reply = room.claim(1);
    assert!(matches!(reply, Reply::Admitted { number, .. } if number.get() == 2));
}
