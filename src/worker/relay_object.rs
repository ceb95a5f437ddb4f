//! The Durable Object that stands between the edges of a data centre and a busy room.
//!
//! It speaks the protocol of the room's object on both sides; what it does is in
//! [`crate::room::relay`]. It is named `<id of the room>/<data centre>/<shard>`, stores nothing, and
//! may end at any moment: who has no answer then asks the room itself.

use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, RefUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::time::Duration;

use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::spawn_local;
use worker::worker_sys::DurableObjectState;
use worker::{Delay, Env, State};

use super::binding::Answer;
use super::{call, clock, object};
use crate::room::message::{Request, Writer};
use crate::room::relay::{self, Part};
use crate::site::room::RoomId;

/// The room gets so long. An edge waits no longer than 2 s for a relay.
const PATIENCE: Duration = Duration::from_millis(1_500);

/// The object. Everything is in [`Inner`], which the loop shares.
#[wasm_bindgen]
pub struct Relay {
    inner: Rc<Inner>,
}

/// What a panic leaves half done is an answer that is not given.
impl RefUnwindSafe for Relay {}

struct Inner {
    env: Env,
    room: Option<RoomId>,
    relay: RefCell<relay::Relay<Answer>>,
    calling: Cell<bool>,
}

#[wasm_bindgen]
impl Relay {
    /// The runtime makes one for the name that is called.
    #[wasm_bindgen(constructor)]
    pub fn new(state: DurableObjectState, env: Env) -> Self {
        let name = State::from(state).id().name().unwrap_or_default();
        let of = name.split('/').next().unwrap_or_default();
        let inner = Inner {
            env,
            room: RoomId::read(of),
            relay: RefCell::default(),
            calling: Cell::new(false),
        };
        Self {
            inner: Rc::new(inner),
        }
    }
}

object::hears!(Relay);

fn hear(inner: &Rc<Inner>, body: &str, answer: Answer) {
    let request = match Request::read(body) {
        Ok(request) => request,
        Err(message) => return answer.fail(&message),
    };
    let heard = inner.relay.borrow_mut().hear(request, answer, clock::now());
    if let Some((response, answer)) = heard {
        return answer.settle(Writer::default().write(&response));
    }
    if !inner.calling.replace(true) {
        spawn_local(run_calls(Rc::clone(inner)));
    }
}

/// Calls the room, window after window, until nobody waits. Calls overlap: one that is slow holds
/// up none of the next.
async fn run_calls(inner: Rc<Inner>) {
    let inner = Calling(inner);
    let inner = &inner.0;
    loop {
        let due = inner.relay.borrow().due_in(clock::now());
        let Some(due) = due else { break };
        if due.as_millis() > 0 {
            Delay::from(Duration::from_millis(due.as_millis())).await;
        }
        let taken = inner.relay.borrow_mut().take(clock::now());
        if let Some((request, parts)) = taken {
            spawn_local(pass_on(Rc::clone(inner), request, parts));
        }
    }
}

/// Says that no loop runs any more, however it ends.
struct Calling(Rc<Inner>);

impl Drop for Calling {
    fn drop(&mut self) {
        self.0.calling.set(false);
    }
}

async fn pass_on(inner: Rc<Inner>, request: Request, parts: Vec<Part<Answer>>) {
    let fail = |message: &str| parts.iter().for_each(|part| part.to.fail(message));
    let Some(room) = &inner.room else {
        return fail("the relay's name is not that of a room's");
    };
    let response = match call::pass_on(&inner.env, room, &request, PATIENCE).await {
        Ok(response) => response,
        Err(error) => return fail(&format!("the room does not answer its relay: {error}")),
    };
    let split = catch_unwind(AssertUnwindSafe(|| {
        inner
            .relay
            .borrow_mut()
            .split(response, &parts, clock::now())
    }));
    let Ok(Some(responses)) = split else {
        return fail("the room's answer does not fit");
    };
    let mut writer = Writer::default();
    for (part, response) in parts.iter().zip(&responses) {
        part.to.settle(writer.write(response));
    }
}
