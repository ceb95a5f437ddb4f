//! Origin fetches of a skewed load over ten data centres: without tiers, with several tiers, and with the
//! one tier of a hint. Tiers are chosen and keys are made by the code that does it in production; the rest
//! is a clock, and caches that keep everything for its lifetime.
//!
//! `cargo run --release --example tier_load`

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use anteroom::atlas::hints::Hints;
use anteroom::atlas::knowledge::Knowledge;
use anteroom::atlas::origin_name::OriginName;
use anteroom::atlas::region_places::RegionPlaces;
use anteroom::cache::key::place_of;
use anteroom::site::tier::{Tier, Transport};
use anteroom::tier::choice::{Wanted, choose};
use anteroom::tier::evidence::Evidence;
use anteroom::tier::fleet::Fleet;
use anteroom::tier::rendezvous::hash_of;
use anteroom::time::{Instant, Span};

/// Where the visitors are.
const POPS: [&str; 10] = [
    "lhr", "fra", "ams", "iad", "chi", "sjc", "nrt", "sin", "hkg", "syd",
];
/// Where the tiers are.
const TIERS: [&str; 6] = ["lhr", "fra", "iad", "sjc", "nrt", "sin"];

const REQUESTS: u32 = 300_000;
const ANSWERS: usize = 20_000;
const PER_SECOND: u32 = 1_000;
const LIFETIME: Span = Span::from_secs(60);
const SEED: u64 = 5;

type Failure = Box<dyn std::error::Error>;

/// When what is stored ends, by where it lies.
#[derive(Default)]
struct Cache(HashMap<String, Instant>);

impl Cache {
    fn has(&self, place: &str, now: Instant) -> Option<Instant> {
        self.0.get(place).copied().filter(|end| now < *end)
    }
}

/// What came of a load.
#[derive(Clone, Debug, Default)]
struct Outcome {
    origin: u32,
    upper_hits: u32,
    lower_hits: u32,
    asking: BTreeSet<String>,
}

/// Answers by popularity: the n-th is asked for 1/n times as often as the first (Zipf).
struct Popularity(Vec<f64>);

impl Popularity {
    fn new() -> Self {
        let mut sum = 0.0;
        let weights = (1..=ANSWERS).map(|n| {
            sum += 1.0 / n as f64;
            sum
        });
        Self(weights.collect())
    }

    fn draw(&self, random: &mut fastrand::Rng) -> usize {
        let whole = self.0.last().copied().unwrap_or_default();
        let drawn = random.f64() * whole;
        self.0.partition_point(|sum| *sum < drawn)
    }
}

/// Runs the load. `evidence`: what is known of the origin; none to have no tiers.
fn run(evidence: Option<&Evidence>, places: &RegionPlaces) -> Option<Outcome> {
    let tier = |code: &&str| Tier {
        name: (*code).into(),
        place: (*code).into(),
        transport: Transport::Placed {
            region: String::new(),
            binding: String::new(),
        },
        checkpoint_only: false,
    };
    let fleet = Fleet::new(TIERS.iter().map(tier).collect(), places);
    let mut random = fastrand::Rng::with_seed(SEED);
    let popularity = Popularity::new();
    let mut lower: Vec<Cache> = POPS.iter().map(|_| Cache::default()).collect();
    let mut upper: HashMap<String, Cache> = HashMap::new();
    let mut outcome = Outcome::default();
    for n in 0..REQUESTS {
        let now = Instant::from_millis(u64::from(n) * 1_000 / u64::from(PER_SECOND));
        let pop = random.usize(..POPS.len());
        let url = format!("https://shop.example/{}", popularity.draw(&mut random));
        let place = place_of(&url);
        let cache = lower.get_mut(pop)?;
        if cache.has(&place, now).is_some() {
            outcome.lower_hits += 1;
            continue;
        }
        let end = match evidence {
            None => {
                outcome.origin += 1;
                outcome.asking.insert((*POPS.get(pop)?).to_owned());
                now + LIFETIME
            }
            Some(evidence) => {
                let here = places.place(POPS.get(pop)?)?;
                let wanted = Wanted {
                    custom: None,
                    evidence: std::slice::from_ref(evidence),
                    pool: None,
                    continent: Some(&here.continent),
                    key: hash_of(&url),
                };
                let tier = choose(&fleet, places, &wanted)?.primary.name().to_owned();
                let cache = upper.entry(tier.clone()).or_default();
                if let Some(end) = cache.has(&place, now) {
                    outcome.upper_hits += 1;
                    end
                } else {
                    outcome.origin += 1;
                    outcome.asking.insert(tier);
                    cache.0.insert(place.clone(), now + LIFETIME);
                    now + LIFETIME
                }
            }
        };
        cache.0.insert(place, end);
    }
    Some(outcome)
}

fn main() -> Result<(), Failure> {
    let places = RegionPlaces::packed()?;
    let origin: OriginName = "192.0.2.1".parse()?;
    let mut anycast = Evidence::none(origin.clone());
    anycast.anycast = Some(true);
    let mut hints = Hints::default();
    hints.set(
        origin.clone(),
        "aws:us-east-1".parse()?,
        Instant::from_secs(1),
    )?;
    let knowledge = Knowledge {
        places: Arc::new(places.clone()),
        hints: Arc::new(hints),
        ..Knowledge::default()
    };
    let hinted = Evidence::of(&origin, &knowledge);
    println!(
        "| topology | origin fetches | share of requests | hits at the upper tier | who asks the origin |"
    );
    println!("|---|---|---|---|---|");
    for (what, evidence) in [
        ("no tiers", None),
        ("several tiers (anycast, no hint)", Some(&anycast)),
        ("one tier (hint)", Some(&hinted)),
    ] {
        let outcome = run(evidence, &places).ok_or("a place is missing")?;
        let Outcome {
            origin,
            upper_hits,
            asking,
            ..
        } = outcome;
        let share = f64::from(origin) * 100.0 / f64::from(REQUESTS);
        println!(
            "| {what} | {origin} | {share:.1} % | {upper_hits} | {} |",
            asking.len()
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tiers_spare_the_origin_and_one_spares_it_most() {
        let places = RegionPlaces::packed().unwrap();
        let mut known = Evidence::none("192.0.2.1".parse().unwrap());
        known.anycast = Some(true);
        let none = run(None, &places).unwrap();
        let several = run(Some(&known), &places).unwrap();
        known.prefix = Some(anteroom::tier::evidence::Located {
            region: "aws:us-east-1".parse().unwrap(),
            voted: None,
            since: None,
        });
        known.anycast = None;
        let one = run(Some(&known), &places).unwrap();
        assert!(one.origin < several.origin && several.origin < none.origin);
        assert_eq!((none.asking.len(), one.asking.len()), (10, 1));
        // What a data centre finds at home is the same either way, but for what came there aged.
        assert!(none.lower_hits >= one.lower_hits);
    }
}
