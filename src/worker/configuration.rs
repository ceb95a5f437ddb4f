//! How an isolate comes to know a newer configuration: from the copy of its data centre, from the
//! control object, and where neither answers a new isolate, from the copy in KV.
//!
//! The runtime ends what one request begins when that request ends, and lets no request wait for
//! another's promise. So a look belongs to the request that makes it and goes on behind its answer;
//! what it finds is for the requests that come later.

use std::cell::{Cell, RefCell};
use std::time::Duration;

use futures_channel::oneshot;
use futures_util::future::select;
use js_sys::{Promise, Reflect};
use wasm_bindgen::JsValue;
use wasm_bindgen_futures::JsFuture;
use worker::{Context, Delay, Env};

use super::isolate::Lasting;
use super::{binding, call, clock};
use crate::control::access::Access;
use crate::control::currency::{Currency, Due, LOOK_DEADLINE, PATIENCE};
use crate::control::message::Ask;
use crate::control::publication::Publication;
use crate::control::rate::Buckets;
use crate::time::Instant;

/// The namespace of the control object.
pub(super) const CONTROL: &str = "CONTROL";
/// The KV namespace of the copy.
pub(super) const COPIES: &str = "CONFIG";
/// The secret that opens the API: where it lies, and its tokens. Without it there is nobody who could
/// change anything, and the rooms are those that the Worker was built with.
const API: &str = "ANTEROOM_API";

/// Of [`PATIENCE`], what the object may take before the copies are read.
const FIRST_PATIENCE: Duration = Duration::from_millis(PATIENCE.as_millis() - 50);

/// What the isolate knows about how current its edition is.
pub(super) struct Configured {
    /// Who may use the API; none if the secret is wrong, which the log says.
    pub(super) access: Option<Access>,
    /// How often it was called here.
    pub(super) buckets: RefCell<Buckets>,
    currency: RefCell<Currency>,
    /// Whether anything was ever heard of the configuration.
    is_warm: Cell<bool>,
}

/// Whether this deployment takes its rooms from the control object.
pub(super) fn is_configured(env: &Env) -> bool {
    access(env).is_some()
}

/// Who may use the API, or what is wrong with the secret; none for a deployment without the API.
pub(super) fn access(env: &Env) -> Option<Result<Access, String>> {
    let secret = env.secret(API).ok()?.to_string();
    if secret.is_empty() || named(env, CONTROL).is_undefined() {
        return None;
    }
    Some(Access::parse(&secret).map_err(|fault| format!("{API}: {fault}")))
}

/// What a binding of this name leads to; `undefined` if there is none.
pub(super) fn named(env: &Env, name: &str) -> JsValue {
    Reflect::get(env, &name.into()).unwrap_or_default()
}

impl Configured {
    /// For a deployment that takes its rooms from the control object.
    pub(super) fn of(env: &Env) -> Option<Self> {
        let access = access(env)?;
        if let Err(message) = &access {
            worker::console_error!("{message}");
        }
        Some(Self {
            access: access.ok(),
            buckets: RefCell::default(),
            currency: RefCell::default(),
            is_warm: Cell::new(false),
        })
    }

    /// What a request that comes now does about the configuration.
    pub(super) fn start(&self, now: Instant) -> Due {
        self.currency
            .try_borrow_mut()
            .map_or(Due::Not, |mut currency| currency.start(now))
    }
}

/// Looks behind the answer of the request.
pub(super) fn look_behind(lasting: &'static Lasting, env: &Env, ctx: &Context) {
    ctx.wait_until(look(
        lasting,
        env.clone(),
        patience(LOOK_DEADLINE.as_millis()),
    ));
}

/// Looks, and waits for what is found, for a moment. With nothing found in time the request goes by
/// what is known, and the look goes on behind it.
pub(super) async fn look_before(lasting: &'static Lasting, env: &Env, ctx: &Context) {
    let (done, is_done) = oneshot::channel();
    let env = env.clone();
    ctx.wait_until(async move {
        let is_warm = lasting.configured.as_ref().is_some_and(|c| c.is_warm.get());
        let long = patience(LOOK_DEADLINE.as_millis());
        let first = if is_warm { long } else { FIRST_PATIENCE };
        look(lasting, env.clone(), first).await;
        // The request may have gone on without.
        let _ = done.send(());
        let is_warm = lasting.configured.as_ref().is_some_and(|c| c.is_warm.get());
        if !is_warm {
            look(lasting, env, long).await;
        }
    });
    select(is_done, Delay::from(patience(PATIENCE.as_millis()))).await;
}

const fn patience(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// Looks for a newer configuration and takes it in.
async fn look(lasting: &'static Lasting, env: Env, patience: Duration) {
    let Some(configured) = &lasting.configured else {
        return;
    };
    let heard = newest(lasting, &env, patience).await;
    let now = clock::now();
    if let Err(message) = heard {
        worker::console_warn!("configuration: {message}");
        configured.currency.borrow_mut().fail(now);
        if !configured.is_warm.get() {
            last_known(lasting, &env).await;
        }
    } else {
        configured.is_warm.set(true);
        configured.currency.borrow_mut().confirm(now);
    }
}

/// Takes in the newest configuration, from the data centre's copy or from the object.
async fn newest(lasting: &Lasting, env: &Env, patience: Duration) -> Result<(), String> {
    let known = lasting.current_version();
    let copy = text(binding::cached(&known.to_string())).await;
    match copy.as_deref().and_then(|copy| copy.split_at_checked(1)) {
        Some(("=", _)) => return Ok(()),
        Some(("+", copy)) if take_in(lasting, copy).is_ok() => return Ok(()),
        _ => {}
    }
    let asked = clock::now();
    let ask = Ask::Look { knows: known };
    let told = call::control(env, &ask, patience)
        .await
        .map_err(|error| error.to_string())?;
    take_in(lasting, &told)?;
    let (version, body) = told.split_once('\n').unwrap_or((&told, ""));
    let whole = Some(told.as_str()).filter(|_| !body.is_empty());
    let asked = asked.as_millis() as f64;
    text(binding::keep(version, whole, asked)).await;
    Ok(())
}

/// Takes in the newest of the copies that there are, for want of anything better.
async fn last_known(lasting: &Lasting, env: &Env) {
    let known = lasting.current_version().to_string();
    let here = text(binding::cached(&known)).await;
    let afar = text(binding::read_copy(&named(env, COPIES))).await;
    let here = here.as_deref().and_then(|copy| copy.get(1..));
    for copy in [here, afar.as_deref()].into_iter().flatten() {
        // The newer one stays, whichever comes first.
        if let Err(message) = take_in(lasting, copy) {
            worker::console_warn!("copy of the configuration: {message}");
        }
    }
}

fn take_in(lasting: &Lasting, text: &str) -> Result<(), String> {
    if text.is_empty() {
        return Ok(());
    }
    let (_, publication) = Publication::read(text).map_err(|error| error.to_string())?;
    if let Some(publication) = publication {
        lasting.adopt(&publication);
    }
    Ok(())
}

/// The text that a promise is of; none if it is broken.
async fn text(promise: Promise) -> Option<String> {
    JsFuture::from(promise).await.ok()?.as_string()
}
