//! Hints of cloud regions for origins: Cloudflare's calls, version 2 and, as aliases, version 1; and
//! tables and files of them. `docs/hints.md` is the page for operators.
//!
//! The object of the atlas performs a call; what it is told has passed the checks of every call.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::envelope::{Answer, Fault, Refusal, Success};
use super::{query, stamp};
use crate::atlas::Knowledge;
use crate::atlas::cloud::Region;
use crate::atlas::hints::{self, Hint, Hints, MOST, known};
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

/// Performs a call. Whether anything has changed, the version of `knowledge.hints` tells.
pub fn answer(knowledge: &mut Knowledge, call: Call, now: Instant) -> Answer {
    let Call { version, action } = call;
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
    std::sync::Arc::make_mut(&mut knowledge.hints)
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

fn batch(body: &Value) -> Result<&[Value], Refusal> {
    match body.as_array() {
        Some(items) if items.len() <= MOST_IN_BATCH => Ok(items),
        _ => {
            let message = format!("the body must be a list of {MOST_IN_BATCH} items at most");
            Err(Refusal::new(400, 1002, message))
        }
    }
}

fn set_many(
    knowledge: &mut Knowledge,
    version: Version,
    body: &Value,
    now: Instant,
) -> Result<Success, Refusal> {
    let (mut succeeded, mut failed, mut messages) = (Vec::new(), Vec::new(), Vec::new());
    for item in batch(body)? {
        let set = wanted(knowledge, item, version).map_err(|faults| {
            let faults = faults.into_iter().map(|fault| fault.message);
            faults.collect::<Vec<_>>().join("; ")
        });
        let set = set.and_then(|(origin, region)| {
            messages.extend(remarks(knowledge, &origin));
            let hint = hints(knowledge).set(origin.clone(), region, now);
            let hint = hint.map_err(|fault| fault.to_string())?;
            Ok(mapping(&origin, hint, version))
        });
        match set {
            Ok(mapping) => succeeded.push(mapping),
            Err(error) => {
                let ip = item.get("origin_ip").or_else(|| item.get("ip"));
                failed.push(failure(ip.unwrap_or(&Value::Null), &error, version));
            }
        }
    }
    let outcome = json!({ "succeeded": succeeded, "failed": failed });
    Ok(Success {
        messages,
        ..Success::of(result(outcome, version, Some(now)))
    })
}

fn failure(origin: &Value, error: &str, version: Version) -> Value {
    json!({ version.origin(): origin, "error": error })
}

fn delete_many(
    knowledge: &mut Knowledge,
    version: Version,
    body: &Value,
) -> Result<Success, Refusal> {
    let (mut succeeded, mut failed) = (Vec::new(), Vec::new());
    for item in batch(body)? {
        let read = item.as_str().ok_or_else(|| "must be text".to_owned());
        let read = read.and_then(|text| {
            text.parse::<OriginName>()
                .map_err(|fault| fault.to_string())
        });
        let deleted = read.and_then(|origin| {
            let hint = hints(knowledge).remove(&origin);
            let hint = hint.ok_or_else(|| format!("there is no mapping for {origin}"))?;
            Ok(mapping(&origin, &hint, version))
        });
        match deleted {
            Ok(mapping) => succeeded.push(mapping),
            Err(error) => failed.push(failure(item, &error, version)),
        }
    }
    let outcome = json!({ "succeeded": succeeded, "failed": failed });
    Ok(Success::of(result(outcome, version, None)))
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

/// Takes a table in: whole, if it takes the place of all, else each line that can be taken.
fn table(
    knowledge: &mut Knowledge,
    text: &str,
    replaces: bool,
    now: Instant,
) -> Result<Success, Refusal> {
    let mut next = match replaces {
        true => Hints::default(),
        false => Hints::clone(&knowledge.hints),
    };
    let (mut taken, mut failed, mut messages) = (0_usize, Vec::new(), Vec::new());
    for (n, line) in hints_csv::read(text, &knowledge.places) {
        let set = line
            .map_err(|fault| fault.to_string())
            .and_then(|(origin, region)| {
                messages.extend(remarks(knowledge, &origin));
                // What is as it was keeps its time.
                let same = knowledge
                    .hints
                    .get(&origin)
                    .filter(|hint| hint.region == region);
                let modified = same.map_or(now, |hint| hint.modified);
                let set = next.set(origin, region, modified);
                set.map(drop).map_err(|fault| fault.to_string())
            });
        match set {
            Ok(()) => taken += 1,
            Err(error) => failed.push((n, error)),
        }
        if failed.len() > MOST {
            break;
        }
    }
    if replaces && !failed.is_empty() {
        let faults = failed.into_iter().take(MOST_IN_BATCH);
        let faults = faults.map(|(n, error)| Fault::invalid("", format!("line {n}: {error}")));
        return Err(Refusal::invalid(faults.collect()));
    }
    if !next.is_same(&knowledge.hints) {
        next.version = knowledge.hints.version + 1;
        knowledge.hints = next.into();
    }
    let failed = failed.into_iter();
    let failed: Vec<Value> = failed
        .map(|(n, error)| json!({ "line": n, "error": error }))
        .collect();
    messages.truncate(MOST_IN_BATCH);
    Ok(Success {
        messages,
        ..Success::of(json!({ "succeeded": taken, "failed": failed }))
    })
}

/// Bodies for `PUT /zones/{zone}/origin/cloud_regions/batch` of Cloudflare's own API, which takes
/// addresses and its own vendors alone.
fn export(knowledge: &Knowledge) -> Success {
    const VENDORS: [&str; 4] = ["aws", "azure", "gcp", "oci"];
    let (mut items, mut left_out) = (Vec::new(), Vec::new());
    for (origin, hint) in knowledge.hints.iter() {
        let vendor = hint.region.vendor().as_str();
        if origin.address().is_none() || !VENDORS.contains(&vendor) {
            left_out.push(origin.as_str());
            continue;
        }
        items.push(json!({
            "origin_ip": origin.as_str(), "vendor": vendor, "region": hint.region.name(),
        }));
    }
    let batches: Vec<&[Value]> = items.chunks(MOST_IN_BATCH).collect();
    Success::of(json!({ "batches": batches, "left_out": left_out }))
}

#[cfg(test)]
mod tests;
