//! What a room pays for those who wait: `cargo run --release --example hear [waiting] [polls]`.
//!
//! Fills a room with as many as `waiting` (10,000,000), lets 300 relays report `polls` (500,000)
//! polls a second, and tells how long a second of that takes the room, reading the reports included.

use std::error::Error;
use std::time::{Duration, Instant as Clock};

use anteroom::room::ledger::Ledger;
use anteroom::room::message::{Message, Request, VERSION};
use anteroom::room::number::{Incarnation, TicketId, TicketNumber};
use anteroom::room::policy::Policy;
use anteroom::room::seed::Seed;
use anteroom::time::{Instant, Span};

const START: Instant = Instant::from_secs(1_800_000_000);
const RELAYS: u64 = 300;
const SECONDS: u64 = 5;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1).map(|text| text.parse::<u64>());
    let waiting = arguments.next().transpose()?.unwrap_or(10_000_000);
    let polls = arguments.next().transpose()?.unwrap_or(500_000);
    let policy = Policy {
        session: Span::from_secs(86_400),
        ..Policy::within(1, 1)
    };
    let mut room = Ledger::new(Incarnation::new(1), Seed::new([0; 32]), START);
    let begin = Clock::now();
    for first in (0..=waiting).step_by(1_000) {
        let arrivals = (first..(first + 1_000).min(waiting + 1)).map(|id| Message::Arrive {
            ticket: TicketId::new(id),
            returning: true,
        });
        let request = Request {
            messages: arrivals.collect(),
            ..Request::default()
        };
        // Ten thousand a second arrive.
        room.batch(START + Span::from_millis(first / 10), &policy, &[request]);
    }
    println!("{waiting} arrive: {:.1?}", begin.elapsed());

    let mut now = room.book().time;
    let mut random = 1_u64;
    let mut bytes = 0;
    let mut times = Vec::new();
    for _ in 0..SECONDS {
        let mut reports = Vec::new();
        for _ in 0..RELAYS {
            let mut pick = || {
                random = random
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1_442_695_040_888_963_407);
                TicketNumber::new(2 + (random >> 33) % waiting)
            };
            let request = Request {
                version: VERSION,
                polls: (0..polls / RELAYS).filter_map(|_| pick()).collect(),
                gathered: 100,
                ..Request::default()
            };
            let report = serde_json::to_string(&request)?;
            bytes = report.len();
            reports.push(report);
        }
        let mut second = Duration::ZERO;
        let mut longest = Duration::ZERO;
        for (index, report) in (0..).zip(reports) {
            let begin = Clock::now();
            let request: Request = serde_json::from_str(&report)?;
            let moment = now + Span::from_millis(index * 1_000 / RELAYS);
            room.batch(moment, &policy, &[request]);
            second += begin.elapsed();
            longest = longest.max(begin.elapsed());
        }
        now = now + Span::from_secs(1);
        times.push((second, longest));
    }
    times.sort();
    let (second, longest) = times.get(times.len() / 2).copied().unwrap_or_default();
    println!(
        "{polls} polls a second in {RELAYS} reports of {bytes} bytes: {second:.1?} a second, the longest batch {longest:.1?}"
    );
    Ok(())
}
