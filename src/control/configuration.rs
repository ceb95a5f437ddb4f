//! What the operator has configured, as it was sent.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use super::audit::Trail;
use crate::cache::purge::Purges;
use crate::time::Instant;

/// The fields that were set, as they were sent. What was left out has its default.
pub type Declared = Map<String, Value>;

/// The name of a page of a room's own: it follows from the text.
pub type PageName = String;

/// The configuration of a zone: its single writer stores it, and the API reads and changes it.
///
/// The sources of the pages are large, so they are not part of the serialised form: a store keeps each
/// of [`Configuration::pages`] under its name, and hands them back with [`Configuration::with_pages`].
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct Configuration {
    /// Grows by one with each change; 0 is what the Worker was built with.
    pub version: u64,
    /// The name of the rooms' cookies, before any suffix; none: Cloudflare's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cookie_name: Option<String>,
    /// The settings of the zone.
    #[serde(default)]
    pub settings: Settings,
    /// The lists of addresses that rules may name, as `rooms.toml` declares them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ip_lists: Vec<Declared>,
    /// The rooms, in the order of their creation.
    pub rooms: Vec<RoomEntry>,
    /// What was purged from the caches, and when.
    #[serde(default, skip_serializing_if = "Purges::is_empty")]
    pub purges: Purges,
    /// The last changes.
    #[serde(default)]
    pub trail: Trail,
    #[serde(skip)]
    pub(super) pages: BTreeMap<PageName, String>,
}

/// The settings of the zone.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub struct Settings {
    /// Whether verified search engines pass all rooms.
    #[serde(default)]
    pub search_engine_crawler_bypass: bool,
}

/// A room.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct RoomEntry {
    /// 32 lower-case hexadecimal digits.
    pub id: String,
    /// When the room was made.
    pub created: Instant,
    /// When it was changed last: its own fields, not its events and rules.
    pub modified: Instant,
    /// What was set. `custom_page_html` is the [`PageName`] of the text that was sent.
    pub declared: Declared,
    /// The events, in the order of their creation.
    #[serde(default)]
    pub events: Vec<EventEntry>,
    /// The bypass rules, in their order.
    #[serde(default)]
    pub rules: Vec<RuleEntry>,
}

/// An event of a room.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct EventEntry {
    /// 32 lower-case hexadecimal digits.
    pub id: String,
    /// When the event was made.
    pub created: Instant,
    /// When it was changed last.
    pub modified: Instant,
    /// What was set, as with a room.
    pub declared: Declared,
}

/// A bypass rule of a room.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct RuleEntry {
    /// 32 lower-case hexadecimal digits.
    pub id: String,
    /// How often the rule was written: from 1.
    pub version: u64,
    /// When it was changed last.
    pub modified: Instant,
    /// What was set.
    pub declared: Declared,
}

impl Configuration {
    /// The sources of the pages that rooms and events have.
    pub const fn pages(&self) -> &BTreeMap<PageName, String> {
        &self.pages
    }

    /// The same with the sources of its pages. Those that nothing names any more are left out.
    #[must_use]
    pub fn with_pages(mut self, pages: impl IntoIterator<Item = (PageName, String)>) -> Self {
        self.pages = pages.into_iter().collect();
        self.drop_unnamed_pages();
        self
    }

    /// The room of that id.
    pub fn room(&self, id: &str) -> Option<&RoomEntry> {
        self.rooms.iter().find(|room| room.id == id)
    }

    pub(super) fn room_mut(&mut self, id: &str) -> Option<&mut RoomEntry> {
        self.rooms.iter_mut().find(|room| room.id == id)
    }

    /// Keeps a page's source, and gives the name under which it is kept; empty for no source.
    pub(super) fn keep_page(&mut self, source: &str) -> PageName {
        if source.is_empty() {
            return PageName::new();
        }
        let name = page_name(source);
        self.pages
            .entry(name.clone())
            .or_insert_with(|| source.to_owned());
        name
    }

    pub(super) fn drop_unnamed_pages(&mut self) {
        let rooms = self.rooms.iter();
        let declared = rooms.flat_map(|room| {
            let events = room.events.iter().map(|event| &event.declared);
            events.chain([&room.declared])
        });
        let names: Vec<String> = declared
            .filter_map(|declared| declared.get("custom_page_html")?.as_str())
            .map(str::to_owned)
            .collect();
        self.pages.retain(|name, _| names.contains(name));
    }
}

/// The name of a page: the start of its SHA-256, so that a name stands for one text for ever.
fn page_name(source: &str) -> PageName {
    let digest = Sha256::digest(source);
    let digits = digest.iter().take(16).map(|byte| format!("{byte:02x}"));
    digits.collect()
}
