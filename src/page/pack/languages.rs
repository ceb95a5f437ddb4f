//! Checks and packs the language files.
//!
//! `en-US.json` is the measure: every language has its keys and, in each text, its placeholders. A
//! counted text has one form for each plural category of the language's own.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use serde_json::{Map, Value};

use super::super::plural;
use super::super::texts::Texts;

/// The language that the others are measured by.
const MEASURE: &str = "en-US";

/// The keys that only the server reads: the page's script has the browser's own.
const SERVER_ONLY: [&str; 8] = [
    "digits",
    "direction",
    "draw",
    "keepOpen",
    "plural",
    "separator",
    "separatorFrom",
    "starts",
];

/// The languages of a folder as source of `LANGUAGES`.
pub(super) fn pack(folder: &Path, faults: &mut Vec<String>) -> String {
    let files = read_all(folder, faults);
    let Some(measure) = files.get(MEASURE) else {
        faults.push(format!("{}: {MEASURE}.json is missing", folder.display()));
        return String::new();
    };
    let mut entries = String::new();
    for (tag, file) in &files {
        let mut found = Vec::new();
        check(file, measure, &mut found);
        match serde_json::from_value::<Texts<String>>(file.clone()) {
            Ok(texts) => {
                let script_texts = script_texts(file);
                entries += &format!(
                    "Language {{ tag: {tag:?}, texts: {texts:?}, script_texts: {script_texts:?} }},\n"
                );
            }
            // What the check tells, it tells with its place.
            Err(error) if found.is_empty() => found.push(error.to_string()),
            Err(_) => {}
        }
        faults.extend(
            found
                .iter()
                .map(|fault| format!("templates/languages/{tag}.json: {fault}")),
        );
    }
    let number = files.len();
    format!("pub(super) static LANGUAGES: [Language; {number}] = [\n{entries}];\n")
}

/// The files of the folder by tag, parsed.
fn read_all(folder: &Path, faults: &mut Vec<String>) -> BTreeMap<String, Value> {
    let mut files = BTreeMap::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        let name = entry.file_name().to_string_lossy().into_owned();
        let Some(tag) = name.strip_suffix(".json").filter(|tag| is_tag(tag)) else {
            faults.push(format!(
                "{}: a language file is named as en-US.json is",
                path.display()
            ));
            continue;
        };
        let text = super::read(&path, faults);
        match serde_json::from_str(&text) {
            Ok(value) => {
                files.insert(tag.to_owned(), value);
            }
            Err(error) => faults.push(format!("templates/languages/{name}: {error}")),
        }
    }
    files
}

/// A language and a region.
fn is_tag(tag: &str) -> bool {
    let shaped =
        |text: &str, fits: fn(&u8) -> bool| text.len() == 2 && text.as_bytes().iter().all(fits);
    tag.split_once('-').is_some_and(|(language, region)| {
        shaped(language, u8::is_ascii_lowercase) && shaped(region, u8::is_ascii_uppercase)
    })
}

/// Tells what in `file` differs in shape from `measure`.
pub(super) fn check(file: &Value, measure: &Value, faults: &mut Vec<String>) {
    let rules = file.get("plural").and_then(Value::as_object);
    let mut categories = BTreeSet::from(["other"]);
    for (category, rule) in rules.into_iter().flatten() {
        categories.insert(category);
        if rule
            .as_str()
            .and_then(|rule| plural::holds(rule, 1))
            .is_none()
        {
            faults.push(format!(
                "plural.{category}: {rule} is not a plural rule of CLDR"
            ));
        }
    }
    let digits = file
        .get("digits")
        .and_then(Value::as_str)
        .unwrap_or_default();
    if digits.chars().count() != 10 {
        faults.push("digits: must be the ten digits, from zero".into());
    }
    let checker = Checker { categories };
    checker.compare("", file, measure, faults);
}

struct Checker<'a> {
    categories: BTreeSet<&'a str>,
}

impl Checker<'_> {
    fn compare(&self, path: &str, value: &Value, measure: &Value, faults: &mut Vec<String>) {
        match (value, measure) {
            (Value::Object(forms), Value::Object(measure)) if measure.contains_key("other") => {
                self.forms(path, forms, faults);
            }
            (Value::Object(value), Value::Object(measure)) => {
                for name in keys(value).symmetric_difference(&keys(measure)) {
                    let what = if value.contains_key(*name) {
                        "is not a key"
                    } else {
                        "is missing"
                    };
                    faults.push(format!("{path}{name}: {what}"));
                }
                for (name, value) in value.iter().filter(|(name, _)| *name != "plural") {
                    if let Some(measure) = measure.get(name) {
                        let inner =
                            format!("{path}{name}{}", if value.is_object() { "." } else { "" });
                        self.compare(&inner, value, measure, faults);
                    }
                }
            }
            (Value::String(text), Value::String(measure)) => {
                let expected = placeholders(measure);
                if text.trim().is_empty() && !measure.trim().is_empty() && path != "separator" {
                    faults.push(format!("{path}: is empty"));
                } else if placeholders(text) != expected {
                    faults.push(format!("{path}: must have {}", list(&expected)));
                }
            }
            (Value::Number(_), Value::Number(_)) => {}
            _ => faults.push(format!("{path}: is not of the type that {MEASURE} has")),
        }
    }

    /// A form for one number alone may go without the number: "a person".
    fn forms(&self, path: &str, forms: &Map<String, Value>, faults: &mut Vec<String>) {
        for category in keys(forms).symmetric_difference(&self.categories) {
            let what = match forms.contains_key(*category) {
                true => "is not a plural form of this language",
                false => "is missing",
            };
            faults.push(format!("{path}{category}: {what}"));
        }
        for (category, form) in forms {
            let used = placeholders(form.as_str().unwrap_or_default());
            let counts = used.contains("{count}");
            let may_go_without = matches!(category.as_str(), "zero" | "one" | "two");
            if used.len() > usize::from(counts) || (!counts && !may_go_without) {
                faults.push(format!(
                    "{path}{category}: must have {{count}} and nothing else"
                ));
            }
        }
    }
}

fn keys(object: &Map<String, Value>) -> BTreeSet<&str> {
    object.keys().map(String::as_str).collect()
}

/// What stands in braces.
fn placeholders(text: &str) -> BTreeSet<&str> {
    let starts = text.match_indices('{').map(|(start, _)| start);
    starts
        .filter_map(|start| {
            let rest = text.get(start..)?;
            rest.get(..=rest.find('}')?)
        })
        .collect()
}

fn list(placeholders: &BTreeSet<&str>) -> String {
    match placeholders.is_empty() {
        true => "no placeholder".into(),
        false => placeholders
            .iter()
            .copied()
            .collect::<Vec<_>>()
            .join(" and "),
    }
}

/// The texts of the page's script as JSON. Nothing in it can end a `<script>`.
fn script_texts(file: &Value) -> String {
    let mut file = file.clone();
    if let Some(file) = file.as_object_mut() {
        file.retain(|key, _| !SERVER_ONLY.contains(&key.as_str()));
    }
    file.to_string()
        .replace('<', "\\u003c")
        .replace('>', "\\u003e")
        .replace('&', "\\u0026")
        .replace('\u{2028}', "\\u2028")
        .replace('\u{2029}', "\\u2029")
}
