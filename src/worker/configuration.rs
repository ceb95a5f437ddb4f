//! How an isolate comes to know a newer configuration: from the copy of its data centre, from the
//! control object, and where neither answers a new isolate, from the copy in KV.
//!
//! The runtime ends what one request begins when that request ends, and lets no request wait for
//! another's promise. So a look belongs to the request that makes it and goes on behind its answer;
//! what it finds is for the requests that come later.

use std::cell::{Cell, RefCell};
use std::time::Duration;

use futures_channel::oneshot;
use futures_util::future::{join, select};
use js_sys::{Promise, Reflect};
use wasm_bindgen::JsValue;
use wasm_bindgen_futures::JsFuture;
use worker::{Context, Delay, Env};

use super::isolate::Lasting;
use super::{binding, call, clock, log};
use crate::control::access::Access;
use crate::control::currency::{Currency, Due, LOOK_PATIENCE, PATIENCE};
use crate::control::message::Ask;
use crate::control::publication::Publication;
use crate::control::rate::Buckets;
use crate::log::{Entry, clean};
use crate::time::{Instant, Span};

/// The namespace of the control object.
pub(super) const CONTROL: &str = "CONTROL";
/// The KV namespace of the copy.
pub(super) const COPIES: &str = "CONFIG";
/// The secret that opens the API: where it lies, and its tokens. Without it there is nobody who could
/// change anything, and the rooms are those that the Worker was built with.
const API: &str = "ANTEROOM_API";

/// How often a request that waits for another's look sees whether it has come.
const TURN: Span = Span::from_millis(10);

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
            let reason = clean(message);
            log::write(&Entry::NotSetUp { reason });
        }
        Some(Self {
            access: access.ok(),
            buckets: RefCell::default(),
            currency: RefCell::default(),
            is_warm: Cell::new(false),
        })
    }

    fn is_awaited(&self, now: Instant) -> bool {
        self.currency.borrow().is_awaited(now)
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
    ctx.wait_until(look(lasting, env.clone()));
}

/// Looks, and waits for what is found, for a moment. With nothing found in time the request goes by
/// what is known, and the look goes on behind it.
pub(super) async fn look_before(lasting: &'static Lasting, env: &Env, ctx: &Context) {
    let (done, is_done) = oneshot::channel();
    let env = env.clone();
    ctx.wait_until(async move {
        look(lasting, env).await;
        // The request may have gone on without.
        let _ = done.send(());
    });
    select(is_done, Delay::from(duration(PATIENCE))).await;
}

/// Waits, for a moment, for what another request is looking for.
pub(super) async fn look_along(lasting: &'static Lasting) {
    let Some(configured) = &lasting.configured else {
        return;
    };
    let until = clock::now() + PATIENCE;
    while clock::now() < until && configured.is_awaited(clock::now()) {
        Delay::from(duration(TURN)).await;
    }
}

const fn duration(span: Span) -> Duration {
    Duration::from_millis(span.as_millis())
}

/// Looks for a newer configuration and takes it in.
async fn look(lasting: &'static Lasting, env: Env) {
    let Some(configured) = &lasting.configured else {
        return;
    };
    let heard = newest(lasting, configured.is_warm.get(), &env).await;
    let now = clock::now();
    if let Err(message) = heard {
        let reason = clean(&message);
        log::write(&Entry::ConfigurationFailed { reason });
        configured.currency.borrow_mut().fail(now);
    } else {
        configured.is_warm.set(true);
        configured.currency.borrow_mut().confirm(now);
    }
}

/// Takes in the newest configuration, from the data centre's copy or from the object. What is found on
/// the way is taken in at once: it may be all that a new isolate hears in time, and what is newer
/// takes its place.
async fn newest(lasting: &Lasting, is_warm: bool, env: &Env) -> Result<(), String> {
    let known = lasting.current_version().to_string();
    let copy = text(binding::cached(&known)).await.unwrap_or_default();
    match copy.split_at_checked(1) {
        Some(("=", _)) => return Ok(()),
        Some(("+", copy)) if take_in(lasting, copy).is_ok() => return Ok(()),
        Some((_, copy)) => take_in(lasting, copy).unwrap_or_else(copy_failed),
        None => {}
    }
    let from_afar = async {
        if !is_warm && copy.is_empty() {
            let copy = text(binding::read_copy(&named(env, COPIES))).await;
            take_in(lasting, &copy.unwrap_or_default()).unwrap_or_else(copy_failed);
        }
    };
    let ((), told) = join(from_afar, ask(lasting, env)).await;
    told
}

/// Takes in what the object says, and keeps it for the data centre.
async fn ask(lasting: &Lasting, env: &Env) -> Result<(), String> {
    let asked = clock::now();
    let knows = lasting.current_version();
    let told = call::control(env, &Ask::Look { knows }, duration(LOOK_PATIENCE)).await;
    let told = told.map_err(|error| error.to_string())?;
    take_in(lasting, &told)?;
    let (version, body) = told.split_once('\n').unwrap_or((&told, ""));
    let whole = Some(told.as_str()).filter(|_| !body.is_empty());
    text(binding::keep(version, whole, asked.as_millis() as f64)).await;
    Ok(())
}

fn copy_failed(message: String) {
    let reason = clean(&message);
    log::write(&Entry::CopyFailed { reason });
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
