//! The Durable Object of a room: hears requests, keeps the ledger, stores what it decides.
//!
//! # Protocol
//!
//! One request: the method `hear` with a [`Request`] as JSON, which gives a [`Response`] as JSON. The
//! same by `POST`, answered 200, for edges that keep older code. Whatever is wrong (a request that is
//! not understood, a room that nobody has declared, a storage that cannot be read or
//! written) is an exception with the reason, or 503. The object is reached through the Worker's
//! binding alone; no request of a visitor is ever passed to it.
//!
//! The control object says [`POLICY`] and a policy, see `worker/governed.rs`.
//!
//! # Why it is atomic
//!
//! Requests that have arrived are handled together, as one batch, in one poll without an await: the
//! ledger decides, and the batch's row is handed to SQLite. Then [`Storage::sync`] is awaited, and
//! only then do the answers leave and the next batch begins. So whatever an answer says is durable,
//! whatever memory holds between batches is durable too, and requests that arrive meanwhile form the
//! next batch. A lone request waits for nobody. After a group of several the next one is gathered
//! for a moment, a millisecond for each request that the last one had and ten at most: a write costs
//! the same for one request as for a hundred.
//!
//! A batch that cannot be stored, or in which something panics, leaves no trace: the ledger in
//! memory is dropped and the next batch reads it anew from the storage.
//!
//! # Storage
//!
//! The ledger's rows and checkpoints are in `room_store`; `policy(id, body)` is what the room was told
//! to go by.
//!
//! # Figures
//!
//! A minute that has ended is stored with the first batch after it (`room_figures`), and the running
//! one once a second while something happens. An alarm sees to it that there is such a batch. What
//! an operator asks is said to `hear` as well, after [`QUESTION`].
//!
//! [`Storage::sync`]: worker::Storage::sync

use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, RefUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use js_sys::Promise;
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::{JsFuture, future_to_promise, spawn_local};
use worker::worker_sys::DurableObjectState;
use worker::{Delay, Env, State, Storage};

use super::binding::{self, Answer};
use super::governed::Governed;
use super::room_figures::Figures;
use super::room_store::{Kept, Store};
use super::{clock, object};
use crate::control::message::POLICY;
use crate::room::figures::told::{self, QUESTION, Question, Totals};
use crate::room::message::{Request, Response, VERSION, Writer};
use crate::room::policy::Policy;
use crate::room::snapshot::Snapshot;
use crate::room::status::Status;
use crate::site::moment::Moment;
use crate::time::Instant;

/// The longest time for which a group is gathered, in milliseconds.
const LONGEST_WINDOW: usize = 10;

/// A group has no more requests than this; others come with the next.
const MOST_REQUESTS: usize = 1024;

/// A request that waits for its batch, and where its answer goes.
type Heard = (Request, Answer);

/// The object. Everything is in [`Inner`], which the batch loop shares.
#[wasm_bindgen]
pub struct Room {
    inner: Rc<Inner>,
}

/// Nothing of a batch that panicked is kept, see the head of this file.
impl RefUnwindSafe for Room {}

struct Inner {
    storage: Storage,
    store: Store,
    governed: Governed,
    ledger: RefCell<Option<Kept>>,
    heard: RefCell<Vec<Heard>>,
    batching: Cell<bool>,
    figures: Figures,
}

#[wasm_bindgen]
impl Room {
    /// The runtime makes one for the name that is called.
    #[wasm_bindgen(constructor)]
    pub fn new(state: DurableObjectState, env: Env) -> Self {
        let state = State::from(state);
        let storage = state.storage();
        let room = state.id().name().unwrap_or_default();
        let inner = Inner {
            figures: Figures::new(&env, storage.sql(), room.clone()),
            governed: Governed::open(env, storage.sql(), &room),
            store: Store::of(storage.sql()),
            storage,
            ledger: RefCell::new(None),
            heard: RefCell::new(Vec::new()),
            batching: Cell::new(false),
        };
        Self {
            inner: Rc::new(inner),
        }
    }

