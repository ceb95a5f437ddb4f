//! An upper tier that is a Durable Object: made near a location hint, it answers as a placed Worker does.
//!
//! It is named `<location hint>/<tier>/<shard>`. Bodies stream through it and are never held; what it
//! costs is the time that they take.

use wasm_bindgen::prelude::*;
use web_sys::Request;
use worker::worker_sys::{Context, DurableObjectState};
use worker::{Env, State};

use super::answer;
use super::isolate::Lasting;

/// The object.
#[wasm_bindgen]
pub struct Tier {
    /// The state has the one method of a request's context that is needed: `waitUntil`.
    ctx: Context,
    env: Env,
    name: String,
}

#[wasm_bindgen]
impl Tier {
    /// The runtime makes one for the name that is called.
    #[wasm_bindgen(constructor)]
    pub fn new(state: DurableObjectState, env: Env) -> Self {
        let ctx = JsValue::from(state.clone()).unchecked_into();
        let name = State::from(state).id().name().unwrap_or_default();
        let name = name.split('/').nth(1).unwrap_or_default().to_owned();
        Self { ctx, env, name }
    }

    /// Answers as the tier.
    pub fn fetch(&self, request: Request) -> JsValue {
        match Lasting::get(&self.env) {
            Ok(lasting) => lasting.serve(&self.name, request, &self.ctx),
            Err(message) => answer::broken(&message).into(),
        }
    }
}
