use super::*;
use proptest::prelude::*;

const KEY: &str = "k";

fn at(millis: u64) -> Instant {
    Instant::from_millis(millis)
}

/// Two hundred who miss at once; the first leads.
fn crowd() -> (Leases<u32>, u64) {
    let mut leases = Leases::default();
    let told = leases.ask(KEY, 0, at(0));
    let [(0, Grant::Lead { lease })] = told[..] else {
        panic!("{told:?}");
    };
    for waiter in 1..200 {
        assert_eq!(leases.ask(KEY, waiter, at(1)), []);
    }
    (leases, lease)
}

#[test]
fn one_of_many_asks_and_all_others_look() {
    let (mut leases, lease) = crowd();
    let told = leases.finish(KEY, lease, Outcome::Stored, at(2));
    assert_eq!(told.len(), 199);
    assert!(told.iter().all(|(_, grant)| *grant == Grant::Look));
    let told = leases.ask(KEY, 200, at(3));
    assert!(
        matches!(told[..], [(200, Grant::Lead { .. })]),
        "nothing is kept"
    );
}

#[test]
fn nobody_waits_for_what_is_not_stored() {
    let (mut leases, lease) = crowd();
    let told = leases.finish(KEY, lease, Outcome::NotStored, at(2));
    assert!(told.len() == 199 && told.iter().all(|(_, grant)| *grant == Grant::Alone));
    assert_eq!(leases.ask(KEY, 200, at(3)), [(200, Grant::Alone)]);
    assert_eq!(leases.due(), None);
    let later = at(2) + UNSTORED_FOR;
    assert!(matches!(
        leases.ask(KEY, 201, later)[..],
        [(201, Grant::Lead { .. })]
    ));
}

#[test]
fn after_a_leader_that_dies_the_next_leads_when_its_lease_ends() {
    let (mut leases, lease) = crowd();
    let end = at(0) + LEASE;
    assert_eq!(leases.due(), Some(end));
    assert_eq!(leases.expire(at(4_999)), []);
    let told = leases.expire(end);
    let [(1, Grant::Lead { lease: next })] = told[..] else {
        panic!("{told:?}");
    };
    // The first one was not dead after all: what it says changes nothing.
    assert_eq!(leases.finish(KEY, lease, Outcome::NotStored, end), []);
    assert_eq!(leases.finish(KEY, next, Outcome::Stored, end).len(), 198);
}

#[test]
fn a_leader_that_fails_says_so_and_the_next_leads_at_once() {
    let (mut leases, lease) = crowd();
    let told = leases.finish(KEY, lease, Outcome::Failed, at(2));
    assert!(matches!(told[..], [(1, Grant::Lead { .. })]));
}

#[test]
fn who_has_given_up_waiting_does_not_lead() {
    let mut leases = Leases::default();
    leases.ask(KEY, 0, at(0));
    leases.ask(KEY, 1, at(1));
    leases.ask(KEY, 2, at(4_000));
    // The second leads, and dies too.
    assert!(matches!(
        leases.expire(at(5_000))[..],
        [(1, Grant::Lead { .. })]
    ));
    leases.ask(KEY, 3, at(9_999));
    let told = leases.expire(at(10_000));
    assert!(
        matches!(told[..], [(2, Grant::Alone), (3, Grant::Lead { .. })]),
        "{told:?}"
    );
}

#[test]
fn a_crowd_has_its_limits() {
    let mut leases = Leases::default();
    leases.ask(KEY, 0, at(0));
    for waiter in 0..MOST_WAITERS {
        assert_eq!(leases.ask(KEY, waiter, at(0)), []);
    }
    assert_eq!(leases.ask(KEY, 1, at(0)), [(1, Grant::Alone)]);
    for key in 1..MOST_KEYS {
        assert_eq!(leases.ask(&key.to_string(), 0, at(0)).len(), 1);
    }
    assert_eq!(leases.ask("another", 0, at(0)), [(0, Grant::Alone)]);
    // What nobody asks for any more is forgotten.
    assert_eq!(leases.expire(at(5_000)).len(), 1);
    assert!(matches!(
        leases.ask("another", 0, at(5_000))[..],
        [(0, Grant::Lead { .. })]
    ));
}

#[derive(Clone, Debug)]
enum Event {
    Ask(u8),
    Finish(u8, Outcome),
    /// The leader dies.
    Die(u8),
    Pass(u64),
}

fn event() -> impl Strategy<Value = Event> {
    let outcome = prop_oneof![
        Just(Outcome::Stored),
        Just(Outcome::NotStored),
        Just(Outcome::Failed)
    ];
    prop_oneof![
        4 => (0..3_u8).prop_map(Event::Ask),
        2 => (0..3_u8, outcome).prop_map(|(key, outcome)| Event::Finish(key, outcome)),
        1 => (0..3_u8).prop_map(Event::Die),
        2 => (0..4_000_u64).prop_map(Event::Pass),
    ]
}

proptest! {
    /// Never do two lead for one key, everybody is told something once, and nobody waits for longer
    /// than the leases of those who lead.
    #[test]
    fn one_leads_and_all_are_told(events in prop::collection::vec(event(), 1..200)) {
        let mut leases: Leases<usize> = Leases::default();
        let mut now = at(0);
        let mut asked: Vec<(u8, Option<Grant>)> = Vec::new();
        // Of each key, who leads and until when.
        let mut leaders: BTreeMap<u8, (u64, Instant)> = BTreeMap::new();
        let mut waits_since: BTreeMap<u8, Instant> = BTreeMap::new();
        let mut end = now;
        for event in events.into_iter().chain([Event::Pass(0)]) {
            let told = match event {
                Event::Ask(key) => {
                    asked.push((key, None));
                    leases.ask(&key.to_string(), asked.len() - 1, now)
                }
                Event::Finish(key, outcome) => match leaders.remove(&key) {
                    Some((lease, _)) => leases.finish(&key.to_string(), lease, outcome, now),
                    None => Vec::new(),
                },
                Event::Die(key) => {
                    leaders.remove(&key);
                    Vec::new()
                }
                Event::Pass(millis) => {
                    now = now + Span::from_millis(millis);
                    leases.expire(now)
                }
            };
            end = end.max(now);
            for (waiter, grant) in told {
                let (key, already) = asked[waiter];
                prop_assert_eq!(already, None, "told twice");
                asked[waiter].1 = Some(grant);
                if let Grant::Lead { lease } = grant {
                    if let Some((_, until)) = leaders.get(&key) {
                        prop_assert!(*until <= now, "two lead");
                    }
                    leaders.insert(key, (lease, now + LEASE));
                    waits_since.insert(key, now);
                }
            }
            // Whoever waits is due to be looked after within a lease.
            if asked.iter().any(|(_, told)| told.is_none()) {
                let due = leases.due().unwrap();
                prop_assert!(due <= now + LEASE);
            }
        }
        // With no leader saying anything any more, all are told in the end.
        while let Some(due) = leases.due() {
            for (waiter, grant) in leases.expire(due) {
                asked[waiter].1 = Some(grant);
            }
        }
        prop_assert!(asked.iter().all(|(_, told)| told.is_some()));
    }
}
