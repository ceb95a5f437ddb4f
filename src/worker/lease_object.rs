//! The Durable Object that keeps leases ([`crate::tier::lease`]).
//!
//! It is named `<tier>/<shard>` and is first called from that tier, so that it runs near it. It stores
//! nothing: when it ends, who waits asks the origin.

use std::cell::{Cell, RefCell};
use std::panic::RefUnwindSafe;
use std::rc::Rc;
use std::time::Duration;

use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::spawn_local;
use worker::worker_sys::DurableObjectState;
use worker::{Delay, Env};

use super::binding::Answer;
use super::{clock, object};
use crate::tier::lease::{Grant, Leases, Message, Told};

/// The object.
#[wasm_bindgen]
pub struct Lease {
    inner: Rc<Inner>,
}

/// What a panic leaves half done is an answer that is not given: who waits for it does not wait long.
impl RefUnwindSafe for Lease {}

#[derive(Default)]
struct Inner {
    leases: RefCell<Leases<Answer>>,
    is_watching: Cell<bool>,
}

#[wasm_bindgen]
impl Lease {
    /// The runtime makes one for the name that is called.
    #[wasm_bindgen(constructor)]
    pub fn new(_state: DurableObjectState, _env: Env) -> Self {
        Self {
            inner: Rc::default(),
        }
    }
}

object::hears!(Lease);

fn hear(inner: &Rc<Inner>, body: &str, answer: Answer) {
    let now = clock::now();
    let told = match serde_json::from_str(body) {
        Ok(Message::Ask { key }) => inner.leases.borrow_mut().ask(&key, answer, now),
        Ok(Message::Finish {
            key,
            lease,
            outcome,
        }) => {
            tell(vec![(answer, Grant::Alone)]);
            let mut leases = inner.leases.borrow_mut();
            leases.finish(&key, lease, outcome, now)
        }
        Err(error) => return answer.fail(&error.to_string()),
    };
    tell(told);
    let somebody_waits = inner.leases.borrow().due().is_some();
    if somebody_waits && !inner.is_watching.replace(true) {
        spawn_local(watch(Rc::clone(inner)));
    }
}

fn tell(told: Told<Answer>) {
    for (answer, grant) in told {
        answer.settle(serde_json::to_string(&grant));
    }
}

/// Ends leases in time while anybody waits.
async fn watch(inner: Rc<Inner>) {
    let watching = Watching(inner);
    let inner = &watching.0;
    loop {
        let due = inner.leases.borrow().due();
        let Some(due) = due else { break };
        let rest = due.since(clock::now());
        Delay::from(Duration::from_millis(rest.as_millis())).await;
        let told = inner.leases.borrow_mut().expire(clock::now());
        tell(told);
    }
}

/// Says that nobody watches any more, however it ends.
struct Watching(Rc<Inner>);

impl Drop for Watching {
    fn drop(&mut self) {
        self.0.is_watching.set(false);
    }
}
