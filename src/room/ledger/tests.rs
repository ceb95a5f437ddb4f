//! The ledger's promises, over arbitrary histories.
//!
//! A history is a list of steps: visitors do what visitors do, edges repeat messages, time passes or
//! steps back, the operator changes limits, the object dies and is recovered from what was stored.
//! An observer outside the ledger, which sees replies alone and knows nothing of its data
//! structures, checks every promise after every step.

mod methods;

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;

const START: Instant = Instant::from_secs(1_800_000_000);
const SEED: Seed = Seed::new([7; 32]);

pub(super) fn policy(total: u32, rate: u32) -> Policy {
    Policy::within(total, rate)
}

fn number(value: u64) -> TicketNumber {
    TicketNumber::new(value).unwrap()
}

/// A room with its storage, a clock, and somebody who watches.
struct Watched {
    ledger: Ledger,
    checkpoint: Book,
    rows: Vec<Row>,
    policy: Policy,
    clock: Instant,
    last_taken: Instant,
    snapshot: Snapshot,
    /// Every pass ever given: its end, as last told, and whether the visitor has given it up.
    passes: BTreeMap<TicketNumber, (Instant, bool)>,
    grants: Vec<Instant>,
    tickets: BTreeMap<TicketId, TicketNumber>,
    /// Who stands at the door, and when they asked last.
    door: BTreeMap<TicketNumber, Instant>,
}

impl Watched {
    fn new(policy: Policy) -> Self {
        let ledger = Ledger::new(Incarnation::new(START.as_millis()), SEED, START);
        Self {
            checkpoint: ledger.book().clone(),
            ledger,
            rows: Vec::new(),
            policy,
            clock: START,
            last_taken: START,
            snapshot: Snapshot::default(),
            passes: BTreeMap::new(),
            grants: Vec::new(),
            tickets: BTreeMap::new(),
            door: BTreeMap::new(),
        }
    }

    /// Time passes, and the room hears of edges all the while.
    fn pass_time(&mut self, secs: u64) {
        let end = self.clock + Span::from_secs(secs);
        while self.clock < end {
            self.clock = end.min(self.clock + Span::from_secs(10));
            self.ledger
                .batch(self.clock, &self.policy, &[])
                .row
                .into_iter()
                .for_each(|row| {
                    self.rows.push(row);
                });
        }
    }

    fn active(&self, at: Instant) -> usize {
        let taken = |(expires, left): &&(Instant, bool)| !left && *expires + EXPIRY_GRACE > at;
        self.passes.values().filter(taken).count()
    }

    fn send(&mut self, messages: &[Message]) -> Vec<Reply> {
        let requests: Vec<_> = messages
            .iter()
            .map(|message| Request::of(*message))
            .collect();
        let batch = self.ledger.batch(self.clock, &self.policy, &requests);
        self.rows.extend(batch.row);
        assert_eq!(batch.responses.len(), messages.len());
        let replies: Vec<Reply> = batch
            .responses
            .iter()
            .flat_map(|response| response.replies.clone())
            .collect();
        if let Some(response) = batch.responses.last() {
            let (new, old) = (response.snapshot.as_deref().unwrap(), &self.snapshot);
            assert!(!old.supersedes(new), "{new:?} after {old:?}");
            self.snapshot = new.clone();
            self.last_taken = self.snapshot.taken;
        }
        for (message, reply) in messages.iter().zip(&replies) {
            self.observe(*message, *reply);
        }
        if !messages.is_empty() {
            assert_eq!(self.active(self.last_taken), self.snapshot.active as usize);
        }
        replies
    }

    fn observe(&mut self, message: Message, reply: Reply) {
        let now = self.last_taken;
        if let Message::Leave {
            number,
            incarnation,
        } = message
            && incarnation == self.incarnation()
        {
            self.door.remove(&number);
            if let Some((_, left)) = self.passes.get_mut(&number) {
                *left = true;
            }
        }
        if let Message::Arrive { ticket, .. } = message
            && let Reply::Admitted { number, .. } | Reply::Waiting { number, .. } = reply
            && let Some(before) = self.tickets.insert(ticket, number)
        {
            let over = self.passes.get(&before).is_some_and(|(_, left)| *left);
            assert!(
                before == number || over || number > before,
                "a ticket has two places"
            );
        }
        match reply {
            Reply::Admitted {
                number, expires, ..
            } => {
                let held = self.passes.get(&number).copied();
                let is_grant = held.is_none_or(|(end, _)| end + EXPIRY_GRACE <= now);
                if is_grant {
                    assert!(held.is_none(), "{number} was admitted twice");
                    self.check_grant(number, now);
                }
                self.passes.insert(number, (expires, false));
                self.door.remove(&number);
            }
            Reply::AtDoor { number, .. } => {
                assert!(!self.passes.contains_key(&number));
                self.door.insert(number, now);
            }
            Reply::Waiting { number, .. } => assert!(!self.passes.contains_key(&number)),
            Reply::ComeBack
            | Reply::Over
            | Reply::NotRenewed
            | Reply::Reserved { .. }
            | Reply::NotReserved => {}
        }
    }

