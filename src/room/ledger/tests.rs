//! The ledger's promises, over arbitrary histories.
//!
//! A history is a list of steps: visitors do what visitors do, edges repeat messages, time passes or
//! steps back, the operator changes limits, the object dies and is recovered from what was stored.
//! After every batch it is judged by a [`Reference`], which knows nothing of the ledger's data
//! structures.

mod figures;
mod methods;
mod order;
mod reference;
mod revocation;
mod sessions;
mod stored;

use proptest::prelude::*;

use super::book::Standing;
use super::handle::{LEAST_RENEWAL, replacement_ticket};
use super::*;
use crate::room::message::Message;
use crate::room::number::{TicketId, TicketNumber};
use crate::room::policy::Admits;
use crate::room::snapshot::Snapshot;
use crate::site::room::FirstPass;
use reference::Reference;

const START: Instant = Instant::from_secs(1_800_000_000);
const SEED: Seed = Seed::new([7; 32]);

pub(super) fn policy(total: u32, rate: u32) -> Policy {
    Policy::within(total, rate)
}

fn number(value: u64) -> TicketNumber {
    TicketNumber::new(value).unwrap()
}

/// A room with its storage, a clock, and somebody who judges it.
struct Watched {
    ledger: Ledger,
    checkpoint: Book,
    rows: Vec<Row>,
    policy: Policy,
    clock: Instant,
    snapshot: Snapshot,
    reference: Reference,
}

impl Watched {
    fn new(policy: Policy) -> Self {
        let incarnation = Incarnation::new(START.as_millis());
        let ledger = Ledger::new(incarnation, SEED, START);
        Self {
            checkpoint: ledger.book().clone(),
            ledger,
            rows: Vec::new(),
            policy,
            clock: START,
            snapshot: Snapshot::default(),
            reference: Reference::new(incarnation, START),
        }
    }

    /// Time passes, and the room hears of edges all the while.
    fn pass_time(&mut self, secs: u64) {
        let end = self.clock + Span::from_secs(secs);
        while self.clock < end {
            self.clock = end.min(self.clock + Span::from_secs(10));
            self.look();
        }
    }

    /// An edge asks for a snapshot alone.
    fn look(&mut self) {
        self.report(&Request::default());
    }

    /// The same, and it tells of polls.
    fn report(&mut self, report: &Request) {
        let requests = std::slice::from_ref(report);
        let batch = self.ledger.batch(self.clock, &self.policy, requests);
        self.settle(&[], batch);
    }

    fn send(&mut self, messages: &[Message]) -> Vec<Reply> {
        let requests: Vec<_> = messages
            .iter()
            .map(|message| Request::of(*message))
            .collect();
        let batch = self.ledger.batch(self.clock, &self.policy, &requests);
        assert_eq!(batch.responses.len(), messages.len());
        self.settle(messages, batch)
    }

    /// The batch is stored and answered.
    fn settle(&mut self, messages: &[Message], batch: Batch) -> Vec<Reply> {
        self.rows.extend(batch.row);
        let replies: Vec<Reply> = batch
            .responses
            .iter()
            .flat_map(|response| response.replies.clone())
            .collect();
        if let Some(response) = batch.responses.last() {
            let (new, old) = (response.snapshot.as_deref().unwrap(), &self.snapshot);
            assert!(!old.supersedes(new), "{new:?} after {old:?}");
            self.reference.hear(&self.policy, messages, &replies, new);
            self.reference.compare_standings(self.ledger.book(), new);
            self.snapshot = new.clone();
        }
        replies
    }

    /// The object dies and is read from its storage.
    fn crash(&mut self) {
        let rows = self
            .rows
            .iter()
            .map(|row| journal::decode_row(&journal::encode_row(row).unwrap()).unwrap());
        let book =
            journal::decode_book(&journal::encode_book(&self.checkpoint).unwrap(), SEED).unwrap();
        self.ledger = Ledger::recover(book, rows.collect::<Vec<_>>(), self.clock);
        self.reference.recovered(self.ledger.book().time);
        self.look();
    }

    /// The object dies before the row of these messages is durable. Nobody is answered.
    fn crash_while_storing(&mut self, messages: &[Message]) {
        let requests: Vec<_> = messages
            .iter()
            .map(|message| Request::of(*message))
            .collect();
        self.ledger.batch(self.clock, &self.policy, &requests);
        self.crash();
    }

    fn store_checkpoint(&mut self) {
        self.checkpoint = self.ledger.book().clone();
        self.rows.clear();
    }

    fn incarnation(&self) -> Incarnation {
        Incarnation::new(START.as_millis())
    }

    fn session_of(&self, value: u64) -> Standing {
        self.ledger.book().standing(number(value))
    }

    fn arrive(&mut self, ticket: u64) -> Reply {
        self.send(&[Message::Arrive {
            ticket: TicketId::new(ticket),
            returning: true,
        }])[0]
    }

    fn claim(&mut self, value: u64) -> Reply {
        let (incarnation, last_poll) = (self.incarnation(), self.clock - Span::from_secs(2));
        self.send(&[Message::Claim {
            number: number(value),
            incarnation,
            last_poll,
            joined: None,
        }])[0]
    }

    fn renew(&mut self, value: u64) -> Reply {
        let incarnation = self.incarnation();
        self.send(&[Message::Renew {
            number: number(value),
            incarnation,
        }])[0]
    }

    fn leave(&mut self, value: u64) -> Reply {
        let incarnation = self.incarnation();
        self.send(&[Message::Leave {
            number: number(value),
            incarnation,
            revoked: false,
        }])[0]
    }
}

fn is_admitted(reply: Reply) -> bool {
    matches!(reply, Reply::Admitted { .. })
}

