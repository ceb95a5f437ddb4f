//! The upper tiers as an isolate knows them: as who asks them, and as one of them.
//!
//! A Worker with the variable `ANTEROOM_TIER` is the upper tier of that name and nothing else. It, and
//! every object that is one, answers those who show a marker ([`crate::tier::marker`]) and nobody else.

use std::cell::{Cell, RefCell};
use std::panic::AssertUnwindSafe;
use std::time::Duration;

use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::future_to_promise;
use web_sys::{Request, Response};
use worker::{Context, Env};

use super::cache::{self, Cache};
use super::checkpoint::{self, Busy};
use super::isolate::Lasting;
use super::knowledge::Known;
use super::leasing::Leasing;
use super::upstream::Upstream;
use super::{answer, binding, call, clock, configuration, forget, forward};
use crate::atlas::checkpoint::Errand;
use crate::atlas::knowledge::Knowledge;
use crate::atlas::region_places::RegionPlaces;
use crate::control::api::{self, TierCall};
use crate::control::currency::Due;
use crate::gate::keys::Keys;
use crate::packed;
use crate::site::tier::Transport;
use crate::tier::breaker::Breakers;
use crate::tier::explain;
use crate::tier::fleet::{Fleet, Upper};
use crate::tier::marker::{self, Hop, Marker};
use crate::tier::rendezvous;
use crate::tier::said::Said;
use crate::tier::tally::{Counts, Message, TOLD_EVERY, Tally};
use crate::time::Instant;

/// The secret with the keys of markers.
const KEYS: &str = "ANTEROOM_TIER_KEYS";
/// The variable with the name of the tier that a Worker is.
const TIER: &str = "ANTEROOM_TIER";

/// The object that keeps the sum has so long.
const PATIENCE: Duration = Duration::from_secs(3);

/// What lasts as long as the isolate does, of a deployment that has upper tiers.
pub(super) struct Tiers {
    pub(super) env: Env,
    /// The keys of markers, or what is wrong with the secret.
    pub(super) keys: Result<Keys, String>,
    pub(super) fleet: Fleet,
    pub(super) known: Known,
    pub(super) breakers: RefCell<Breakers>,
    tally: RefCell<Tally>,
    told: Cell<Instant>,
    /// Whether it is probing, as a checkpoint.
    busy: Busy,
    /// The tier that this Worker is.
    is: Option<String>,
}

/// The keys of markers, or what is wrong with the secret.
pub(super) fn keys(env: &Env) -> Result<Keys, String> {
    match env.secret(KEYS) {
        Ok(text) => Keys::parse(&text.to_string()).map_err(|fault| format!("{KEYS}: {fault}")),
        Err(_) => Err(format!(
            "the secret {KEYS} is not set: no upper tier is asked"
        )),
    }
}

impl Tiers {
    /// Those of the build; none if there are none.
    pub(super) fn of(env: &Env) -> Result<Option<Self>, String> {
        let tiers = packed::tiers().map_err(|error| format!("packed tiers: {error}"))?;
        let is = env.var(TIER).ok().map(|name| name.to_string());
        if tiers.iter().all(|tier| tier.checkpoint_only) && is.is_none() {
            return Ok(None);
        }
        let places = RegionPlaces::packed().map_err(|fault| fault.to_string())?;
        let hosts = packed::cached_hosts().map_err(|error| format!("packed hosts: {error}"))?;
        let mut origins = hosts.iter().flat_map(|host| &host.origins);
        let wants_ranges = origins.any(|origin| origin.address().is_some());
        Ok(Some(Self {
            env: env.clone(),
            keys: keys(env),
            fleet: Fleet::new(tiers, &places),
            known: Known::nothing(places, wants_ranges),
            breakers: RefCell::default(),
            tally: RefCell::default(),
            told: Cell::default(),
            busy: Busy::default(),
            is,
        }))
    }

    /// Whether this Worker is in front of visitors, and so asks tiers.
    pub(super) fn asks(&self) -> bool {
        self.is.is_none()
    }

    /// Counts something of a host's.
    pub(super) fn count(&self, host: &str, note: impl FnOnce(&mut Counts)) {
        if let Ok(mut tally) = self.tally.try_borrow_mut() {
            note(tally.of(host));
        }
    }

    /// Tells behind the answer what was counted, and reads what is known of origins, if it is time.
    pub(super) fn keep_up(&'static self, ctx: &Context) {
        self.known.renew(&self.env, ctx);
        let now = clock::now();
        if now < self.told.get() + TOLD_EVERY || self.tally.borrow().is_empty() {
            return;
        }
        self.told.set(now);
        ctx.wait_until(async move {
            let told = Message::Add(self.tally.take());
            // Without an answer it may have been heard all the same: sums are rather low than high.
            let _ = call::tally(&self.env, &told, PATIENCE).await;
        });
    }

    /// Answers what comes from another part of this system; none if it is a visitor's request.
    pub(super) fn receive(
        &'static self,
        lasting: &'static Lasting,
        request: &Request,
        url: &str,
        ctx: &worker::worker_sys::Context,
    ) -> Option<Result<JsValue, JsValue>> {
        if let Some(name) = &self.is {
            return Some(Ok(self.serve(lasting, name, Clone::clone(request), ctx)));
        }
        lasting.cached_host(url)?;
        let marker = self.marker(request, url)?;
        if marker.hop != Hop::Origin {
            return None;
        }
        // A tier of ours is asking the origin, and came by here: it shall not come round again.
        Some(forward::unmarked(&lasting.current(), request).map(Into::into))
    }

