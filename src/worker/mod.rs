//! The shell: the only code that touches the runtime.
//!
//! `fetch` below is where every request comes in. What needs no waiting is decided and handed to the
//! origin right there, without a future of this program; everything else goes to [`edge`].

mod answer;
mod binding;
mod call;
mod clock;
mod covered;
mod edge;
mod forward;
mod headers;
mod isolate;
mod object;
mod passage;
#[cfg(feature = "planted-panic")]
mod planted;
mod random;
mod relay_object;
mod renewal;
mod reserve;
mod room_object;
mod rules;
mod url;

use std::panic::{AssertUnwindSafe, catch_unwind};

use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::future_to_promise;
use worker::{Context, Env};

use covered::Covered;
use edge::{Begun, Next};
use isolate::Isolate;

/// The Worker's entry point.
///
/// # Errors
/// Only if the runtime refuses to `fetch`.
#[wasm_bindgen]
#[expect(unreachable_pub, reason = "exported to the runtime")]
pub fn fetch(
    request: web_sys::Request,
    env: Env,
    ctx: worker::worker_sys::Context,
) -> Result<JsValue, JsValue> {
    // A panic before there is a future to catch it in.
    catch_unwind(AssertUnwindSafe(|| enter(request, env, ctx)))
        .unwrap_or_else(|_panic| Ok(answer::failed().into()))
}

/// The response, or the promise of one.
fn enter(
    request: web_sys::Request,
    env: Env,
    ctx: worker::worker_sys::Context,
) -> Result<JsValue, JsValue> {
    let isolate = match Isolate::get(&env) {
        Ok(isolate) => isolate,
        Err(message) => return Ok(answer::broken(&message).into()),
    };
    let url = request.url();
    let Some(matched) = isolate.routes.find(&url) else {
        return handed_on(isolate, request);
    };
    let Some(room) = isolate.room(matched.room) else {
        return handed_on(isolate, request);
    };
    if room.suspended && !matched.leave && !Covered::is_poll(&request) {
        return handed_on(isolate, request);
    }
    let bypassed = isolate
        .rules(matched.room)
        .is_some_and(|rules| rules.bypass(&request, &url, &matched));
    // Who waits and may now pass by is told so.
    if bypassed && !Covered::is_poll(&request) {
        return handed_on(isolate, request);
    }
    let keys = match isolate.keys_for(room) {
        Ok(keys) => keys,
        Err(message) => return Ok(answer::broken(&message).into()),
    };
    let ctx = Context::new(ctx);
    let covered = Covered::look(isolate, room, keys, &matched, request, bypassed);
    if covered.may_pass_at_once(&matched) {
        covered.refresh_if_due(&env, &ctx, false);
        return handed_on(isolate, covered.into_request());
    }
    let mut prepared = covered.prepare(&url, &matched);
    let begun = match prepared.begin(&env, &ctx) {
        Begun::Decided(Next::Answer(response)) => return Ok(response.into()),
        begun => begun,
    };
    // What a panic could leave half done in the isolate's memory are estimates and a snapshot that
    // the next refresh replaces.
    let answer = future_to_promise(AssertUnwindSafe(async move {
        Ok(prepared.finish(begun, &env, &ctx).await.into())
    }));
    Ok(answer.into())
}

fn handed_on(isolate: &Isolate, request: web_sys::Request) -> Result<JsValue, JsValue> {
    forward::plainly(isolate, request).map(Into::into)
}
