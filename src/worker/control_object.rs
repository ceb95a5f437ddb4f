//! The Durable Object that holds the configuration: its single writer.
//!
//! # Protocol
//!
//! The method `hear` with an [`Ask`] as JSON, as with a room; what is asked says what is answered.
//! It is reached through the Worker's binding alone.
//!
//! # Why it is atomic
//!
//! A change is made in one poll without an await: the [`Keeper`] works it out, and its rows are handed
//! to SQLite, which writes all of them or none. [`Storage::sync`] is awaited before the answer leaves.
//! So what anybody hears of a configuration is durable. A change that cannot be stored leaves no
//! trace: the keeper in memory is dropped and read anew from the storage.
//!
//! # Publication
//!
//! Isolates ask (`worker/configuration.rs`). Rooms are told at once of what concerns them, so that a
//! limit acts within a moment and not within seconds; one that cannot be reached hears from an edge
//! that there is something newer, and asks. The copy in KV is written behind the answer.
//!
//! # Storage
//!
//! `configuration(key, part, body)`: the rows of `control/rows.rs`, each cut into parts because a row
//! may have 2 MB at most.
//!
//! [`Storage::sync`]: worker::Storage::sync

use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, RefUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::time::Duration;

use js_sys::Promise;
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::{JsFuture, spawn_local};
use worker::worker_sys::DurableObjectState;
use worker::{Delay, Env, SqlStorage, SqlStorageValue, State, Storage};

use super::binding::Answer;
use super::configuration::{COPIES, named};
use super::{binding, call, clock, object};
use crate::control::keeper::{Effects, Keeper};
use crate::control::message::{Ask, Policy};
use crate::control::rows::Rows;
use crate::control::{Configuration, Surroundings};
use crate::packed;
use crate::page::language;
use crate::site::room::RoomId;

/// The size of a part of a row.
const PART: usize = 1024 * 1024;

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
    sql: SqlStorage,
    keeper: RefCell<Option<Keeper>>,
    /// Whether a task writes the copy, and whether there is something newer to write.
    copying: Cell<bool>,
    copy_is_old: Cell<bool>,
}

/// What was said, and what is to be done before and after it is told.
struct Said {
    text: String,
    stored: bool,
    policies: Vec<(RoomId, Policy)>,
}

#[wasm_bindgen]
impl Control {
    /// The runtime makes one for the name that is called.
    #[wasm_bindgen(constructor)]
    pub fn new(state: DurableObjectState, env: Env) -> Self {
        let storage = State::from(state).storage();
        let inner = Inner {
            env,
            sql: storage.sql(),
            storage,
            keeper: RefCell::new(None),
            copying: Cell::new(false),
            copy_is_old: Cell::new(false),
        };
        Self {
            inner: Rc::new(inner),
        }
    }

    /// A question as text; the promise is of the answer as text.
    pub fn hear(&self, body: &str) -> Promise {
        object::hear(body, |body, answer| hear(&self.inner, body, answer))
    }

    /// The same by HTTP.
    pub fn fetch(&self, request: &web_sys::Request) -> Promise {
        let inner = Rc::clone(&self.inner);
        object::fetch(request, move |body, answer| hear(&inner, body, answer))
    }
}

fn hear(inner: &Rc<Inner>, body: &str, answer: Answer) {
    let said = match catch_unwind(AssertUnwindSafe(|| inner.say(body))) {
        Ok(Ok(said)) => said,
        Ok(Err(message)) => {
            worker::console_error!("control: {message}");
            return answer.fail(&message);
        }
        Err(_panic) => return answer.fail("the control object failed on this request"),
    };
    if said.stored {
        spawn_local(finish(Rc::clone(inner), said, answer));
    } else {
        answer.give(&said.text);
    }
}