    /// The alarm: a minute has ended, and nobody may have said so. Fails never, since all that would
    /// be repeated is said with the next request.
    pub fn alarm(&self) -> Promise {
        let inner = Rc::clone(&self.inner);
        future_to_promise(AssertUnwindSafe(async move {
            let _ = look(&inner).await;
            Ok(JsValue::UNDEFINED)
        }))
    }
}

object::hears!(Room);

fn hear(inner: &Rc<Inner>, body: &str, answer: Answer) {
    if let Some(policy) = body.strip_prefix(POLICY) {
        return inner.be_told(policy, answer);
    }
    if let Some(question) = body.strip_prefix(QUESTION) {
        let (inner, question) = (Rc::clone(inner), question.to_owned());
        return spawn_local(async move {
            answer.settle(tell(&inner, &question).await);
        });
    }
    match catch_unwind(AssertUnwindSafe(|| understand(body))) {
        Ok(Ok(request)) => {
            inner.heard.borrow_mut().push((request, answer));
            if !inner.batching.replace(true) {
                spawn_local(run_batches(Rc::clone(inner)));
            }
        }
        Ok(Err(message)) => answer.fail(&message),
        Err(_panic) => answer.fail("the room failed on this request"),
    }
}

/// The room as of now, by a request that asks for nothing else.
async fn look(inner: &Rc<Inner>) -> Result<Arc<Snapshot>, String> {
    let request = Request {
        version: VERSION,
        ..Request::default()
    };
    let body = serde_json::to_string(&request).map_err(|error| error.to_string())?;
    let heard = object::hear(&body, |body, answer| hear(inner, body, answer));
    let answer = JsFuture::from(heard).await;
    let answer = answer.map_err(binding::message_of)?;
    let response: Response = serde_json::from_str(&answer.as_string().unwrap_or_default())
        .map_err(|error| error.to_string())?;
    let missing = || "no snapshot".to_owned();
    response.snapshot.ok_or_else(missing)
}

async fn tell(inner: &Rc<Inner>, question: &str) -> Result<String, String> {
    let question: Question = serde_json::from_str(question).map_err(|error| error.to_string())?;
    let snapshot = look(inner).await?;
    let timeline = inner.governed.timeline().ok_or("no such room")?;
    let status = || {
        let now = Moment::from_millis(snapshot.taken.as_millis());
        Status::of(timeline.at(now), &snapshot)
    };
    let answer = match question {
        Question::Series(window) => {
            told::Answer::Series(window.answer(inner.figures.rows(&window)?))
        }
        Question::Totals => {
            let mut kept = inner.ledger.borrow_mut();
            let kept = kept.as_mut().ok_or("the room is being read anew")?;
            let recorder = kept.ledger.recorder();
            told::Answer::Totals(Box::new(Totals {
                status: status(),
                since: recorder.since(),
                tally: recorder.totals(),
            }))
        }
    };
    serde_json::to_string(&answer).map_err(|error| error.to_string())
}

fn understand(body: &str) -> Result<Request, String> {
    let request = Request::read(body)?;
    #[cfg(feature = "planted-panic")]
    super::planted::in_object(body);
    Ok(request)
}

/// Handles what has been heard, batch after batch, until nothing is left.
async fn run_batches(inner: Rc<Inner>) {
    let inner = Batching(inner);
    let inner = &inner.0;
    let mut last = 0;
    loop {
        if last > 1 {
            Delay::from(Duration::from_millis(last.min(LONGEST_WINDOW) as u64)).await;
        }
        let (requests, answers) = inner.take_heard();
        last = requests.len();
        if requests.is_empty() {
            break;
        }
        inner.keep_up(&requests).await;
        let outcome = match catch_unwind(AssertUnwindSafe(|| inner.commit(&requests))) {
            Ok(Ok(committed)) => inner.settle(committed).await,
            Ok(Err(message)) => Err(message),
            Err(_panic) => Err("the room failed on this batch".to_owned()),
        };
        match outcome {
            Ok(responses) => {
                let mut writer = Writer::default();
                for (answer, response) in answers.iter().zip(&responses) {
                    answer.settle(writer.write(response));
                }
            }
            Err(message) => {
                inner.figures.batch_failed(&message);
                answers.iter().for_each(|answer| answer.fail(&message));
            }
        }
    }
}

