//! From what the operator has configured to what is published.

use serde_json::{Map, Value, json};

use super::configuration::{Configuration, EventEntry, RoomEntry, RuleEntry};
use super::published::Published;
use crate::site::fault::Faults;
use crate::site::host::Names;
use crate::site::room::Site;
use crate::site::{Context, validate};

/// What has to be known beside the configuration.
#[derive(Clone, Copy, Debug)]
pub struct Surroundings<'a> {
    /// The domains that a cookie may have, and what is below them: the zone's, lower-case and in
    /// punycode. A room outside of them can have one host only.
    pub zones: &'a [String],
    /// The languages that the page has been translated into.
    pub languages: &'a [String],
}

/// Why a configuration cannot be published; the places are those of [`Configuration::declaration`].
pub type Uncompiled = Faults;

impl Configuration {
    /// Checks the whole and works out what is published.
    ///
    /// # Errors
    /// Everything that is wrong with it.
    pub fn compile(&self, around: Surroundings<'_>) -> Result<Published, Uncompiled> {
        Ok(Published {
            version: self.version,
            site: check(&self.declaration(), around)?,
            pages: self.pages.clone(),
            purges: self.purges.clone(),
        })
    }

    /// The whole as `rooms.toml` would declare it, but that pages have the names of texts.
    pub fn declaration(&self) -> Value {
        let mut site = Map::new();
        if let Some(name) = &self.cookie_name {
            site.insert("cookie_name".into(), name.as_str().into());
        }
        if self.settings.search_engine_crawler_bypass {
            site.insert("search_engine_crawler_bypass".into(), true.into());
        }
        if !self.ip_lists.is_empty() {
            site.insert("ip_lists".into(), json!(self.ip_lists));
        }
        let rooms = self.rooms.iter().map(declared_room).collect();
        site.insert("rooms".into(), Value::Array(rooms));
        Value::Object(site)
    }
}

/// Checks a declaration with what a Worker knows about names.
pub(super) fn check(declaration: &Value, around: Surroundings<'_>) -> Result<Site, Faults> {
    // The Worker goes without the tables for international names: those come in punycode.
    let to_ascii = |name: &str| name.is_ascii().then(|| name.to_ascii_lowercase());
    // It goes without the list of public suffixes too: what is above the zone is not the operator's.
    let is_public_suffix = |name: &str| !around.zones.iter().any(|zone| is_within(name, zone));
    let names = Names {
        to_ascii: &to_ascii,
        is_public_suffix: &is_public_suffix,
    };
    let languages = around.languages;
    validate(declaration, Context { names, languages })
}

/// Whether `name` is the domain `zone` or lies below it.
fn is_within(name: &str, zone: &str) -> bool {
    let below = name.strip_suffix(zone);
    below.is_some_and(|below| below.is_empty() || below.ends_with('.'))
}

fn declared_room(room: &RoomEntry) -> Value {
    let mut declared = room.declared.clone();
    declared.insert("id".into(), room.id.as_str().into());
    if !room.events.is_empty() {
        let events = room.events.iter().map(declared_event).collect();
        declared.insert("events".into(), Value::Array(events));
    }
    if !room.rules.is_empty() {
        let rules = room.rules.iter().map(declared_rule).collect();
        declared.insert("rules".into(), Value::Array(rules));
    }
    Value::Object(declared)
}

fn declared_event(event: &EventEntry) -> Value {
    let mut declared = event.declared.clone();
    declared.insert("id".into(), event.id.as_str().into());
    Value::Object(declared)
}

fn declared_rule(rule: &RuleEntry) -> Value {
    let mut declared = rule.declared.clone();
    declared.insert("id".into(), rule.id.as_str().into());
    Value::Object(declared)
}
