//! A pre-queue and its draw, through the ledger: who is called when, and what survives a crash.

use std::collections::{BTreeMap, BTreeSet};

use super::*;
use crate::room::ledger::journal::{self, Row};
use crate::room::message::{Message, Reply, Request};
use crate::room::number::{Incarnation, TicketId, TicketNumber};
use crate::room::policy::{Admits, Policy};
use crate::room::seed::Seed;
use crate::room::snapshot::Snapshot;

const BIRTH: Instant = Instant::from_secs(1_800_000_000);
const START: Instant = Instant::from_secs(1_800_000_600);
const SEED: Seed = Seed::new([7; 32]);
const EVENT: [u8; 16] = [1; 16];

fn policy(total: u32) -> Policy {
    Policy::within(total, 1_000_000)
}

fn prequeue(event: [u8; 16], total: u32) -> Policy {
    let start = START;
    Policy {
        admits: Admits::Nobody,
        drawing: Some(Drawing { event, start }),
        ..policy(total)
    }
}

/// A room, what it has stored, and its clock.
struct Room {
    ledger: Ledger,
    checkpoint: Book,
    rows: Vec<Row>,
    now: Instant,
    snapshot: Snapshot,
}

impl Room {
    fn new() -> Self {
        let ledger = Ledger::new(Incarnation::new(BIRTH.as_millis()), SEED, BIRTH);
        Self {
            checkpoint: ledger.book().clone(),
            ledger,
            rows: Vec::new(),
            now: BIRTH,
            snapshot: Snapshot::default(),
        }
    }

    fn batch(&mut self, policy: &Policy, messages: Vec<Message>, polled: Vec<u64>) -> Vec<Reply> {
        let request = Request {
            version: 1,
            messages,
            polled: polled.into_iter().map(number).collect(),
            ..Request::default()
        };
        let mut batch = self.ledger.batch(self.now, policy, &[request]);
        self.rows.extend(batch.row);
        let response = batch.responses.remove(0);
        self.snapshot = response.snapshot.as_deref().cloned().unwrap();
        response.replies
    }

    /// So many newcomers come, all with a cookie; the number of the first of them.
    fn come(&mut self, policy: &Policy, count: u64) -> u64 {
        let first = self.ledger.book().issued + 1;
        let arrivals = (first..first + count).map(|ticket| Message::Arrive {
            ticket: TicketId::new(ticket),
            returning: true,
        });
        self.batch(policy, arrivals.collect(), Vec::new());
        first
    }

    fn claim(&mut self, policy: &Policy, value: u64) -> Reply {
        let claim = Message::Claim {
            number: number(value),
            incarnation: self.snapshot.incarnation,
            last_poll: self.now,
            joined: None,
        };
        self.batch(policy, vec![claim], Vec::new())[0]
    }

    fn leave(&mut self, policy: &Policy, value: u64) {
        let leave = Message::Leave {
            number: number(value),
            incarnation: self.snapshot.incarnation,
            revoked: false,
        };
        self.batch(policy, vec![leave], Vec::new());
    }

    fn pass(&mut self, policy: &Policy, secs: u64) {
        self.now = self.now + Span::from_secs(secs);
        self.batch(policy, Vec::new(), Vec::new());
    }

    /// The object dies and is recovered from what was stored.
    fn crash(&mut self) {
        let stored = journal::encode_book(&self.checkpoint).unwrap();
        let checkpoint = journal::decode_book(&stored, Seed::new([0; 32])).unwrap();
        let rows: Vec<Row> = self
            .rows
            .iter()
            .map(|row| journal::decode_row(&journal::encode_row(row).unwrap()).unwrap())
            .collect();
        self.ledger = Ledger::recover(checkpoint, rows, self.now);
    }

    /// Everybody polls; who is called claims. The numbers let in, in the order of their claims.
    fn everybody_polls(&mut self, policy: &Policy, numbers: &[u64]) -> Vec<u64> {
        self.batch(policy, Vec::new(), numbers.to_vec());
        let snapshot = self.snapshot.clone();
        let called = numbers.iter().filter(|n| snapshot.is_called(number(**n)));
        let called: Vec<u64> = called.copied().collect();
        let admitted = called.into_iter().filter(|value| {
            matches!(self.claim(policy, *value), Reply::Admitted { number, .. } if number.get() == *value)
        });
        admitted.collect()
    }
}

fn number(value: u64) -> TicketNumber {
    TicketNumber::new(value).unwrap()
}

/// Two wait since before the pre-queue, 30 come in it, 5 after the start, on a full room.
fn drawn() -> (Room, Draw) {
    let mut room = Room::new();
    room.come(&policy(1), 3);
    room.pass(&prequeue(EVENT, 1), 1);
    room.come(&prequeue(EVENT, 1), 30);
    room.pass(&policy(1), 1);
    room.come(&policy(1), 5);
    let draw = room.snapshot.draws.last().unwrap().clone();
    (room, draw)
}

