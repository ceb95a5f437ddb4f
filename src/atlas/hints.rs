//! The operator's hints: in which cloud region an origin is, whatever its address looks like.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::cloud::{Misnamed, Region};
use super::origin_name::OriginName;
use super::region_places::{DidYouMean, RegionPlaces};
use crate::time::Instant;

/// So many hints may be set: Cloudflare's own limit for a zone.
pub const MOST: usize = 3_500;

/// Where an origin is said to be.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Hint {
    /// The region.
    pub region: Region,
    /// When the hint was set, or changed.
    pub modified: Instant,
}

/// All hints: one value with one version.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub struct Hints {
    /// Grows with every change.
    pub version: u64,
    hints: BTreeMap<OriginName, Hint>,
}

/// Why a hint is not set.
#[derive(Clone, Debug, Eq, Error, PartialEq)]
pub enum Fault {
    /// It is not even the name of a region.
    #[error(transparent)]
    Misnamed(#[from] Misnamed),
    /// There is no such cloud.
    #[error("there is no vendor {0}; there are {1}")]
    Vendor(String, String),
    /// The cloud has no such region, as far as is known.
    #[error("{0} is not a supported region{1}")]
    Region(Region, DidYouMean),
    /// There are as many as there may be.
    #[error("there are {MOST} mappings already")]
    Full,
}

/// The region, if it is known where it is.
///
/// # Errors
/// [`Fault::Vendor`] and [`Fault::Region`], with what was perhaps meant.
pub fn known(region: Region, places: &RegionPlaces) -> Result<Region, Fault> {
    if places.provider(region.vendor()).is_none() {
        let names: Vec<&str> = places
            .vendors()
            .map(|(vendor, _)| vendor.as_str())
            .collect();
        return Err(Fault::Vendor(region.vendor().to_string(), names.join(", ")));
    }
    match places.place_of(&region) {
        Some(_) => Ok(region),
        None => {
            let like = places.did_you_mean(&region);
            Err(Fault::Region(region, like))
        }
    }
}

impl Hints {
    /// The hint for an origin.
    pub fn get(&self, origin: &OriginName) -> Option<&Hint> {
        self.hints.get(origin)
    }

    /// All of them, in the order of their names.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&OriginName, &Hint)> {
        self.hints.iter()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.hints.is_empty()
    }

    /// Sets a hint. Setting the one that is there changes nothing.
    ///
    /// # Errors
    /// [`Fault::Full`].
    pub fn set(
        &mut self,
        origin: OriginName,
        region: Region,
        now: Instant,
    ) -> Result<&Hint, Fault> {
        let is_new = match self.hints.get(&origin) {
            Some(hint) if hint.region == region => false,
            Some(_) => true,
            None if self.hints.len() >= MOST => return Err(Fault::Full),
            None => true,
        };
        if is_new {
            self.version += 1;
        }
        let modified = now;
        let hint = Hint { region, modified };
        let kept = self.hints.entry(origin).or_insert_with(|| hint.clone());
        if is_new {
            *kept = hint;
        }
        Ok(kept)
    }

    /// Whether the hints are the same, of whatever version.
    pub fn is_same(&self, other: &Self) -> bool {
        self.hints == other.hints
    }

    /// What has another region than before: each origin with the region that it had, and the one that it
    /// has. None is no hint.
    pub fn changes_since<'a>(
        &'a self,
        before: &'a Self,
    ) -> Vec<(&'a OriginName, Option<&'a Region>, Option<&'a Region>)> {
        let region = |hints: &'a Self, origin: &OriginName| {
            let hint = hints.hints.get(origin);
            hint.map(|hint| &hint.region)
        };
        let mut origins: Vec<_> = before.hints.keys().chain(self.hints.keys()).collect();
        origins.sort_unstable();
        origins.dedup();
        let both = origins.into_iter();
        let both = both.map(|origin| (origin, region(before, origin), region(self, origin)));
        both.filter(|(_, was, is)| was != is).collect()
    }

    /// Takes a hint away, and gives it back.
    pub fn remove(&mut self, origin: &OriginName) -> Option<Hint> {
        let hint = self.hints.remove(origin)?;
        self.version += 1;
        Some(hint)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(n: usize) -> OriginName {
        format!("origin-{n}.example").parse().unwrap()
    }

    fn region(text: &str) -> Region {
        text.parse().unwrap()
    }

    #[test]
    fn a_change_has_a_new_version_and_no_change_has_not() {
        let mut hints = Hints::default();
        let at = Instant::from_secs;
        hints.set(name(1), region("aws:us-east-1"), at(1)).unwrap();
        hints.set(name(1), region("aws/us-east-1"), at(2)).unwrap();
        assert_eq!(
            (hints.version, hints.get(&name(1)).unwrap().modified),
            (1, at(1))
        );
        hints.set(name(1), region("gcp:us-east1"), at(3)).unwrap();
        assert_eq!(
            (hints.version, hints.get(&name(1)).unwrap().modified),
            (2, at(3))
        );
        assert!(hints.remove(&name(2)).is_none());
        assert!(hints.remove(&name(1)).is_some());
        assert_eq!((hints.version, hints.is_empty()), (3, true));
    }

    #[test]
    fn a_full_store_takes_changes_but_nothing_new() {
        let mut hints = Hints::default();
        let now = Instant::from_secs(1);
        for n in 0..MOST {
            hints.set(name(n), region("aws:us-east-1"), now).unwrap();
        }
        let fault = hints.set(name(MOST), region("aws:us-east-1"), now);
        assert_eq!(fault.unwrap_err(), Fault::Full);
        hints.set(name(7), region("oci:us-ashburn-1"), now).unwrap();
        hints.remove(&name(7)).unwrap();
        hints.set(name(MOST), region("aws:us-east-1"), now).unwrap();
        assert_eq!(hints.iter().len(), MOST);
        let text = serde_json::to_string(&hints).unwrap();
        assert!(text.len() < 512 * 1024, "{} bytes", text.len());
        assert_eq!(serde_json::from_str::<Hints>(&text).unwrap(), hints);
    }

    #[test]
    fn what_is_not_known_is_refused_with_what_was_perhaps_meant() {
        let places = RegionPlaces::packed().unwrap();
        let fault = |text: &str| known(region(text), &places).unwrap_err().to_string();
        assert!(known(region("azure:germanywc"), &places).is_ok());
        assert!(fault("aws:us-east1").contains("did you mean aws:us-east-1"));
        assert_eq!(
            fault("ibm:us-east"),
            "there is no vendor ibm; there are aws, azure, gcp, oci, r2"
        );
        assert_eq!(
            fault("oci:xxxxxxxx"),
            "oci:xxxxxxxx is not a supported region"
        );
    }
}
