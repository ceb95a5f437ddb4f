//! The entry point of cron triggers: it lets the object of the atlas do what is due, and waits for it.
//!
//! A trigger runs anywhere (Cloudflare does not place it), so nothing is measured here.

use std::time::Duration;

use js_sys::Promise;
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::future_to_promise;
use worker::Env;

use super::call::{self, ATLAS};
use super::configuration;
use super::log;
use crate::control::atlas::{Ask, Ticked};
use crate::log::{Entry, clean};

/// A trigger may take 15 minutes; the files and a round of probes take less than two.
const PATIENCE: Duration = Duration::from_secs(180);

/// So many of a list are named in the log.
const MOST_NAMED: usize = 8;

/// What a cron trigger calls.
#[wasm_bindgen]
#[expect(unreachable_pub, reason = "exported to the runtime")]
pub fn scheduled(env: Env) -> Promise {
    future_to_promise(async move {
        if configuration::named(&env, ATLAS).is_undefined() {
            return Ok(JsValue::UNDEFINED);
        }
        match call::atlas(&env, &Ask::Tick, PATIENCE).await {
            Ok(text) => note(&serde_json::from_str(&text).unwrap_or_default()),
            Err(error) => {
                let reason = clean(&error.to_string());
                log::write(&Entry::AtlasFailed { reason });
            }
        }
        Ok(JsValue::UNDEFINED)
    })
}

fn note(ticked: &Ticked) {
    for fault in &ticked.faults {
        let reason = clean(fault);
        log::write(&Entry::RangesRefused { reason });
    }
    if !ticked.silent.is_empty() {
        let reason = named("checkpoints", &ticked.silent);
        log::write(&Entry::CheckpointsSilent { reason });
    }
    if !ticked.lost.is_empty() {
        let reason = named("regions", &ticked.lost);
        log::write(&Entry::RegionsLost { reason });
    }
}

/// How many of what, and the first of them.
fn named(what: &str, all: &[String]) -> String {
    let first = all.iter().take(MOST_NAMED).map(String::as_str);
    let first: Vec<&str> = first.collect();
    format!("{} {what}: {}", all.len(), first.join(", "))
}