#[test]
fn a_pre_queue_is_announced_and_the_draw_shows_the_key_that_was_announced() {
    let mut room = Room::new();
    room.come(&policy(1), 3);
    room.pass(&prequeue(EVENT, 1), 1);
    let announced = room.snapshot.announced.clone().unwrap();
    assert_eq!((announced.first, announced.start), (4, START));
    for _ in 0..30 {
        room.come(&prequeue(EVENT, 1), 1);
        assert_eq!(room.snapshot.announced.as_ref(), Some(&announced));
        assert!(room.snapshot.draws.is_empty(), "the key stays secret");
        room.crash();
    }
    room.pass(&policy(1), 1);
    let draw = room.snapshot.draws.last().unwrap();
    assert_eq!((draw.first, draw.count, draw.start), (4, 30, START));
    assert_eq!(draw.key.commitment(), announced.commitment);
    assert_eq!(room.snapshot.announced, None);
}

#[test]
fn a_key_that_was_changed_after_it_was_announced_does_not_fit() {
    let mut room = Room::new();
    room.pass(&prequeue(EVENT, 1), 1);
    let announced = room.snapshot.announced.clone().unwrap();
    room.come(&prequeue(EVENT, 1), 10);
    // Somebody swaps the key in the storage.
    for row in &mut room.rows {
        for effect in &mut row.effects {
            if let Effect::DrawAnnounced { key, .. } = effect {
                *key = DrawKey::new([66; 32]);
            }
        }
    }
    room.crash();
    room.pass(&prequeue(EVENT, 1), 1);
    let shown = room.snapshot.announced.as_ref().unwrap();
    assert_ne!(
        shown.commitment, announced.commitment,
        "seen before the draw"
    );
    room.pass(&policy(1), 1);
    let draw = room.snapshot.draws.last().unwrap();
    assert_ne!(draw.key.commitment(), announced.commitment, "and after it");
}

#[test]
fn nobody_is_called_or_let_in_before_the_start() {
    let mut room = Room::new();
    room.pass(&prequeue(EVENT, 100), 1);
    room.come(&prequeue(EVENT, 100), 20);
    let everybody: Vec<u64> = (1..=20).collect();
    for _ in 0..30 {
        room.now = room.now + Span::from_secs(20);
        let admitted = room.everybody_polls(&prequeue(EVENT, 100), &everybody);
        assert_eq!((admitted.len(), room.snapshot.serving), (0, 0));
    }
    // Even if the operator's settings contradict each other.
    let open = Policy {
        admits: Admits::InOrder,
        ..prequeue(EVENT, 100)
    };
    room.pass(&open, 1);
    assert_eq!(room.snapshot.serving, 0);
    let admitted = room.everybody_polls(&policy(100), &everybody);
    assert_eq!(admitted.len(), 20);
}

#[test]
fn those_before_stay_ahead_the_drawn_follow_in_their_order_and_later_ones_are_behind() {
    let (mut room, draw) = drawn();
    let everybody: Vec<u64> = (2..=38).collect();
    // One by one: each leaves the site before the next is let in.
    let mut order = Vec::new();
    let mut inside = 1;
    while order.len() < everybody.len() {
        room.leave(&policy(1), inside);
        let admitted = room.everybody_polls(&policy(1), &everybody);
        assert_eq!(admitted.len(), 1, "after {order:?}");
        inside = admitted[0];
        order.push(inside);
    }
    let by_lot = (draw.first..=draw.last()).map(|place| {
        let number = draw.permutation().number(place - draw.first);
        draw.first + number
    });
    let expected: Vec<u64> = (2..=3).chain(by_lot).chain(34..=38).collect();
    assert_eq!(order, expected);
    assert_ne!(order, everybody);
}

#[test]
fn places_are_the_same_at_every_poll_and_after_every_crash() {
    let (mut room, _) = drawn();
    let places = |snapshot: &Snapshot| -> Vec<_> {
        (1..=38)
            .map(|n| {
                (
                    snapshot.draws.place_of(number(n)),
                    snapshot.users_ahead(number(n)),
                )
            })
            .collect()
    };
    let first = places(&room.snapshot);
    let taken: BTreeSet<_> = first.iter().map(|(place, _)| place).collect();
    assert_eq!(taken.len(), 38, "everybody has a place of their own");
    for _ in 0..5 {
        room.crash();
        room.batch(&policy(1), Vec::new(), (2..=38).collect());
        assert_eq!(places(&room.snapshot), first);
    }
}

