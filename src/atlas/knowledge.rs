//! All that a Worker knows about where origins are, for whoever chooses an upper tier.

use std::net::IpAddr;
use std::sync::Arc;

use super::anycast::{FIBRE_KM_PER_MS, Verdict};
use super::cloud::Region;
use super::findings::{Finding, Findings, Source, by_distance};
use super::hints::Hints;
use super::origin_name::OriginName;
use super::ranges::Table;
use super::region_places::{Nearest, Place, RegionPlaces, best};
use super::standing::Pair;
use crate::time::Instant;

/// What is published, read.
#[derive(Clone, Debug, Default)]
pub struct Knowledge {
    /// Where everything is.
    pub places: Arc<RegionPlaces>,
    /// The operator's hints.
    pub hints: Arc<Hints>,
    /// What was measured.
    pub findings: Arc<Findings>,
    /// The regions of address ranges; none before the files were read for the first time.
    pub ranges: Option<Arc<Table>>,
}

/// The tier from which an origin was measured to be nearest.
#[derive(Clone, Debug, PartialEq)]
pub struct Winner<'a> {
    /// The code of its place.
    pub place: &'a str,
    /// The least time of a handshake from there, in milliseconds; none if the latest is too old.
    pub rtt_ms: Option<f64>,
    /// The code of the place of the best one in another metropolitan area.
    pub fallback: Option<&'a str>,
    /// Since when it is this one.
    pub since: Instant,
    /// Which one it was before.
    pub before: Option<&'a str>,
}

/// The tiers of a region.
#[derive(Clone, Debug, PartialEq)]
pub struct Tiers {
    /// Primary and fallback.
    pub pair: Pair,
    /// What they were chosen by.
    pub source: Source,
    /// Since when it is this one; none if by geography alone, which does not change.
    pub since: Option<Instant>,
    /// Which primary it was before.
    pub before: Option<String>,
}

impl Knowledge {
    /// The operator's hint for an origin.
    pub fn hint(&self, origin: &OriginName) -> Option<&Region> {
        self.hints.get(origin).map(|hint| &hint.region)
    }

    /// What was measured of an origin.
    pub fn finding(&self, origin: &OriginName) -> Option<&Finding> {
        self.findings.origins.get(origin)
    }

