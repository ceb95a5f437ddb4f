//! What is concluded from the probes, round by round: which origins are anycast, and which upper tier
//! is the best for an origin and for a region.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::anycast::{Verdict, judge};
use super::cloud::Region;
use super::origin_name::OriginName;
use super::probe::{Book, Latest, measurements};
use super::ranges::Table;
use super::region_places::{Nearest, RegionPlaces};
use super::standing::{Pair, ROUNDS, Round, Standing};
use super::votes::{self, Ballot};
use crate::time::Instant;

/// What the last rounds have shown: one value with one version.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct Findings {
    /// Grows with every round that was held.
    pub version: u64,
    /// When the last one was.
    pub at: Instant,
    /// By origin.
    pub origins: BTreeMap<OriginName, Finding>,
    /// By region, of those in which origins were probed.
    pub regions: BTreeMap<Region, RegionTier>,
}

/// What is known of an origin.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Finding {
    /// Whether it is in one place.
    pub verdict: Verdict,
    /// In so many rounds in a row the measurements have said otherwise than the verdict.
    #[serde(default)]
    doubts: u32,
    /// The place whose measurement is contradicted by those of others, and not believed.
    #[serde(default)]
    pub disbelieved: Option<String>,
    /// The least round-trip times in milliseconds, by place.
    pub times: BTreeMap<String, f64>,
    /// The best upper tier, of a unicast origin.
    #[serde(default)]
    pub tier: Option<Standing>,
}

/// The upper tier of a region.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct RegionTier {
    /// What it was chosen by.
    pub source: Source,
    /// The choice.
    pub standing: Standing,
}

/// What a tier was chosen by.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// By distance on the map: there are no measurements, or not yet for long enough.
    Geography,
    /// By the votes of its subnets.
    Measured,
}

impl Findings {
    /// Holds a round.
    pub fn round(
        &mut self,
        book: &Book,
        table: Option<&Table>,
        places: &RegionPlaces,
        now: Instant,
    ) {
        self.version += 1;
        self.at = now;
        self.origins
            .retain(|origin, _| book.iter().any(|(known, _)| known == origin));
        for (origin, latest) in book.iter() {
            let before = self.origins.remove(origin);
            let finding = Finding::next(before, latest, places, now);
            self.origins.insert(origin.clone(), finding);
        }
        let ballots = table
            .map(|table| self.ballots(book, table, now))
            .unwrap_or_default();
        self.regions
            .retain(|region, _| ballots.contains_key(region));
        for (region, ballots) in ballots {
            let before = self.regions.remove(&region);
            let tier = RegionTier::next(before, &region, &ballots, places, now);
            self.regions.extend(tier.map(|tier| (region, tier)));
        }
    }

    /// The ballots of each region: one for each of its subnets in which there are unicast origins.
    fn ballots(&self, book: &Book, table: &Table, now: Instant) -> BTreeMap<Region, Vec<Ballot>> {
        let mut subnets: BTreeMap<(&Region, bool, u64), Ballot> = BTreeMap::new();
        for (origin, latest) in book.iter() {
            let Some(finding) = self.origins.get(origin) else {
                continue;
            };
            let address = origin.address();
            let subnet = address.and_then(|address| table.subnet(address));
            let (Some(subnet), Some(_)) = (subnet, finding.tier.as_ref()) else {
                continue;
            };
            let samples = latest.values().map(|latest| latest.samples).sum();
            let newest = latest.values().map(|latest| latest.at).max();
            let age = now.since(newest.unwrap_or_default());
            let weight = votes::weight(subnet.size_log2, samples, age);
            let is_v4 = address.is_some_and(|address| address.is_ipv4());
            let ballot = subnets
                .entry((subnet.region, is_v4, subnet.begin))
                .or_insert(Ballot {
                    weight,
                    times: BTreeMap::new(),
                });
            ballot.weight = ballot.weight.max(weight);
            for (code, ms) in finding.believed() {
                let least = ballot.times.entry(code.clone()).or_insert(*ms);
                *least = least.min(*ms);
            }
        }
        let mut ballots: BTreeMap<Region, Vec<Ballot>> = BTreeMap::new();
        for ((region, ..), ballot) in subnets {
            ballots.entry(region.clone()).or_default().push(ballot);
        }
        ballots
    }
}

