//! What is published: all that isolates and rooms read.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::cache::purge::Purges;
use crate::site::room::Site;

/// A configuration that has been checked and worked out. A later one has a larger version, so a
/// reader never goes back.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct Published {
    /// Which configuration this is: grows by each change. 0 is what the Worker was built with.
    pub version: u64,
    /// The rooms.
    pub site: Site,
    /// The sources of the rooms' own pages, by the name that `custom_page_html` of a room or an event
    /// has. A name stands for one text for ever, so a page that was compiled once stays good.
    #[serde(default)]
    pub pages: BTreeMap<String, String>,
    /// What was purged from the caches, and when.
    #[serde(default, skip_serializing_if = "Purges::is_empty")]
    pub purges: Purges,
}
