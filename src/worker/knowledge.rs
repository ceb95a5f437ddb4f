//! What an isolate knows of origins: the copy of the atlas in KV, read again from time to time.
//!
//! No request waits for another one's reading. The first of an isolate waits a moment for its own; later
//! ones use what there is, and read what is next behind their answers.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::{Either, select};
use js_sys::{Array, Reflect, Uint8Array};
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::{JsFuture, spawn_local};
use worker::{Context, Delay, Env};

use super::{binding, clock, log};
use crate::atlas::knowledge::Knowledge;
use crate::atlas::ranges::Table;
use crate::atlas::region_places::RegionPlaces;
use crate::log::{Entry, clean};
use crate::time::{Instant, Span};

/// The KV namespace.
const COPIES: &str = "CONFIG";

/// What is older is read again.
const FRESH: Span = Span::from_secs(60);

/// The ranges of addresses are large, and change every few hours.
const RANGES_FRESH: Span = Span::from_secs(600);

/// A reading is given up on, and another one may begin.
const READING: Span = Span::from_secs(5);

/// So long the first request waits.
const PATIENCE: Duration = Duration::from_millis(500);

/// What is known, and when it was read.
pub(super) struct Known {
    knowledge: RefCell<Rc<Knowledge>>,
    read: Cell<Option<Instant>>,
    ranges_read: Cell<Option<Instant>>,
    /// Somebody reads until then: a deadline, and no lock.
    reading: Cell<Option<Instant>>,
    /// Whether any origin is an address, so that ranges are of use.
    wants_ranges: bool,
}

impl Known {
    /// Nothing yet but where places are.
    pub(super) fn nothing(places: RegionPlaces, wants_ranges: bool) -> Self {
        let knowledge = Knowledge {
            places: Arc::new(places),
            ..Knowledge::default()
        };
        Self {
            knowledge: RefCell::new(Rc::new(knowledge)),
            read: Cell::default(),
            ranges_read: Cell::default(),
            reading: Cell::default(),
            wants_ranges,
        }
    }

    /// What is known now. The first of an isolate waits for it, for a moment.
    pub(super) async fn get(&'static self, env: &Env) -> Rc<Knowledge> {
        if self.read.get().is_none() {
            self.wait(env).await;
        }
        self.now()
    }

    /// What is known now, read again if that was long ago: for who asks about it.
    pub(super) async fn latest(&'static self, env: &Env) -> Rc<Knowledge> {
        self.wait(env).await;
        self.now()
    }

    fn now(&self) -> Rc<Knowledge> {
        Rc::clone(&self.knowledge.borrow())
    }

    /// Reads again behind the answer of a request what is old, if nobody is at it.
    pub(super) fn renew(&'static self, env: &Env, ctx: &Context) {
        if self.read.get().is_some()
            && let Some(reading) = self.start(env)
        {
            ctx.wait_until(reading);
        }
    }

    async fn wait(&'static self, env: &Env) {
        if let Some(reading) = self.start(env)
            && let Either::Right((_, reading)) =
                select(Box::pin(reading), Delay::from(PATIENCE)).await
        {
            // It goes on as long as its request does; should that end first, another one reads.
            spawn_local(reading);
        }
    }

    /// The reading that is due; none if nothing is old, or somebody reads.
    fn start(&'static self, env: &Env) -> Option<impl Future<Output = ()> + 'static> {
        let now = clock::now();
        let is_old = |read: Option<Instant>, fresh| read.is_none_or(|read| now >= read + fresh);
        let is_due = is_old(self.read.get(), FRESH);
        if !is_due || self.reading.get().is_some_and(|until| now < until) {
            return None;
        }
        self.reading.set(Some(now + READING));
        let with_ranges = self.wants_ranges && is_old(self.ranges_read.get(), RANGES_FRESH);
        Some(self.read(env.clone(), with_ranges))
    }

    async fn read(&self, env: Env, with_ranges: bool) {
        if let Err(error) = self.try_to_read(&env, with_ranges).await {
            let reason = clean(&error);
            log::write(&Entry::CopyFailed { reason });
        }
        self.reading.set(None);
    }

    async fn try_to_read(&self, env: &Env, with_ranges: bool) -> Result<(), String> {
        let namespace =
            Reflect::get(env, &JsValue::from_str(COPIES)).map_err(binding::message_of)?;
        let read = binding::read_knowledge(&namespace, with_ranges);
        let read: Array = JsFuture::from(read)
            .await
            .map_err(binding::message_of)?
            .unchecked_into();
        let mut knowledge = Knowledge::clone(&self.knowledge.borrow());
        if let Some(hints) = read.get(0).as_string() {
            let hints = serde_json::from_str(&hints).map_err(|error| format!("hints: {error}"))?;
            knowledge.hints = Arc::new(hints);
        }
        if let Some(findings) = read.get(1).as_string() {
            let findings = serde_json::from_str(&findings);
            knowledge.findings = Arc::new(findings.map_err(|error| format!("atlas: {error}"))?);
        }
        if let Ok(bytes) = read.get(2).dyn_into::<Uint8Array>() {
            knowledge.ranges = Some(Arc::new(Table::from_bytes(&bytes.to_vec())?));
        }
        self.knowledge.replace(Rc::new(knowledge));
        let now = clock::now();
        self.read.set(Some(now));
        if with_ranges {
            self.ranges_read.set(Some(now));
        }
        Ok(())
    }
}
