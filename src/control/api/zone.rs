//! What Cloudflare's API does not have: the configuration as a file, the keys, and the description of the API
//! itself.

use serde_json::json;

use super::super::configuration::Configuration;
use super::envelope::{Answer, Success};

/// `docs/openapi.json` without its white space; a test compares it with the code.
const OPENAPI: &str = include_str!(concat!(env!("OUT_DIR"), "/openapi.json"));

/// The running configuration as `rooms.toml` would declare it, and the pages that it names.
pub(super) fn export(configuration: &Configuration) -> Success {
    let (toml, pages) = super::super::export::export(configuration);
    Success::of(json!({ "version": configuration.version, "rooms_toml": toml, "templates": pages }))
}

/// The keys that verify passes, by id: the first of them signs.
pub(super) fn keys(ids: &[String]) -> Success {
    let keys = ids.iter().enumerate();
    Success::of(
        keys.map(|(n, id)| json!({ "id": id, "signs": n == 0 }))
            .collect(),
    )
}

pub(super) fn openapi() -> Answer {
    Answer::new(200, "application/json", OPENAPI.to_owned())
}
