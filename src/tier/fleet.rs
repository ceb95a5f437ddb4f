//! The upper tiers of a deployment, with where they are.

use crate::atlas::place::Point;
use crate::atlas::region_places::{APART_KM, Place, RegionPlaces};
use crate::site::tier::Tier;

/// All upper tiers that are asked for answers, in the order of their declaration.
#[derive(Clone, Debug, Default)]
pub struct Fleet(Vec<Upper>);

/// An upper tier and its place.
#[derive(Clone, Debug, PartialEq)]
pub struct Upper {
    /// As it is declared.
    pub tier: Tier,
    /// Where it is meant to run.
    pub place: Place,
}

impl Upper {
    /// Its name.
    pub fn name(&self) -> &str {
        &self.tier.name
    }

    /// How far it is from a point, in kilometres.
    pub fn km_to(&self, point: &Point) -> f64 {
        self.place.point.km_to(point)
    }

    /// Whether losing the one does not mean losing the other: whether [`APART_KM`] lie between them.
    pub fn is_apart_from(&self, other: &Self) -> bool {
        self.km_to(&other.place.point) >= APART_KM
    }
}

impl Fleet {
    /// The declared tiers but for those that only measure. The build refuses one whose place is not known;
    /// it would be left out here.
    pub fn new(tiers: Vec<Tier>, places: &RegionPlaces) -> Self {
        let asked = tiers.into_iter().filter(|tier| !tier.checkpoint_only);
        let uppers = asked.filter_map(|tier| {
            let place = places.place(&tier.place)?.clone();
            Some(Upper { tier, place })
        });
        Self(uppers.collect())
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// All of them.
    pub fn all(&self) -> impl Iterator<Item = &Upper> {
        self.0.iter()
    }

    /// One by its name.
    pub fn get(&self, name: &str) -> Option<&Upper> {
        self.all().find(|upper| upper.name() == name)
    }

    /// The one that costs least, of those apart from `first` if that is given; of equals the one
    /// declared first.
    pub fn best(&self, first: Option<&Upper>, cost: impl Fn(&Upper) -> f64) -> Option<&Upper> {
        let candidates = self
            .all()
            .filter(|upper| first.is_none_or(|first| upper.is_apart_from(first)));
        candidates.min_by(|a, b| cost(a).total_cmp(&cost(b)))
    }
}
