//! The opening of an event with 100,000 visitors in its pre-queue, through the ledger and the edge's
//! decision: nothing comes in a burst.
#![cfg(not(target_arch = "wasm32"))]
// clippy.toml allows these in tests, but does not know the functions that tests share.
#![allow(clippy::indexing_slicing, clippy::panic, clippy::unwrap_used)]

mod common;

use std::collections::{BTreeMap, HashSet};

use anteroom::gate::decision::{Change, Outcome, Request, Step};
use anteroom::gate::intent::Intent;
use anteroom::gate::token::{Standing, Token};
use anteroom::gate::visitor::Visitor;
use anteroom::room::ledger::Ledger;
use anteroom::room::message::{self, Message};
use anteroom::room::number::{Incarnation, TicketId, TicketNumber};
use anteroom::room::policy::Policy;
use anteroom::room::seed::Seed;
use anteroom::room::snapshot::Snapshot;
use anteroom::site::moment::Moment;
use anteroom::site::timeline::Timeline;
use anteroom::time::Instant;
use serde_json::json;

const VISITORS: u64 = 100_000;
const TOTAL: u32 = 5_000;
const RATE: u32 = 3_000;

/// `2027-11-26T09:00:00Z`, and when everybody comes.
const START: u64 = 1_827_219_600;
const FROM: u64 = START - 45;

/// A visitor's browser: what it holds, and when it asks next, in tenths of a second.
struct Browser {
    standing: Standing,
    inside: bool,
}

struct Opening {
    timeline: Timeline,
    ledger: Ledger,
    /// What the edge knows: as old as a second.
    snapshot: Snapshot,
    browsers: Vec<Browser>,
    /// Who asks in which tenth of a second.
    asks: BTreeMap<u64, Vec<usize>>,
    polls: BTreeMap<u64, u32>,
    messages: BTreeMap<u64, u32>,
    admissions: BTreeMap<u64, u32>,
    /// The numbers that were counted for the report of the next refresh.
    polled: Vec<TicketNumber>,
}

fn timeline() -> Timeline {
    let declared = common::room(
        "sale",
        "example.com",
        json!({
            "total_active_users": TOTAL,
            "new_users_per_minute": RATE,
            "session_duration_seconds": 600,
            "queueing_method": "reject",
            "events": [{
                "name": "opening",
                "prequeue_start_time": "2027-11-26T08:30:00Z",
                "event_start_time": "2027-11-26T09:00:00Z",
                "event_end_time": "2027-11-26T21:00:00Z",
                "queueing_method": "fifo",
                "shuffle_at_event_start": true,
            }],
        }),
    );
    Timeline::new(&common::only(declared))
}

fn tenth(at: u64) -> Instant {
    Instant::from_millis(at * 100)
}

impl Opening {
    /// The pre-queue is under way, and everybody has come: in one and the same second.
    fn new() -> Self {
        let now = Instant::from_secs(FROM);
        let mut opening = Self {
            timeline: timeline(),
            ledger: Ledger::new(Incarnation::new(now.as_millis()), Seed::new([5; 32]), now),
            snapshot: Snapshot::default(),
            browsers: Vec::new(),
            asks: BTreeMap::new(),
            polls: BTreeMap::new(),
            messages: BTreeMap::new(),
            admissions: BTreeMap::new(),
            polled: Vec::new(),
        };
        opening.refresh(now);
        for thousand in 0..VISITORS / 1_000 {
            let tickets = thousand * 1_000..(thousand + 1) * 1_000;
            let arrivals = tickets.map(|ticket| {
                let arrive = Message::Arrive {
                    ticket: TicketId::new(ticket),
                    returning: true,
                };
                (None, arrive)
            });
            opening.ask_room(FROM * 10, arrivals.collect());
        }
        opening
    }

    fn policy(&self, now: Instant) -> Policy {
        Policy::at(&self.timeline, self.ledger.time(now))
    }

    fn refresh(&mut self, now: Instant) {
        let report = message::Request {
            version: message::VERSION,
            polled: std::mem::take(&mut self.polled),
            ..message::Request::default()
        };
        let policy = self.policy(now);
        let mut batch = self.ledger.batch(now, &policy, &[report]);
        let response = batch.responses.remove(0);
        self.snapshot = response.snapshot.as_deref().cloned().unwrap();
    }

    /// Messages to the room, which it handles as one batch, and what the visitors get.
    fn ask_room(&mut self, at: u64, asked: Vec<(Option<usize>, Message)>) {
        if asked.is_empty() {
            return;
        }
        let now = tenth(at);
        let policy = self.policy(now);
        let requests = asked
            .iter()
            .map(|(_, message)| message::Request::of(*message));
        let requests: Vec<_> = requests.collect();
        let responses = self.ledger.batch(now, &policy, &requests).responses;
        *self.messages.entry(at / 10).or_default() += asked.len() as u32;
        for ((who, _), response) in asked.into_iter().zip(responses) {
            self.settle(at, who, &response);
        }
    }