#[derive(Clone, Debug)]
enum Step {
    Batch(Vec<Message>),
    Pass(u64),
    SetBack(u64),
    Crash,
    CrashWhileStoring(Vec<Message>),
    Checkpoint,
    Limits(u32, u32),
    Admits(Admits),
}

fn message() -> impl Strategy<Value = Message> {
    let incarnation = prop_oneof![
        20 => Just(Incarnation::new(START.as_millis())),
        1 => Just(Incarnation::new(7)),
    ];
    let named = (1_u64..30, incarnation).prop_map(|(value, life)| (number(value), life));
    prop_oneof![
        4 => (0_u64..40, any::<bool>()).prop_map(|(ticket, returning)| Message::Arrive {
            ticket: TicketId::new(ticket),
            returning,
        }),
        6 => (named.clone(), 0_u64..200).prop_map(|((number, incarnation), ago)| Message::Claim {
            number,
            incarnation,
            last_poll: START + Span::from_secs(ago),
            joined: None,
        }),
        3 => named.clone().prop_map(|(number, incarnation)| Message::Renew { number, incarnation }),
        1 => (named.clone(), any::<bool>()).prop_map(|((number, incarnation), revoked)| {
            Message::Leave { number, incarnation, revoked }
        }),
        1 => named.prop_map(|(number, _)| Message::End { number }),
        1 => (1_u64..30).prop_map(|value| Message::Find { number: number(value) }),
    ]
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        12 => prop::collection::vec(message(), 1..5).prop_map(Step::Batch),
        5 => prop_oneof![8 => 1_u64..3_000, 2 => 3_000_u64..70_000, 1 => 70_000_u64..700_000]
            .prop_map(Step::Pass),
        1 => (1_u64..100_000).prop_map(Step::SetBack),
        2 => Just(Step::Crash),
        1 => prop::collection::vec(message(), 1..5).prop_map(Step::CrashWhileStoring),
        1 => Just(Step::Checkpoint),
        1 => (1_u32..6, 1_u32..6).prop_map(|(total, rate)| Step::Limits(total, rate)),
        1 => prop_oneof![
            4 => Just(Admits::InOrder), 4 => Just(Admits::AtRandom), 1 => Just(Admits::Everybody), 1 => Just(Admits::Nobody),
        ].prop_map(Step::Admits),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: if cfg!(debug_assertions) { 400 } else { 20_000 },
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn no_history_breaks_a_promise(
        total in 1_u32..6, rate in 1_u32..6, steps in prop::collection::vec(step(), 1..120),
    ) {
        let mut room = Watched::new(policy(total, rate));
        for step in steps {
            match step {
                Step::Batch(messages) => {
                    let issued = room.snapshot.issued;
                    let first = room.send(&messages);
                    // Sent again, a message changes nothing and gets an answer of the same meaning:
                    // unless somebody left in between, which frees slots, or a number was named
                    // before it was given, which no honest edge can do.
                    let given = room.snapshot.issued;
                    let may_differ = messages.iter().any(|message| match message {
                        Message::Leave { .. } | Message::End { .. } => true,
                        Message::Claim { number, .. } => number.get() > issued,
                        _ => false,
                    });
                    let active = room.snapshot.active;
                    let again = room.send(&messages);
                    if !may_differ {
                        let lost = first.iter().zip(&again).find(|(first, again)| {
                            is_admitted(**first) && !is_admitted(**again)
                        });
                        prop_assert_eq!(lost, None);
                        prop_assert!(room.snapshot.active >= active);
                        prop_assert!(room.snapshot.issued == given);
                    }
                }
                Step::Pass(millis) => room.clock = room.clock + Span::from_millis(millis),
                Step::SetBack(millis) => room.clock = room.clock - Span::from_millis(millis),
                Step::Crash => room.crash(),
                Step::CrashWhileStoring(messages) => room.crash_while_storing(&messages),
                Step::Checkpoint => room.store_checkpoint(),
                Step::Limits(total, rate) => {
                    room.policy.total_active_users = total;
                    room.policy.new_users_per_minute = rate;
                }
                Step::Admits(admits) => room.policy.admits = admits,
            }
        }
    }
}

/// A drawn visitor comes before others who wait: nobody before them was called by that, and one of those who
/// then leaves is passed over at the end of the same batch.
#[test]
fn who_is_drawn_calls_nobody_before_them() {
    let claim = |value| Message::Claim {
        number: number(value),
        incarnation: Incarnation::new(START.as_millis()),
        last_poll: START,
        joined: None,
    };
    let arrive = |ticket| Message::Arrive {
        ticket: TicketId::new(ticket),
        returning: true,
    };
    let leave = Message::Leave {
        number: number(6),
        incarnation: Incarnation::new(START.as_millis()),
        revoked: false,
    };
    let end = Message::End { number: number(3) };
    let mut room = Watched::new(policy(1, 1));
    let twice = |room: &mut Watched, messages: &[Message]| {
        room.send(messages);
        room.send(messages);
    };
    twice(&mut room, &[arrive(0), claim(12), claim(3)]);
    twice(&mut room, &[claim(4), claim(5), claim(6)]);
    (
        room.policy.total_active_users,
        room.policy.new_users_per_minute,
    ) = (4, 4);
    twice(&mut room, &[arrive(1)]);
    twice(&mut room, &[arrive(2), arrive(3)]);
    twice(&mut room, &[claim(12)]);
    twice(&mut room, &[arrive(4)]);
    room.policy.admits = Admits::AtRandom;
    twice(&mut room, &[arrive(5)]);
    twice(&mut room, &[claim(4)]);
    room.clock = room.clock + Span::from_secs(50);
    room.crash();
    twice(&mut room, &[arrive(6), claim(13)]);
    twice(&mut room, &[end]);
    twice(&mut room, &[claim(12), claim(6), leave]);
}
