//! The Durable Object that holds the configuration: its single writer.
//!
//! # Protocol
//!
//! The method `hear` with an [`Ask`] as JSON, as with a room; what is asked says what is answered.
//! It is reached through the Worker's binding alone.
//!
//! # Why it is atomic
//!
//! A change is made in one poll without an await: the [`Keeper`] works it out, and its rows are written
//! in one transaction (`worker/control_store.rs`). [`Storage::sync`] is awaited before the answer leaves.
//! So what anybody hears of a configuration is durable. A change that cannot be stored leaves no
//! trace: the keeper in memory is dropped and read anew from the storage.
//!
//! # Publication
//!
//! Isolates ask (`worker/configuration.rs`). Rooms are told at once of what concerns them, so that a
//! limit acts within a moment and not within seconds; one that cannot be reached hears from an edge
//! that there is something newer, and asks. The copy in KV is written behind the answer.
//!
//! [`Storage::sync`]: worker::Storage::sync

use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, RefUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::time::Duration;

use futures_util::future::join_all;
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::{JsFuture, spawn_local};
use worker::worker_sys::DurableObjectState;
use worker::{Delay, Env, State, Storage};

use super::binding::Answer;
use super::call::ATLAS;
use super::configuration::{COPIES, access, named};
use super::control_store::Store;
use super::{binding, call, clock, isolate, log, object};
use crate::control::access::Access;
use crate::control::api::{
    self, AuditCall, MetricsCall, Moment, Outcome, RoomCall, Sent, cloud_regions,
};
use crate::control::atlas;
use crate::control::audit::Trail;
use crate::control::keeper::{Effects, Keeper};
use crate::control::message::{Ask, Call, Policy, Reply};
use crate::control::rate::Buckets;
use crate::control::version::Version;
use crate::control::{Configuration, Surroundings};
use crate::gate::header;
use crate::log::{Entry, clean};
use crate::packed;
use crate::page::language;
use crate::room::figures::told::{self, Question};
use crate::room::message::Request;
use crate::site::room::RoomId;

/// A room gets so long to take a policy in.
const PATIENCE: Duration = Duration::from_secs(2);

/// KV takes one write a second for a key (Cloudflare's limits of Workers KV).
const BETWEEN_COPIES: Duration = Duration::from_millis(1_100);

/// A copy that cannot be written is tried so often; the next change, or the next start of the object,
/// writes it again.
const COPY_ATTEMPTS: u32 = 5;

/// The object. Everything is in [`Inner`], which its tasks share.
#[wasm_bindgen]
pub struct Control {
    inner: Rc<Inner>,
}

/// Nothing of a change that panicked is kept, see the head of this file.
impl RefUnwindSafe for Control {}

struct Inner {
    env: Env,
    storage: Storage,
    store: Store,
    /// What the secret of the API says, or what is wrong with it.
    access: Result<Access, String>,
    /// How often the API was called.
    buckets: RefCell<Buckets>,
    /// The ids of the keys of passes, the one that signs first.
    keys: Vec<String>,
    keeper: RefCell<Option<Keeper>>,
    /// Whether a task writes the copy, and whether there is something newer to write.
    copying: Cell<bool>,
    copy_is_old: Cell<bool>,
}

/// What was said, and what is to be done before and after it is told.
struct Said {
    what: What,
    /// Whether something was written: then the storage is waited for.
    stored: bool,
    /// Whether the copy in KV may be older than what is published.
    copy_is_old: bool,
    policies: Vec<(RoomId, Policy)>,
}

enum What {
    /// The answer.
    Text(String),
    /// A room has the answer to this call of the API; it goes by the configuration of this version.
    OfRoom(Box<RoomCall>, Version),
    /// All rooms have.
    OfRooms(MetricsCall),
    /// The object of the atlas has.
    OfAtlas(cloud_regions::Call),
    /// A part of the answer is the object of the atlas's.
    Audit(AuditCall),
}

#[wasm_bindgen]
impl Control {
    /// The runtime makes one for the name that is called.
    #[wasm_bindgen(constructor)]
    pub fn new(state: DurableObjectState, env: Env) -> Self {
        let as_it_is = JsValue::from(&state);
        let storage = State::from(state).storage();
        let store = Store::of(&as_it_is, storage.sql());
        let missing = || Err("the API is not set up".to_owned());
        let inner = Inner {
            access: access(&env).unwrap_or_else(missing),
            buckets: RefCell::default(),
            keys: isolate::key_ids(&env),
            env,
            storage,
            store,
            keeper: RefCell::new(None),
            copying: Cell::new(false),
            copy_is_old: Cell::new(false),
        };
        Self {
            inner: Rc::new(inner),
        }
    }
}

