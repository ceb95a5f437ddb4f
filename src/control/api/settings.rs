//! The settings of the zone.

use serde_json::{Value, json};

use super::super::configuration::{Configuration, Declared, Settings};
use super::super::fields::{SETTINGS, filled};
use super::change::{Call, Draft, Target, differences, merged};
use super::envelope::{Fault, Refusal, Success};
use super::rooms::Update;

const BYPASS: &str = "search_engine_crawler_bypass";

fn view(configuration: &Configuration) -> Declared {
    let bypass = configuration.settings.search_engine_crawler_bypass;
    Declared::from_iter([(BYPASS.to_owned(), bypass.into())])
}

pub(super) fn get(configuration: &Configuration) -> Success {
    Success::of(json!(view(configuration)))
}

pub(super) fn update(
    configuration: &mut Configuration,
    call: &Call<'_>,
    body: Declared,
    how: Update,
) -> Result<Success, Refusal> {
    let mut faults = Vec::new();
    for (name, value) in &body {
        let wrong = match (name.as_str(), value) {
            (BYPASS, Value::Bool(_)) => continue,
            (BYPASS, _) => "must be true or false",
            _ => "unknown field",
        };
        faults.push(Fault::invalid(
            format!("/{name}"),
            format!("{name} {wrong}"),
        ));
    }
    if !faults.is_empty() {
        return Err(Refusal::invalid(faults));
    }
    let before = view(configuration);
    let after = match how {
        Update::Replace => filled(SETTINGS, &body),
        Update::Merge => merged(&before, body),
    };
    let fields = differences(&before, &after);
    if fields.is_empty() {
        return Ok(get(configuration));
    }
    let mut draft = configuration.clone();
    let bypass = after.get(BYPASS) == Some(&Value::Bool(true));
    draft.settings = Settings {
        search_engine_crawler_bypass: bypass,
    };
    let target = Target::Settings;
    let draft = Draft {
        configuration: draft,
        target,
        action: "update",
        fields,
    };
    draft.commit(configuration, call)?;
    Ok(get(configuration))
}
