//! What an isolate knows, as one request sees it: the keys and the way to the origin, which last as
//! long as the isolate, and the edition of the site that was in force when the request came.
//!
//! All that is remembered can be lost at any moment. Nothing here is ever awaited by two requests: a
//! request reads, or leaves something for the next one.

use std::cell::{OnceCell, RefCell};
use std::rc::Rc;
use std::sync::Arc;

use wasm_bindgen::JsValue;
use web_sys::Request;
use worker::Env;

use super::call::Unanswered;
use super::configuration::Configured;
use super::rules::Rules;
use super::tiers::Tiers;
use super::url::host_of;
use super::{answer, clock, log};
use crate::cache::memory::{Hosts, Memory as Caching};
use crate::control::publication::Publication;
use crate::control::version::Version;
use crate::gate::edition::Edition;
use crate::gate::keys::Keys;
use crate::log::{Entry, clean};
use crate::packed;
use crate::room::snapshot::Snapshot;
use crate::site::cached_host::CachedHost;
use crate::site::moment::Moment;
use crate::site::room::Room;
use crate::time::Instant;

/// What lasts as long as the isolate does.
pub(super) struct Lasting {
    /// The keys of passes, or what is wrong with the secret.
    keys: Result<Keys, String>,
    /// The keys of assertions for the origin, where the secret exists.
    origin_keys: Option<Result<Keys, String>>,
    /// `ORIGIN`: where requests go instead of the zone's own origin.
    origin: Option<String>,
    /// Where newer configurations come from; none for a deployment whose rooms are those of its
    /// build.
    pub(super) configured: Option<Configured>,
    current: RefCell<Current>,
    /// The hosts that are cached; none where none is.
    cached: Option<Hosts>,
    caching: RefCell<Caching>,
    /// The upper tiers; none where there are none.
    tiers: Option<Tiers>,
}

/// The site as it is now.
#[derive(Clone)]
struct Current {
    edition: Rc<Edition>,
    /// The bypass rules of each room that has some.
    rules: Rc<[Option<Rules>]>,
}

/// What lasts, and the edition that a request goes by from its beginning to its end.
#[derive(Clone)]
pub(super) struct Isolate {
    lasting: &'static Lasting,
    pub(super) edition: Rc<Edition>,
    rules: Rc<[Option<Rules>]>,
}

thread_local! {
    static LASTING: OnceCell<&'static Lasting> = const { OnceCell::new() };
}

/// The secret with the keys of passes.
const KEYS: &str = "ANTEROOM_KEYS";
/// The secret with the keys of assertions.
const ORIGIN_KEYS: &str = "ANTEROOM_ORIGIN_KEYS";
/// The variable that names another origin.
const ORIGIN: &str = "ORIGIN";

/// The keys of passes, or what is wrong with the secret.
fn keys(env: &Env) -> Result<Keys, String> {
    match env.secret(KEYS) {
        Ok(text) => Keys::parse(&text.to_string()).map_err(|fault| format!("{KEYS}: {fault}")),
        Err(_) => Err(format!("the secret {KEYS} is not set")),
    }
}

/// The ids of the keys of passes, the one that signs first; none while the secret is wrong.
pub(super) fn key_ids(env: &Env) -> Vec<String> {
    let keys = keys(env);
    let ids = keys.iter().flat_map(Keys::ids);
    ids.map(str::to_owned).collect()
}

impl Lasting {
    /// Built by the first request.
    pub(super) fn get(env: &Env) -> Result<&'static Self, String> {
        LASTING.with(|cell| match cell.get() {
            Some(lasting) => Ok(*lasting),
            None => {
                let lasting = Self::build(env)?;
                Ok(*cell.get_or_init(|| Box::leak(Box::new(lasting))))
            }
        })
    }

    fn build(env: &Env) -> Result<Self, String> {
        let site = packed::site().map_err(|error| format!("packed site: {error}"))?;
        let cached = packed::cached_hosts().map_err(|error| format!("packed hosts: {error}"))?;
        let origin_keys = env.secret(ORIGIN_KEYS).ok().map(|text| {
            Keys::parse(&text.to_string()).map_err(|fault| format!("{ORIGIN_KEYS}: {fault}"))
        });
        let origin = env.var(ORIGIN).ok().map(|origin| origin.to_string());
        Ok(Self {
            keys: keys(env),
            origin_keys,
            origin: origin.filter(|origin| !origin.is_empty()),
            configured: Configured::of(env),
            cached: Hosts::of(cached),
            caching: RefCell::default(),
            tiers: Tiers::of(env)?,
            current: RefCell::new(Current {
                edition: Rc::new(Edition::embedded(&site, packed::pages())),
                rules: Rules::of(&site).into(),
            }),
        })
    }

    /// What a request that comes now goes by.
    pub(super) fn current(&'static self) -> Isolate {
        let Current { edition, rules } = self.current.borrow().clone();
        Isolate {
            lasting: self,
            edition,
            rules,
        }
    }

    /// The hosts that are cached.
    pub(super) fn cached_hosts(&self) -> impl Iterator<Item = &CachedHost> {
        self.cached.iter().flat_map(Hosts::iter)
    }

    /// The host of a URL, if it is cached. Where none is, the whole cost is this one look.
    pub(super) fn cached_host(&self, url: &str) -> Option<&CachedHost> {
        self.cached.as_ref()?.find(host_of(url))
    }

    /// The upper tiers of the deployment, if it has any.
    pub(super) fn tiers(&'static self) -> Option<&'static Tiers> {
        self.tiers.as_ref()
    }

    /// Answers what another part of this system asks; none if a visitor does. Where there are no upper
    /// tiers, the whole cost is one look.
    pub(super) fn receive(
        &'static self,
        request: &Request,
        url: &str,
        ctx: &worker::worker_sys::Context,
    ) -> Option<Result<JsValue, JsValue>> {
        let tiers = self.tiers.as_ref()?;
        tiers.receive(self, request, url, ctx)
    }

    /// Answers as the upper tier of this name.
    pub(super) fn serve(
        &'static self,
        name: &str,
        request: Request,
        ctx: &worker::worker_sys::Context,
    ) -> JsValue {
        match &self.tiers {
            Some(tiers) => tiers.serve(self, name, request, ctx),
            None => answer::broken("no upper tier is declared").into(),
        }
    }

    /// Which edition is in force.
    pub(super) fn current_version(&self) -> Version {
        self.current.borrow().edition.version
    }

    /// Takes a publication in, if it is a later one: the next request goes by it.
    pub(super) fn adopt(&self, publication: &Publication) {
        let current = Rc::clone(&self.current.borrow().edition);
        if let Some(next) = current.followed_by(publication) {
            self.current.replace(Current {
                edition: Rc::new(next),
                rules: Rules::of(&publication.published.site).into(),
            });
        }
    }
}

