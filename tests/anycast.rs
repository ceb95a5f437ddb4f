//! The anycast detector on measurements of real addresses, each from about a thousand places.
#![cfg(not(target_arch = "wasm32"))]
// clippy.toml allows these in tests, but does not know the functions that tests share.
#![allow(clippy::indexing_slicing, clippy::unwrap_used)]

mod common;

use std::collections::BTreeMap;
use std::fs;

use anteroom::atlas::anycast::{Measurement, Verdict, judge};
use anteroom::atlas::place::Point;

/// So many draws of a few vantage points for each address.
const DRAWS: usize = 40;
/// So many vantage points are drawn.
const FEW: usize = 12;

struct Target {
    address: String,
    class: String,
    measurements: Vec<Measurement>,
}

impl Target {
    fn is_anycast(&self) -> bool {
        self.class == "anycast"
    }
}

/// The measured addresses; none, with a word about it, in a clone that has no data.
fn targets() -> Option<Vec<Target>> {
    let folder = common::data("probes")?;
    let labels = fs::read_to_string(folder.join("labels.csv")).unwrap();
    let target = |line: &str| {
        let mut fields = line.split(',');
        let mut next = || fields.next().unwrap().to_owned();
        let (address, class) = (next(), next());
        let rows = fs::read_to_string(folder.join(format!("{address}.csv"))).unwrap();
        let measurement = |row: &str| {
            let row: Vec<f64> = row.split(',').map(|field| field.parse().unwrap()).collect();
            let from = Point::new(row[0], row[1]).unwrap();
            let rtt_ms = row[2];
            Measurement { from, rtt_ms }
        };
        let measurements = rows.lines().skip(1).map(measurement).collect();
        Target {
            address,
            class,
            measurements,
        }
    };
    Some(labels.lines().skip(1).map(target).collect())
}

/// Vantage points far from each other: a random first one, then always the one that is furthest
/// from those chosen, out of a random half.
fn well_spread(all: &[Measurement], random: &mut fastrand::Rng) -> Vec<Measurement> {
    let mut rest = all.to_vec();
    random.shuffle(&mut rest);
    rest.truncate(all.len() / 2);
    let mut chosen: Vec<Measurement> = rest.pop().into_iter().collect();
    while chosen.len() < FEW {
        let nearest = |one: &Measurement| {
            let distances = chosen.iter().map(|other| one.from.km_to(&other.from));
            distances.fold(f64::MAX, f64::min)
        };
        let furthest =
            (0..rest.len()).max_by(|a, b| nearest(&rest[*a]).total_cmp(&nearest(&rest[*b])));
        chosen.push(rest.swap_remove(furthest.unwrap()));
    }
    chosen
}

#[test]
fn every_anycast_address_is_found_and_no_other() {
    let Some(targets) = targets() else { return };
    assert!(targets.iter().filter(|target| target.is_anycast()).count() >= 10);
    for target in targets {
        let verdict = judge(&target.measurements);
        let found = matches!(verdict, Verdict::Anycast { .. });
        assert_eq!(
            found,
            target.is_anycast(),
            "{} ({}): {verdict:?}",
            target.address,
            target.class
        );
    }
}

#[test]
fn a_dozen_vantage_points_far_apart_suffice() {
    let Some(targets) = targets() else { return };
    let mut random = fastrand::Rng::with_seed(7);
    let mut found: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for target in &targets {
        for _ in 0..DRAWS {
            let few = well_spread(&target.measurements, &mut random);
            let count = found.entry(&target.class).or_default();
            count.0 += usize::from(matches!(judge(&few), Verdict::Anycast { .. }));
            count.1 += 1;
        }
    }
    for (class, (anycast, draws)) in &found {
        println!("{class}: {anycast} of {draws} draws of {FEW} vantage points say anycast");
    }
    let share = |class: &str| {
        let (anycast, draws) = found[class];
        anycast as f64 / draws as f64
    };
    assert_eq!(share("unicast"), 0.0);
    assert_eq!(share("one_bad_probe"), 0.0);
    // One of the fourteen answers from few places, which a dozen points seldom tell apart; the others
    // are found in every draw.
    assert!(share("anycast") > 0.9, "{}", share("anycast"));
}
