//! Header fields, as they are stored and sent again.

use serde::{Deserialize, Serialize};

use super::date;
use crate::time::Instant;

/// Header fields in their order, the names in lower case. A value is text of one line.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Fields(Vec<(String, String)>);

impl Fields {
    /// Reads lines of `name:value`, as the shell has them.
    pub fn parse(lines: &str) -> Self {
        let fields = lines.lines().filter_map(|line| line.split_once(':'));
        fields
            .map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned()))
            .collect()
    }

    /// Writes such lines.
    pub fn lines(&self) -> String {
        let mut lines = String::with_capacity(512);
        for (name, value) in &self.0 {
            lines.extend([name, ":", value, "\n"]);
        }
        lines
    }

    /// Whether there is a field of this name, which is in lower case as everywhere here.
    pub fn has(&self, name: &str) -> bool {
        self.first(name).is_some()
    }

    /// The value of the first line with this name.
    pub fn first(&self, name: &str) -> Option<&str> {
        let found = self.0.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str())
    }

    /// The value, several lines of it joined by a comma (RFC 9110 section 5.3).
    pub fn get(&self, name: &str) -> Option<String> {
        let mut values = self.0.iter().filter(|(known, _)| known == name);
        let (_, first) = values.next()?;
        Some(values.fold(first.clone(), |all, (_, value)| format!("{all}, {value}")))
    }

    /// The date that the first line with this name says; none if it is no date.
    pub fn date(&self, name: &str) -> Option<Instant> {
        self.first(name).and_then(date::parse)
    }

    /// The members of a comma-separated list of names, in lower case; none that is empty.
    pub fn names(&self, name: &str) -> Vec<String> {
        let value = self.get(name).unwrap_or_default();
        let names = value.split(',').map(str::trim);
        names
            .filter(|name| !name.is_empty())
            .map(str::to_ascii_lowercase)
            .collect()
    }

    /// Sets a field in the place of all lines with its name.
    pub fn set(&mut self, name: &str, value: impl Into<String>) {
        self.remove(name);
        self.0.push((name.to_owned(), value.into()));
    }

    /// Removes all lines with a name.
    pub fn remove(&mut self, name: &str) {
        self.0.retain(|(known, _)| known != name);
    }

    /// Keeps the fields of which `keep` says so.
    pub fn retain(&mut self, mut keep: impl FnMut(&str) -> bool) {
        self.0.retain(|(name, _)| keep(name));
    }

    /// All lines.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str()))
    }
}

/// The members of a comma-separated list, without those that are empty. A comma within a quoted string is
/// part of it (RFC 9110 section 5.6).
pub fn members(list: &str) -> impl Iterator<Item = &str> {
    let (mut quoted, mut escaped) = (false, false);
    let members = list.split(move |c| {
        let literal = std::mem::take(&mut escaped);
        match c {
            '\\' if quoted && !literal => escaped = true,
            '"' if !literal => quoted = !quoted,
            _ => {}
        }
        c == ',' && !quoted
    });
    members.map(str::trim).filter(|member| !member.is_empty())
}

impl FromIterator<(String, String)> for Fields {
    fn from_iter<I: IntoIterator<Item = (String, String)>>(fields: I) -> Self {
        Self(fields.into_iter().collect())
    }
}

impl IntoIterator for Fields {
    type Item = (String, String);
    type IntoIter = std::vec::IntoIter<Self::Item>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

/// Fields from pairs, for tests.
#[cfg(test)]
impl<const N: usize> From<[(&str, &str); N]> for Fields {
    fn from(fields: [(&str, &str); N]) -> Self {
        let owned = |(name, value): (&str, &str)| (name.to_ascii_lowercase(), value.to_owned());
        fields.into_iter().map(owned).collect()
    }
}
