//! Where clouds, their regions and Cloudflare's large data centres are: the tables of `atlas/`, read
//! once.

mod tables;

use std::collections::BTreeMap;
use std::fmt;

pub use self::tables::{Tables, Unreadable};
use super::cloud::{Format, Region, Vendor};
use super::origin_name::OriginName;
use super::place::Point;

/// Two places this far apart, in kilometres, do not lose power, water or lines together: a fallback
/// is at least so far from its primary.
pub const APART_KM: f64 = 100.0;

/// A metropolitan area.
#[derive(Clone, Debug, PartialEq)]
pub struct Place {
    /// IATA's code of the city or its airport, in lower case.
    pub code: String,
    /// The city.
    pub city: String,
    /// ISO 3166-1, two letters.
    pub country: String,
    /// As in `request.cf`: AF, AS, EU, NA, OC or SA.
    pub continent: String,
    /// Its centre.
    pub point: Point,
}

/// A cloud provider.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Provider {
    /// The form of its file of address ranges.
    pub format: Format,
    /// Where the file is; none if there is none, or if its address moves and has to be configured.
    pub url: Option<String>,
    /// Whether Cloudflare places Workers near its regions (`placement.region`).
    pub has_placement: bool,
    /// Names below these have the region in one of their labels: `amazonaws.com`.
    pub domains: Vec<String>,
    /// What may stand before the region in that label: `s3-`.
    pub before: Vec<String>,
}

/// One of Cloudflare's data centres that is large enough to be an upper tier.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Colo {
    /// Its code at Cloudflare: `IAD`.
    pub code: String,
    /// The code of its place.
    pub place: String,
    /// Whether Durable Objects live there.
    pub has_objects: bool,
}

/// Two places for an upper tier: see [`best`].
#[derive(Clone, Debug, PartialEq)]
pub struct Nearest<'a> {
    /// The nearest, or else best.
    pub primary: &'a Place,
    /// The next one that is [`APART_KM`] from it.
    pub fallback: Option<&'a Place>,
}

/// The regions that were perhaps meant.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct DidYouMean(Vec<Region>);

impl fmt::Display for DidYouMean {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<String> = self.0.iter().map(ToString::to_string).collect();
        match names.as_slice() {
            [] => Ok(()),
            names => write!(f, "; did you mean {}?", names.join(" or ")),
        }
    }
}

/// Where Cloudflare runs a Worker that is placed near a region.
#[derive(Clone, Debug, PartialEq)]
pub struct Placement<'a> {
    /// For `placement.region`.
    pub region: Region,
    /// Where that is.
    pub place: &'a Place,
}

/// Places, and what is there.
#[derive(Clone, Debug, Default)]
pub struct RegionPlaces {
    places: BTreeMap<String, Place>,
    vendors: BTreeMap<Vendor, Provider>,
    regions: BTreeMap<Region, String>,
    /// Those of which nobody knows where they are.
    unplaced: Vec<Region>,
    /// Locations of buckets that are no regions.
    buckets: BTreeMap<Region, String>,
    colos: Vec<Colo>,
}

impl RegionPlaces {
    /// Where a region is, or a location of buckets. A border group of Amazon's is where its name says, if the name has a
    /// place's code in it, and else nowhere: it may be far from its region.
    pub fn place_of(&self, region: &Region) -> Option<&Place> {
        let code = match self.regions.get(region).or(self.buckets.get(region)) {
            Some(code) => code.as_str(),
            None => border_group(region)?,
        };
        self.places.get(code)
    }

