//! What an isolate remembers between requests: the site, ready for use, and the last that is known
//! of each room.
//!
//! All of it can be lost at any moment. Nothing here is ever awaited by two requests: a request
//! reads, or leaves something for the next one.

use std::cell::{OnceCell, RefCell};
use std::sync::Arc;

use worker::Env;

use super::call::Unanswered;
use super::clock;
use super::rules::Rules;
use crate::gate::keys::Keys;
use crate::gate::memory::Memory;
use crate::gate::route::Routes;
use crate::packed;
use crate::page::Pages;
use crate::room::snapshot::Snapshot;
use crate::site::moment::Moment;
use crate::site::room::{Room, Site};
use crate::site::timeline::Timeline;

/// The site, ready for use.
pub(super) struct Isolate {
    pub(super) site: Site,
    pub(super) routes: Routes,
    pub(super) pages: Pages,
    /// The keys of passes, or what is wrong with the secret.
    pub(super) keys: Result<Keys, String>,
    /// The keys of assertions for the origin, where the secret exists.
    pub(super) origin_keys: Option<Result<Keys, String>>,
    /// Whether anteroom speaks of visitors to the origin, so that no client may.
    pub(super) asserts: bool,
    /// `ORIGIN`: where requests go instead of the zone's own origin.
    pub(super) origin: Option<String>,
    timelines: Vec<Timeline>,
    /// The rules of each room that has some.
    rules: Vec<Option<Rules>>,
    rooms: Vec<RefCell<Memory>>,
}

thread_local! {
    static ISOLATE: OnceCell<&'static Isolate> = const { OnceCell::new() };
}

/// The secret with the keys of passes.
const KEYS: &str = "ANTEROOM_KEYS";
/// The secret with the keys of assertions.
const ORIGIN_KEYS: &str = "ANTEROOM_ORIGIN_KEYS";
/// The variable that names another origin.
const ORIGIN: &str = "ORIGIN";

impl Isolate {
    /// The isolate's memory, built by the first request: it lives as long as the isolate does.
    pub(super) fn get(env: &Env) -> Result<&'static Self, String> {
        ISOLATE.with(|cell| match cell.get() {
            Some(isolate) => Ok(*isolate),
            None => {
                let isolate = Self::build(env)?;
                Ok(*cell.get_or_init(|| Box::leak(Box::new(isolate))))
            }
        })
    }

    fn build(env: &Env) -> Result<Self, String> {
        let site = packed::site().map_err(|error| format!("packed site: {error}"))?;
        let keys = match env.secret(KEYS) {
            Ok(text) => Keys::parse(&text.to_string()).map_err(|fault| format!("{KEYS}: {fault}")),
            Err(_) => Err(format!("the secret {KEYS} is not set")),
        };
        let origin_keys = env.secret(ORIGIN_KEYS).ok().map(|text| {
            Keys::parse(&text.to_string()).map_err(|fault| format!("{ORIGIN_KEYS}: {fault}"))
        });
        let origin = env.var(ORIGIN).ok().map(|origin| origin.to_string());
        Ok(Self {
            routes: Routes::new(&site),
            pages: Pages::new(packed::pages()),
            keys,
            asserts: origin_keys.is_some() || site.rooms.iter().any(|room| room.origin_assertion),
            origin_keys,
            origin: origin.filter(|origin| !origin.is_empty()),
            rules: Rules::of(&site),
            timelines: site.rooms.iter().map(Timeline::new).collect(),
            rooms: site.rooms.iter().map(|_| RefCell::default()).collect(),
            site,
        })
    }

    /// The settings of a room that are in force now.
    pub(super) fn room(&self, index: usize) -> Option<&Room> {
        let timeline = self.timelines.get(index)?;
        // Most rooms have no events, and a look at the clock costs something.
        let now = || Moment::from_millis(clock::now().as_millis());
        Some(timeline.constant().unwrap_or_else(|| timeline.at(now())))
    }

    /// The bypass rules of a room, if it has any.
    pub(super) fn rules(&self, index: usize) -> Option<&Rules> {
        self.rules.get(index)?.as_ref()
    }

    /// The keys of a room's passes.
    ///
    /// # Errors
    /// What is missing for the room to do what it was declared to do.
    pub(super) fn keys_for(&self, room: &Room) -> Result<&Keys, String> {
        match (&self.origin_keys, room.origin_assertion) {
            (None, true) => Err(format!(
                "room {} has origin_assertion, and {ORIGIN_KEYS} is not set",
                room.name
            )),
            (Some(Err(fault)), true) => Err(fault.clone()),
            _ => self.keys.as_ref().map_err(Clone::clone),
        }
    }

    /// Reads or changes what is remembered of a room. None for a room that does not exist, and
    /// after a panic in the middle of a change.
    pub(super) fn memory<T>(&self, room: usize, with: impl FnOnce(&mut Memory) -> T) -> Option<T> {
        Some(with(&mut *self.rooms.get(room)?.try_borrow_mut().ok()?))
    }

    /// Takes in what a room has said.
    pub(super) fn heard(&self, room: usize, snapshot: Arc<Snapshot>) {
        self.memory(room, |memory| memory.learn(snapshot, clock::now()));
    }

    /// Notes and logs that a room has not answered.
    pub(super) fn unheard(&self, room: usize, error: &Unanswered) {
        let name = self
            .site
            .rooms
            .get(room)
            .map_or("", |room| room.name.as_str());
        worker::console_warn!("room {name}: {error}");
        self.memory(room, |memory| memory.fail(clock::now()));
    }
}
