//! The keeper of all of this: what the object of the atlas does, as a function of what it is given.
//!
//! It is the single writer of hints, findings and ranges. Each of them is published as one value with a
//! version of its own.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Serialize;
use serde::de::DeserializeOwned;
use thiserror::Error;

use super::cloud::Vendor;
use super::files::{Fetched, Files, Kept};
use super::knowledge::Knowledge;
use super::origin_name::OriginName;
use super::probe::{Book, Report};
use super::region_places::{RegionPlaces, Unreadable};
use crate::control::audit::Trail;
use crate::time::Instant;

/// What is stored: texts by their keys.
pub type Rows = BTreeMap<String, String>;

const HINTS: &str = "hints";
const FINDINGS: &str = "findings";
const BOOK: &str = "book";
const FILES: &str = "files";
const TOLD: &str = "told";
const TRAIL: &str = "trail";
/// Before the name of a provider: its ranges, in base64.
const RANGES: &str = "ranges/";

/// What is published, each under a key of its own in KV.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Part {
    /// The hints: JSON.
    Hints,
    /// What was measured: JSON.
    Findings,
    /// The regions of address ranges: the bytes of a [`Table`](super::ranges::Table).
    Ranges,
}

impl Part {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Hints, Self::Findings, Self::Ranges];

    /// The key in KV.
    pub const fn key(self) -> &'static str {
        match self {
            Self::Hints => "hints",
            Self::Findings => "atlas",
            Self::Ranges => "ranges",
        }
    }
}

/// A published value.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Text.
    Text(String),
    /// Bytes.
    Bytes(Vec<u8>),
}

/// Why there is no keeper.
#[derive(Debug, Error)]
pub enum Failure {
    /// The tables of the build have a fault.
    #[error(transparent)]
    Tables(#[from] Unreadable),
    /// A row that was stored cannot be read. It is not written over.
    #[error("what is stored as {0} cannot be read: {1}")]
    Row(&'static str, serde_json::Error),
}

/// A file to be asked for.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Wanted {
    /// Whose.
    pub vendor: Vendor,
    /// Where it is.
    pub url: String,
    /// The last good one's, for a conditional request.
    pub etag: Option<String>,
    /// The last good one's.
    pub last_modified: Option<String>,
}

/// The keeper.
#[derive(Clone, Debug, Default)]
pub struct Keeper {
    knowledge: Knowledge,
    files: Files,
    book: Book,
    /// Who has changed what of the hints.
    trail: Trail,
    /// The versions of what was published last.
    told: BTreeMap<String, u64>,
    /// As they are stored, but for the ranges.
    rows: Rows,
    /// Whose ranges are not stored yet. They are large, and change a few times a day.
    unstored: BTreeSet<Vendor>,
}

impl Keeper {
    /// The keeper of what is stored.
    ///
    /// # Errors
    /// What cannot be read.
    pub fn open(mut rows: Rows) -> Result<Self, Failure> {
        let kept: BTreeMap<Vendor, Kept> = read(&rows, FILES)?;
        let files = Files::open(kept, |vendor| {
            let text = rows.get(&format!("{RANGES}{vendor}"))?;
            STANDARD.decode(text).ok()
        });
        rows.retain(|key, _| !key.starts_with(RANGES));
        let knowledge = Knowledge {
            places: Arc::new(RegionPlaces::packed()?),
            hints: Arc::new(read(&rows, HINTS)?),
            findings: Arc::new(read(&rows, FINDINGS)?),
            ranges: files.table().map(Arc::new),
        };
        Ok(Self {
            knowledge,
            files,
            book: read(&rows, BOOK)?,
            trail: read(&rows, TRAIL)?,
            told: read(&rows, TOLD)?,
            rows,
            unstored: BTreeSet::new(),
        })
    }

    /// All that is known.
    pub const fn knowledge(&self) -> &Knowledge {
        &self.knowledge
    }

    /// The same, to be changed by a call of the API, and where that is noted.
    pub const fn to_change(&mut self) -> (&mut Knowledge, &mut Trail) {
        (&mut self.knowledge, &mut self.trail)
    }

    /// Who has changed what of the hints.
    pub const fn trail(&self) -> &Trail {
        &self.trail
    }

    /// The files that are to be asked for now. `configured` has the addresses of those that move, by
    /// provider; they are taken before those of `atlas/vendors.csv`.
    pub fn wanted(
        &self,
        configured: impl Fn(&Vendor) -> Option<String>,
        now: Instant,
    ) -> Vec<Wanted> {
        let vendors = self.knowledge.places.vendors();
        let due = vendors.filter(|(vendor, _)| self.files.is_due(vendor, now));
        let wanted = due.filter_map(|(vendor, provider)| {
            let url = configured(vendor).or_else(|| provider.url.clone())?;
            let kept = self.files.kept.get(vendor).cloned().unwrap_or_default();
            Some(Wanted {
                vendor: vendor.clone(),
                url,
                etag: kept.etag,
                last_modified: kept.last_modified,
            })
        });
        wanted.collect()
    }

