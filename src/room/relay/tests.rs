//! Edges, relays and a room, without anything in between. Relays vanish with what they hold.

use std::collections::BTreeMap;

use super::*;
use crate::room::ledger::Ledger;
use crate::room::message::Reply;
use crate::room::number::{Incarnation, TicketId};
use crate::room::policy::{Policy, RelayPolicy};
use crate::room::seed::Seed;

const START: Instant = Instant::from_secs(1_800_000_000);

fn at(millis: u64) -> Instant {
    START + Span::from_millis(millis)
}

fn policy(total: u32) -> Policy {
    Policy {
        relays: RelayPolicy {
            above: 50,
            shards: 1,
        },
        ..Policy::within(total, 1_000_000)
    }
}

fn room() -> Ledger {
    Ledger::new(
        Incarnation::new(START.as_millis()),
        Seed::new([7; 32]),
        START,
    )
}

fn arrival(ticket: u64) -> Request {
    Request::of(Message::Arrive {
        ticket: TicketId::new(ticket),
        returning: true,
    })
}

fn number(reply: Reply) -> TicketNumber {
    match reply {
        Reply::Admitted { number, .. } | Reply::Waiting { number, .. } => number,
        other => panic!("{other:?}"),
    }
}

/// One round: what the relay has gathered goes to the room and comes back.
fn forward(relay: &mut Relay<u64>, room: &mut Ledger, now: Instant) -> Vec<(u64, Response)> {
    let (request, parts) = relay.take(now).unwrap();
    let response = room.batch(now, &policy(10), &[request]).responses.remove(0);
    let responses = relay.split(response, &parts, now).unwrap();
    parts
        .into_iter()
        .map(|part| part.to)
        .zip(responses)
        .collect()
}

#[test]
fn everybody_gets_the_reply_to_their_own_message() {
    let (mut relay, mut direct, mut behind) = (Relay::default(), room(), room());
    let mut expected = Vec::new();
    for ticket in 1..=30 {
        let responses = direct
            .batch(at(0), &policy(10), &[arrival(ticket)])
            .responses;
        expected.push((ticket, responses[0].replies.clone()));
        assert!(relay.hear(arrival(ticket), ticket, at(0)).is_none());
    }
    let got: Vec<_> = forward(&mut relay, &mut behind, at(20))
        .into_iter()
        .map(|(ticket, response)| (ticket, response.replies))
        .collect();
    let numbers = |of: &[(u64, Vec<Reply>)]| {
        let one = |(ticket, replies): &(u64, Vec<Reply>)| (*ticket, number(replies[0]));
        of.iter().map(one).collect::<Vec<_>>()
    };
    assert_eq!(numbers(&got), numbers(&expected));
    assert!(relay.take(at(40)).is_none(), "nothing is left");
}

#[test]
fn who_wants_a_snapshot_alone_gets_the_known_one_while_it_is_fresh() {
    let (mut relay, mut room) = (Relay::default(), room());
    let look = |polled: u64| Request {
        polled: TicketNumber::new(polled).into_iter().collect(),
        ..Request::default()
    };
    assert!(relay.hear(look(1), 1, at(0)).is_none(), "none is known");
    let answers = forward(&mut relay, &mut room, at(20));
    let snapshot = answers[0].1.snapshot.clone().unwrap();
    let (answer, to) = relay.hear(look(2), 2, at(1_000)).unwrap();
    assert_eq!((answer.snapshot.as_ref(), to), (Some(&snapshot), 2));
    // Who knows it already is spared it.
    let knowing = Request {
        knows: Some(snapshot.stamp()),
        ..look(3)
    };
    let (answer, _) = relay.hear(knowing, 3, at(1_010)).unwrap();
    assert_eq!(
        (answer.snapshot, answer.life),
        (None, Some(snapshot.incarnation))
    );
    assert_eq!(relay.due_in(at(1_010)), None, "nobody waits");
    assert!(relay.hear(look(4), 4, at(1_020)).is_none(), "it is old");
    // What they have polled goes along, as a set, since the room has said that it reads sets.
    let (request, parts) = relay.take(at(1_040)).unwrap();
    let polls: Vec<u64> = request.polls.iter().map(TicketNumber::get).collect();
    assert_eq!(
        (polls, request.gathered, parts.len()),
        (vec![2, 3, 4], 3, 1)
    );
}

#[test]
fn a_relay_gathers_for_as_long_as_the_room_says() {
    let (mut relay, mut room) = (Relay::default(), room());
    relay.hear(arrival(1), 1, at(0));
    assert_eq!(
        relay.due_in(at(0)),
        Some(Span::ZERO),
        "the first goes at once"
    );
    forward(&mut relay, &mut room, at(0));
    relay.hear(arrival(2), 2, at(5));
    assert_eq!(relay.due_in(at(5)), Some(Span::from_millis(15)));
    // A busy second, and the room says so.
    for second in 1..=2 {
        let requests: Vec<_> = (0..60).map(|_| Request::default()).collect();
        room.batch(at(second * 1_000), &policy(10), &requests);
    }
    let answers = forward(&mut relay, &mut room, at(2_500));
    let relays = answers[0].1.snapshot.as_ref().unwrap().relays.unwrap();
    relay.hear(arrival(3), 3, at(2_500));
    assert_eq!(relay.due_in(at(2_500)), Some(relays.window));
}

