//! Checks the templates that operators write.

use std::fs;
use std::path::Path;

use serde_json::{Map, Value};

use super::super::names::{Type, VARIABLES};
use super::super::template::{Engine, Template};

/// Checks every page in the folder but the default one, and gives back the warnings.
pub(super) fn check(folder: &Path, faults: &mut Vec<String>) -> Vec<String> {
    let mut warnings = Vec::new();
    let mut names: Vec<String> = fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .filter(|name| name.ends_with(".html") && name != "default.html")
        .collect();
    names.sort();
    for name in names {
        let source = super::read(&folder.join(&name), faults);
        match check_one(&source) {
            Ok(odd) => warnings.extend(odd.iter().map(|odd| format!("templates/{name}: {odd}"))),
            Err(fault) => faults.push(format!("templates/{name}: {fault}")),
        }
    }
    warnings
}

/// Checks one template: that it compiles, and that it can be written with variables that are all
/// false, and all true. A variable that does not exist prints nothing, as in Mustache; it is a warning.
pub(super) fn check_one(source: &str) -> Result<Vec<String>, String> {
    let template = Template::compile(source).map_err(|fault| fault.to_string())?;
    let mut warnings = Vec::new();
    for mention in template.mentions() {
        let known = VARIABLES.iter().any(|(name, _)| *name == mention.name);
        if !known {
            let nearest = nearest(&mention.name);
            warnings.push(format!(
                "{}: there is no variable {}, it prints nothing{nearest}",
                mention.at, mention.name
            ));
        }
    }
    let mut engine = Engine::new();
    engine.insert("page", template);
    for truth in [false, true] {
        engine
            .render("page", sample(truth))
            .map_err(|error| error.to_string())?;
    }
    Ok(warnings)
}

/// All variables, false or true.
fn sample(truth: bool) -> Value {
    let value = |kind| match kind {
        Type::Boolean => Value::from(truth),
        Type::Integer => Value::from(u8::from(truth)),
        Type::Text => Value::from(if truth { "text" } else { "" }),
    };
    let variables = VARIABLES
        .iter()
        .map(|(name, kind)| ((*name).to_owned(), value(*kind)));
    Value::Object(variables.collect::<Map<_, _>>())
}

/// `; did you mean ...?`, where a variable has nearly that name.
fn nearest(name: &str) -> String {
    let likeness = |known: &str| strsim::jaro_winkler(&known.to_lowercase(), &name.to_lowercase());
    VARIABLES
        .iter()
        .map(|(known, _)| (likeness(known), known))
        .filter(|(likeness, _)| *likeness > 0.85)
        .max_by(|(a, _), (b, _)| a.total_cmp(b))
        .map_or_else(String::new, |(_, known)| format!("; did you mean {known}?"))
}
