//! Hints of cloud regions for origins: Cloudflare's calls, version 2 and, as aliases, version 1; and
//! tables and files of them. `docs/hints.md` is the page for operators.
//!
//! The object of the atlas performs a call; what it is told has passed the checks of every call.

mod batch;
mod noted;
mod table;

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use self::batch::{delete_many, set_many};
use self::table::{export, table};
use super::super::audit::Trail;

use super::envelope::{Answer, Fault, Refusal, Success};
use super::{query, stamp};
use crate::atlas::Knowledge;
use crate::atlas::cloud::Region;
use crate::atlas::hints::{self, Hint, Hints, known};
use crate::atlas::hints_csv;
use crate::atlas::origin_name::OriginName;
use crate::time::Instant;

/// A batch has so many items at most, as at Cloudflare.
const MOST_IN_BATCH: usize = 100;

/// Cloudflare's codes.
const NO_MAPPING: u16 = 1142;
const EXISTS: u16 = 1145;
const NOTHING_TO_DELETE: u16 = 1163;
const FULL: u16 = 1164;

/// Which version of Cloudflare's API a call is of.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Version {
    /// `/cache/origin_cloud_regions`, deprecated.
    V1,
    /// `/origin/cloud_regions`.
    V2,
}

impl Version {
    /// What an answer calls the origin.
    const fn origin(self) -> &'static str {
        match self {
            Self::V1 => "origin-ip",
            Self::V2 => "origin_ip",
        }
    }
}

/// A call on its way to the object that performs it.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Call {
    /// The version that it is of.
    pub version: Version,
    /// What is to be done.
    pub action: Action,
    /// The name of the token of whoever calls.
    #[serde(default)]
    pub by: String,
}

/// What is to be done.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// To list all, by the query of the URL.
    List(String),
    /// To show one, by its origin as the path has it.
    Get(String),
    /// To set one: its origin as the path has it, and the body.
    Put(String, Value),
    /// To set one that there is not.
    Create(Value),
    /// To set one, whether there is one or not.
    Set(Value),
    /// To delete one.
    Delete(String),
    /// To set those of the body.
    SetMany(Value),
    /// To delete those of the body.
    DeleteMany(Value),
    /// To list the regions that can be named.
    Supported,
    /// To write a table.
    Table,
    /// To set the hints of a table, and leave the others.
    AddTable(String),
    /// To take a table in the place of all hints.
    ReplaceTable(String),
    /// To write bodies for a batch of Cloudflare's own API.
    Export,
}

/// Performs a call. Whether anything has changed, the version of `knowledge.hints` tells; what has, is noted
/// in `trail`.
pub fn answer(knowledge: &mut Knowledge, trail: &mut Trail, call: Call, now: Instant) -> Answer {
    let Call {
        version,
        action,
        by,
    } = call;
    let before = Arc::clone(&knowledge.hints);
    let done = match action {
        Action::List(query) => list(knowledge, version, &query),
        Action::Get(origin) => get(knowledge, version, &origin),
        Action::Put(origin, body) => put(knowledge, &origin, &body, now),
        Action::Create(body) => set(knowledge, version, &body, true, now),
        Action::Set(body) => set(knowledge, version, &body, false, now),
        Action::Delete(origin) => delete(knowledge, &origin, version),
        Action::SetMany(body) => set_many(knowledge, version, &body, now),
        Action::DeleteMany(body) => delete_many(knowledge, version, &body),
        Action::Supported => Ok(supported(knowledge)),
        Action::Table => return Answer::new(200, "text/csv", hints_csv::write(&knowledge.hints)),
        Action::AddTable(text) => table(knowledge, &text, false, now),
        Action::ReplaceTable(text) => table(knowledge, &text, true, now),
        Action::Export => Ok(export(knowledge)),
    };
    if let Some(change) = noted::change(&before, &knowledge.hints, by, now) {
        trail.note(change);
    }
    done.map_or_else(Refusal::answer, Success::answer)
}