    fn settle(&mut self, at: u64, who: Option<usize>, response: &message::Response) {
        let now = tenth(at);
        let room = self.timeline.at(Moment::from_millis(now.as_millis()));
        let visitor = who.map_or(Visitor::NEWCOMER, |who| holder(self.browsers[who].standing));
        let request = asks(room, visitor, None, now);
        let outcome = request.settle(response.replies[0], response.snapshot.as_deref().unwrap());
        let Outcome::Answer(answer) = outcome else {
            panic!("{outcome:?}");
        };
        let standing = answer.holds.unwrap();
        let inside = matches!(standing, Standing::Admitted { .. });
        let who = who.unwrap_or(self.browsers.len());
        if who == self.browsers.len() {
            self.browsers.push(Browser { standing, inside });
        }
        self.browsers[who] = Browser { standing, inside };
        if inside {
            *self.admissions.entry(at / 10).or_default() += 1;
        } else {
            self.come_again(who, at, answer.refresh_seconds);
        }
    }

    /// As the page does it: within a tenth of the interval, which is spread here by the number.
    fn come_again(&mut self, who: usize, at: u64, seconds: u32) {
        let tenths = u64::from(seconds) * 10;
        let jitter = (who as u64).wrapping_mul(7_919) % (tenths / 5 + 1);
        let next = at + tenths - tenths / 10 + jitter;
        self.asks.entry(next).or_default().push(who);
    }

    /// A poll at the edge, and what it wants to ask the room.
    fn poll(&mut self, at: u64, who: usize) -> Option<Message> {
        let now = tenth(at);
        *self.polls.entry(at / 10).or_default() += 1;
        let room = self.timeline.at(Moment::from_millis(now.as_millis()));
        let visitor = holder(self.browsers[who].standing);
        let step = asks(room, visitor, Some(&self.snapshot), now).decide();
        match step {
            Step::Ask(message) => return Some(message),
            Step::Answer(answer) => {
                if let Change::Set(standing @ Standing::Waiting { number, .. }) = answer.cookie {
                    self.browsers[who].standing = standing;
                    self.polled.push(number);
                }
                self.come_again(who, at, answer.refresh_seconds);
            }
            other => panic!("{other:?}"),
        }
        None
    }

    fn run(&mut self, until: u64) {
        for at in FROM * 10 + 1..until * 10 {
            if at.is_multiple_of(10) {
                self.refresh(tenth(at));
            }
            let mut asked = Vec::new();
            for who in self.asks.remove(&at).unwrap_or_default() {
                asked.extend(self.poll(at, who).map(|message| (Some(who), message)));
            }
            self.ask_room(at, asked);
        }
    }
}

fn holder(standing: Standing) -> Visitor {
    let token = Token {
        standing,
        binding: None,
        embedded: false,
    };
    Visitor {
        token: Some(token),
        notice: None,
    }
}

fn asks<'a>(
    room: &'a anteroom::site::room::Room,
    visitor: Visitor,
    snapshot: Option<&'a Snapshot>,
    now: Instant,
) -> Request<'a> {
    Request {
        room,
        intent: Intent::Poll,
        bypassed: false,
        is_listed_origin: false,
        visitor,
        snapshot,
        reachable: true,
        now,
        new_ticket: TicketId::new(0),
        reserved: None,
    }
}

#[test]
fn an_opening_with_a_hundred_thousand_in_the_pre_queue_is_no_burst() {
    let mut opening = Opening::new();
    let arrivals = opening.messages.remove(&FROM).unwrap();
    assert_eq!(u64::from(arrivals), VISITORS);
    opening.run(START + 30);

    // Polls come evenly: 5,000 a second, each visitor once in 20 seconds, the start included.
    let steady = opening.polls.range(FROM + 35..START + 30);
    let (least, most) = steady.fold((u32::MAX, 0), |(least, most), (_, polls)| {
        (least.min(*polls), most.max(*polls))
    });
    assert!(
        least > 4_000 && most < 6_000,
        "{least} to {most} polls a second"
    );

    // Nobody asked the room before the start, and afterwards no more than can be let in: the called
    // come over the 20 seconds in which everybody polls.
    assert_eq!(opening.messages.range(..START).count(), 0);
    // Some are called ahead, and ask every two seconds once they stand at the door.
    let most = opening.messages.values().max().unwrap();
    assert!(*most < RATE / 5, "{most} messages a second");
    let most = opening.admissions.values().max().unwrap();
    let second = RATE / 60;
    assert!(*most <= 3 * second, "{most} admissions a second");
    let steady = opening.admissions.range(START + 10..START + 30);
    let admitted: u32 = steady.map(|(_, admitted)| admitted).sum();
    // A little less than the pace: those who are called first hear of it with their next poll.
    assert!(
        (18 * second..=21 * second).contains(&admitted),
        "{admitted} in twenty seconds"
    );

    // Those who are in have the first places, and every place is somebody's own.
    let draws = &opening.snapshot.draws;
    let mut places = HashSet::new();
    for browser in &opening.browsers {
        let (Standing::Waiting { number, .. } | Standing::Admitted { number, .. }) =
            browser.standing
        else {
            panic!("{:?}", browser.standing)
        };
        let place = draws.place_of(number).get();
        assert!(places.insert(place));
        assert!(!browser.inside || place <= opening.snapshot.serving);
    }
    println!(
        "polls/s {least} to {most}; serving {}; in {}",
        opening.snapshot.serving,
        opening.admissions.values().sum::<u32>()
    );
}
