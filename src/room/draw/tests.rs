//! Whether the draw is one: everybody gets one place, and every place is as likely as any other.

use std::collections::BTreeMap;
use std::collections::HashSet;

use proptest::prelude::*;

use super::*;

/// A key that differs for each `seed`.
fn key(seed: u64) -> DrawKey {
    DrawKey(Sha256::digest(seed.to_be_bytes()).into())
}

fn shuffled(key: &DrawKey, size: u64) -> Vec<u64> {
    Permutation::new(key, size).places().collect()
}

#[test]
fn everybody_gets_one_place_at_every_small_size() {
    for size in 0..=200 {
        let mut places = shuffled(&key(size), size);
        places.sort_unstable();
        assert!(places.iter().copied().eq(0..size), "size {size}");
    }
}

#[test]
fn all_places_at_once_are_those_of_one_by_one() {
    for size in [0, 1, 2, 3, 10, 99, 100, 101, 2_000] {
        let key = key(size);
        let draw = Permutation::new(&key, size);
        let one_by_one = (0..size).map(|number| draw.place(number));
        assert!(one_by_one.eq(draw.places()), "size {size}");
    }
}

proptest! {
    #[test]
    fn places_are_in_range_and_the_inverse_leads_back(
        seed: u64, size in 1..=MOST, numbers in prop::collection::vec(any::<u64>(), 1..50),
    ) {
        let key = key(seed);
        let draw = Permutation::new(&key, size);
        let mut taken = HashSet::new();
        for number in numbers.iter().map(|number| number % size).collect::<HashSet<_>>() {
            let place = draw.place(number);
            prop_assert!(place < size);
            prop_assert!(taken.insert(place), "two at {}", place);
            prop_assert_eq!(draw.number(place), number);
        }
    }

    #[test]
    fn what_does_not_take_part_stays(seed: u64, size in 0_u64..1_000, beyond in 0_u64..1_000) {
        let key = key(seed);
        let draw = Permutation::new(&key, size);
        prop_assert_eq!(draw.place(size + beyond), size + beyond);
        prop_assert_eq!(draw.number(size + beyond), size + beyond);
    }
}

/// How many standard deviations a count of equally likely outcomes lies above what chance gives
/// (Pearson's chi-square, whose mean is the degrees of freedom and whose variance twice that).
fn surprise(counts: impl Iterator<Item = u64>, outcomes: u64, trials: u64) -> f64 {
    let expected = trials as f64 / outcomes as f64;
    let mut seen = 0;
    let mut chi_square: f64 = counts
        .inspect(|_| seen += 1)
        .map(|count| (count as f64 - expected).powi(2) / expected)
        .sum();
    // An outcome that was never seen is off by what was expected of it.
    chi_square += (outcomes - seen) as f64 * expected;
    let freedom = (outcomes - 1) as f64;
    (chi_square - freedom) / (2.0 * freedom).sqrt()
}

#[test]
fn every_order_of_a_few_is_equally_likely() {
    for (size, orders) in [(2, 2), (3, 6), (4, 24), (5, 120), (6, 720)] {
        let trials = 2_000.max(orders * 10);
        let mut counts: BTreeMap<Vec<u64>, u64> = BTreeMap::new();
        for seed in 0..trials {
            *counts.entry(shuffled(&key(seed), size)).or_default() += 1;
        }
        let surprise = surprise(counts.into_values(), orders, trials);
        assert!(surprise < 4.0, "size {size}: {surprise}");
    }
}

#[test]
fn every_pair_of_places_is_equally_likely_for_neighbours() {
    // Neighbours share a row, so if the rounds were too few they would stay close.
    let (size, trials) = (30, 9_000);
    for other in [1, 6, 29] {
        let mut counts: BTreeMap<(u64, u64), u64> = BTreeMap::new();
        for seed in 0..trials {
            let key = key(seed);
            let draw = Permutation::new(&key, size);
            *counts
                .entry((draw.place(0), draw.place(other)))
                .or_default() += 1;
        }
        let surprise = surprise(counts.into_values(), size * (size - 1), trials);
        assert!(surprise < 4.0, "0 and {other}: {surprise}");
    }
}

#[test]
fn whoever_came_first_has_no_better_place_in_a_large_draw() {
    // Of 100,000 the places of each thousand by arrival are spread over all tenths of the line.
    let key = key(7);
    let mut counts = [[0_u64; 10]; 100];
    for (number, place) in Permutation::new(&key, 100_000).places().enumerate() {
        counts[number / 1_000][place as usize / 10_000] += 1;
    }
    let all = counts.iter().flatten().copied();
    let surprise = surprise(all, 1_000, 100_000);
    assert!(surprise.abs() < 5.0, "{surprise}");
}

#[test]
fn a_step_is_the_beginning_of_the_hash_of_key_round_and_line() {
    let (key, line) = (key(3), 0x0102_0304_0506_0708_u64);
    for round in [0, 1, 15] {
        let message = [&key.0[..], &[round], &line.to_be_bytes()].concat();
        let digest = Sha256::digest(message);
        let number = u64::from_be_bytes(digest[..8].try_into().unwrap());
        let draw = Permutation::new(&key, MOST);
        assert_eq!(draw.step(round, line), number % (1 << 20));
    }
}

#[test]
fn the_commitment_is_the_plain_hash_and_the_key_stays_out_of_logs() {
    let key = DrawKey::new([0; 32]);
    let expected = "66687aadf862bd776c8fc18b8e9f8e20089714856ee233b3902a591d0d5f2925";
    assert_eq!(key.commitment().to_string(), expected);
    assert_eq!(format!("{key:?}"), "DrawKey(..)");
}

#[test]
fn keys_are_digits_in_messages_and_bytes_in_the_storage() {
    let key = key(1);
    let text = serde_json::to_string(&key).unwrap();
    assert_eq!(text, format!("\"{key}\""));
    assert_eq!(serde_json::from_str::<DrawKey>(&text).unwrap(), key);
    let mut bytes = [0; 64];
    let stored = postcard::to_slice(&key, &mut bytes).unwrap();
    assert_eq!(stored.len(), 32);
    assert_eq!(postcard::from_bytes::<DrawKey>(stored).unwrap(), key);
    for wrong in ["\"\"", "\"zz\"", "7"] {
        assert!(serde_json::from_str::<DrawKey>(wrong).is_err(), "{wrong}");
    }
}
