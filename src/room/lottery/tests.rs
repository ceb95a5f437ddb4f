use super::*;

const SEED: Seed = Seed::new([7; 32]);

fn number(value: u64) -> TicketNumber {
    TicketNumber::new(value).unwrap()
}

fn epoch(index: u64, chance: f64) -> Epoch {
    Epoch::new(&SEED, index, Probability::new(chance), u64::MAX)
}

/// The sum of (observed - expected)² / expected.
fn chi_square(observed: &[u64], expected: &[f64]) -> f64 {
    let term =
        |(observed, expected): (&u64, &f64)| (*observed as f64 - expected).powi(2) / expected;
    observed.iter().zip(expected).map(term).sum()
}

#[test]
fn a_lot_is_what_another_implementation_works_out() {
    // Python: hmac.new(bytes([9]*32), (12345).to_bytes(8, "big"), "sha256").digest()[:8]
    let key = EpochKey([9; 32]);
    assert_eq!(key.lot(number(12_345)), 0x8161_9d60_f377_d276);
    let text = serde_json::to_string(&key).unwrap();
    assert_eq!(text.len(), 45);
    assert_eq!(serde_json::from_str::<EpochKey>(&text).unwrap(), key);
    assert!(serde_json::from_str::<EpochKey>("\"short\"").is_err());
}

/// Each number's chance is the same in every epoch. Over 1,500 numbers and 100 keys: how often a
/// number was drawn is binomial, so the numbers' counts have the spread of one, and the epochs' too.
#[test]
fn each_waiter_has_the_same_chance_in_every_epoch() {
    const NUMBERS: u64 = 1_500;
    const EPOCHS: u64 = 100;
    let chance = 0.1;
    let mut by_number = vec![0_u64; NUMBERS as usize];
    let mut by_epoch = vec![0_u64; EPOCHS as usize];
    for (index, drawn) in (0..).zip(&mut by_epoch) {
        let epoch = epoch(index, chance);
        for (value, times) in (1..).zip(&mut by_number) {
            if epoch.draws(number(value)) {
                *times += 1;
                *drawn += 1;
            }
        }
    }
    // For n counts of a binomial distribution the sum of (count - mean)² / variance is chi-square
    // with n degrees of freedom: mean n, deviation sqrt(2n). Four deviations are one in 16,000.
    for (counts, trials) in [(&by_number, EPOCHS), (&by_epoch, NUMBERS)] {
        let (mean, n) = (trials as f64 * chance, counts.len() as f64);
        let spread = chi_square(counts, &vec![mean; counts.len()]) / (1.0 - chance);
        assert!(
            (spread - n).abs() < 4.0 * (2.0 * n).sqrt(),
            "{spread} of {n}"
        );
    }
    // No stretch of the line is better off than another.
    let stretches: Vec<u64> = by_number.chunks(75).map(|part| part.iter().sum()).collect();
    let expected = vec![75.0 * EPOCHS as f64 * chance; stretches.len()];
    let spread = chi_square(&stretches, &expected) / (1.0 - chance);
    assert!(
        spread < 45.3,
        "{spread}: more than 0.999 of 20 degrees of freedom"
    );
}

/// Whether a number is drawn says nothing about its neighbour, nor about itself in the next epoch.
#[test]
fn lots_of_neighbours_and_of_consecutive_epochs_are_independent() {
    let chance = 0.3;
    let (mut neighbours, mut epochs) = ([0_u64; 4], [0_u64; 4]);
    for index in 0..40 {
        let (this, next) = (epoch(index, chance), epoch(index + 1, chance));
        for value in 1..=500 {
            // Each number in one pair, each epoch in one pair: pairs must not overlap.
            let drawn = usize::from(this.draws(number(2 * value)));
            neighbours[2 * drawn + usize::from(this.draws(number(2 * value + 1)))] += 1;
            if index % 2 == 0 {
                epochs[2 * drawn + usize::from(next.draws(number(2 * value)))] += 1;
            }
        }
    }
    for pairs in [neighbours, epochs] {
        let total = pairs.iter().sum::<u64>() as f64;
        let (yes, no) = (chance, 1.0 - chance);
        let expected = [no * no, no * yes, yes * no, yes * yes].map(|share| share * total);
        let spread = chi_square(&pairs, &expected);
        assert!(
            spread < 16.3,
            "{spread}: more than 0.999 of 3 degrees of freedom"
        );
    }
}

