//! The Durable Object of the atlas: the one called `atlas` is the single writer of hints, findings and
//! address ranges; those called `probe/<location hint>` are checkpoints, which store nothing.
//!
//! # Protocol
//!
//! The method `hear` with an [`Ask`] as JSON; what is asked says what is answered. It is reached through
//! the Worker's binding alone.
//!
//! # Why nothing is lost
//!
//! A change is worked out and written in one poll; [`Storage::sync`] is awaited before the answer leaves.
//! After a failure the keeper is read anew from the storage. What isolates read is the copy in KV, which
//! is written behind the answer, a part a second at most, until the newest of each part is there.
//!
//! [`Storage::sync`]: worker::Storage::sync

use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, RefUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::time::Duration;

use js_sys::{Reflect, Uint8Array};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::{JsFuture, spawn_local};
use worker::worker_sys::DurableObjectState;
use worker::{Delay, Env, State, Storage};

use super::binding::Answer;
use super::configuration::{COPIES, named};
use super::control_store::Store;
use super::{binding, checkpoint, clock, log, object};
use crate::atlas::checkpoint::Errand;
use crate::atlas::files::{Fetched, MOST_BYTES};
use crate::atlas::keeper::{Keeper, Value, Wanted};
use crate::atlas::origin_name::OriginName;
use crate::control::api::cloud_regions;
use crate::control::atlas::{Ask, CHECKPOINT, Ticked};
use crate::control::keeper::Effects;
use crate::control::message::Reply;
use crate::log::{Entry, clean};
use crate::packed;

/// KV takes one write a second for a key (Cloudflare's limits of Workers KV).
const BETWEEN_COPIES: Duration = Duration::from_millis(1_100);

/// A copy that cannot be written is tried so often; the next change writes it again.
const COPY_ATTEMPTS: u32 = 5;

/// The port of the handshakes, unless the variable says otherwise.
const PORT: u16 = 443;
/// The variable with another port.
const PORT_VARIABLE: &str = "ANTEROOM_PROBE_PORT";

/// Before the name of a provider in capital letters: the variable with the address of its file.
const URL_VARIABLE: &str = "ANTEROOM_RANGES_";

/// The object. Everything is in [`Inner`], which its tasks share.
#[wasm_bindgen]
pub struct Atlas {
    inner: Rc<Inner>,
}

/// Nothing of a change that panicked is kept, see the head of this file.
impl RefUnwindSafe for Atlas {}

struct Inner {
    env: Env,
    storage: Storage,
    store: Store,
    is_checkpoint: bool,
    keeper: RefCell<Option<Keeper>>,
    /// Whether a task writes copies.
    copying: Cell<bool>,
    /// Whether a task does what is due.
    ticking: Cell<bool>,
}

#[wasm_bindgen]
impl Atlas {
    /// The runtime makes one for the name that is called.
    #[wasm_bindgen(constructor)]
    pub fn new(state: DurableObjectState, env: Env) -> Self {
        let as_it_is = JsValue::from(&state);
        let state = State::from(state);
        let name = state.id().name().unwrap_or_default();
        let storage = state.storage();
        let store = Store::of(&as_it_is, storage.sql());
        let inner = Inner {
            env,
            storage,
            store,
            is_checkpoint: name.starts_with(CHECKPOINT),
            keeper: RefCell::new(None),
            copying: Cell::new(false),
            ticking: Cell::new(false),
        };
        Self {
            inner: Rc::new(inner),
        }
    }
}

object::hears!(Atlas);