object::hears!(Control);

fn hear(inner: &Rc<Inner>, body: &str, answer: Answer) {
    let said = match catch_unwind(AssertUnwindSafe(|| inner.say(body))) {
        Ok(Ok(said)) => said,
        Ok(Err(message)) => {
            let reason = clean(&message);
            log::write(&Entry::ControlFailed { reason });
            return answer.fail(&message);
        }
        Err(_panic) => return answer.fail("the control object failed on this request"),
    };
    match said.what {
        What::Text(text) if !said.stored && !said.copy_is_old => answer.give(&text),
        _ => spawn_local(finish(Rc::clone(inner), said, answer)),
    }
}

/// Answers when what was said is durable, and lets the rooms and the copy know.
async fn finish(inner: Rc<Inner>, said: Said, answer: Answer) {
    if said.stored
        && let Err(error) = inner.storage.sync().await
    {
        inner.keeper.replace(None);
        return answer.fail(&format!("cannot store: {error}"));
    }
    match said.what {
        What::Text(text) => answer.give(&text),
        What::OfRoom(call, version) => give(&answer, ask_room(&inner.env, &call, version).await),
        What::OfRooms(call) => give(&answer, ask_rooms(&inner.env, &call).await),
        What::Audit(call) => give(&answer, audit(&inner.env, &call).await),
        What::OfAtlas(call) => match ask_atlas(&inner.env, &atlas::Ask::CloudRegions(call)).await {
            Some(text) => answer.give(&text),
            None => give(&answer, api::Answer::unavailable()),
        },
    }
    for (room, policy) in said.policies {
        let env = inner.env.clone();
        spawn_local(async move {
            if let Err(error) = call::govern(&env, &room, &policy, PATIENCE).await {
                // It will ask.
                let (room, reason) = (room.as_str(), clean(&error.to_string()));
                log::write(&Entry::PolicyNotTold { room, reason });
            }
        });
    }
    if said.copy_is_old {
        write_copies(inner).await;
    }
}

fn give(to: &Answer, answer: api::Answer) {
    to.settle(json(&Reply::from(answer)));
}

/// Lets the room answer a call of the API.
async fn ask_room(env: &Env, call: &RoomCall, configuration: Version) -> api::Answer {
    let id = &call.room.id;
    let answer = match call.sent() {
        Sent::Request(request) => {
            // A room that has missed its policy asks for it then.
            let request = Request {
                configuration,
                ..request
            };
            let response = call::pass_on(env, id, &request, PATIENCE).await;
            response.map(|response| call.answer(Some(&response)))
        }
        Sent::Question(question) => {
            let told = call::question(env, id, &question, PATIENCE).await;
            told.map(|told| call.told(Some(&told)))
        }
    };
    answer.unwrap_or_else(|error| {
        let (room, reason) = (call.room.name.as_str(), clean(&error.to_string()));
        log::write(&Entry::RoomFailed { room, reason });
        api::Answer::unavailable()
    })
}

/// The trail of changes, with that of the hints where there can be some.
async fn audit(env: &Env, call: &AuditCall) -> api::Answer {
    if named(env, ATLAS).is_undefined() {
        return call.answer(Some(&Trail::default()));
    }
    let told = ask_atlas(env, &atlas::Ask::Trail).await;
    let trail = told.and_then(|text| serde_json::from_str(&text).ok());
    call.answer(trail.as_ref())
}

/// Lets the object of the atlas answer.
async fn ask_atlas(env: &Env, question: &atlas::Ask) -> Option<String> {
    let told = call::atlas(env, question, PATIENCE).await;
    let failed = |error: call::Unanswered| {
        let reason = clean(&error.to_string());
        log::write(&Entry::AtlasFailed { reason });
    };
    told.map_err(failed).ok()
}

/// Lets all rooms answer, at the same time.
async fn ask_rooms(env: &Env, call: &MetricsCall) -> api::Answer {
    let asked = call.rooms.iter().map(|(id, _)| async move {
        match call::question(env, id, &Question::Totals, PATIENCE).await {
            Ok(told::Answer::Totals(totals)) => Some(*totals),
            _ => None,
        }
    });
    call.answer(join_all(asked).await)
}