#[test]
fn a_change_that_matters_is_told_to_those_who_know_an_older_snapshot() {
    let (mut relay, mut room) = (Relay::default(), room());
    relay.hear(arrival(1), 1, at(0));
    let knows = forward(&mut relay, &mut room, at(0))[0]
        .1
        .snapshot
        .as_ref()
        .map(|snapshot| snapshot.stamp());
    let ask = |ticket| Request {
        knows,
        ..arrival(ticket)
    };
    relay.hear(ask(2), 2, at(10));
    let answers = forward(&mut relay, &mut room, at(20));
    assert_eq!(answers[0].1.snapshot, None, "still open");
    for ticket in 3..=11 {
        relay.hear(ask(ticket), ticket, at(30));
    }
    let answers = forward(&mut relay, &mut room, at(40));
    let all_told = answers.iter().all(|(_, response)| {
        response
            .snapshot
            .as_ref()
            .is_some_and(|snapshot| snapshot.queueing)
    });
    assert!(all_told, "the room is full now");
}

#[test]
fn replies_that_are_not_those_to_the_messages_are_given_to_nobody() {
    let (mut relay, mut room) = (Relay::default(), room());
    relay.hear(arrival(1), 1, at(0));
    relay.hear(arrival(2), 2, at(0));
    let (request, parts) = relay.take(at(0)).unwrap();
    let mut response = room
        .batch(at(0), &policy(10), &[request])
        .responses
        .remove(0);
    response.replies.pop();
    assert!(relay.split(response, &parts, at(0)).is_none());
}

#[test]
fn a_request_to_the_room_is_bounded_and_nothing_is_left_behind() {
    let mut relay = Relay::default();
    for ticket in 0..3_000 {
        relay.hear(arrival(ticket), ticket, at(0));
    }
    let mut sizes = Vec::new();
    while let Some((request, parts)) = relay.take(at(0)) {
        assert_eq!(request.messages.len(), parts.len());
        sizes.push(parts.len());
    }
    assert_eq!(sizes, [1024, 1024, 952]);
}

/// Relays die before they have called, and after: with the answer of the room in their hands. The
/// edges ask again, through another relay or directly.
#[test]
fn what_a_relay_loses_is_sent_again_and_changes_nothing_twice() {
    let mut room = room();
    let mut numbers: BTreeMap<u64, TicketNumber> = BTreeMap::new();
    let mut random = 7_u64;
    for round in 0..200 {
        let now = at(round * 100);
        let tickets: Vec<u64> = (round * 3..round * 3 + 5).collect();
        let mut relay = Relay::default();
        for ticket in &tickets {
            relay.hear(arrival(*ticket), *ticket, now);
        }
        random = random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        match random >> 62 {
            // Lost on the way there.
            0 => drop(relay.take(now)),
            // Lost on the way back.
            1 => {
                let (request, _) = relay.take(now).unwrap();
                room.batch(now, &policy(10), &[request]);
            }
            _ => {
                for (ticket, response) in forward(&mut relay, &mut room, now) {
                    let given = number(response.replies[0]);
                    assert_eq!(*numbers.entry(ticket).or_insert(given), given);
                }
            }
        }
        for ticket in tickets {
            let responses = room.batch(now, &policy(10), &[arrival(ticket)]).responses;
            let given = number(responses[0].replies[0]);
            assert_eq!(
                *numbers.entry(ticket).or_insert(given),
                given,
                "round {round}"
            );
        }
    }
    let mut distinct: Vec<_> = numbers.values().collect();
    distinct.sort();
    distinct.dedup();
    assert_eq!(distinct.len(), numbers.len(), "no number twice");
    let issued = room.book().issued;
    assert_eq!(issued, numbers.len() as u64, "no number for nobody");
    assert_eq!(room.book().active(), 10);
}

#[test]
fn the_room_hears_of_the_newest_configuration_that_an_edge_goes_by() {
    let mut relay = Relay::default();
    for (edge, version) in [(1, 3), (2, 5), (3, 4)] {
        let request = Request {
            configuration: Version(1, version),
            ..arrival(edge)
        };
        assert!(relay.hear(request, edge, at(0)).is_none());
    }
    let (request, _) = relay.take(at(20)).unwrap();
    assert_eq!(request.configuration, Version(1, 5));
}

#[test]
fn what_edges_count_adds_up_on_the_way() {
    let mut relay = Relay::default();
    for ticket in 1..=3 {
        let counted = Request {
            counts: Counts {
                passed: 10,
                bypassed: 1,
                ..Counts::default()
            },
            ..arrival(ticket)
        };
        assert!(relay.hear(counted, ticket, START).is_none());
    }
    let (request, _) = relay.take(START).unwrap();
    assert_eq!((request.counts.passed, request.counts.bypassed), (30, 3));
    assert!(relay.hear(arrival(4), 4, START).is_none());
    let (request, _) = relay.take(START).unwrap();
    assert!(request.counts.is_zero(), "once");
}
