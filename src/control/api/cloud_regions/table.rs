//! All hints as a table of ours, and as files for Cloudflare's own API.

use serde_json::{Value, json};

use super::super::envelope::{Fault, Refusal, Success};
use super::{MOST_IN_BATCH, remarks};
use crate::atlas::Knowledge;
use crate::atlas::hints::{Hints, MOST};
use crate::atlas::hints_csv;
use crate::time::Instant;

/// Takes a table in: whole, if it takes the place of all, else each line that can be taken.
pub(super) fn table(
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
/// addresses and regions of its own vendors alone.
pub(super) fn export(knowledge: &Knowledge) -> Success {
    const VENDORS: [&str; 4] = ["aws", "azure", "gcp", "oci"];
    let (mut items, mut left_out) = (Vec::new(), Vec::new());
    for (origin, hint) in knowledge.hints.iter() {
        let vendor = hint.region.vendor().as_str();
        let is_theirs = VENDORS.contains(&vendor) && !knowledge.places.is_of_buckets(&hint.region);
        if origin.address().is_none() || !is_theirs {
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