/// Writes the copy in KV, where there is a namespace for it, until it is the newest.
async fn write_copies(inner: Rc<Inner>) {
    let namespace = named(&inner.env, COPIES);
    inner.copy_is_old.set(true);
    if namespace.is_undefined() || inner.copying.replace(true) {
        return;
    }
    let mut attempts = 0;
    while attempts < COPY_ATTEMPTS && inner.copy_is_old.replace(false) {
        let text = inner.publication();
        let Some(text) = text else { break };
        if let Err(error) = JsFuture::from(binding::write_copy(&namespace, &text)).await {
            let reason = clean(&format!("{error:?}"));
            log::write(&Entry::CopyFailed { reason });
            inner.copy_is_old.set(true);
            attempts += 1;
        }
        Delay::from(BETWEEN_COPIES).await;
    }
    inner.copying.set(false);
}

impl Inner {
    /// Answers, and writes what has changed, in one go. While this runs, the keeper is out of its
    /// cell: if it returns early or panics, the cell stays empty.
    fn say(&self, body: &str) -> Result<Said, String> {
        let ask: Ask = serde_json::from_str(body).map_err(|error| error.to_string())?;
        let languages = language::all()
            .iter()
            .map(|language| language.tag.to_owned());
        let languages: Vec<String> = languages.collect();
        let around = Surroundings {
            zones: self.access.as_ref().map_or(&[], Access::zone_names),
            languages: &languages,
        };
        let is_new = self.keeper.borrow().is_none();
        let (mut keeper, mut effects) = match self.keeper.take() {
            Some(keeper) => (keeper, Effects::default()),
            None => self.open(around)?,
        };
        let what = match ask {
            Ask::Look { knows } => What::Text(keeper.look(knows).to_owned()),
            Ask::Room { id } => What::Text(json(&keeper.policy(&id))?),
            Ask::Api(call) => {
                let (what, changed) = self.manage(&mut keeper, call, around)?;
                effects.followed_by(changed);
                what
            }
        };
        self.store.write(&effects)?;
        let is_published = keeper.publication().is_some();
        self.keeper.replace(Some(keeper));
        let stored = effects != Effects::default();
        Ok(Said {
            what,
            stored,
            // An object that is made anew does not know whether the last one came to write it.
            copy_is_old: stored || (is_new && is_published),
            policies: effects.policies,
        })
    }

    /// Answers a request to the API.
    fn manage(
        &self,
        keeper: &mut Keeper,
        call: Call,
        around: Surroundings<'_>,
    ) -> Result<(What, Effects), String> {
        let access = self.access.as_ref().map_err(Clone::clone)?;
        let request = api::Request::from(call);
        let mut random = [0; 32];
        getrandom::fill(&mut random).map_err(|error| error.to_string())?;
        let now = clock::now();
        let mut buckets = self.buckets.borrow_mut();
        let (outcome, effects) = keeper
            .change(around, packed::DECLARATION, |configuration, site| {
                let moment = Moment {
                    now,
                    random,
                    around,
                    keys: &self.keys,
                    site,
                };
                api::answer(configuration, access, &mut buckets, &request, moment)
            })
            .map_err(|failure| failure.to_string())?;
        let answer = match outcome {
            Outcome::Answer(answer) => answer,
            Outcome::Room(call) => return Ok((What::OfRoom(call, keeper.version()), effects)),
            Outcome::Metrics(call) => return Ok((What::OfRooms(call), effects)),
            Outcome::Audit(call) => return Ok((What::Audit(call), effects)),
            Outcome::CloudRegions(call) => return Ok((What::OfAtlas(call), effects)),
            Outcome::KeepPreview {
                id,
                html,
                until,
                answer,
            } => {
                self.store.keep_preview(id, html, until, now)?;
                answer
            }
            Outcome::ShowPreview { id, show } => {
                show.answer(self.store.preview(id, now)?.as_deref())
            }
        };
        let mut reply = Reply::from(answer);
        let configuration = keeper.standing(packed::DECLARATION).to_string();
        reply
            .headers
            .push((header::CONFIGURATION.to_owned(), configuration));
        Ok((What::Text(json(&reply)?), effects))
    }

    fn publication(&self) -> Option<String> {
        let keeper = self.keeper.borrow();
        keeper.as_ref()?.publication().map(str::to_owned)
    }

    fn open(&self, around: Surroundings<'_>) -> Result<(Keeper, Effects), String> {
        let now = clock::now();
        let embedded = || Configuration::embedded(now);
        let opened = Keeper::open(self.store.rows()?, embedded, now.as_millis(), around);
        let (keeper, effects) = opened.map_err(|failure| failure.to_string())?;
        if keeper.standing(packed::DECLARATION).differs {
            log::write(&Entry::DeclarationIgnored);
        }
        Ok((keeper, effects))
    }
}

fn json(value: &impl serde::Serialize) -> Result<String, String> {
    serde_json::to_string(value).map_err(|error| error.to_string())
}
