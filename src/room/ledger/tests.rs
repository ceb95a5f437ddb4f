//! The ledger's promises, over arbitrary histories.
//!
//! A history is a list of steps: visitors do what visitors do, edges repeat messages, time passes or
//! steps back, the operator changes limits, the object dies and is recovered from what was stored.
//! After every batch it is judged by a [`Reference`], which knows nothing of the ledger's data
//! structures.

mod figures;
mod methods;
mod reference;
mod revocation;

use proptest::prelude::*;

use super::*;
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
            incarnation
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

#[test]
fn stored_records_keep_their_form() {
    // A running object and its successor must read the same bytes: this pins them.
    let row = Row {
        sequence: 3,
        at: Instant::from_millis(1_000),
        silence: Span::ZERO,
        effects: vec![
            Effect::Issued {
                number: number(7),
                ticket: TicketId::new(0xab),
            },
            Effect::Admitted {
                number: number(7),
                expires: Instant::from_millis(301_000),
                provisional: false,
            },
        ],
    };
    let bytes = journal::encode_row(&row).unwrap();
    let expected = [
        2, 3, 0xe8, 7, 0, 2, 0, 7, 2, b'a', b'b', 3, 7, 0xc8, 0xaf, 0x12, 0,
    ];
    assert_eq!(bytes, expected);
    assert_eq!(journal::decode_row(&bytes), Ok(row));
    let mut newer = bytes.clone();
    newer[0] = 3;
    assert_eq!(
        journal::decode_row(&newer),
        Err(journal::Unreadable::Format(3))
    );
    let mut older = bytes.clone();
    older[0] = 1;
    assert_eq!(journal::decode_row(&older), journal::decode_row(&bytes));
    assert!(matches!(
        journal::decode_row(&bytes[..5]),
        Err(journal::Unreadable::Damaged(_))
    ));
    assert!(matches!(
        journal::decode_row(&[]),
        Err(journal::Unreadable::Damaged(_))
    ));
}

/// A checkpoint as format 1 wrote it: one of three visitors is in, on the one slot there is.
const FORMAT_1: &str = "010b31613331383563353030300180a0f1c2b134030100010180a0f1c2b134e0c783c3b1\
    340000000180a0f1c2b13401010301310180a0f1c2b13401320280a0f1c2b13401330380a0f1c2b1340380a0f1c2b1\
    34013180a0f1c2b134013280a0f1c2b1340133010180a0f1c2b1340000";

#[test]
fn a_checkpoint_of_an_older_format_is_migrated_and_loses_nothing() {
    let digits: Vec<u8> = FORMAT_1
        .bytes()
        .map(|digit| char::from(digit).to_digit(16).unwrap() as u8)
        .collect();
    let bytes: Vec<u8> = digits
        .chunks(2)
        .map(|pair| pair[0] << 4 | pair[1])
        .collect();
    let book = journal::decode_book(&bytes, SEED).unwrap();
    let mut room = Watched::new(policy(1, 10));
    room.send(&[
        Message::Arrive {
            ticket: TicketId::new(1),
            returning: false,
        },
        Message::Arrive {
            ticket: TicketId::new(2),
            returning: true,
        },
        Message::Arrive {
            ticket: TicketId::new(3),
            returning: true,
        },
    ]);
    let today = journal::encode_book(room.ledger.book()).unwrap();
    assert_eq!(journal::encode_book(&book).unwrap(), today);
    let mut newer = today;
    newer[0] = journal::FORMAT + 1;
    assert!(matches!(
        journal::decode_book(&newer, SEED),
        Err(journal::Unreadable::Format(_))
    ));
}

#[test]
fn a_snapshot_is_left_out_for_those_who_know_a_recent_one_until_the_room_queues() {
    let mut room = Watched::new(policy(2, 1_000));
    room.arrive(1);
    let knows = Some(room.snapshot.stamp());
    let mut ask = |ticket, millis| {
        let now = room.clock + Span::from_millis(millis);
        let arrive = Request::of(Message::Arrive {
            ticket: TicketId::new(ticket),
            returning: false,
        });
        let unknowing = arrive.clone();
        let knowing = Request { knows, ..arrive };
        let batch = room.ledger.batch(now, &room.policy, &[knowing, unknowing]);
        assert!(batch.responses[1].snapshot.is_some());
        assert_eq!(batch.responses[0].life(), batch.responses[1].life());
        batch.responses[0].snapshot.is_some()
    };
    assert!(!ask(1, 10));
    assert!(ask(1, 1_000), "theirs is old");
    assert!(ask(2, 20), "now newcomers wait, and every edge is to know");
}
