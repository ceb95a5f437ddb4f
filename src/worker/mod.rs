//! The shell: the only code that touches the runtime.
//!
//! `fetch` below is where every request comes in. What needs no waiting is decided and handed to the
//! origin right there, without a future of this program; everything else goes to [`edge`].

mod answer;
mod atlas_object;
mod binding;
mod cache;
mod cache_store;
mod call;
mod checkpoint;
mod clock;
mod configuration;
mod confirmation;
mod control_object;
mod control_store;
mod covered;
mod edge;
mod exchange;
mod forget;
mod forward;
mod governed;
mod headers;
mod isolate;
mod joint;
mod knowledge;
mod lease_object;
mod leasing;
mod log;
mod management;
mod object;
mod passage;
#[cfg(feature = "planted-panic")]
mod planted;
mod random;
mod relay_object;
mod renewal;
mod reserve;
mod room_figures;
mod room_object;
mod room_store;
mod rules;
mod scheduled;
mod sql;
mod tally_object;
mod tier_object;
mod tiers;
mod upstream;
mod url;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::future_to_promise;
use worker::{Context, Env};

use covered::Covered;
use edge::{Begun, Next};
use headers::Fields;
use isolate::{Isolate, Lasting};

use crate::control::currency::Due;
use crate::gate::intent;
use crate::gate::memory::Memory;
use crate::time::Instant;

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

/// The response, or the promise of one, from the newest edition of the site.
fn enter(
    request: web_sys::Request,
    env: Env,
    ctx: worker::worker_sys::Context,
) -> Result<JsValue, JsValue> {
    let lasting = match Lasting::get(&env) {
        Ok(lasting) => lasting,
        Err(message) => return Ok(answer::broken(&message).into()),
    };
    let url = request.url();
    if let Some(answer) = lasting.receive(&request, &url, &ctx) {
        return answer;
    }
    let ctx = Context::new(ctx);
    let Some(configured) = &lasting.configured else {
        return go(lasting.current(), request, url, None, env, ctx);
    };
    if configured.is_api(&url) {
        let answer = future_to_promise(AssertUnwindSafe(async move {
            Ok(management::answer(configured, request, &url, &env)
                .await
                .into())
        }));
        return Ok(answer.into());
    }
    let now = clock::now();
    match configured.start(now) {
        Due::Not => {}
        Due::Behind => configuration::look_behind(lasting, &env, &ctx),
        due @ (Due::Before | Due::Along) => {
            let answer = future_to_promise(AssertUnwindSafe(async move {
                if due == Due::Before {
                    configuration::look_before(lasting, &env, &ctx).await;
                } else {
                    configuration::look_along(lasting).await;
                }
                catch_unwind(AssertUnwindSafe(|| {
                    go(lasting.current(), request, url, None, env, ctx)
                }))
                .unwrap_or_else(|_panic| Ok(answer::failed().into()))
            }));
            return Ok(answer.into());
        }
    }
    go(lasting.current(), request, url, Some(now), env, ctx)
}

/// The response, or the promise of one. `now` is given where the clock has been read already.
fn go(
    isolate: Isolate,
    request: web_sys::Request,
    url: String,
    now: Option<Instant>,
    env: Env,
    ctx: Context,
) -> Result<JsValue, JsValue> {
    let Some(matched) = isolate.edition.routes.find(&url) else {
        return handed_on(&isolate, request, &url, ctx);
    };
    let now = || now.unwrap_or_else(clock::now);
    let Some(room) = isolate.room(matched.room, now) else {
        return handed_on(&isolate, request, &url, ctx);
    };
    let rules = isolate.rules(matched.room);
    let fields = match rules {
        Some(rules) => rules.look(request),
        None => Fields::of(request),
    };
    let is_poll = || intent::is_poll(&|name| fields.read(name));
    if room.suspended && !matched.leave && !is_poll() {
        return handed_on(&isolate, fields.into_request(), &url, ctx);
    }
    let bypassed = rules.is_some_and(|rules| rules.bypass(&fields, &url, &matched));
    // Who waits and may now pass by is told so.
    if bypassed && !is_poll() {
        isolate.edition.memory(matched.room, Memory::note_bypass);
        return handed_on(&isolate, fields.into_request(), &url, ctx);
    }
    let keys = match isolate.keys_for(room) {
        Ok(keys) => keys,
        Err(message) => return Ok(answer::broken(&message).into()),
    };
    let now = now();
    let covered = Covered::look(
        isolate.clone(),
        Arc::clone(room),
        keys,
        &matched,
        fields,
        bypassed,
        now,
    );
    if covered.may_pass_at_once(&matched) {
        covered.note_passage(&env, &ctx);
        return handed_on(&isolate, covered.into_request(), &url, ctx);
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

fn handed_on(
    isolate: &Isolate,
    request: web_sys::Request,
    url: &str,
    ctx: Context,
) -> Result<JsValue, JsValue> {
    forward::plainly(isolate, request, url, ctx).map(Into::into)
}
