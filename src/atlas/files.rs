//! The providers' files as they are kept: the last good one of each, and when to ask again.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::cloud::{Region, Vendor};
use super::ranges::{Assigned, FileFault, Ranges, Table, read};
use super::region_places::RegionPlaces;
use crate::time::{Instant, Span};

/// The files are asked for so often. Amazon's changes several times a day, Oracle's is to be asked for
/// no more often than daily, but a conditional request costs it nothing.
const EVERY: Span = Span::from_secs(4 * 60 * 60);

/// The longest file that is read, in bytes: four times what the longest has today.
pub const MOST_BYTES: usize = 16 << 20;

/// What is known of a provider's file. The ranges themselves are kept beside it.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(default)]
pub struct Kept {
    /// `ETag` of the last good one.
    pub etag: Option<String>,
    /// `Last-Modified` of the last good one.
    pub last_modified: Option<String>,
    /// When it was asked for last.
    pub asked: Option<Instant>,
    /// When the last good one came.
    pub taken: Option<Instant>,
    /// How many prefixes that has.
    pub prefixes: usize,
    /// What was wrong with the last answer, if anything was.
    pub fault: Option<String>,
}

/// An answer of a provider.
#[derive(Clone, Debug)]
pub enum Fetched<'a> {
    /// The file is the one that is known.
    Same,
    /// It is another one.
    File {
        /// Its text.
        text: &'a str,
        /// The field of the answer.
        etag: Option<String>,
        /// The field of the answer.
        last_modified: Option<String>,
    },
    /// There is no answer that could be used.
    Failed(String),
}

/// The last good file of each provider.
#[derive(Clone, Debug, Default)]
pub struct Files {
    /// By provider.
    pub kept: BTreeMap<Vendor, Kept>,
    ranges: BTreeMap<Vendor, Ranges>,
}

impl Files {
    /// What was stored. Ranges that cannot be read are asked for anew.
    pub fn open(kept: BTreeMap<Vendor, Kept>, stored: impl Fn(&Vendor) -> Option<Vec<u8>>) -> Self {
        let mut files = Self {
            kept,
            ..Self::default()
        };
        for (vendor, kept) in &mut files.kept {
            let bytes = stored(vendor);
            match bytes.and_then(|bytes| from_bytes(&bytes)) {
                Some(ranges) => {
                    files.ranges.insert(vendor.clone(), ranges);
                }
                None => *kept = Kept::default(),
            }
        }
        files
    }

    /// Whether a provider is to be asked.
    pub fn is_due(&self, vendor: &Vendor, now: Instant) -> bool {
        let asked = self.kept.get(vendor).and_then(|kept| kept.asked);
        asked.is_none_or(|asked| now.since(asked) >= EVERY)
    }

    /// Takes in an answer: whether there are other ranges now. A file that is not to be trusted changes
    /// none.
    pub fn take(
        &mut self,
        vendor: &Vendor,
        fetched: Fetched<'_>,
        places: &RegionPlaces,
        now: Instant,
    ) -> bool {
        let kept = self.kept.entry(vendor.clone()).or_default();
        kept.asked = Some(now);
        let Some(provider) = places.provider(vendor) else {
            return false;
        };
        let (text, etag, last_modified) = match fetched {
            Fetched::Same => {
                kept.fault = None;
                return false;
            }
            Fetched::Failed(message) => {
                kept.fault = Some(message);
                return false;
            }
            Fetched::File {
                text,
                etag,
                last_modified,
            } => (text, etag, last_modified),
        };
        let ranges: Result<Ranges, FileFault> = read(vendor, provider.format, text, kept.prefixes);
        match ranges {
            Err(fault) => {
                kept.fault = Some(fault.to_string());
                false
            }
            Ok(ranges) => {
                *kept = Kept {
                    etag,
                    last_modified,
                    asked: Some(now),
                    taken: Some(now),
                    prefixes: ranges.assigned.len(),
                    fault: None,
                };
                let before = self.ranges.insert(vendor.clone(), ranges);
                before.as_ref() != self.ranges.get(vendor)
            }
        }
    }

    /// All ranges as one table; none while there is no file.
    pub fn table(&self) -> Option<Table> {
        let assigned = self.ranges.values().flat_map(|ranges| &ranges.assigned);
        (!self.ranges.is_empty()).then(|| Table::new(assigned))
    }

    /// The ranges of a provider as they are stored.
    pub fn stored(&self, vendor: &Vendor) -> Option<Vec<u8>> {
        to_bytes(self.ranges.get(vendor)?)
    }

    /// The regions of the files of which nobody knows where they are: their places are missing in
    /// `atlas/regions.csv`.
    pub fn lost(&self, places: &RegionPlaces) -> Vec<&Region> {
        let assigned = self.ranges.values().flat_map(|ranges| &ranges.assigned);
        let mut lost: Vec<&Region> = assigned.map(|one| &one.region).collect();
        lost.sort_unstable();
        lost.dedup();
        lost.retain(|region| places.place_of(region).is_none());
        lost
    }
}

/// Ranges with each region's name once.
#[derive(Deserialize, Serialize)]
struct Stored {
    version: u8,
    regions: Vec<Region>,
    assigned: Vec<(ipnet::IpNet, u16)>,
    nowhere: u32,
    disputed: u32,
}

const VERSION: u8 = 1;

fn to_bytes(ranges: &Ranges) -> Option<Vec<u8>> {
    let mut regions: Vec<Region> = ranges
        .assigned
        .iter()
        .map(|one| one.region.clone())
        .collect();
    regions.sort_unstable();
    regions.dedup();
    let assigned = ranges.assigned.iter().map(|one| {
        let index = regions.binary_search(&one.region).ok()?;
        Some((one.prefix, u16::try_from(index).ok()?))
    });
    let stored = Stored {
        version: VERSION,
        assigned: assigned.collect::<Option<_>>()?,
        regions,
        nowhere: u32::try_from(ranges.nowhere).ok()?,
        disputed: u32::try_from(ranges.disputed).ok()?,
    };
    postcard::to_allocvec(&stored).ok()
}