    /// Takes in what a provider has answered. What is wrong with it, if anything is.
    pub fn take_file(
        &mut self,
        vendor: &Vendor,
        fetched: Fetched<'_>,
        now: Instant,
    ) -> Option<String> {
        if self
            .files
            .take(vendor, fetched, &self.knowledge.places, now)
        {
            self.knowledge.ranges = self.files.table().map(Arc::new);
            self.unstored.insert(vendor.clone());
        }
        self.files.kept.get(vendor)?.fault.clone()
    }

    /// The regions of the files of which nobody knows where they are.
    pub fn lost(&self) -> Vec<String> {
        let lost = self.files.lost(&self.knowledge.places).into_iter();
        lost.map(ToString::to_string).collect()
    }

    /// The origins to be probed next: of those that are declared and those that have hints.
    pub fn origins_to_probe(
        &self,
        declared: &[OriginName],
        may: impl Fn(&OriginName) -> bool,
    ) -> Vec<OriginName> {
        let hinted = self.knowledge.hints.iter().map(|(origin, _)| origin);
        let all = declared.iter().chain(hinted).filter(|origin| may(origin));
        self.book.next(all).into_iter().cloned().collect()
    }

    /// Takes in the reports of a round of probes, and holds it.
    pub fn hold_round(&mut self, reports: &[Report], declared: &[OriginName], now: Instant) {
        for report in reports {
            self.book.take(report, &self.knowledge.places, now);
        }
        let hints = Arc::clone(&self.knowledge.hints);
        self.book.forget(
            |origin| declared.contains(origin) || hints.get(origin).is_some(),
            now,
        );
        let ranges = self.knowledge.ranges.clone();
        let places = Arc::clone(&self.knowledge.places);
        let findings = Arc::make_mut(&mut self.knowledge.findings);
        findings.round(&self.book, ranges.as_deref(), &places, now);
    }

    /// The rows that are to be written so that all that has changed is stored.
    ///
    /// # Errors
    /// None that what is kept can have.
    pub fn changed(&mut self) -> Result<Rows, serde_json::Error> {
        let mut rows = Rows::new();
        rows.insert(HINTS.to_owned(), text(&*self.knowledge.hints)?);
        rows.insert(FINDINGS.to_owned(), text(&*self.knowledge.findings)?);
        rows.insert(BOOK.to_owned(), text(&self.book)?);
        rows.insert(FILES.to_owned(), text(&self.files.kept)?);
        rows.insert(TRAIL.to_owned(), text(&self.trail)?);
        rows.insert(TOLD.to_owned(), text(&self.told)?);
        rows.retain(|key, row| self.rows.get(key) != Some(row));
        self.rows.extend(rows.clone());
        for vendor in std::mem::take(&mut self.unstored) {
            if let Some(bytes) = self.files.stored(&vendor) {
                rows.insert(format!("{RANGES}{vendor}"), STANDARD.encode(bytes));
            }
        }
        Ok(rows)
    }

    /// What is to be published next, and its version; none if all is.
    pub fn untold(&self) -> Option<(Part, u64)> {
        let mut parts = Part::ALL.into_iter().map(|part| (part, self.version(part)));
        parts.find(|(part, version)| {
            self.told.get(part.key()).copied().unwrap_or_default() != *version
        })
    }

    /// Notes that this version of a part is published.
    pub fn note_told(&mut self, part: Part, version: u64) {
        self.told.insert(part.key().to_owned(), version);
    }

    /// A part as it is published; none if there is nothing of it.
    pub fn value(&self, part: Part) -> Option<Value> {
        match part {
            Part::Hints => text(&*self.knowledge.hints).ok().map(Value::Text),
            Part::Findings => text(&*self.knowledge.findings).ok().map(Value::Text),
            Part::Ranges => {
                let bytes = self.knowledge.ranges.as_ref()?.to_bytes();
                bytes.ok().map(Value::Bytes)
            }
        }
    }

    fn version(&self, part: Part) -> u64 {
        match part {
            Part::Hints => self.knowledge.hints.version,
            Part::Findings => self.knowledge.findings.version,
            Part::Ranges => {
                let taken = self.files.kept.values().filter_map(|kept| kept.taken);
                taken.max().map_or(0, Instant::as_millis)
            }
        }
    }
}

fn text(value: &impl Serialize) -> Result<String, serde_json::Error> {
    serde_json::to_string(value)
}

fn read<T: Default + DeserializeOwned>(rows: &Rows, key: &'static str) -> Result<T, Failure> {
    let Some(row) = rows.get(key) else {
        return Ok(T::default());
    };
    serde_json::from_str(row).map_err(|error| Failure::Row(key, error))
}

#[cfg(test)]
mod tests;
