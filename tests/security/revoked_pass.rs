//! Attack: a visitor whose session was ended (by the origin's command, by leaving, by an operator)
//! has kept a copy of the pass, and shows it again wherever it may still be good.
//!
//! Defence: the room tells every edge of ended sessions until their passes have run out, renews none
//! of them, and lets their number in no more. Of more than it can tell, the slot stays taken.

use anteroom::gate::memory::Memory;
use anteroom::gate::token::{Standing, Token};
use anteroom::gate::visitor::Visitor;
use anteroom::room::ledger::Ledger;
use anteroom::room::ledger::book::MOST_REVOKED;
use anteroom::room::message::{Message, Reply, Request, Response};
use anteroom::room::number::{Incarnation, TicketId, TicketNumber};
use anteroom::room::policy::Policy;
use anteroom::room::seed::Seed;
use anteroom::room::snapshot::Snapshot;
use anteroom::time::{Instant, Span};

use crate::support::{NOW, declared, keys};

const LIFE: Incarnation = Incarnation::new(1);

struct Room {
    ledger: Ledger,
    policy: Policy,
    now: Instant,
}

impl Room {
    fn of(total: u32) -> Self {
        Self {
            ledger: Ledger::new(LIFE, Seed::new([0; 32]), NOW),
            policy: Policy::within(total, 1_000_000),
            now: NOW,
        }
    }

    fn hear(&mut self, request: Request) -> Response {
        let mut batch = self.ledger.batch(self.now, &self.policy, &[request]);
        batch.responses.remove(0)
    }

    fn ask(&mut self, message: Message) -> Reply {
        self.hear(Request::of(message)).replies.remove(0)
    }

    /// A newcomer; the pass, if they are let in.
    fn comes(&mut self, ticket: u64) -> Option<String> {
        let reply = self.ask(Message::Arrive {
            ticket: TicketId::new(ticket),
            returning: false,
        });
        pass(reply, self.now)
    }

    /// What an edge knows that asks now.
    fn tell(&mut self, edge: &mut Memory) {
        let report = edge.start_refresh(self.now, true).unwrap();
        let snapshot = self.hear(report).snapshot.unwrap();
        edge.learn(snapshot, self.now);
    }
}

fn pass(reply: Reply, issued: Instant) -> Option<String> {
    let Reply::Admitted {
        number,
        expires,
        provisional,
    } = reply
    else {
        return None;
    };
    let standing = Standing::Admitted {
        number,
        incarnation: LIFE,
        issued,
        expires,
        provisional,
    };
    let token = Token {
        standing,
        binding: None,
        embedded: false,
    };
    Some(keys().sign(&declared().id, &token))
}

/// Whether the edge lets the pass through.
fn opens(pass: &str, snapshot: Option<&Snapshot>, now: Instant) -> bool {
    let room = declared();
    let cookies = format!("{}={pass}", room.cookie.name);
    let visitor = Visitor::recognize(&keys(), &room, Some(&cookies), None, now);
    visitor.checked(snapshot).token.is_some()
}

fn number(value: u64) -> TicketNumber {
    TicketNumber::new(value).unwrap()
}

/// The ways in which a session ends before its pass.
fn ends() -> [Message; 3] {
    let number = number(1);
    let leave = |revoked| Message::Leave {
        number,
        incarnation: LIFE,
        revoked,
    };
    [leave(true), leave(false), Message::End { number }]
}

#[test]
fn shown_again_at_any_edge_that_has_heard_of_it() {
    for end in ends() {
        let mut room = Room::of(1);
        let (mut here, mut there) = (Memory::default(), Memory::default());
        let kept = room.comes(1).unwrap();
        room.tell(&mut here);
        room.tell(&mut there);
        assert!(opens(&kept, here.snapshot().map(AsRef::as_ref), room.now));
        room.ask(end);
        assert!(room.comes(2).is_some(), "the slot is another's: {end:?}");
        // Every edge with traffic asks for a snapshot when its own is a second old.
        room.now = room.now + Span::from_secs(1);
        room.tell(&mut here);
        room.tell(&mut there);
        for edge in [&here, &there] {
            let known = edge.snapshot().map(AsRef::as_ref);
            assert!(!opens(&kept, known, room.now), "{end:?}");
        }
        // To the last second of the pass, and after an eviction too.
        room.now = NOW + Span::from_secs(299);
        let ledger = Ledger::recover(room.ledger.book().clone(), [], room.now);
        room.ledger = ledger;
        room.tell(&mut here);
        assert!(!opens(&kept, here.snapshot().map(AsRef::as_ref), room.now));
    }
}

#[test]
fn renewed_before_the_end_or_asked_to_be_renewed_after_it() {
    for end in ends() {
        let mut room = Room::of(1);
        room.comes(1).unwrap();
        room.now = room.now + Span::from_secs(200);
        let renew = Message::Renew {
            number: number(1),
            incarnation: LIFE,
        };
        let renewed = pass(room.ask(renew), room.now).unwrap();
        room.ask(end);
        assert_eq!(room.ask(renew), Reply::Over);
        room.now = room.now + Span::from_secs(250);
        let mut edge = Memory::default();
        room.tell(&mut edge);
        assert!(opens(&renewed, None, room.now), "it has not expired");
        assert!(!opens(
            &renewed,
            edge.snapshot().map(AsRef::as_ref),
            room.now
        ));
    }
}

#[test]
fn exchanged_for_the_place_that_it_once_was() {
    for end in ends() {
        let mut room = Room::of(1);
        room.comes(1).unwrap();
        room.ask(end);
        room.comes(2).unwrap();
        let claim = Message::Claim {
            number: number(1),
            incarnation: LIFE,
            last_poll: room.now,
            joined: Some(room.now),
        };
        let reply = room.ask(claim);
        assert!(
            matches!(reply, Reply::Waiting { number, .. } if number.get() == 3),
            "back to the end of the line: {reply:?}"
        );
    }
}

#[test]
fn many_at_once_so_that_the_list_overflows() {
    let total = MOST_REVOKED + 100;
    let mut room = Room::of(total as u32);
    let kept: Vec<_> = (1..=total as u64)
        .filter_map(|ticket| room.comes(ticket))
        .collect();
    assert_eq!(kept.len(), total);
    for value in 1..=total as u64 {
        room.ask(Message::End {
            number: number(value),
        });
    }
    let new = (1..=total as u64).filter(|ticket| room.comes(10_000 + ticket).is_some());
    let new = new.count();
    let mut edge = Memory::default();
    room.tell(&mut edge);
    let known = edge.snapshot().map(AsRef::as_ref);
    let good = kept.iter().filter(|pass| opens(pass, known, room.now));
    let good = good.count();
    assert_eq!(
        (good, new),
        (100, MOST_REVOKED),
        "as many as there are slots"
    );
}