fn from_bytes(bytes: &[u8]) -> Option<Ranges> {
    let stored: Stored = postcard::from_bytes(bytes).ok()?;
    if stored.version != VERSION {
        return None;
    }
    let assigned = stored.assigned.into_iter().map(|(prefix, index)| {
        let region = stored.regions.get(usize::from(index))?.clone();
        Some(Assigned { prefix, region })
    });
    Some(Ranges {
        assigned: assigned.collect::<Option<_>>()?,
        nowhere: usize::try_from(stored.nowhere).ok()?,
        disputed: usize::try_from(stored.disputed).ok()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::atlas::region_places::Tables;

    /// Four providers as they are, and a fifth that is in the tables alone.
    fn places() -> RegionPlaces {
        RegionPlaces::read(Tables {
            places: "code,city,country,continent,latitude,longitude\nfra,Frankfurt,DE,EU,50.11,8.68\n",
            vendors: "vendor,format,placement,url,domains,before\n\
                      gcp,gcp,true,https://gcp.example/cloud.json,,\n\
                      acme,csv,false,https://acme.example/geo.csv,acme.example,\n",
            regions: "vendor,region,place\ngcp,europe-west3,fra\nacme,fra-1,fra\n",
            buckets: "vendor,location,places\nacme,europe,fra\n",
            colos: "colo,place,objects\nFRA,fra,true\n",
        })
        .unwrap()
    }

    fn at(hours: u64) -> Instant {
        Instant::from_secs(hours * 3_600)
    }

    fn file(text: &str) -> Fetched<'_> {
        Fetched::File {
            text,
            etag: Some("\"1\"".into()),
            last_modified: None,
        }
    }

    fn vendor(name: &str) -> Vendor {
        name.parse().unwrap()
    }

    #[test]
    fn a_fifth_provider_is_data_alone() {
        let (places, acme) = (places(), vendor("acme"));
        let mut files = Files::default();
        let text =
            "# ours\n198.18.0.0/24,fra-1,DE,,Frankfurt\n198.18.1.0/24,\n2001:db8::/32,new-2\n";
        assert!(files.take(&acme, file(text), &places, at(0)));
        let table = files.table().unwrap();
        let region = |text: &str| table.region(text.parse().unwrap()).map(ToString::to_string);
        assert_eq!(region("198.18.0.9").as_deref(), Some("acme:fra-1"));
        assert_eq!(region("198.18.1.9"), None);
        assert_eq!(files.lost(&places), [&"acme:new-2".parse().unwrap()]);
        let hint = crate::atlas::hints::known("acme:fra-1".parse().unwrap(), &places);
        let pair = crate::atlas::findings::by_distance(&hint.unwrap(), &places).unwrap();
        assert_eq!(pair.primary, "fra");
        let bucket = "x.fra-1.acme.example".parse().unwrap();
        assert_eq!(
            places
                .region_of_host(&bucket)
                .map(ToString::to_string)
                .as_deref(),
            Some("acme:fra-1")
        );
    }

    #[test]
    fn the_last_good_file_stays() {
        let (places, acme) = (places(), vendor("acme"));
        let mut files = Files::default();
        let lines: Vec<String> = (0..100)
            .map(|n| format!("198.18.{n}.0/24,fra-1\n"))
            .collect();
        assert!(files.is_due(&acme, at(0)));
        assert!(files.take(&acme, file(&lines.concat()), &places, at(0)));
        assert!(!files.is_due(&acme, at(3)) && files.is_due(&acme, at(4)));
        let before = files.table();
        for (fetched, fault) in [
            (
                file(&lines[..60].concat()),
                Some("shrank from 100 prefixes to 60"),
            ),
            (file("<!doctype html>"), Some("cannot be read")),
            (Fetched::Failed("503".into()), Some("503")),
            (Fetched::Same, None),
        ] {
            assert!(!files.take(&acme, fetched, &places, at(4)));
            let kept = &files.kept[&acme];
            assert_eq!(kept.fault.is_some(), fault.is_some());
            let told = kept.fault.clone().unwrap_or_default();
            assert!(told.contains(fault.unwrap_or_default()), "{told}");
            assert_eq!(
                (kept.etag.as_deref(), kept.taken),
                (Some("\"1\""), Some(at(0)))
            );
            assert_eq!(files.table(), before);
        }
        // Ninety are no cause for doubt, and the same ninety no cause for a new table.
        assert!(files.take(&acme, file(&lines[..90].concat()), &places, at(8)));
        assert!(!files.take(&acme, file(&lines[..90].concat()), &places, at(12)));
    }

    #[test]
    fn what_is_stored_can_be_read_again() {
        let (places, acme) = (places(), vendor("acme"));
        let mut files = Files::default();
        files.take(
            &acme,
            file("198.18.0.0/24,fra-1\n2001:db8::/32,fra-1\n198.18.1.0/24,\n"),
            &places,
            at(0),
        );
        let again = Files::open(files.kept.clone(), |vendor| files.stored(vendor));
        assert_eq!((again.table(), &again.kept), (files.table(), &files.kept));
        // Where the ranges are lost, the file is asked for anew, and not conditionally.
        let lost = Files::open(files.kept.clone(), |_| None);
        assert_eq!(
            (lost.kept[&acme].etag.as_deref(), lost.table()),
            (None, None)
        );
        assert!(lost.is_due(&acme, at(0)));
    }
}