/// A mapping as Cloudflare writes it.
fn mapping(origin: &OriginName, hint: &Hint, version: Version) -> Value {
    json!({
        version.origin(): origin.as_str(),
        "vendor": hint.region.vendor().as_str(),
        "region": hint.region.name(),
        "modified_on": stamp(hint.modified),
    })
}

/// What version 1 puts around every result.
fn result(value: Value, version: Version, modified: Option<Instant>) -> Value {
    match version {
        Version::V2 => value,
        Version::V1 => json!({
            "id": "origin_public_cloud_region",
            "editable": true,
            "value": value,
            "modified_on": modified.map(stamp),
        }),
    }
}

fn one(origin: &OriginName, hint: &Hint, version: Version) -> Value {
    result(mapping(origin, hint, version), version, Some(hint.modified))
}

/// The origin that a path names.
fn origin(text: &str) -> Result<OriginName, Refusal> {
    let text = percent_encoding::percent_decode_str(text).decode_utf8_lossy();
    let read = text.parse::<OriginName>();
    read.map_err(|fault| Refusal::new(400, 1002, format!("origin_ip {fault}")))
}

fn list(knowledge: &Knowledge, version: Version, query: &str) -> Result<Success, Refusal> {
    let hints = knowledge.hints.iter();
    let all = hints.map(|(origin, hint)| mapping(origin, hint, version));
    let mut page = query::page_of(all.collect(), query, 20, 1)?;
    let newest = knowledge.hints.iter().map(|(_, hint)| hint.modified).max();
    page.result = result(page.result, version, newest);
    Ok(page)
}

fn get(knowledge: &Knowledge, version: Version, text: &str) -> Result<Success, Refusal> {
    let origin = origin(text)?;
    let missing = || Refusal::new(404, NO_MAPPING, format!("there is no mapping for {origin}"));
    let hint = knowledge.hints.get(&origin).ok_or_else(missing)?;
    Ok(Success::of(one(&origin, hint, version)))
}

fn put(
    knowledge: &mut Knowledge,
    text: &str,
    body: &Value,
    now: Instant,
) -> Result<Success, Refusal> {
    let of_path = origin(text)?;
    let (origin, region) = wanted(knowledge, body, Version::V2).map_err(Refusal::invalid)?;
    if origin != of_path {
        let message = format!("origin_ip must be that of the path, {of_path}");
        return Err(Refusal::invalid(vec![Fault::invalid(
            "/origin_ip",
            message,
        )]));
    }
    store(knowledge, origin, region, Version::V2, now)
}

fn set(
    knowledge: &mut Knowledge,
    version: Version,
    body: &Value,
    only_new: bool,
    now: Instant,
) -> Result<Success, Refusal> {
    let (origin, region) = wanted(knowledge, body, version).map_err(Refusal::invalid)?;
    if only_new && knowledge.hints.get(&origin).is_some() {
        let message = format!("there is a mapping for {origin} already");
        return Err(Refusal::new(400, EXISTS, message));
    }
    store(knowledge, origin, region, version, now)
}

fn store(
    knowledge: &mut Knowledge,
    origin: OriginName,
    region: Region,
    version: Version,
    now: Instant,
) -> Result<Success, Refusal> {
    let messages = remarks(knowledge, &origin);
    let hint = hints(knowledge).set(origin.clone(), region, now);
    let hint = hint.map_err(|fault| Refusal::new(403, FULL, fault.to_string()))?;
    Ok(Success {
        messages,
        ..Success::of(one(&origin, hint, version))
    })
}

/// The hints, to be changed.
fn hints(knowledge: &mut Knowledge) -> &mut Hints {
    Arc::make_mut(&mut knowledge.hints)
}

