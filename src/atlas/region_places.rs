//! Where cloud regions are: the tables of `atlas/`, read once.

use std::collections::BTreeMap;

use super::cloud::{Region, Vendor};
use super::place::Point;

const PLACES: &str = include_str!("../../atlas/places.csv");
const REGIONS: &str = include_str!("../../atlas/regions.csv");

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

/// Where Cloudflare runs a Worker that is placed near a region.
#[derive(Clone, Debug, PartialEq)]
pub struct Placement<'a> {
    /// For `placement.region`.
    pub region: Region,
    /// Where that is.
    pub place: &'a Place,
}

/// Places, and the regions that are there.
#[derive(Clone, Debug, Default)]
pub struct RegionPlaces {
    places: BTreeMap<String, Place>,
    regions: BTreeMap<Region, String>,
}

impl RegionPlaces {
    /// What is packed into the program.
    ///
    /// # Errors
    /// The line that cannot be read; none of a program whose tests ran through.
    pub fn packed() -> Result<Self, String> {
        Self::read(PLACES, REGIONS)
    }

    /// Reads the two tables.
    ///
    /// # Errors
    /// The first line that cannot be read, or names a place that there is not.
    pub fn read(places: &str, regions: &str) -> Result<Self, String> {
        let mut read = Self::default();
        for line in rows(places) {
            let place = place(line).ok_or_else(|| format!("not a place: {line}"))?;
            read.places.insert(place.code.clone(), place);
        }
        for line in rows(regions) {
            let fault = || format!("not a region: {line}");
            let [vendor, name, code] = fields(line).ok_or_else(fault)?;
            let vendor: Vendor = vendor.parse()?;
            if !read.places.contains_key(code) {
                return Err(format!("no such place: {line}"));
            }
            read.regions
                .insert(Region::new(vendor, name), code.to_owned());
        }
        Ok(read)
    }

    /// Where a region is. A border group of Amazon's is where its name says, if the name has a
    /// place's code in it, and else nowhere: it may be far from its region.
    pub fn place_of(&self, region: &Region) -> Option<&Place> {
        let code = match self.regions.get(region) {
            Some(code) => code.as_str(),
            None => border_group(region)?,
        };
        self.places.get(code)
    }