    fn check_grant(&mut self, number: TicketNumber, now: Instant) {
        assert!(self.snapshot.is_called(number), "{number} was not called");
        if matches!(self.policy.admits, Admits::InOrder | Admits::AtRandom) {
            let active = self.active(now);
            assert!(
                active < self.policy.total_active_users as usize,
                "{active} active, {number}"
            );
            let recent = self
                .grants
                .iter()
                .filter(|at| **at + Span::from_secs(60) > now)
                .count();
            assert!(
                recent < self.policy.new_users_per_minute as usize,
                "{recent} in a minute"
            );
            let asked_in_time = |(_, asked): &(&TicketNumber, &Instant)| {
                **asked + Span::from_secs(10) > now && **asked <= now
            };
            let before = self.door.range(..number).filter(asked_in_time).count();
            let (total, rate) = (
                self.policy.total_active_users,
                self.policy.new_users_per_minute,
            );
            let free = (total as usize - active).min(rate as usize - recent);
            assert!(
                before < free,
                "{number} takes the slot of one of {before} who poll in time"
            );
        }
        assert_ne!(self.policy.admits, Admits::Nobody);
        self.grants.push(now);
    }

    fn crash(&mut self) {
        let rows = self
            .rows
            .iter()
            .map(|row| journal::decode_row(&journal::encode_row(row).unwrap()).unwrap());
        let book =
            journal::decode_book(&journal::encode_book(&self.checkpoint).unwrap(), SEED).unwrap();
        let before = self.ledger.book().clone();
        self.ledger = Ledger::recover(book, rows.collect::<Vec<_>>(), self.clock);
        let mut expected = before;
        let after = self.ledger.book();
        expected.advance(after.time, Span::ZERO);
        assert_eq!(after.issued, expected.issued);
        assert_eq!(after.called, expected.called);
        // Time that passed without a row is forgotten if the clock has gone back meanwhile: then
        // what had run out by that time runs out once more, later.
        if after.time < expected.time {
            assert!(after.active() >= expected.active());
            assert!(after.admitted_last_minute() >= expected.admitted_last_minute());
            return;
        }
        assert_eq!(after.active(), expected.active());
        let rate = expected.admitted_last_minute();
        assert_eq!(after.admitted_last_minute(), rate);
        for value in 1..=after.issued {
            let (was, is) = (
                expected.standing(number(value)),
                after.standing(number(value)),
            );
            // A place at hand may be remembered for longer after a crash, never for shorter.
            let longer = (was, is) == (Standing::Spent, Standing::Called);
            assert!(was == is || longer, "{value} was {was:?} and is {is:?}");
        }
    }

    fn store_checkpoint(&mut self) {
        self.checkpoint = self.ledger.book().clone();
        self.rows.clear();
    }

    fn incarnation(&self) -> Incarnation {
        Incarnation::new(START.as_millis())
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
        }),
        3 => named.clone().prop_map(|(number, incarnation)| Message::Renew { number, incarnation }),
        1 => named.prop_map(|(number, incarnation)| Message::Leave { number, incarnation }),
    ]
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        12 => prop::collection::vec(message(), 1..5).prop_map(Step::Batch),
        5 => prop_oneof![8 => 1_u64..3_000, 2 => 3_000_u64..70_000, 1 => 70_000_u64..700_000]
            .prop_map(Step::Pass),
        1 => (1_u64..100_000).prop_map(Step::SetBack),
        2 => Just(Step::Crash),
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
                        Message::Leave { .. } => true,
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
    let (_, other_ends) = (room.snapshot.active, room.passes[&number(2)]);
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
    assert_eq!(room.passes[&number(2)], other_ends);
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
fn one_called_early_who_polls_late_goes_in_before_those_behind() {
    // 101 to 150 are called for 50 slots while 51 to 100 have been called and not come. 51 to 100
    // poll first, 40 is late: it still goes in before them, or keeps its place at the door.
    let mut room = Watched::new(policy(50, 10_000));
    for ticket in 1..=150 {
        room.arrive(ticket);
    }
    for value in 1..=50 {
        room.leave(value);
    }
    assert_eq!(room.snapshot.serving, 100);
    for value in 52..=100 {
        assert!(is_admitted(room.claim(value)));
    }
    room.pass_time(31);
    // 51's call has lapsed: the next one is called for the slot and takes it.
    room.send(&[Message::Renew {
        number: number(52),
        incarnation: room.incarnation(),
    }]);
    assert_eq!(room.snapshot.serving, 101);
    assert!(is_admitted(room.claim(101)));
    assert!(matches!(room.claim(51), Reply::AtDoor { ahead: 0, .. }));
    room.leave(52);
    assert!(
        matches!(room.claim(102), Reply::Waiting { .. }),
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
            incarnation
        }),
        Reply::Over
    );
    let claim = Message::Claim {
        number: number(1),
        incarnation,
        last_poll: START,
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
