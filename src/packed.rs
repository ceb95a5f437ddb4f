//! What `build.rs` packed: the site and the rooms' own pages.

use crate::site::cached_host::CachedHost;
use crate::site::room::Site;
use crate::site::tier::Tier;

/// The sources of the rooms' own pages, each under the name of its file.
const PAGES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/templates.rs"));

/// The site that was declared when the Worker was built.
///
/// # Errors
/// None of a build that ran through; the site is text until it is read.
pub fn site() -> Result<Site, serde_json::Error> {
    serde_json::from_str(include_str!(concat!(env!("OUT_DIR"), "/site.json")))
}

/// The hosts that are cached.
///
/// # Errors
/// None of a build that ran through.
pub fn cached_hosts() -> Result<Vec<CachedHost>, serde_json::Error> {
    serde_json::from_str(include_str!(concat!(env!("OUT_DIR"), "/cached_hosts.json")))
}

/// The upper tiers.
///
/// # Errors
/// None of a build that ran through.
pub fn tiers() -> Result<Vec<Tier>, serde_json::Error> {
    serde_json::from_str(include_str!(concat!(env!("OUT_DIR"), "/tiers.json")))
}

/// The rooms as they were declared, with international host names in punycode: JSON.
pub const DECLARATION: &str = include_str!(concat!(env!("OUT_DIR"), "/declaration.json"));

/// [`DECLARATION`], read.
///
/// # Errors
/// None of a build that ran through.
pub fn declaration() -> Result<serde_json::Value, serde_json::Error> {
    serde_json::from_str(DECLARATION)
}

/// The sources of the pages that rooms have as their `custom_page_html`, each under its name.
pub fn pages() -> impl Iterator<Item = (&'static str, &'static str)> {
    PAGES.iter().copied()
}

#[cfg(test)]
mod tests {
    #[test]
    fn what_is_packed_can_be_read() {
        super::cached_hosts().unwrap();
        super::tiers().unwrap();
        let site = super::site().unwrap();
        for name in site.rooms.iter().flat_map(|room| room.pages()) {
            assert!(super::pages().any(|(page, _)| page == name), "{name}");
        }
    }
}