    /// The region that Cloudflare's placement of Workers has for this one: itself, or of a cloud that it
    /// does not know, the nearest of another. None if nobody knows where the region is.
    pub fn placement(&self, region: &Region) -> Option<Placement<'_>> {
        let place = self.place_of(region)?;
        if region.vendor() != Vendor::Oci {
            let region = region.clone();
            return Some(Placement { region, place });
        }
        let known = self.regions.iter();
        let known = known.filter(|(region, _)| region.vendor() != Vendor::Oci);
        let known = known.filter_map(|(region, code)| Some((region, self.places.get(code)?)));
        let km = |(_, other): &(&Region, &Place)| other.point.km_to(&place.point);
        let (region, place) = known.min_by(|a, b| km(a).total_cmp(&km(b)))?;
        let region = region.clone();
        Some(Placement { region, place })
    }

    /// The known regions that are most like `region`, the likeliest first: for whoever has
    /// mistyped one.
    pub fn like(&self, region: &Region) -> Vec<&Region> {
        let same_vendor = self.regions.keys();
        let same_vendor = same_vendor.filter(|known| known.vendor() == region.vendor());
        let mut like: Vec<(f64, &Region)> = same_vendor
            .map(|known| (strsim::jaro_winkler(known.name(), region.name()), known))
            .filter(|(likeness, _)| *likeness > 0.8)
            .collect();
        like.sort_by(|(a, _), (b, _)| b.total_cmp(a));
        like.into_iter().take(3).map(|(_, known)| known).collect()
    }

    /// All known regions.
    pub fn regions(&self) -> impl Iterator<Item = &Region> {
        self.regions.keys()
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

/// The code of the place in the name of a border group: `bue` of `us-east-1-bue-1`, `mia` of
/// `us-east-1-wl1-mia-wlz-1`.
fn border_group(region: &Region) -> Option<&str> {
    if region.vendor() != Vendor::Aws {
        return None;
    }
    let is_code =
        |part: &&str| part.len() == 3 && part.bytes().all(|byte| byte.is_ascii_lowercase());
    // The first three parts are the region's.
    let rest = region.name().split('-').skip(3);
    let mut codes = rest.filter(|part| is_code(part) && *part != "wlz");
    codes.next()
}

fn rows(table: &str) -> impl Iterator<Item = &str> {
    let rows = table
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'));
    // The first one has the names of the columns.
    rows.skip(1)
}

fn fields<const N: usize>(line: &str) -> Option<[&str; N]> {
    line.split(',').collect::<Vec<_>>().try_into().ok()
}

fn place(line: &str) -> Option<Place> {
    let [code, city, country, continent, latitude, longitude] = fields(line)?;
    Some(Place {
        code: code.to_owned(),
        city: city.to_owned(),
        country: country.to_owned(),
        continent: continent.to_owned(),
        point: Point::new(latitude.parse().ok()?, longitude.parse().ok()?)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packed() -> RegionPlaces {
        RegionPlaces::packed().unwrap()
    }

    fn place_of(text: &str) -> Option<String> {
        let region: Region = text.parse().unwrap();
        packed().place_of(&region).map(|place| place.city.clone())
    }

    #[test]
    fn regions_are_where_they_are() {
        for (region, city) in [
            ("aws:us-east-1", Some("Ashburn")),
            ("aws:us-east-1-bue-1", Some("Buenos Aires")),
            ("aws:us-east-1-wl1-mia-wlz-1", Some("Miami")),
            ("aws:us-east-1-foe-wlz-1", Some("Topeka")),
            ("aws:us-east-1-xyz-1", None),
            ("azure:germanywc", Some("Frankfurt")),
            ("gcp:asia-southeast1", Some("Singapore")),
            ("oci:us-ashburn-1", Some("Ashburn")),
            ("gcp:us-east-1-bue-1", None),
        ] {
            assert_eq!(place_of(region).as_deref(), city, "{region}");
        }
    }

    #[test]
    fn a_region_of_oracles_is_placed_by_its_neighbour() {
        let places = packed();
        for (region, placed) in [
            ("oci:us-ashburn-1", "iad"),
            ("oci:sa-saopaulo-1", "gru"),
            ("gcp:europe-west3", "fra"),
        ] {
            let region: Region = region.parse().unwrap();
            let placement = places.placement(&region).unwrap();
            assert_eq!(placement.place.code, placed);
            assert_ne!(placement.region.vendor(), Vendor::Oci);
        }
    }

    #[test]
    fn every_name_is_the_one_that_the_cloud_uses() {
        for region in packed().regions() {
            assert_eq!(
                *region,
                Region::new(region.vendor(), region.name()),
                "{region}"
            );
            assert!(packed().place_of(region).is_some(), "{region}");
        }
    }

    #[test]
    fn a_mistyped_region_is_recognized() {
        let places = packed();
        let like = |text: &str| {
            let like = places.like(&text.parse().unwrap());
            like.first().map(|region| region.to_string())
        };
        assert_eq!(like("aws:us-east1").as_deref(), Some("aws:us-east-1"));
        assert_eq!(like("gcp:us-east-1").as_deref(), Some("gcp:us-east1"));
        assert_eq!(
            like("azure:westeuropa").as_deref(),
            Some("azure:westeurope")
        );
        assert_eq!(like("oci:xxxxxxxx"), None);
    }

    #[test]
    fn a_table_with_a_fault_is_refused() {
        let places =
            "code,city,country,continent,latitude,longitude\nsin,Singapore,SG,AS,1.35,103.82\n";
        assert!(RegionPlaces::read(places, "vendor,region,place\naws,a-b-1,sin\n").is_ok());
        for regions in ["x\naws,a-b-1,xxx\n", "x\naws,a-b-1\n", "x\nibm,a-b-1,sin\n"] {
            assert!(RegionPlaces::read(places, regions).is_err(), "{regions}");
        }
        assert!(RegionPlaces::read("x\nsin,Singapore,SG,AS,91,0\n", "x\n").is_err());
    }
}
