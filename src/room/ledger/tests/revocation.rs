//! However many sessions are ended, the passes that edges still honour are never more than the limit
//! allows.

use super::*;
use crate::room::position::Position;

/// What the edges have: every pass that was made, and the last snapshot.
#[derive(Default)]
struct Passes(Vec<(TicketNumber, Instant)>);

impl Passes {
    fn note(&mut self, reply: &Reply) {
        if let Reply::Admitted {
            number, expires, ..
        } = reply
        {
            self.0.push((*number, *expires));
        }
    }

    /// Those that open the site at `now`, once the snapshot is everywhere.
    fn honoured(&self, snapshot: &Snapshot, now: Instant) -> usize {
        let good = self
            .0
            .iter()
            .filter(|(number, expires)| now < *expires && !snapshot.revoked.contains(number));
        good.count()
    }
}

#[derive(Clone, Debug)]
enum Act {
    /// So many newcomers come.
    Come(u64),
    /// The sessions of so many of the latest numbers are ended, by the first or the second kind of
    /// message.
    End(u64, bool),
    /// Milliseconds pass.
    Pass(u64),
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        (1_u64..400).prop_map(Act::Come),
        (1_u64..400, any::<bool>()).prop_map(|(count, by_number)| Act::End(count, by_number)),
        prop_oneof![9 => 1_u64..2_000, 1 => 2_000_u64..400_000].prop_map(Act::Pass),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 64,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn the_limit_holds_with_any_number_of_revocations(
        total in 1_u32..400, acts in prop::collection::vec(act(), 1..40),
    ) {
        let mut ledger = Ledger::new(Incarnation::new(1), Seed::new([0; 32]), START);
        let policy = Policy::within(total, 1_000_000);
        let (mut now, mut tickets, mut issued) = (START, 0, 0_u64);
        let mut passes = Passes::default();
        for act in acts {
            let messages: Vec<Message> = match act {
                Act::Come(count) => {
                    tickets += count;
                    let new = tickets - count..tickets;
                    let arrive = |ticket| Message::Arrive {
                        ticket: TicketId::new(ticket),
                        returning: false,
                    };
                    new.map(arrive).collect()
                }
                Act::End(count, by_number) => {
                    let latest = issued.saturating_sub(count) + 1..=issued;
                    let end = |number| if by_number {
                        Message::End { number }
                    } else {
                        Message::Leave { number, incarnation: Incarnation::new(1), revoked: true }
                    };
                    latest.filter_map(TicketNumber::new).map(end).collect()
                }
                Act::Pass(millis) => {
                    now = now + Span::from_millis(millis);
                    Vec::new()
                }
            };
            let request = Request { messages, ..Request::default() };
            let batch = ledger.batch(now, &policy, &[request]);
            let response = &batch.responses[0];
            let snapshot = response.snapshot.as_ref().unwrap();
            response.replies.iter().for_each(|reply| passes.note(reply));
            issued = snapshot.issued;
            prop_assert!(snapshot.revoked.len() <= book::MOST_REVOKED);
            let honoured = passes.honoured(snapshot, now);
            prop_assert!(honoured <= total as usize, "{honoured} passes of {total} are good");
        }
    }
}

#[test]
fn a_number_is_found_and_ended_wherever_it_stands() {
    let mut room = Watched::new(policy(1, 100));
    let ask = |room: &mut Watched, message| match room.send(&[message])[0] {
        Reply::Found(position) => position,
        other => panic!("{other:?}"),
    };
    room.arrive(1);
    room.arrive(2);
    room.arrive(3);
    let find = |value| Message::Find {
        number: number(value),
    };
    let end = |value| Message::End {
        number: number(value),
    };
    assert!(matches!(ask(&mut room, find(1)), Position::Active { .. }));
    assert_eq!(ask(&mut room, find(3)), Position::Waiting { ahead: 1 });
    assert_eq!(ask(&mut room, find(4)), Position::NeverGiven);
    assert_eq!(ask(&mut room, end(4)), Position::NeverGiven);
    for _ in 0..2 {
        assert_eq!(ask(&mut room, end(1)), Position::Over);
    }
    assert_eq!(room.snapshot.revoked, [number(1)]);
    assert_eq!(
        ask(&mut room, find(2)),
        Position::Called { at_door: false },
        "the slot is free"
    );
    assert_eq!(ask(&mut room, end(3)), Position::Over);
    assert!(is_admitted(room.claim(2)));
    assert_eq!(room.snapshot.queued + room.snapshot.called, 0);
    let tally = room.ledger.recorder().totals();
    assert_eq!((tally.revoked, tally.gave_up, tally.left), (1, 1, 0));
}

#[test]
fn who_cannot_be_told_of_is_said_to_be_ending() {
    let most = book::MOST_REVOKED as u64;
    let mut room = Watched::new(policy(2_000, 100_000));
    for ticket in 1..=most + 1 {
        room.arrive(ticket);
    }
    let end = |value| Message::End {
        number: number(value),
    };
    let requests: Vec<_> = (1..=most + 1).map(end).map(Request::of).collect();
    let batch = room.ledger.batch(room.clock, &room.policy, &requests);
    let last = batch.responses.last().unwrap().replies[0];
    assert!(matches!(last, Reply::Found(Position::Ending { .. })));
    assert_eq!(room.ledger.recorder().totals().stayed.count(), most + 1);
    // Its slot frees when the pass has run out, and it is not counted again.
    let later = room.clock + Span::from_secs(306);
    let batch = room
        .ledger
        .batch(later, &room.policy, &[Request::of(end(most + 1))]);
    let reply = batch.responses[0].replies[0];
    assert_eq!(reply, Reply::Found(Position::Over));
    assert_eq!(room.ledger.recorder().totals().stayed.count(), most + 1);
}