    /// What the marker of a request says, if it has a good one.
    fn marker(&self, request: &Request, url: &str) -> Option<Marker> {
        let text = request.headers().get(marker::HEADER).ok().flatten()?;
        let keys = self.keys.as_ref().ok()?;
        marker::verify(keys, &text, &request.method(), url, clock::now()).ok()
    }

    /// Answers as the tier called `name`.
    pub(super) fn serve(
        &'static self,
        lasting: &'static Lasting,
        name: &str,
        request: Request,
        ctx: &worker::worker_sys::Context,
    ) -> JsValue {
        let name = name.to_owned();
        let ctx: &JsValue = ctx.as_ref();
        let ctx = Context::new(ctx.clone().unchecked_into());
        let answer = async move { self.as_tier(lasting, name, request, ctx).await };
        future_to_promise(AssertUnwindSafe(async { Ok(answer.await.into()) })).into()
    }

    async fn as_tier(
        &'static self,
        lasting: &'static Lasting,
        name: String,
        request: Request,
        ctx: Context,
    ) -> Response {
        let url = request.url();
        let marker = self.marker(&request, &url);
        let marker = marker.filter(|marker| marker.tier == name && marker.hop != Hop::Origin);
        let Some(Marker { hop, before, .. }) = marker else {
            return said(403, Said::Refused);
        };
        if hop == Hop::Ping {
            return said(204, Said::Here);
        }
        if hop == Hop::Probe {
            return self.probe(&url).await;
        }
        if hop == Hop::Forget {
            return forget::forget(lasting, &url).await;
        }
        // A tier hears of purges as every isolate does.
        if let Some(configured) = &lasting.configured {
            match configured.start(clock::now()) {
                Due::Not => {}
                Due::Behind => configuration::look_behind(lasting, &self.env, &ctx),
                Due::Before => configuration::look_before(lasting, &self.env, &ctx).await,
                Due::Along => configuration::look_along(lasting).await,
            }
        }
        let isolate = lasting.current();
        let Some(host) = isolate.cached_host(&url) else {
            // Another release of this program, which caches other hosts.
            return said(421, Said::Refused);
        };
        let upstream = match hop {
            Hop::Stored => Upstream::Nobody,
            _ => Upstream::OriginOf {
                tiers: self,
                host,
                tier: name.as_str().into(),
                before: before.map(Into::into),
            },
        };
        let leasing = (hop == Hop::Tier).then(|| Leasing::new(&self.env, &name));
        let cache = Cache {
            isolate,
            host,
            upstream,
            name: format!("upper-{name}").into(),
            is_upper: true,
            leasing,
        };
        let request = match forward::with_fields(&request, &[(marker::HEADER, None)]) {
            Ok(request) => request,
            Err(_) => return said(400, Said::Refused),
        };
        match cache::answer(cache, request, ctx).await {
            Ok(response) => response,
            Err(_) => said(502, Said::OriginFailed),
        }
    }

    /// Does what a checkpoint is asked to.
    async fn probe(&self, url: &str) -> Response {
        match Errand::read(url) {
            Some(Errand { origins, port }) if self.busy.take(clock::now()) => {
                let report = checkpoint::report(origins, port).await;
                let text = serde_json::to_string(&report).unwrap_or_default();
                let head = "Content-Type:application/json\nCache-Control:no-store\n";
                let answer = binding::respond(200, head, None, Some(&text));
                answer.unwrap_or_else(|_| answer::failed())
            }
            _ => said(403, Said::Refused),
        }
    }

    /// The target of a call to a tier, for the key of this hash.
    pub(super) fn target(&self, upper: &Upper, key: u64) -> Result<JsValue, JsValue> {
        let get = |name: &str| js_sys::Reflect::get(&self.env, &JsValue::from_str(name));
        match &upper.tier.transport {
            Transport::Placed { binding, .. } => get(binding),
            Transport::Object {
                location_hint,
                shards,
            } => {
                let hint = location_hint.as_str();
                let shard = rendezvous::shard(key, *shards);
                // An object stays where it was made, so that a tier with another hint is another object.
                let name = format!("{hint}/{}/{shard}", upper.name());
                binding::object_of(&get("TIER")?, &name, hint)
            }
        }
    }
}

/// An answer without a body that says one thing.
pub(super) fn said(status: u16, said: Said) -> Response {
    let head = format!(
        "{}:{}\nCache-Control:no-store\n",
        marker::HEADER,
        said.as_str()
    );
    binding::respond(status, &head, None, None).unwrap_or_else(|_| answer::failed())
}

/// Answers a question about tiers by what this isolate knows.
pub(super) async fn explain(question: &TierCall, env: &Env) -> api::Answer {
    let Ok(lasting) = Lasting::get(env) else {
        return api::Answer::unavailable();
    };
    let hosts = lasting.cached_hosts();
    let origin = match question {
        TierCall::Explain(origin) => origin,
        TierCall::Counts => {
            return match call::tally(env, &Message::Read, PATIENCE).await {
                Ok(tally) => api::counted(&tally, hosts),
                Err(_) => api::Answer::unavailable(),
            };
        }
    };
    match lasting.tiers() {
        Some(tiers) => {
            let knowledge = tiers.known.latest(&tiers.env).await;
            api::explained(&explain::explain(origin, hosts, &tiers.fleet, &knowledge))
        }
        None => {
            let (fleet, knowledge) = (Fleet::default(), Knowledge::default());
            api::explained(&explain::explain(origin, hosts, &fleet, &knowledge))
        }
    }
}