#[test]
fn numbers_given_later_take_no_part_and_certainty_is_almost_one() {
    let epoch = Epoch::new(&SEED, 5, Probability::new(1.0), 100);
    assert!((1..=100).all(|value| epoch.draws(number(value))));
    assert!(!(101..=200).any(|value| epoch.draws(number(value))));
    assert!(!(1..=100).any(|value| {
        Epoch {
            chance: Probability::new(0.0),
            ..epoch
        }
        .draws(number(value))
    }));
    for (share, expected) in [(-1.0, 0.0), (f64::NAN, 0.0), (0.25, 0.25), (7.0, 1.0)] {
        assert_eq!(Probability::new(share).share(), expected);
    }
}

#[test]
fn an_epoch_in_json_is_small_and_exact() {
    let epoch = Epoch::new(&SEED, 180_000_000, Probability::new(1.0 / 3.0), 1_234_567);
    let text = serde_json::to_string(&epoch).unwrap();
    assert!(text.len() < 110, "{text}");
    assert_eq!(serde_json::from_str::<Epoch>(&text).unwrap(), epoch);
}

/// The quartiles are those of the draw itself, played out.
#[test]
fn the_quartiles_are_those_of_the_draw() {
    let chance = 0.02;
    let recent: Vec<Epoch> = (1_000..1_030).map(|index| epoch(index, chance)).collect();
    let now = Instant::from_millis(1_029 * EPOCH.as_millis() + 1);
    let told = Quartiles::estimate(&recent, now).unwrap();
    let coming: Vec<Epoch> = (1_030..2_000).map(|index| epoch(index, chance)).collect();
    let wait = |value| coming.iter().position(|epoch| epoch.draws(number(value)));
    let mut waits: Vec<usize> = (1..=1_000).filter_map(wait).collect();
    waits.sort_unstable();
    let true_wait = |share: f64| (waits[(1_000.0 * share) as usize] + 1) as f64 * 10.0;
    for (told, share) in [(told.p25, 0.25), (told.p50, 0.5), (told.p75, 0.75)] {
        let (told, truth) = (told.as_secs() as f64, true_wait(share));
        assert!(
            (told - truth).abs() <= truth * 0.15 + 10.0,
            "{told} for {truth}"
        );
    }
}

#[test]
fn epochs_without_a_draw_count_and_too_few_say_nothing() {
    let at = |index: u64| Instant::from_millis(index * EPOCH.as_millis());
    let one = [epoch(100, 0.5)];
    assert_eq!(Quartiles::estimate(&[], at(100)), None);
    assert_eq!(Quartiles::estimate(&one, at(101)), None);
    assert_eq!(
        Quartiles::estimate(&one, at(99)),
        None,
        "a clock that is behind"
    );
    // Half of a half: one epoch in three drew.
    let told = Quartiles::estimate(&one, at(102)).unwrap();
    assert_eq!(told.p25, Span::from_secs(20));
    assert_eq!(told.p50, Span::from_secs(40));
    assert_eq!(told.p75, Span::from_secs(80));
    assert_eq!(Quartiles::estimate(&[epoch(100, 0.0)], at(110)), None);
    assert_eq!(Quartiles::estimate(&[epoch(100, 1e-9)], at(110)), None);
    let certain = Quartiles::estimate(&[100, 101, 102].map(|index| epoch(index, 1.0)), at(102));
    assert_eq!(certain.map(|told| told.p75), Some(EPOCH));
}
