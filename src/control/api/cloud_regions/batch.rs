//! Many hints at once, as a list: each of them is taken or refused for itself.

use serde_json::{Value, json};

use super::super::envelope::{Refusal, Success};
use super::{MOST_IN_BATCH, Version, hints, mapping, remarks, result, wanted};
use crate::atlas::Knowledge;
use crate::atlas::origin_name::OriginName;
use crate::time::Instant;

/// The items of a list that is not too long.
fn batch(body: &Value) -> Result<&[Value], Refusal> {
    match body.as_array() {
        Some(items) if items.len() <= MOST_IN_BATCH => Ok(items),
        _ => {
            let message = format!("the body must be a list of {MOST_IN_BATCH} items at most");
            Err(Refusal::new(400, 1002, message))
        }
    }
}

/// Sets those hints of a list that can be set.
pub(super) fn set_many(
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

/// An item that was not taken, and why.
fn failure(origin: &Value, error: &str, version: Version) -> Value {
    json!({ version.origin(): origin, "error": error })
}

/// Deletes those hints of a list that there are.
pub(super) fn delete_many(
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
