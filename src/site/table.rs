//! Reads the fields of one table of a declaration. A field that is wrong is noted and read as its
//! default, so that one pass finds every fault.

use serde_json::{Map, Value};

use super::fault::Notes;
use super::fields::{Fields, nearest};

/// One table and its place in the declaration.
pub(super) struct Table<'a> {
    map: &'a Map<String, Value>,
    path: String,
}

impl<'a> Table<'a> {
    /// Notes the fields that cannot be set. None if the value is no table at all.
    pub(super) fn open(
        value: &'a Value,
        path: String,
        fields: &Fields,
        notes: &mut Notes,
    ) -> Option<Self> {
        let Value::Object(map) = value else {
            let place = if path.is_empty() {
                "(the whole)".to_owned()
            } else {
                path
            };
            notes.add(place, format!("must be a table, not {}", kind(value)));
            return None;
        };
        let table = Self { map, path };
        for name in map.keys() {
            if let Some(refusal) = fields.refusal(name) {
                notes.add(table.at(name), refusal);
            }
        }
        Some(table)
    }

    /// The place of a field.
    pub(super) fn at(&self, name: &str) -> String {
        if self.path.is_empty() {
            name.to_owned()
        } else {
            format!("{}.{name}", self.path)
        }
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.map.contains_key(name)
    }

    pub(super) fn get(&self, name: &str) -> Option<&'a Value> {
        self.map.get(name)
    }

    /// Notes that a required field is missing.
    pub(super) fn require(&self, name: &str, notes: &mut Notes) {
        if !self.has(name) {
            notes.add(self.at(name), "is required");
        }
    }

    pub(super) fn text(&self, name: &str, notes: &mut Notes) -> Option<&'a str> {
        let value = self.get(name)?;
        if value.as_str().is_none() {
            notes.add(self.at(name), format!("must be text, not {}", kind(value)));
        }
        value.as_str()
    }

    pub(super) fn flag(&self, name: &str, default: bool, notes: &mut Notes) -> bool {
        let Some(value) = self.get(name) else {
            return default;
        };
        value.as_bool().unwrap_or_else(|| {
            notes.add(
                self.at(name),
                format!("must be true or false, not {}", kind(value)),
            );
            default
        })
    }

    /// A whole number from `least` to `most`.
    pub(super) fn number(
        &self,
        name: &str,
        (least, most): (u32, u32),
        notes: &mut Notes,
    ) -> Option<u32> {
        let value = self.get(name)?;
        let range = format!("must be a whole number from {least} to {most}");
        if !value.is_i64() && !value.is_u64() {
            notes.add(self.at(name), format!("{range}, not {}", kind(value)));
            return None;
        }
        let number = value.as_u64().and_then(|number| u32::try_from(number).ok());
        let number = number.filter(|number| (least..=most).contains(number));
        if number.is_none() {
            notes.add(self.at(name), format!("{range}, not {value}"));
        }
        number
    }

    /// One of a few words.
    pub(super) fn choice<T: Copy>(
        &self,
        name: &str,
        choices: &[(&str, T)],
        notes: &mut Notes,
    ) -> Option<T> {
        let word = self.text(name, notes)?;
        let choice = choices
            .iter()
            .find(|(choice, _)| *choice == word)
            .map(|(_, value)| *value);
        if choice.is_none() {
            let words: Vec<&str> = choices.iter().map(|(word, _)| *word).collect();
            let hint = match nearest(word, &words) {
                Some(word) => format!("; did you mean {word}?"),
                None => String::new(),
            };
            notes.add(
                self.at(name),
                format!("must be one of {}, not {word:?}{hint}", words.join(", ")),
            );
        }
        choice
    }

    /// The elements of a list, each with its place.
    pub(super) fn list(&self, name: &str, notes: &mut Notes) -> Vec<(String, &'a Value)> {
        let place = self.at(name);
        match self.get(name) {
            None => Vec::new(),
            Some(Value::Array(list)) => list
                .iter()
                .enumerate()
                .map(|(n, value)| (format!("{place}[{n}]"), value))
                .collect(),
            Some(value) => {
                notes.add(place, format!("must be a list, not {}", kind(value)));
                Vec::new()
            }
        }
    }

    /// The elements of a list of texts, each with its place.
    pub(super) fn texts(&self, name: &str, notes: &mut Notes) -> Vec<(String, &'a str)> {
        let mut texts = Vec::new();
        for (place, value) in self.list(name, notes) {
            match value.as_str() {
                Some(text) => texts.push((place, text)),
                None => notes.add(place, format!("must be text, not {}", kind(value))),
            }
        }
        texts
    }
}

/// What a value is, in the words of an error message.
fn kind(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(_) | Value::Number(_) => value.to_string(),
        Value::String(text) if text.chars().count() <= 40 => format!("{text:?}"),
        Value::String(_) => "text".to_owned(),
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "a table".to_owned(),
    }
}