/// Says that no batch is run any more, however the loop ends: else the next request would wait for
/// a loop that is gone.
struct Batching(Rc<Inner>);

impl Drop for Batching {
    fn drop(&mut self) {
        self.0.batching.set(false);
    }
}

/// The responses of a batch, and whether they must wait for the storage.
struct Committed {
    responses: Vec<Response>,
    stored: bool,
    /// When the object's alarm shall ring.
    alarm: Option<Instant>,
}

impl Inner {
    /// Takes what the next group is made of.
    fn take_heard(&self) -> (Vec<Request>, Vec<Answer>) {
        let mut heard = self.heard.borrow_mut();
        let count = heard.len().min(MOST_REQUESTS);
        heard.drain(..count).unzip()
    }

    /// Takes in what the control object says, and answers when it is stored.
    fn be_told(self: &Rc<Self>, policy: &str, answer: Answer) {
        let policy = serde_json::from_str(policy).map_err(|error| error.to_string());
        if let Err(message) = policy.and_then(|policy| self.governed.adopt(&policy)) {
            return answer.fail(&message);
        }
        let inner = Rc::clone(self);
        spawn_local(async move {
            match inner.storage.sync().await {
                Ok(()) => answer.give(""),
                Err(error) => answer.fail(&error.to_string()),
            }
        });
    }

    /// Sees to it that the room goes by the configuration that its edges go by. A room that was told
    /// once asks behind the batch; one that never was has nothing better to go by, and waits.
    async fn keep_up(self: &Rc<Self>, requests: &[Request]) {
        let newest = requests.iter().map(|request| request.configuration).max();
        if !newest.is_some_and(|newest| self.governed.is_behind(newest)) {
            return;
        }
        let inner = Rc::clone(self);
        let ask = async move { inner.governed.ask().await };
        if self.governed.is_new() {
            ask.await;
        } else {
            spawn_local(ask);
        }
    }

    /// Decides and writes in one go. While this runs, the ledger is out of its cell: if it returns
    /// early or panics, the cell stays empty.
    fn commit(&self, requests: &[Request]) -> Result<Committed, String> {
        let Some(timeline) = self.governed.timeline() else {
            return Err("no such room in this version's site".to_owned());
        };
        let taken = self.ledger.take();
        let fresh = taken.is_none();
        let mut kept = match taken {
            Some(kept) => kept,
            None => {
                let mut kept = self.store.load()?;
                if let Some(minute) = self.figures.running() {
                    kept.ledger.recorder().resume(minute);
                }
                kept
            }
        };
        let now = clock::now();
        let policy = Policy::at(&timeline, kept.ledger.time(now));
        let batch = kept.ledger.batch(now, &policy, requests);
        #[cfg(feature = "planted-panic")]
        super::planted::in_batch();
        let minutes = kept.ledger.recorder().take_finished();
        let row = match batch.row {
            None if !minutes.is_empty() || self.figures.keeps_owed(now) => Some(kept.ledger.mark()),
            row => row,
        };
        let stored = fresh || row.is_some();
        if let Some(row) = &row {
            self.store.write(&mut kept, row)?;
        }
        if !minutes.is_empty() {
            let settings = timeline.at(Moment::from_millis(now.as_millis()));
            self.figures.keep(&settings.name, &minutes);
        }
        let happened = row.is_some();
        self.figures
            .keep_running(kept.ledger.recorder(), happened, now);
        let alarm = self.figures.arm(kept.ledger.recorder().due());
        self.ledger.replace(Some(kept));
        Ok(Committed {
            responses: batch.responses,
            stored,
            alarm,
        })
    }

    async fn settle(&self, committed: Committed) -> Result<Vec<Response>, String> {
        if let Some(alarm) = committed.alarm {
            let rings_in = Duration::from_millis(alarm.since(clock::now()).as_millis());
            if let Err(error) = self.storage.set_alarm(rings_in).await {
                self.figures.lost(&error.to_string());
            }
        }
        if committed.stored
            && let Err(error) = self.storage.sync().await
        {
            self.ledger.replace(None);
            return Err(format!("cannot store: {error}"));
        }
        Ok(committed.responses)
    }
}
