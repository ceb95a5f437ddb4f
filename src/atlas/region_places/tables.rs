//! The tables of `atlas/`, read.

use thiserror::Error;

use super::super::cloud::{Region, Vendor};
use super::super::place::Point;
use super::{Colo, Place, Provider, RegionPlaces};

/// The tables, as text.
#[derive(Clone, Copy, Debug)]
pub struct Tables<'a> {
    /// `atlas/places.csv`.
    pub places: &'a str,
    /// `atlas/vendors.csv`.
    pub vendors: &'a str,
    /// `atlas/regions.csv`.
    pub regions: &'a str,
    /// `atlas/buckets.csv`.
    pub buckets: &'a str,
    /// `atlas/colos.csv`.
    pub colos: &'a str,
}

/// Those that are packed into the program.
const PACKED: Tables<'static> = Tables {
    places: include_str!("../../../atlas/places.csv"),
    vendors: include_str!("../../../atlas/vendors.csv"),
    regions: include_str!("../../../atlas/regions.csv"),
    buckets: include_str!("../../../atlas/buckets.csv"),
    colos: include_str!("../../../atlas/colos.csv"),
};

/// A table that cannot be read.
#[derive(Clone, Debug, Eq, Error, PartialEq)]
#[error("the table of {table} cannot be read: {line}")]
pub struct Unreadable {
    /// Which table.
    pub table: &'static str,
    /// Its first line that has a fault.
    pub line: String,
}

impl RegionPlaces {
    /// What is packed into the program.
    ///
    /// # Errors
    /// The line that cannot be read; none of a program whose tests ran through.
    pub fn packed() -> Result<Self, Unreadable> {
        Self::read(PACKED)
    }

    /// Reads the tables.
    ///
    /// # Errors
    /// The first line that cannot be read, or names a place or a vendor that there is not.
    pub fn read(tables: Tables<'_>) -> Result<Self, Unreadable> {
        let mut read = Self::default();
        each(tables.places, "places", |line| {
            let place = place(line)?;
            read.places.insert(place.code.clone(), place);
            Some(())
        })?;
        each(tables.vendors, "vendors", |line| {
            let [name, format, placement, url, domains, before] = fields(line)?;
            let words = |text: &str| text.split_whitespace().map(str::to_owned).collect();
            let provider = Provider {
                format: format.parse().ok()?,
                url: Some(url.to_owned()).filter(|url| !url.is_empty()),
                has_placement: placement.parse().ok()?,
                domains: words(domains),
                before: words(before),
            };
            read.vendors.insert(name.parse().ok()?, provider);
            Some(())
        })?;
        each(tables.regions, "regions", |line| {
            let [vendor, name, place] = fields(line)?;
            let vendor: Vendor = vendor.parse().ok()?;
            let is_known = read.vendors.contains_key(&vendor);
            let region = Region::new(vendor, name).ok().filter(|_| is_known)?;
            match place {
                "" => read.unplaced.push(region),
                place => {
                    let code = read.places.get(place)?.code.clone();
                    read.regions.insert(region, code);
                }
            }
            Some(())
        })?;
        each(tables.buckets, "buckets", |line| {
            let [vendor, name, places] = fields(line)?;
            let vendor: Vendor = vendor.parse().ok()?;
            let location = Region::new(vendor, name).ok()?;
            let is_known = read.vendors.contains_key(location.vendor());
            let places = places.split(' ').map(|code| read.places.get(code));
            let places: Vec<&Place> = places.collect::<Option<_>>()?;
            let code = middle(&places).filter(|_| is_known)?.code.clone();
            read.buckets.insert(location, code);
            Some(())
        })?;
        each(tables.colos, "colos", |line| {
            let [code, place, objects] = fields(line)?;
            let place = read.places.get(place)?.code.clone();
            read.colos.push(Colo {
                code: code.to_owned(),
                place,
                has_objects: objects.parse().ok()?,
            });
            Some(())
        })?;
        Ok(read)
    }
}

/// The place of the least sum of distances to all of these; of equals the first.
fn middle<'a>(places: &[&'a Place]) -> Option<&'a Place> {
    let sum = |from: &Place| -> f64 {
        let ways = places.iter().map(|to| from.point.km_to(&to.point));
        ways.sum()
    };
    let places = places.iter().copied();
    places.min_by(|a, b| sum(a).total_cmp(&sum(b)))
}

fn each(
    text: &str,
    table: &'static str,
    mut read: impl FnMut(&str) -> Option<()>,
) -> Result<(), Unreadable> {
    for line in rows(text) {
        let fault = || Unreadable {
            table,
            line: line.to_owned(),
        };
        read(line).ok_or_else(fault)?;
    }
    Ok(())
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