/// What the operator is told beside the result.
fn remarks(knowledge: &Knowledge, origin: &OriginName) -> Vec<String> {
    let unicast = knowledge.is_anycast(origin) == Some(false);
    let winner = knowledge.measured(origin).filter(|_| unicast);
    let remark = winner.map(|winner| {
        format!(
            "{origin} is in one place, and was measured to be nearest to {}: without a hint that is \
             its tier",
            winner.place.to_uppercase()
        )
    });
    remark.into_iter().collect()
}

fn delete(knowledge: &mut Knowledge, text: &str, version: Version) -> Result<Success, Refusal> {
    let origin = origin(text)?;
    if hints(knowledge).remove(&origin).is_none() {
        let message = format!("there is no mapping for {origin}");
        return Err(Refusal::new(404, NOTHING_TO_DELETE, message));
    }
    let deleted = json!({ version.origin(): origin.as_str() });
    Ok(Success::of(result(deleted, version, None)))
}

/// The mapping that a body asks for.
fn wanted(
    knowledge: &Knowledge,
    body: &Value,
    version: Version,
) -> Result<(OriginName, Region), Vec<Fault>> {
    let name = match version {
        Version::V1 => "ip",
        Version::V2 => "origin_ip",
    };
    let Some(body) = body.as_object() else {
        return Err(vec![Fault::invalid("", "the body must be an object")]);
    };
    let mut faults = Vec::new();
    let unknown = body
        .keys()
        .filter(|key| ![name, "vendor", "region"].contains(&key.as_str()));
    faults.extend(
        unknown.map(|key| Fault::invalid(format!("/{key}"), format!("{key} unknown field"))),
    );
    let origin = field(body, name).and_then(|text| {
        let read = text.parse::<OriginName>();
        read.map_err(|fault| Fault::invalid(format!("/{name}"), format!("{name} {fault}")))
    });
    let region = field(body, "vendor").and_then(|vendor| {
        let vendor = vendor.parse();
        let vendor = vendor.map_err(|fault| Fault::invalid("/vendor", format!("{fault}")))?;
        let read = Region::new(vendor, field(body, "region")?).map_err(hints::Fault::from);
        let read = read.and_then(|region| known(region, &knowledge.places));
        read.map_err(|fault| {
            let pointer = match fault {
                hints::Fault::Vendor(..) => "/vendor",
                _ => "/region",
            };
            Fault::invalid(pointer, fault.to_string())
        })
    });
    match (origin, region) {
        (Ok(origin), Ok(region)) if faults.is_empty() => Ok((origin, region)),
        (origin, region) => {
            faults.extend(origin.err());
            faults.extend(region.err());
            Err(faults)
        }
    }
}

fn field<'a>(body: &'a Map<String, Value>, name: &str) -> Result<&'a str, Fault> {
    let text = body.get(name).and_then(Value::as_str);
    text.ok_or_else(|| Fault::invalid(format!("/{name}"), format!("{name} must be text")))
}

/// All regions with the data centres that are their upper tiers, the primary first.
fn supported(knowledge: &Knowledge) -> Success {
    let mut vendors: Map<String, Value> = Map::new();
    for region in knowledge.places.regions() {
        let tiers = knowledge.tiers_of(region).map(|tiers| tiers.pair);
        let tiers = tiers.map(|pair| [Some(pair.primary), pair.fallback]);
        let codes = tiers.into_iter().flatten().flatten();
        let colos: Vec<String> = codes
            .map(|code| match knowledge.places.colo_at(&code) {
                Some(colo) => colo.code.clone(),
                None => code.to_uppercase(),
            })
            .collect();
        let listed = vendors
            .entry(region.vendor().as_str())
            .or_insert_with(|| json!([]));
        if let Value::Array(listed) = listed {
            listed.push(json!({ "name": region.name(), "upper_tier_colos": colos }));
        }
    }
    Success::of(json!({ "obtained_codes": true, "vendors": vendors }))
}

#[cfg(test)]
mod tests;
