//! A configuration, ready for use by an isolate.
//!
//! An edition never changes. A newer configuration is another edition, and takes its place at once:
//! requests that are under way go on with the one that they have begun with, and with the last of them
//! it is freed. What an isolate remembers of a room goes along from edition to edition, by the room's
//! id, because it is about the room and not about its settings.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;
use std::sync::Arc;

use super::memory::Memory;
use super::route::Routes;
use crate::cache::purge::Purges;
use crate::control::publication::Publication;
use crate::control::version::Version;
use crate::page::Pages;
use crate::site::moment::Moment;
use crate::site::room::{Room, RoomId, Site};
use crate::site::timeline::Timeline;

/// The rooms of one configuration.
#[derive(Debug)]
pub struct Edition {
    /// Which configuration.
    pub version: Version,
    /// The rooms' routes.
    pub routes: Routes,
    /// The rooms' pages.
    pub pages: Rc<Pages>,
    /// Whether a room tells the origin who was admitted.
    pub asserts: bool,
    /// What was purged from the caches.
    pub purges: Purges,
    page_names: BTreeSet<String>,
    rooms: Vec<Entry>,
}

#[derive(Debug)]
struct Entry {
    id: RoomId,
    name: String,
    timeline: Timeline,
    memory: Rc<RefCell<Memory>>,
}

impl Edition {
    /// The edition of the rooms that the Worker was built with.
    pub fn embedded<'a>(site: &Site, pages: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        let pages = Rc::new(Pages::new(pages));
        let nothing = |_: &RoomId| None;
        Self::new(Version::EMBEDDED, site, pages, BTreeSet::new(), nothing)
    }

    /// The edition of a publication, after this one. None if it is not a later one: an isolate never
    /// goes back.
    pub fn followed_by(&self, publication: &Publication) -> Option<Self> {
        let version = publication.version();
        if version <= self.version {
            return None;
        }
        let published = &publication.published;
        let page_names: BTreeSet<String> = published.pages.keys().cloned().collect();
        // In what is published, a name stands for one text for ever; a file's name does not.
        let pages = if !self.version.is_embedded() && page_names == self.page_names {
            Rc::clone(&self.pages)
        } else {
            let sources = published.pages.iter();
            Rc::new(Pages::new(
                sources.map(|(name, source)| (name.as_str(), source.as_str())),
            ))
        };
        let rooms = self.rooms.iter().map(|room| (&room.id, &room.memory));
        let known: HashMap<_, _> = rooms.collect();
        let memory = |id: &RoomId| known.get(id).copied().map(Rc::clone);
        Some(
            Self::new(version, &published.site, pages, page_names, memory)
                .with_purges(published.purges.clone()),
        )
    }

    fn new(
        version: Version,
        site: &Site,
        pages: Rc<Pages>,
        page_names: BTreeSet<String>,
        memory: impl Fn(&RoomId) -> Option<Rc<RefCell<Memory>>>,
    ) -> Self {
        let entry = |room: &Room| Entry {
            id: room.id.clone(),
            name: room.name.clone(),
            timeline: Timeline::new(room),
            memory: memory(&room.id).unwrap_or_default(),
        };
        Self {
            version,
            routes: Routes::new(site),
            pages,
            asserts: site.rooms.iter().any(|room| room.origin_assertion),
            purges: Purges::default(),
            page_names,
            rooms: site.rooms.iter().map(entry).collect(),
        }
    }

    fn with_purges(mut self, purges: Purges) -> Self {
        self.purges = purges;
        self
    }

    /// The settings of a room that are in force. The time is asked for if the room has events.
    pub fn room(&self, index: usize, now: impl FnOnce() -> Moment) -> Option<&Arc<Room>> {
        let timeline = &self.rooms.get(index)?.timeline;
        Some(timeline.constant().unwrap_or_else(|| timeline.at(now())))
    }

    /// The name of a room; empty for none.
    pub fn name(&self, index: usize) -> &str {
        self.rooms.get(index).map_or("", |room| &room.name)
    }

    /// Reads or changes what is remembered of a room. None for a room that does not exist, and after
    /// a panic in the middle of a change.
    pub fn memory<T>(&self, index: usize, with: impl FnOnce(&mut Memory) -> T) -> Option<T> {
        Some(with(
            &mut *self.rooms.get(index)?.memory.try_borrow_mut().ok()?,
        ))
    }
}

#[cfg(test)]
mod tests;