    /// The region that Cloudflare's placement of Workers has for this one: itself, or of a cloud that it
    /// does not know, the nearest of another. None if nobody knows where the region is.
    pub fn placement(&self, region: &Region) -> Option<Placement<'_>> {
        let place = self.place_of(region)?;
        let has_placement = |region: &Region| {
            let provider = self.vendors.get(region.vendor());
            let is_placed = provider.is_some_and(|provider| provider.has_placement);
            is_placed && !self.is_of_buckets(region)
        };
        if has_placement(region) {
            let region = region.clone();
            return Some(Placement { region, place });
        }
        let known = self.regions.iter();
        let known = known.filter(|(region, _)| has_placement(region));
        let known = known.filter_map(|(region, code)| Some((region, self.places.get(code)?)));
        let km = |(_, other): &(&Region, &Place)| other.point.km_to(&place.point);
        let (region, place) = known.min_by(|a, b| km(a).total_cmp(&km(b)))?;
        let region = region.clone();
        Some(Placement { region, place })
    }

    /// The known regions that are most like `region`, the likeliest first: for whoever has
    /// mistyped one.
    pub fn like(&self, region: &Region) -> Vec<&Region> {
        let same_vendor = self.regions();
        let same_vendor = same_vendor.filter(|known| known.vendor() == region.vendor());
        let mut like: Vec<(f64, &Region)> = same_vendor
            .map(|known| (strsim::jaro_winkler(known.name(), region.name()), known))
            .filter(|(likeness, _)| *likeness > 0.8)
            .collect();
        like.sort_by(|(a, _), (b, _)| b.total_cmp(a));
        like.into_iter().take(3).map(|(_, known)| known).collect()
    }

    /// The same, to be told.
    pub fn did_you_mean(&self, region: &Region) -> DidYouMean {
        DidYouMean(self.like(region).into_iter().cloned().collect())
    }

    /// The region that a host name has in one of its labels, as those of buckets and of load
    /// balancers do: `eu-west-1` of `pictures.s3.eu-west-1.amazonaws.com`.
    pub fn region_of_host(&self, name: &OriginName) -> Option<&Region> {
        let is_below = |domain: &String| {
            let above = name.as_str().strip_suffix(domain.as_str());
            above.is_some_and(|above| above.ends_with('.'))
        };
        let mut vendors = self.vendors.iter();
        let is_of = |(_, provider): &(_, &Provider)| provider.domains.iter().any(is_below);
        let (vendor, provider) = vendors.find(is_of)?;
        let known = |label: &str| {
            let region = Region::new(vendor.clone(), label).ok()?;
            let known = self.regions.get_key_value(&region);
            let (known, _) = known.or_else(|| self.buckets.get_key_value(&region))?;
            Some(known)
        };
        let mut labels = name.as_str().rsplit('.');
        labels.find_map(|label| {
            let mut before = provider.before.iter();
            let rest = |before: &String| label.strip_prefix(before.as_str());
            known(label).or_else(|| before.find_map(|before| known(rest(before)?)))
        })
    }

    /// The providers.
    pub fn vendors(&self) -> impl Iterator<Item = (&Vendor, &Provider)> {
        self.vendors.iter()
    }

    /// A provider.
    pub fn provider(&self, vendor: &Vendor) -> Option<&Provider> {
        self.vendors.get(vendor)
    }

    /// The large data centres.
    pub fn colos(&self) -> &[Colo] {
        &self.colos
    }

    /// Where a data centre of this code is, large or not: its code at Cloudflare is IATA's, as those of
    /// places are.
    pub fn place_of_colo(&self, code: &str) -> Option<&Place> {
        let large = self.colos.iter().find(|colo| colo.code == code);
        match large {
            Some(colo) => self.place(&colo.place),
            None => self.place(&code.to_ascii_lowercase()),
        }
    }

    /// The data centre of a place.
    pub fn colo_at(&self, place: &str) -> Option<&Colo> {
        self.colos.iter().find(|colo| colo.place == place)
    }

    /// Of the large data centres the place of the nearest, and that of the nearest in another
    /// metropolitan area.
    pub fn nearest(&self, to: &Point) -> Option<Nearest<'_>> {
        let places = self.colos.iter().filter_map(|colo| self.place(&colo.place));
        best(places, |place| Some(to.km_to(&place.point)))
    }

    /// All known regions, and locations of buckets that are none.
    pub fn regions(&self) -> impl Iterator<Item = &Region> {
        self.regions.keys().chain(self.buckets.keys())
    }

    /// The regions in the providers' files of which nobody knows where they are.
    pub fn unplaced(&self) -> &[Region] {
        &self.unplaced
    }

    /// Whether this is a location of buckets alone: nothing else can be there.
    pub fn is_of_buckets(&self, region: &Region) -> bool {
        self.buckets.contains_key(region)
    }

    /// A place by its code.
    pub fn place(&self, code: &str) -> Option<&Place> {
        self.places.get(code)
    }

    /// All places.
    pub fn places(&self) -> impl Iterator<Item = &Place> {
        self.places.values()
    }
}

/// Of these places the one of the least cost, and the next one that is [`APART_KM`] from that. A place
/// without a cost does not stand.
pub fn best<'a>(
    among: impl Iterator<Item = &'a Place>,
    cost: impl Fn(&Place) -> Option<f64>,
) -> Option<Nearest<'a>> {
    let costs = among.filter_map(|place| Some((cost(place)?, place)));
    let mut costs: Vec<(f64, &Place)> = costs.collect();
    costs.sort_by(|(a, x), (b, y)| a.total_cmp(b).then_with(|| x.code.cmp(&y.code)));
    let (_, primary) = costs.first().copied()?;
    let mut others = costs.into_iter().map(|(_, place)| place);
    let fallback = others.find(|place| place.point.km_to(&primary.point) >= APART_KM);
    Some(Nearest { primary, fallback })
}

/// The code of the place in the name of a border group: `bue` of `us-east-1-bue-1`, `mia` of
/// `us-east-1-wl1-mia-wlz-1`.
fn border_group(region: &Region) -> Option<&str> {
    if region.vendor().as_str() != "aws" {
        return None;
    }
    let is_code =
        |part: &&str| part.len() == 3 && part.bytes().all(|byte| byte.is_ascii_lowercase());
    // The first three parts are the region's.
    let rest = region.name().split('-').skip(3);
    let mut codes = rest.filter(|part| is_code(part) && *part != "wlz");
    codes.next()
}

#[cfg(test)]
mod tests;