impl Finding {
    fn next(
        before: Option<Self>,
        latest: &BTreeMap<String, Latest>,
        places: &RegionPlaces,
        now: Instant,
    ) -> Self {
        let (codes, measurements) = measurements(latest, places);
        let seen = judge(&measurements);
        let times = latest
            .iter()
            .map(|(code, latest)| (code.clone(), latest.rtt_ms));
        let (verdict, doubts, tier) = match before {
            None => (seen, 0, None),
            Some(before) => {
                let (verdict, doubts) = before.hear(seen);
                (verdict, doubts, before.tier)
            }
        };
        let disbelieved = match seen {
            Verdict::Unicast { disbelieved } => disbelieved.and_then(|index| codes.get(index)),
            _ => None,
        };
        let mut next = Self {
            verdict,
            doubts,
            disbelieved: disbelieved.map(|code| (*code).to_owned()),
            times: times.collect(),
            tier: tier.filter(|_| verdict.is_unicast()),
        };
        if verdict.is_unicast() {
            next.choose(places, now);
        }
        next
    }

    /// A verdict changes once the measurements have said otherwise for several rounds: a changed verdict
    /// is another tier.
    fn hear(&self, seen: Verdict) -> (Verdict, u32) {
        let is_same = seen.is_unicast() == self.verdict.is_unicast()
            && seen.is_anycast() == self.verdict.is_anycast();
        if is_same || self.verdict == Verdict::Unknown {
            return (seen, 0);
        }
        match seen {
            Verdict::Unknown => (self.verdict, self.doubts),
            _ if self.doubts + 1 >= ROUNDS => (seen, 0),
            _ => (self.verdict, self.doubts + 1),
        }
    }

    /// Lets the measurements speak on the tier.
    fn choose(&mut self, places: &RegionPlaces, now: Instant) {
        let times = self.believed().map(|(code, ms)| (code.clone(), *ms));
        let ballots = [Ballot {
            weight: 1.0,
            times: times.collect(),
        }];
        let Some(outcome) = votes::count(&ballots, places) else {
            return;
        };
        let best = outcome.pair;
        match &mut self.tier {
            None => self.tier = Some(Standing::new(best, now, None)),
            Some(standing) => {
                let lead = votes::lead(&ballots, &best.primary, &standing.pair.primary);
                let lead = lead.unwrap_or(f64::MAX);
                standing.hear(Round { best, lead }, now);
            }
        }
    }

    fn believed(&self) -> impl Iterator<Item = (&String, &f64)> {
        let disbelieved = self.disbelieved.as_ref();
        self.times
            .iter()
            .filter(move |(code, _)| Some(*code) != disbelieved)
    }
}

impl RegionTier {
    fn next(
        before: Option<Self>,
        region: &Region,
        ballots: &[Ballot],
        places: &RegionPlaces,
        now: Instant,
    ) -> Option<Self> {
        let best = votes::count(ballots, places)?.pair;
        let before = before.or_else(|| {
            let pair = by_distance(region, places)?;
            Some(Self {
                source: Source::Geography,
                standing: Standing::new(pair, now, None),
            })
        });
        let Some(mut tier) = before else {
            // Nobody knows where the region is.
            return Some(Self {
                source: Source::Measured,
                standing: Standing::new(best, now, None),
            });
        };
        let standing = &mut tier.standing;
        let lead = votes::lead(ballots, &best.primary, &standing.pair.primary);
        let is_confirmed = lead.is_some() && best.primary == standing.pair.primary;
        let lead = lead.unwrap_or(f64::MAX);
        if standing.hear(Round { best, lead }, now) || is_confirmed {
            tier.source = Source::Measured;
        }
        Some(tier)
    }
}

/// The tiers of a region by the map: the nearest large data centre, and the nearest one that is not in
/// the same metropolitan area.
pub fn by_distance(region: &Region, places: &RegionPlaces) -> Option<Pair> {
    let place = places.place_of(region)?;
    let Nearest { primary, fallback } = places.nearest(&place.point)?;
    Some(Pair {
        primary: primary.code.clone(),
        fallback: fallback.map(|place| place.code.clone()),
    })
}

#[cfg(test)]
mod tests;