    /// The tier from which a unicast origin was measured to be nearest.
    pub fn measured(&self, origin: &OriginName) -> Option<Winner<'_>> {
        let finding = self.finding(origin)?;
        let standing = finding.tier.as_ref()?;
        let place = standing.pair.primary.as_str();
        Some(Winner {
            place,
            rtt_ms: finding.times.get(place).copied(),
            fallback: standing.pair.fallback.as_deref(),
            since: standing.since,
            before: standing.before.as_deref(),
        })
    }

    /// Whether an origin answers from several places; none if that is not known.
    pub fn is_anycast(&self, origin: &OriginName) -> Option<bool> {
        match self.finding(origin)?.verdict {
            Verdict::Unknown => None,
            verdict => Some(verdict.is_anycast()),
        }
    }

    /// The region that the clouds say an address is in.
    pub fn region_of(&self, address: IpAddr) -> Option<&Region> {
        self.ranges.as_ref()?.region(address)
    }

    /// The region of an origin, by its address, or by its name if that has a region in it.
    pub fn region(&self, origin: &OriginName) -> Option<&Region> {
        match origin.address() {
            Some(address) => self.region_of(address),
            None => self.places.region_of_host(origin),
        }
    }

    /// The tiers of a region: those that were measured, or else those that are nearest on the map. None
    /// if nobody knows where the region is.
    pub fn tiers_of(&self, region: &Region) -> Option<Tiers> {
        match self.findings.regions.get(region) {
            Some(tier) => Some(Tiers {
                pair: tier.standing.pair.clone(),
                source: tier.source,
                since: Some(tier.standing.since),
                before: tier.standing.before.clone(),
            }),
            None => Some(Tiers {
                pair: by_distance(region, &self.places)?,
                source: Source::Geography,
                since: None,
                before: None,
            }),
        }
    }

    /// How long it takes to reach an origin from a place, in milliseconds: as measured if it is unicast,
    /// and else what light takes to the region of the hint, or to that of its address or name. None if
    /// nothing is known.
    pub fn reach_ms(&self, origin: &OriginName, from: &Place) -> Option<f64> {
        let hint = self.hint(origin);
        let finding = self.finding(origin);
        let measured = finding.filter(|finding| hint.is_none() && finding.verdict.is_unicast());
        let time = measured.and_then(|finding| finding.times.get(&from.code).copied());
        time.or_else(|| {
            let region = hint.or_else(|| self.region(origin))?;
            let to = self.places.place_of(region)?;
            Some(from.point.km_to(&to.point) * 2.0 / FIBRE_KM_PER_MS)
        })
    }

    /// The one upper tier for a pool of origins, each with its weight: the place of the least weighted sum
    /// of times to its members. Members of which nothing is known have no say; none if that are all.
    pub fn pool<'a>(
        &'a self,
        members: &[(&OriginName, f64)],
        among: impl Iterator<Item = &'a Place>,
    ) -> Option<Nearest<'a>> {
        let cost = |place: &Place| {
            let known = members.iter().filter_map(|(origin, weight)| {
                Some((self.reach_ms(origin, place)? * weight, *weight))
            });
            let (cost, weights) = known.fold((0.0, 0.0), |(a, b), (c, d)| (a + c, b + d));
            // Per weight, since from some places fewer members may be known.
            (weights > 0.0).then(|| cost / weights)
        };
        best(among, cost)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(text: &str) -> OriginName {
        text.parse().unwrap()
    }

    fn knowledge(hints: &[(&str, &str)]) -> Knowledge {
        let mut set = Hints::default();
        for (origin, region) in hints {
            let region = region.parse().unwrap();
            set.set(name(origin), region, Instant::from_secs(1))
                .unwrap();
        }
        Knowledge {
            places: Arc::new(RegionPlaces::packed().unwrap()),
            hints: Arc::new(set),
            ..Knowledge::default()
        }
    }

    #[test]
    fn a_region_has_tiers_before_anything_is_measured() {
        let knowledge = knowledge(&[]);
        let tiers = knowledge.tiers_of(&"gcp:asia-southeast1".parse().unwrap());
        let tiers = tiers.unwrap();
        assert_eq!(
            (tiers.pair.primary.as_str(), tiers.source),
            ("sin", Source::Geography)
        );
        assert!(
            knowledge
                .tiers_of(&"aws:xx-nowhere-9".parse().unwrap())
                .is_none()
        );
        assert!(knowledge.region_of("18.0.0.1".parse().unwrap()).is_none());
    }

    #[test]
    fn a_bucket_has_the_region_of_its_name() {
        let knowledge = knowledge(&[]);
        let region = knowledge
            .region(&name("b.s3.sa-east-1.amazonaws.com"))
            .unwrap();
        let tiers = knowledge.tiers_of(region).unwrap();
        assert_eq!(tiers.pair.primary, "gru");
        // Where the name has none, a hint says it.
        let bucket = "pictures.example.com";
        for (hint, primary) in [("r2:apac", "hkg"), ("gcp:asia1", "nrt"), ("r2:eu", "fra")] {
            let knowledge = self::knowledge(&[(bucket, hint)]);
            let region = knowledge.hint(&name(bucket)).unwrap();
            let tiers = knowledge.tiers_of(region).unwrap();
            assert_eq!(tiers.pair.primary, primary, "{hint}");
        }
    }

    #[test]
    fn a_pool_has_one_tier_near_most_of_its_weight() {
        let members = [
            ("192.0.2.1", "aws:us-east-1"),
            ("192.0.2.2", "aws:eu-central-1"),
            ("192.0.2.3", "aws:eu-west-2"),
        ];
        let knowledge = knowledge(&members);
        let names = members.map(|(origin, _)| name(origin));
        let unknown = name("192.0.2.9");
        let pool = |weights: [f64; 3]| {
            let members = names.iter().zip(weights).chain([(&unknown, 5.0)]);
            let members: Vec<_> = members.collect();
            let colos = knowledge.places.colos().iter();
            let places = colos.filter_map(|colo| knowledge.places.place(&colo.place));
            let nearest = knowledge.pool(&members, places).unwrap();
            nearest.primary.code.clone()
        };
        assert_eq!(pool([1.0, 1.0, 1.0]), "lhr");
        assert_eq!(pool([9.0, 1.0, 1.0]), "iad");
        assert_eq!(pool([0.0, 1.0, 0.1]), "fra");
        let none = knowledge.pool(&[(&unknown, 1.0)], knowledge.places.places());
        assert_eq!(none, None);
    }
}
