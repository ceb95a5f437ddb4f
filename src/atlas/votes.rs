//! Which upper tier is best for a cloud region: its subnets vote.
//!
//! A subnet of the providers' files in which an origin was probed votes for the place from which it
//! was reached soonest. The place with the most votes is the region's primary; its fallback is the one
//! that would win if all places near the primary were gone.

use std::collections::BTreeMap;

use super::region_places::{APART_KM, RegionPlaces};
use super::standing::Pair;
use crate::time::Span;

/// Larger subnets than 2 to this power (IPv4: a /20) count as much as one of that size: an operator's
/// servers are not spread evenly over a cloud's largest blocks.
const SIZE_CAP_LOG2: u32 = 12;

/// More handshakes than so many tell nothing new.
const SAMPLES_CAP: f64 = 20.0;

/// After this time a measurement counts for half.
const HALF_LIFE: Span = Span::from_secs(60 * 60);

/// What a subnet has to say.
#[derive(Clone, Debug, PartialEq)]
pub struct Ballot {
    /// What it counts for, more than 0 and at most 1: see [`weight`].
    pub weight: f64,
    /// The least round-trip time from each place, in milliseconds.
    pub times: BTreeMap<String, f64>,
}

/// What a ballot counts for.
pub fn weight(size_log2: u32, samples: u32, age: Span) -> f64 {
    let size = f64::from(size_log2.min(SIZE_CAP_LOG2)) - f64::from(SIZE_CAP_LOG2);
    let samples = (f64::from(samples.max(1)) / SAMPLES_CAP).min(1.0);
    let half_lives = age.as_millis() as f64 / HALF_LIFE.as_millis() as f64;
    // Of a measurement that is very old, too, something is left: it is the only one.
    size.exp2() * samples * (-half_lives).exp2().max(f64::MIN_POSITIVE)
}

/// How a vote went.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// The winner and its fallback; both known places, and [`APART_KM`] apart.
    pub pair: Pair,
    /// The votes of the first count, by place.
    pub votes: BTreeMap<String, f64>,
}

/// Counts the votes. None if nobody votes for a place that is known.
pub fn count(ballots: &[Ballot], places: &RegionPlaces) -> Option<Outcome> {
    let votes = tally(ballots, |code| places.place(code).is_some());
    let primary = winner(&votes)?;
    let around = places.place(&primary)?.point;
    let is_apart = |code: &str| {
        let place = places.place(code);
        place.is_some_and(|place| place.point.km_to(&around) >= APART_KM)
    };
    let fallback = winner(&tally(ballots, is_apart));
    Some(Outcome {
        pair: Pair { primary, fallback },
        votes,
    })
}

/// Each ballot for the quickest of the places that may stand.
fn tally(ballots: &[Ballot], may_stand: impl Fn(&str) -> bool) -> BTreeMap<String, f64> {
    let mut votes = BTreeMap::new();
    for ballot in ballots {
        let standing = ballot.times.iter().filter(|(code, _)| may_stand(code));
        if let Some((code, _)) = standing.min_by(|(_, a), (_, b)| a.total_cmp(b)) {
            *votes.entry(code.clone()).or_default() += ballot.weight;
        }
    }
    votes
}

fn winner(votes: &BTreeMap<String, f64>) -> Option<String> {
    let most = votes
        .iter()
        .max_by(|(x, a), (y, b)| a.total_cmp(b).then_with(|| y.cmp(x)));
    most.map(|(code, _)| code.clone())
}