impl Isolate {
    /// The settings of a room that are in force now.
    pub(super) fn room(&self, index: usize, now: impl FnOnce() -> Instant) -> Option<&Arc<Room>> {
        // Most rooms have no events, and a look at the clock costs something.
        self.edition
            .room(index, || Moment::from_millis(now().as_millis()))
    }

    /// The keys of assertions for the origin, where the secret exists and can be read.
    pub(super) fn origin_keys(&self) -> Option<&'static Keys> {
        self.lasting.origin_keys.as_ref()?.as_ref().ok()
    }

    /// Whether anteroom speaks of visitors to the origin, so that no client may.
    pub(super) fn asserts(&self) -> bool {
        self.lasting.origin_keys.is_some() || self.edition.asserts
    }

    /// Where requests go instead of the zone's own origin.
    pub(super) fn origin(&self) -> Option<&'static str> {
        self.lasting.origin.as_deref()
    }

    /// The host of a URL, if it is cached. Where none is, the whole cost is this one look.
    pub(super) fn cached_host(&self, url: &str) -> Option<&'static CachedHost> {
        self.lasting.cached_host(url)
    }

    /// The upper tiers of the deployment, if it has any.
    pub(super) fn all_tiers(&self) -> Option<&'static Tiers> {
        self.lasting.tiers.as_ref()
    }

    /// The upper tiers that this Worker asks, if it asks any.
    pub(super) fn tiers(&self) -> Option<&'static Tiers> {
        self.lasting.tiers.as_ref().filter(|tiers| tiers.asks())
    }

    /// The same of a request whose URL is not at hand.
    pub(super) fn cached_host_of(&self, request: &Request) -> Option<&'static CachedHost> {
        self.lasting.cached.as_ref()?.find(host_of(&request.url()))
    }

    /// Reads or changes what is remembered of cached hosts. None after a panic in the middle of a change.
    pub(super) fn caching<T>(&self, with: impl FnOnce(&mut Caching) -> T) -> Option<T> {
        Some(with(&mut *self.lasting.caching.try_borrow_mut().ok()?))
    }

    /// The bypass rules of a room, if it has any.
    pub(super) fn rules(&self, index: usize) -> Option<&Rules> {
        self.rules.get(index)?.as_ref()
    }

    /// The keys of a room's passes.
    ///
    /// # Errors
    /// What is missing for the room to do what it was declared to do.
    pub(super) fn keys_for(&self, room: &Room) -> Result<&'static Keys, String> {
        match (&self.lasting.origin_keys, room.origin_assertion) {
            (None, true) => Err(format!(
                "room {} has origin_assertion, and {ORIGIN_KEYS} is not set",
                room.name
            )),
            (Some(Err(fault)), true) => Err(fault.clone()),
            _ => self.lasting.keys.as_ref().map_err(Clone::clone),
        }
    }

    /// Takes in what a room has said.
    pub(super) fn heard(&self, room: usize, snapshot: Arc<Snapshot>) {
        self.edition
            .memory(room, |memory| memory.learn(snapshot, clock::now()));
    }

    /// Notes and logs that a room has not answered.
    pub(super) fn unheard(&self, room: usize, error: &Unanswered) {
        let reason = clean(&error.to_string());
        let name = self.edition.name(room);
        log::write(&Entry::RoomFailed { room: name, reason });
        self.edition.memory(room, |memory| {
            memory.counts.room_failed = memory.counts.room_failed.saturating_add(1);
            memory.fail(clock::now());
        });
    }
}
