//! The Durable Object that keeps the sum of what isolates have counted ([`crate::tier::tally`]). There is
//! one, and it stores what it is told.

use std::cell::{Cell, RefCell};
use std::panic::RefUnwindSafe;
use std::rc::Rc;

use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::spawn_local;
use worker::worker_sys::DurableObjectState;
use worker::{Env, State, Storage};

use super::binding::Answer;
use super::{clock, object};
use crate::tier::tally::{Message, Tally as Sum};

/// The key under which the sum is stored.
const SUM: &str = "sum";

/// The object.
#[wasm_bindgen]
pub struct Tally {
    inner: Rc<Inner>,
}

/// What a panic leaves half done is an answer that is not given.
impl RefUnwindSafe for Tally {}

struct Inner {
    storage: Storage,
    sum: RefCell<Sum>,
    is_read: Cell<bool>,
}

#[wasm_bindgen]
impl Tally {
    /// The runtime makes one for the name that is called.
    #[wasm_bindgen(constructor)]
    pub fn new(state: DurableObjectState, _env: Env) -> Self {
        let inner = Inner {
            storage: State::from(state).storage(),
            sum: RefCell::default(),
            is_read: Cell::default(),
        };
        Self {
            inner: Rc::new(inner),
        }
    }
}

object::hears!(Tally);

fn hear(inner: &Rc<Inner>, body: &str, answer: Answer) {
    let message = match serde_json::from_str(body) {
        Ok(message) => message,
        Err(error) => return answer.fail(&error.to_string()),
    };
    let inner = Rc::clone(inner);
    spawn_local(async move {
        answer.settle(inner.answer(message).await);
    });
}

impl Inner {
    async fn answer(&self, message: Message) -> Result<String, String> {
        self.read().await?;
        match message {
            Message::Read => text(&self.sum.borrow()),
            Message::Add(told) => {
                self.sum.borrow_mut().add(&told);
                let sum = text(&self.sum.borrow())?;
                let put = self.storage.put(SUM, sum).await;
                put.map_err(|error| error.to_string())?;
                Ok("{}".to_owned())
            }
        }
    }

    /// Reads what is stored, once.
    async fn read(&self) -> Result<(), String> {
        if self.is_read.get() {
            return Ok(());
        }
        let stored: Option<String> = match self.storage.get(SUM).await {
            Ok(stored) => stored,
            Err(error) => return Err(error.to_string()),
        };
        // Another message may have read it meanwhile, and added to it.
        if !self.is_read.replace(true) {
            let sum = match stored {
                Some(text) => serde_json::from_str(&text).map_err(|error| error.to_string())?,
                None => Sum {
                    since: Some(clock::now()),
                    ..Sum::default()
                },
            };
            self.sum.replace(sum);
        }
        Ok(())
    }
}

fn text(sum: &Sum) -> Result<String, String> {
    serde_json::to_string(sum).map_err(|error| error.to_string())
}