fn hear(inner: &Rc<Inner>, body: &str, answer: Answer) {
    let own = Rc::clone(inner);
    match serde_json::from_str(body) {
        Ok(Ask::CloudRegions(call)) if !inner.is_checkpoint => match perform(inner, call) {
            Ok(text) => spawn_local(finish(own, answer, text)),
            Err(message) => fail(&answer, &message),
        },
        Ok(Ask::Trail) if !inner.is_checkpoint => {
            let told = inner.with_keeper(|keeper| serde_json::to_string(keeper.trail()));
            match told {
                Ok(text) => answer.settle(text),
                Err(message) => fail(&answer, &message),
            }
        }
        Ok(Ask::Tick) if !inner.is_checkpoint => spawn_local(tick(own, answer)),
        Ok(Ask::Probe { origins, port }) if inner.is_checkpoint => spawn_local(async move {
            let report = checkpoint::report(origins, port).await;
            answer.settle(serde_json::to_string(&report));
        }),
        Ok(_) => fail(&answer, "this is another kind of object"),
        Err(error) => fail(&answer, &error.to_string()),
    }
}

fn fail(answer: &Answer, message: &str) {
    let reason = clean(message);
    log::write(&Entry::AtlasFailed { reason });
    answer.fail(message);
}

/// Performs a call of the API: the answer, as text.
fn perform(inner: &Inner, call: cloud_regions::Call) -> Result<String, String> {
    let answer = inner.with_keeper(|keeper| {
        let (knowledge, trail) = keeper.to_change();
        cloud_regions::answer(knowledge, trail, call, clock::now())
    })?;
    serde_json::to_string(&Reply::from(answer)).map_err(|error| error.to_string())
}

/// Answers when what has changed is durable, and lets the isolates know.
async fn finish(inner: Rc<Inner>, answer: Answer, text: String) {
    if let Err(error) = inner.storage.sync().await {
        inner.keeper.replace(None);
        return fail(&answer, &format!("cannot store: {error}"));
    }
    answer.give(&text);
    write_copies(&inner).await;
}

/// Does what is due.
async fn tick(inner: Rc<Inner>, answer: Answer) {
    if inner.ticking.replace(true) {
        return answer.give("{}");
    }
    let ticked = all_due(&inner).await;
    inner.ticking.set(false);
    match ticked.map(|ticked| serde_json::to_string(&ticked)) {
        Ok(Ok(text)) => finish(inner, answer, text).await,
        Ok(Err(error)) => fail(&answer, &error.to_string()),
        Err(message) => fail(&answer, &message),
    }
}

async fn all_due(inner: &Inner) -> Result<Ticked, String> {
    let mut ticked = Ticked::default();
    let now = clock::now();
    let configured = |vendor: &_| variable(&inner.env, &url_variable(vendor));
    let wanted = inner.with_keeper(|keeper| keeper.wanted(configured, now))?;
    // One after the other: each is large, and they share 128 MB.
    for wanted in wanted {
        ticked.files += 1;
        let fault = take_file(inner, &wanted).await?;
        ticked.faults.extend(fault);
    }
    let hosts = packed::cached_hosts().map_err(|error| error.to_string())?;
    let own: Vec<&str> = hosts.iter().map(|host| host.host.as_str()).collect();
    let declared: Vec<OriginName> = hosts.iter().flat_map(|host| host.origins.clone()).collect();
    let origins = inner.with_keeper(|keeper| {
        keeper.origins_to_probe(&declared, |origin| checkpoint::may_probe(origin, &own))
    })?;
    ticked.origins = origins.len();
    if !origins.is_empty() {
        let port = variable(&inner.env, PORT_VARIABLE).and_then(|port| port.parse().ok());
        let port = port.unwrap_or(PORT);
        let round = checkpoint::hold_round(&inner.env, Errand { origins, port }).await;
        ticked.checkpoints = round.reports.len();
        ticked.silent = round.silent;
        inner.with_keeper(|keeper| keeper.hold_round(&round.reports, &declared, clock::now()))?;
    }
    ticked.lost = inner.with_keeper(|keeper| keeper.lost())?;
    Ok(ticked)
}