#[test]
fn who_left_the_pre_queue_or_stopped_polling_is_not_ahead_of_the_drawn() {
    let (crashes, quiet) = (true, false);
    for crash in [crashes, quiet] {
        let mut room = Room::new();
        room.come(&policy(1), 1);
        room.pass(&prequeue(EVENT, 1), 1);
        room.come(&prequeue(EVENT, 1), 40);
        for value in (2..=41).step_by(2) {
            room.leave(&prequeue(EVENT, 1), value);
        }
        let polls: Vec<u64> = (3..=41).step_by(2).filter(|n| *n != 7).collect();
        for _ in 0..8 {
            room.now = room.now + Span::from_secs(20);
            room.batch(&prequeue(EVENT, 1), Vec::new(), polls.clone());
        }
        room.pass(&policy(1), 1);
        if crash {
            // After a crash everybody who has not left counts as present.
            room.crash();
            room.pass(&policy(1), 1);
        }
        let snapshot = room.snapshot.clone();
        let ahead: BTreeMap<u64, u64> = polls
            .iter()
            .map(|n| (snapshot.users_ahead(number(*n)), *n))
            .collect();
        let present = if crash { 20 } else { 19 };
        assert_eq!(ahead.len(), 19, "each has a place");
        assert!(ahead.keys().all(|ahead| *ahead < present), "{ahead:?}");
        assert_eq!(snapshot.queued as u64, present);
        // Who left has no way back in.
        room.leave(&policy(1), 1);
        let reply = room.claim(&policy(1), 2);
        assert!(matches!(reply, Reply::Waiting { number, .. } if number.get() == 42));
    }
}

#[test]
fn the_standstill_before_the_start_says_nothing_of_how_fast_the_line_moves() {
    let mut room = Room::new();
    room.pass(&prequeue(EVENT, 1_000), 1);
    room.come(&prequeue(EVENT, 1_000), 300);
    let everybody: Vec<u64> = (1..=300).collect();
    for _ in 0..15 {
        room.now = room.now + Span::from_secs(20);
        room.batch(&prequeue(EVENT, 1_000), Vec::new(), everybody.clone());
    }
    let open = Policy {
        new_users_per_minute: 60,
        ..policy(1_000)
    };
    for _ in 0..15 {
        room.now = room.now + Span::from_secs(2);
        room.everybody_polls(&open, &everybody);
    }
    let rate = room.snapshot.admissions_per_minute.unwrap();
    assert!((60.0..=130.0).contains(&rate), "{rate}");
}

#[test]
fn a_draw_that_was_cut_short_is_held_and_another_pre_queue_has_another_key() {
    let mut room = Room::new();
    room.come(&policy(1), 1);
    room.pass(&prequeue(EVENT, 1), 1);
    let first = room.snapshot.announced.clone().unwrap();
    room.come(&prequeue(EVENT, 1), 9);
    // The operator suspends the event, and thinks better of it.
    room.pass(&policy(1), 1);
    room.pass(&prequeue(EVENT, 1), 1);
    let second = room.snapshot.announced.clone().unwrap();
    assert_eq!((first.first, second.first), (2, 11));
    assert_ne!(first.commitment, second.commitment);
    assert_eq!(room.snapshot.draws.last().unwrap().count, 9);
    room.come(&prequeue(EVENT, 1), 9);
    // Another event takes its place without a break.
    room.pass(&prequeue([2; 16], 1), 1);
    assert_eq!(room.snapshot.announced.as_ref().unwrap().first, 20);
    assert_eq!(room.snapshot.draws.last().unwrap().first, 11);
    let places: BTreeSet<_> = (1..=19)
        .map(|n| room.snapshot.draws.place_of(number(n)))
        .collect();
    assert_eq!(places.len(), 19);
    assert!(places.iter().all(|place| (1..=19).contains(&place.get())));
}

#[test]
fn a_pre_queue_of_nobody_leaves_nothing() {
    let mut room = Room::new();
    room.pass(&prequeue(EVENT, 1), 1);
    room.pass(&policy(1), 1);
    assert!(room.snapshot.draws.is_empty());
    assert_eq!(room.snapshot.announced, None);
}

#[test]
fn a_draw_is_told_for_a_day_and_as_long_as_a_place_of_it_is_in_line() {
    let (mut room, _) = drawn();
    let hours = |room: &mut Room, hours: u64| {
        for _ in 0..hours * 60 {
            room.now = room.now + Span::from_secs(60);
            room.batch(&policy(1), Vec::new(), vec![33]);
        }
    };
    // Nobody comes when called, so all places lapse.
    hours(&mut room, 23);
    assert!(!room.snapshot.draws.is_empty());
    hours(&mut room, 2);
    assert!(room.snapshot.draws.is_empty());
}
