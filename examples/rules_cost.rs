//! What the 50 rules of the benchmark's room cost a request, natively and without the runtime:
//! `cargo run --profile model --example rules_cost`. In the Worker, `make bench` has the row
//! `admitted_50_rules`.

use std::error::Error;
use std::hint::black_box;
use std::time::Instant;

use anteroom::rules::{Facts, Lists, Need, Ruleset, Target};

const ROOMS: &str = include_str!("../bench/rooms.toml");
/// The best of so many rounds counts: others were disturbed.
const ROUNDS: u32 = 50;
const REQUESTS: u32 = 500;

/// A browser's request.
struct Browser;

impl Facts for Browser {
    fn target(&self) -> Target<'_> {
        Target {
            https: true,
            host: "shop.example.com",
            authority: "shop.example.com",
            path: "/de/catalogue/shoes/running-42",
            raw_path: "/de/catalogue/shoes/running-42",
            query: "colour=blue&size=42&page=3",
        }
    }

    fn fields(&self, needs: &[Need]) -> Vec<Option<&str>> {
        let needs = needs.iter().map(|need| match need {
            Need::Header(name) if name == "CF-Connecting-IP" => Some("192.0.2.77"),
            Need::Header(name) if name == "User-Agent" => Some(
                "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) \
                 Chrome/142.0.0.0 Safari/537.36",
            ),
            Need::Header(name) if name == "Cookie" => Some("lang=de; basket=7f3a; consent=all"),
            Need::Header(_) | Need::Platform(_) => None,
            Need::Method => Some("GET"),
        });
        needs.collect()
    }

    fn platform(&self, needs: &[Need]) -> Vec<Option<&str>> {
        let needs = needs.iter().map(|need| match need {
            Need::Platform("country") => Some("DE"),
            Need::Platform("asn") => Some("3320"),
            _ => None,
        });
        needs.collect()
    }

    fn headers(&self) -> Vec<(String, String)> {
        Vec::new()
    }

    fn now(&self) -> u64 {
        0
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let rooms: toml::Value = toml::from_str(ROOMS)?;
    let rooms = rooms.get("rooms").and_then(|rooms| rooms.as_array());
    let rules = rooms
        .into_iter()
        .flatten()
        .filter_map(|room| room.get("rules")?.as_array())
        .flatten()
        .filter_map(|rule| rule.get("expression")?.as_str());
    let mut ruleset = Ruleset::new();
    let mut count = 0;
    let begin = Instant::now();
    for rule in rules {
        ruleset.add(rule, &Lists::default())?;
        count += 1;
    }
    println!("{count} rules compiled in {:?}", begin.elapsed());

    let rounds = (0..ROUNDS).map(|_| {
        let begin = Instant::now();
        for _ in 0..REQUESTS {
            black_box(ruleset.ask(black_box(&Browser)));
        }
        begin.elapsed() / REQUESTS
    });
    let best = rounds.min().unwrap_or_default();
    println!("asked in {best:?} for each request");
    Ok(())
}