/// Answers when what was said is durable, and lets the rooms and the copy know.
async fn finish(inner: Rc<Inner>, said: Said, answer: Answer) {
    if let Err(error) = inner.storage.sync().await {
        inner.keeper.replace(None);
        return answer.fail(&format!("cannot store: {error}"));
    }
    answer.give(&said.text);
    for (room, policy) in said.policies {
        let env = inner.env.clone();
        spawn_local(async move {
            if let Err(error) = call::govern(&env, &room, &policy, PATIENCE).await {
                // It will ask.
                worker::console_warn!("room {room} has not heard of {}: {error}", policy.version);
            }
        });
    }
    write_copies(inner).await;
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
            worker::console_warn!("copy of the configuration: {error:?}");
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
            zones: &[],
            languages: &languages,
        };
        let (keeper, opened) = match self.keeper.take() {
            Some(keeper) => (keeper, Effects::default()),
            None => self.open(around)?,
        };
        let text = match ask {
            Ask::Look { knows } => keeper.look(knows).to_owned(),
            Ask::Room { id } => json(&keeper.policy(&id))?,
            Ask::Standing => json(&keeper.standing(&declaration()?))?,
        };
        let effects = opened;
        self.store(&effects)?;
        self.keeper.replace(Some(keeper));
        Ok(Said {
            text,
            stored: effects != Effects::default(),
            policies: effects.policies,
        })
    }

    fn publication(&self) -> Option<String> {
        let keeper = self.keeper.borrow();
        keeper.as_ref()?.publication().map(str::to_owned)
    }

    fn open(&self, around: Surroundings<'_>) -> Result<(Keeper, Effects), String> {
        self.exec(
            "CREATE TABLE IF NOT EXISTS configuration (key TEXT, part INTEGER, body TEXT NOT NULL, \
             PRIMARY KEY (key, part))",
            Vec::new(),
        )?;
        let now = clock::now();
        let embedded = Configuration::embedded(now).map_err(|error| error.to_string())?;
        let opened = Keeper::open(self.rows()?, || embedded, now.as_millis(), around);
        opened.map_err(|failure| failure.to_string())
    }

    fn rows(&self) -> Result<Rows, String> {
        let query = "SELECT key, body FROM configuration ORDER BY key, part";
        let cursor = self.sql.exec(query, None);
        let cursor = cursor.map_err(|error| error.to_string())?;
        let mut rows = Rows::new();
        for row in cursor.raw() {
            let mut row = row.map_err(|error| error.to_string())?.into_iter();
            match (row.next(), row.next()) {
                (Some(SqlStorageValue::String(key)), Some(SqlStorageValue::String(body))) => {
                    rows.entry(key).or_default().push_str(&body);
                }
                other => return Err(format!("a stored row is not text: {other:?}")),
            }
        }
        Ok(rows)
    }

    fn store(&self, effects: &Effects) -> Result<(), String> {
        for key in effects.deleted.iter().chain(effects.put.keys()) {
            let key = SqlStorageValue::String(key.clone());
            self.exec("DELETE FROM configuration WHERE key = ?", vec![key])?;
        }
        for (key, body) in &effects.put {
            for (part, body) in (0..).zip(parts(body)) {
                let row = vec![
                    SqlStorageValue::String(key.clone()),
                    SqlStorageValue::Integer(part),
                    SqlStorageValue::String(body.to_owned()),
                ];
                self.exec(
                    "INSERT INTO configuration (key, part, body) VALUES (?, ?, ?)",
                    row,
                )?;
            }
        }
        Ok(())
    }

    fn exec(&self, query: &str, bindings: Vec<SqlStorageValue>) -> Result<(), String> {
        let bindings = Some(bindings).filter(|bindings| !bindings.is_empty());
        self.sql
            .exec(query, bindings)
            .map(drop)
            .map_err(|error| error.to_string())
    }
}

/// A text in parts of at most [`PART`] bytes; an empty one is one part.
fn parts(text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut rest = text;
    loop {
        let (part, left) = rest.split_at(rest.floor_char_boundary(PART));
        parts.push(part);
        if left.is_empty() {
            return parts;
        }
        rest = left;
    }
}

/// The rooms that this version of the Worker was built with, as text.
fn declaration() -> Result<String, String> {
    let declaration = packed::declaration().map_err(|error| error.to_string())?;
    Ok(declaration.to_string())
}

fn json(value: &impl serde::Serialize) -> Result<String, String> {
    serde_json::to_string(value).map_err(|error| error.to_string())
}
