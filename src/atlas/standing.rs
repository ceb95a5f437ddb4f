//! A choice that is not given up for every small thing: each change of an upper tier costs a wave of
//! misses.

use serde::{Deserialize, Serialize};

use crate::time::Instant;

/// Who is better must be so by this factor.
pub const CLEARLY: f64 = 1.1;

/// And in so many rounds in a row. A round takes 15 minutes.
pub const ROUNDS: u32 = 3;

/// A primary and its fallback, by the codes of their places.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Pair {
    /// The first to be asked.
    pub primary: String,
    /// Who is asked if that fails, in another metropolitan area; none if there is nobody.
    pub fallback: Option<String>,
}

/// What a round of measurements makes of the places.
#[derive(Clone, Debug, PartialEq)]
pub struct Round {
    /// The best, and its fallback.
    pub best: Pair,
    /// How much better it is than the one that stands: 1.1 for a tenth. [`f64::MAX`] if nobody measures
    /// from there any more.
    pub lead: f64,
}

/// The pair that stands.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Standing {
    /// It.
    pub pair: Pair,
    /// Since when.
    pub since: Instant,
    /// The primary before, from which content may be read for a while after the change.
    #[serde(default)]
    pub before: Option<String>,
    /// Who has been better since when it began, and in how many rounds.
    #[serde(default)]
    challenger: Option<(String, u32)>,
}

impl Standing {
    /// The first one to stand.
    pub const fn new(pair: Pair, since: Instant, before: Option<String>) -> Self {
        Self {
            pair,
            since,
            before,
            challenger: None,
        }
    }

    /// Takes in a round: whether the primary is another one now.
    pub fn hear(&mut self, round: Round, now: Instant) -> bool {
        let Round { best, lead } = round;
        if best.primary == self.pair.primary {
            self.challenger = None;
            // A change of the fallback costs nothing while the primary answers.
            self.pair.fallback = best.fallback;
            return false;
        }
        if lead < CLEARLY {
            self.challenger = None;
            return false;
        }
        let rounds = match self.challenger.take() {
            Some((challenger, rounds)) if challenger == best.primary => rounds + 1,
            _ => 1,
        };
        if rounds < ROUNDS {
            self.challenger = Some((best.primary, rounds));
            return false;
        }
        let before = std::mem::replace(&mut self.pair, best).primary;
        *self = Self::new(self.pair.clone(), now, Some(before));
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn pair(primary: &str) -> Pair {
        Pair {
            primary: primary.to_owned(),
            fallback: Some("fra".to_owned()),
        }
    }

    fn round(primary: &str, lead: f64) -> Round {
        let best = pair(primary);
        Round { best, lead }
    }

    #[test]
    fn a_better_one_has_to_be_so_for_a_while() {
        let at = Instant::from_secs;
        let mut standing = Standing::new(pair("iad"), at(0), None);
        for (now, round, changes) in [
            (1, round("ewr", 1.2), false),
            (2, round("ewr", 1.2), false),
            // It was better, but not clearly.
            (3, round("ewr", 1.05), false),
            (4, round("ewr", 1.2), false),
            // Somebody else was.
            (5, round("atl", 1.2), false),
            (6, round("ewr", 1.2), false),
            (7, round("ewr", 1.2), false),
            (8, round("ewr", 1.2), true),
        ] {
            assert_eq!(standing.hear(round, at(now)), changes, "{now}");
        }
        assert_eq!(standing.pair, pair("ewr"));
        assert_eq!(
            (standing.since, standing.before.as_deref()),
            (at(8), Some("iad"))
        );
    }

    proptest! {
        /// However measurements jump about, there are no two changes within as many rounds as one
        /// takes.
        #[test]
        fn it_does_not_flap(rounds in prop::collection::vec((0_usize..3, 0.5_f64..2.0), 1..60)) {
            let mut standing = Standing::new(pair("a"), Instant::from_secs(0), None);
            let mut last: Option<usize> = None;
            for (n, (who, lead)) in rounds.into_iter().enumerate() {
                let heard = round(["a", "b", "c"][who], lead);
                if standing.hear(heard, Instant::from_secs(n as u64)) {
                    prop_assert!(last.is_none_or(|last| n - last >= ROUNDS as usize));
                    prop_assert!(lead >= CLEARLY);
                    last = Some(n);
                }
            }
        }
    }
}