/// Asks for a file and takes it in: what is wrong with it.
async fn take_file(inner: &Inner, wanted: &Wanted) -> Result<Option<String>, String> {
    let most = u32::try_from(MOST_BYTES).unwrap_or(u32::MAX);
    let (etag, modified) = (wanted.etag.as_deref(), wanted.last_modified.as_deref());
    let answer = JsFuture::from(binding::fetch_file(&wanted.url, etag, modified, most)).await;
    let now = clock::now();
    let vendor = &wanted.vendor;
    let failed = |reason: String| Fetched::Failed(format!("{vendor}'s address ranges: {reason}"));
    let field = |answer: &JsValue, name: &str| {
        let value = Reflect::get(answer, &name.into()).ok();
        value.and_then(|value| value.as_string())
    };
    let text;
    let fetched = match &answer {
        Err(error) => failed(binding::message_of(error.clone())),
        Ok(answer) => {
            let status = Reflect::get(answer, &"status".into()).ok();
            match status
                .and_then(|status| status.as_f64())
                .unwrap_or_default() as u16
            {
                200 => {
                    text = field(answer, "text").unwrap_or_default();
                    Fetched::File {
                        text: &text,
                        etag: field(answer, "etag"),
                        last_modified: field(answer, "lastModified"),
                    }
                }
                304 => Fetched::Same,
                status => failed(format!("status {status}")),
            }
        }
    };
    inner.with_keeper(|keeper| keeper.take_file(vendor, fetched, now))
}

/// Writes the copies in KV, where there is a namespace for them, until all are the newest.
async fn write_copies(inner: &Inner) {
    let namespace = named(&inner.env, COPIES);
    if namespace.is_undefined() || inner.copying.replace(true) {
        return;
    }
    let mut attempts = 0;
    while attempts < COPY_ATTEMPTS {
        let next = inner.with_keeper(|keeper| {
            let (part, version) = keeper.untold()?;
            Some((part, version, keeper.value(part)?))
        });
        let Ok(Some((part, version, value))) = next else {
            break;
        };
        let value = match value {
            Value::Text(text) => JsValue::from(text),
            Value::Bytes(bytes) => Uint8Array::from(bytes.as_slice()).into(),
        };
        match JsFuture::from(binding::publish(&namespace, part.key(), &value)).await {
            Ok(_) => {
                let noted = inner.with_keeper(|keeper| keeper.note_told(part, version));
                attempts = if noted.is_ok() { 0 } else { COPY_ATTEMPTS };
            }
            Err(error) => {
                let reason = clean(&binding::message_of(error));
                log::write(&Entry::CopyFailed { reason });
                attempts += 1;
            }
        }
        Delay::from(BETWEEN_COPIES).await;
    }
    inner.copying.set(false);
}

impl Inner {
    /// Does something with the keeper, and writes what has changed, in one go. While this runs, the keeper
    /// is out of its cell: if it returns early or panics, the cell stays empty.
    fn with_keeper<T>(&self, act: impl FnOnce(&mut Keeper) -> T) -> Result<T, String> {
        let done = catch_unwind(AssertUnwindSafe(|| {
            let mut keeper = match self.keeper.take() {
                Some(keeper) => keeper,
                None => Keeper::open(self.store.rows()?).map_err(|error| error.to_string())?,
            };
            let done = act(&mut keeper);
            let put = keeper.changed().map_err(|error| error.to_string())?;
            self.store.write(&Effects {
                put,
                ..Effects::default()
            })?;
            self.keeper.replace(Some(keeper));
            Ok(done)
        }));
        done.unwrap_or_else(|_panic| Err("the object of the atlas failed on this".to_owned()))
    }
}

fn url_variable(vendor: &crate::atlas::cloud::Vendor) -> String {
    format!("{URL_VARIABLE}{}", vendor.as_str().to_ascii_uppercase())
}

/// A variable that is set and not empty.
fn variable(env: &Env, name: &str) -> Option<String> {
    let text = env.var(name).ok()?.to_string();
    Some(text).filter(|text| !text.is_empty())
}