/// How much sooner `best` reaches the subnets than `other`: the ratio of the weighted means of those that
/// both have measured, and if there are none, that of their votes. None if nobody measured `other`.
pub fn lead(ballots: &[Ballot], best: &str, other: &str) -> Option<f64> {
    /// Times are rounded, to a millisecond in the worst case.
    const LEAST_MS: f64 = 0.5;
    if !ballots
        .iter()
        .any(|ballot| ballot.times.contains_key(other))
    {
        return None;
    }
    let (mut of_best, mut of_other) = (0.0, 0.0);
    for ballot in ballots {
        if let (Some(a), Some(b)) = (ballot.times.get(best), ballot.times.get(other)) {
            of_best += ballot.weight * a.max(LEAST_MS);
            of_other += ballot.weight * b.max(LEAST_MS);
        }
    }
    if of_best > 0.0 {
        return Some(of_other / of_best);
    }
    let votes = tally(ballots, |_| true);
    let of = |code: &str| votes.get(code).copied().unwrap_or_default();
    Some((of(best) / of(other)).min(f64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn ballot(weight: f64, times: &[(&str, f64)]) -> Ballot {
        let times = times.iter().map(|(code, ms)| ((*code).to_owned(), *ms));
        Ballot {
            weight,
            times: times.collect(),
        }
    }

    fn places() -> RegionPlaces {
        RegionPlaces::packed().unwrap()
    }

    #[test]
    fn the_most_weight_wins_and_the_fallback_is_elsewhere() {
        let ballots = [
            // Washington is 40 km from Ashburn.
            ballot(
                1.0,
                &[("iad", 1.0), ("was", 1.5), ("ewr", 6.0), ("fra", 90.0)],
            ),
            ballot(0.5, &[("ewr", 1.0), ("fra", 80.0)]),
            ballot(0.4, &[("ewr", 1.0), ("fra", 80.0)]),
        ];
        let outcome = count(&ballots, &places()).unwrap();
        assert_eq!(outcome.pair.primary, "iad");
        assert_eq!(outcome.pair.fallback.as_deref(), Some("ewr"));
        assert_eq!(outcome.votes["ewr"], 0.9);
        assert!(count(&[], &places()).is_none());
        assert!(count(&[ballot(1.0, &[("nowhere", 1.0)])], &places()).is_none());
        let alone = count(&[ballot(1.0, &[("iad", 1.0), ("was", 1.0)])], &places());
        assert_eq!(alone.unwrap().pair.fallback, None);
    }

    #[test]
    fn a_lead_is_one_of_time_where_both_are_measured() {
        let ballots = [
            ballot(1.0, &[("iad", 2.0), ("ewr", 6.0)]),
            ballot(1.0, &[("iad", 4.0), ("ewr", 3.0)]),
            ballot(1.0, &[("fra", 1.0)]),
        ];
        assert_eq!(lead(&ballots, "iad", "ewr"), Some(1.5));
        assert_eq!(lead(&ballots, "iad", "sin"), None);
        assert_eq!(lead(&ballots, "iad", "fra"), Some(1.0));
    }

    #[test]
    fn size_samples_and_freshness_count() {
        let now = Span::ZERO;
        let hour = HALF_LIFE;
        assert_eq!(weight(SIZE_CAP_LOG2, 20, now), 1.0);
        assert_eq!(weight(32, 900, now), 1.0);
        assert_eq!(weight(SIZE_CAP_LOG2 - 1, 20, now), 0.5);
        assert_eq!(weight(SIZE_CAP_LOG2, 10, now), 0.5);
        assert_eq!(weight(SIZE_CAP_LOG2, 20, hour), 0.5);
        assert!(weight(0, 0, Span::from_secs(u32::MAX.into())) > 0.0);
    }

    fn ballots() -> impl Strategy<Value = Vec<Ballot>> {
        let codes: Vec<String> = places().places().map(|place| place.code.clone()).collect();
        let times = prop::collection::btree_map(prop::sample::select(codes), 0.1..300.0, 0..12);
        let one = (0.001..1.0, times).prop_map(|(weight, times)| Ballot { weight, times });
        prop::collection::vec(one, 0..20)
    }

    proptest! {
        #[test]
        fn a_winner_has_the_most_votes_and_its_fallback_is_apart(ballots in ballots()) {
            let places = places();
            let Some(Outcome { pair, votes }) = count(&ballots, &places) else {
                prop_assert!(ballots.iter().all(|ballot| ballot.times.is_empty()));
                return Ok(());
            };
            // Every vote is counted once.
            let voting = ballots.iter().filter(|ballot| !ballot.times.is_empty());
            let weight: f64 = voting.map(|ballot| ballot.weight).sum();
            prop_assert!((votes.values().sum::<f64>() - weight).abs() < 1e-9);
            prop_assert!(votes.values().all(|votes_of_one| *votes_of_one <= votes[&pair.primary]));
            let primary = places.place(&pair.primary).unwrap().point;
            let apart = |code: &String| places.place(code).unwrap().point.km_to(&primary) >= APART_KM;
            match &pair.fallback {
                Some(fallback) => prop_assert!(apart(fallback)),
                // There is none only where nobody has measured from anywhere else.
                None => prop_assert!(!ballots.iter().any(|ballot| ballot.times.keys().any(apart))),
            }
            // Whoever votes otherwise than the winner's own voters cannot be outvoted by nobody.
            prop_assert!(ballots.iter().any(|ballot| ballot.times.contains_key(&pair.primary)));
        }
    }
}
