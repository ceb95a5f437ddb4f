//! Checks a template that an operator wrote.

use serde_json::{Map, Value};

use super::super::names::{Type, VARIABLES};
use super::{Engine, Template};

/// Checks that a template compiles, and that it can be written with variables that are all false, and
/// all true. Gives what is odd: a variable that does not exist prints nothing, as in Mustache.
///
/// # Errors
/// What is wrong with it, and where.
pub fn check(source: &str) -> Result<Vec<String>, String> {
    let template = Template::compile(source).map_err(|fault| fault.to_string())?;
    let mut odd = Vec::new();
    for mention in template.mentions() {
        let known = VARIABLES.iter().any(|(name, _)| *name == mention.name);
        if !known {
            let nearest = nearest(&mention.name);
            odd.push(format!(
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
    Ok(odd)
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
