use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;
use crate::room::ledger::{EXPIRY_GRACE, PROVISIONAL};
use crate::room::message::{Message, Request};
use crate::room::policy::Admits;
use crate::room::seed::Seed;
use crate::room::snapshot::Snapshot;
use crate::site::room::FirstPass;

const START: Instant = Instant::from_secs(1_800_000_000);
const SESSION: Span = Span::from_secs(60);

fn policy(total: u32, rate: u32) -> Policy {
    Policy {
        session: SESSION,
        ..Policy::within(total, rate)
    }
}

/// A room and an edge.
struct World {
    ledger: Ledger,
    now: Instant,
    policy: Policy,
    snapshot: Snapshot,
    /// When each pass was made, and when it ends.
    passes: BTreeMap<TicketNumber, (Instant, Instant)>,
    /// What the edge holds: the id, the numbers left, their end, and how many are used.
    held: Vec<(TicketId, Vec<TicketNumber>, Instant, Instant, u32)>,
    next_id: u64,
}

impl World {
    fn new(policy: Policy) -> Self {
        Self {
            ledger: Ledger::new(Incarnation::new(7), Seed::new([7; 32]), START),
            now: START,
            policy,
            snapshot: Snapshot::default(),
            passes: BTreeMap::new(),
            held: Vec::new(),
            next_id: 1,
        }
    }

    fn send(&mut self, message: Message) -> Reply {
        let batch = self
            .ledger
            .batch(self.now, &self.policy, &[Request::of(message)]);
        self.snapshot = batch.responses[0].snapshot.as_deref().unwrap().clone();
        batch.responses[0].replies[0]
    }

    fn reserve(&mut self, count: u32) -> Reply {
        let id = TicketId::new(self.next_id);
        self.next_id += 1;
        let message = Message::Reserve {
            reservation: id,
            count,
        };
        let reply = self.send(message);
        assert_eq!(self.send(message), reply, "sent twice");
        if let Reply::Reserved {
            first,
            count,
            expires,
            ..
        } = reply
        {
            let numbers = (first.get()..).filter_map(TicketNumber::new);
            let numbers = numbers.take(count as usize).collect();
            let until = self.now + RESERVED_FOR;
            self.held.push((id, numbers, expires, until, 0));
        }
        reply
    }

    fn use_one(&mut self) {
        let now = self.now;
        for (_, numbers, expires, until, used) in &mut self.held {
            if !numbers.is_empty() && now <= *until {
                let made = self.passes.insert(numbers.remove(0), (now, *expires));
                assert_eq!(made, None, "no number twice");
                *used += 1;
                return;
            }
        }
    }

    fn give_back(&mut self) {
        if let Some((reservation, _, _, _, used)) = self.held.pop() {
            let message = Message::Return {
                reservation,
                incarnation: Incarnation::new(7),
                used,
            };
            self.send(message);
            let active = self.snapshot.active;
            self.send(message);
            assert_eq!(self.snapshot.active, active, "given back twice");
        }
    }

    fn arrive(&mut self) -> Reply {
        let ticket = TicketId::new(self.next_id);
        self.next_id += 1;
        let reply = self.send(Message::Arrive {
            ticket,
            returning: false,
        });
        if let Reply::Admitted {
            number, expires, ..
        } = reply
        {
            let made = self.passes.insert(number, (self.now, expires));
            assert_eq!(made, None, "no number twice");
        }
        reply
    }

    fn good(&self) -> usize {
        let is_good = |(_, expires): &&(Instant, Instant)| *expires + EXPIRY_GRACE > self.now;
        self.passes.values().filter(is_good).count()
    }
}

proptest! {
    #[test]
    fn reservations_break_no_limit(
        total in 40_u32..200,
        rate in 40_u32..400,
        steps in prop::collection::vec((0_u8..12, 1_u32..64, 0_u64..1_500), 1..200),
    ) {
        let mut world = World::new(policy(total, rate));
        for (step, count, millis) in steps {
            match step {
                0..=1 => { world.reserve(count); }
                2..=6 => for _ in 0..count { world.use_one(); },
                7 => world.give_back(),
                8 => { world.arrive(); }
                9 => { world.held.pop(); }
                _ => world.now = world.now + Span::from_millis(millis * 10),
            }
            prop_assert!(world.good() <= total as usize);
            prop_assert!(world.snapshot.active <= total);
        }
        let made: Vec<Instant> = world.passes.values().map(|(made, _)| *made).collect();
        for from in &made {
            let within = made.iter().filter(|made| *made >= from && **made < *from + Span::from_secs(60));
            prop_assert!(within.count() <= rate as usize);
        }
    }
}

#[test]
fn what_is_not_used_comes_back_and_what_is_used_stays() {
    let mut world = World::new(policy(100, 1_000));
    world.arrive();
    assert_eq!(world.snapshot.spare, 24);
    let reply = world.reserve(1_000);
    assert!(
        matches!(reply, Reply::Reserved { first, count: 24, .. } if first.get() == 2),
        "{reply:?}"
    );
    assert_eq!((world.snapshot.active, world.snapshot.issued), (25, 25));
    assert_eq!(world.reserve(10), Reply::NotReserved, "a quarter is open");
    for _ in 0..5 {
        world.use_one();
    }
    world.give_back();
    assert_eq!((world.snapshot.active, world.good()), (6, 6));
    assert!(
        world.snapshot.revoked.is_empty(),
        "there is nothing to refuse"
    );
    assert!(!world.snapshot.queueing);
}

#[test]
fn slots_of_an_edge_that_died_come_back_when_their_passes_would_have_ended() {
    let mut world = World::new(policy(100, 1_000));
    world.reserve(20);
    world.now = world.now + SESSION + EXPIRY_GRACE - Span::from_millis(1);
    world.arrive();
    assert_eq!(world.snapshot.active, 21);
    world.now = world.now + Span::from_millis(1);
    world.arrive();
    assert_eq!(world.snapshot.active, 2);
}

#[test]
fn a_room_with_a_line_or_few_slots_has_nothing_to_spare() {
    let mut world = World::new(policy(16, 1_000));
    world.arrive();
    assert_eq!(
        (world.snapshot.spare, world.reserve(8)),
        (0, Reply::NotReserved)
    );
    let mut world = World::new(policy(100, 1_000));
    world.policy.admits = Admits::Nobody;
    world.arrive();
    assert_eq!(
        (world.snapshot.spare, world.reserve(8)),
        (0, Reply::NotReserved)
    );
}

#[test]
fn reserved_passes_are_provisional_when_first_passes_are() {
    let mut world = World::new(Policy {
        first_pass: FirstPass::Provisional,
        session: Span::from_secs(300),
        ..policy(100, 1_000)
    });
    let expires = START + PROVISIONAL;
    assert!(matches!(
        world.reserve(8),
        Reply::Reserved { provisional: true, expires: ends, .. } if ends == expires
    ));
}
