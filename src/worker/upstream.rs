//! Whom a cache asks for what it does not have.

use std::pin::pin;
use std::rc::Rc;
use std::time::Duration;

use futures_util::future::{Either, select};
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::{Request, Response};
use worker::Delay;

use super::binding::{self, TierCall};
use super::isolate::Isolate;
use super::tiers::Tiers;
use super::{clock, forward, headers, log};
use crate::gate::keys::Keys;
use crate::log::{Entry, clean};
use crate::site::cached_host::CachedHost;
use crate::tier::budget::{self, Budget};
use crate::tier::choice;
use crate::tier::fleet::Upper;
use crate::tier::marker::{self, Hop, Marker};
use crate::tier::rendezvous;
use crate::tier::said::Said;

/// Where an answer comes from that is not in the cache.
#[derive(Clone)]
pub(super) enum Upstream {
    /// The origin itself.
    Origin,
    /// An upper tier; should that fail, another one; should that fail too, the origin.
    Tiers(&'static Tiers, &'static CachedHost),
    /// The origin, by who is the upper tier of this name; or first the tier that was it before.
    OriginOf {
        tiers: &'static Tiers,
        host: &'static CachedHost,
        tier: Rc<str>,
        before: Option<Rc<str>>,
    },
    /// Nobody.
    Nobody,
}

/// What was answered, and how it came.
pub(super) struct Answered {
    /// The answer. Its body is as it came, compressed or not.
    pub(super) response: Response,
    /// Whether this request waited for the answer to another one.
    pub(super) collapsed: bool,
    /// Who was asked and why, for `Cache-Status`; none for the origin.
    pub(super) detail: Option<String>,
}

impl Answered {
    fn of(response: Response) -> Self {
        Self {
            response,
            collapsed: false,
            detail: None,
        }
    }
}

impl Upstream {
    /// Asks.
    pub(super) async fn ask(
        &self,
        isolate: &Isolate,
        request: Request,
    ) -> Result<Answered, JsValue> {
        match self {
            Self::Origin => {
                let response = forward::as_it_comes(isolate, request, None).await?;
                Ok(Answered::of(response))
            }
            Self::Tiers(tiers, host) => tiers.ask(isolate, host, request).await,
            Self::OriginOf {
                tiers,
                host,
                tier,
                before,
            } => {
                tiers
                    .ask_origin(isolate, (host, tier), before.as_deref(), request)
                    .await
            }
            Self::Nobody => Err("nobody is asked".into()),
        }
    }

    /// Whether there is nobody to ask.
    pub(super) const fn is_nobody(&self) -> bool {
        matches!(self, Self::Nobody)
    }

    /// Hands on what goes by the cache.
    pub(super) async fn pass_by(
        &self,
        isolate: &Isolate,
        request: Request,
    ) -> Result<Response, JsValue> {
        match self {
            Self::OriginOf {
                tiers, host, tier, ..
            } => tiers.origin(isolate, host, tier, request).await,
            _ => forward::from_origin(isolate, request).await,
        }
    }
}

/// Why a tier gives no answer.
enum Failure {
    /// It has failed itself: another one may do better.
    Tier(String),
    /// The origin has not answered it.
    Origin,
}

impl Tiers {
    /// Asks an upper tier, and whoever is left when that fails.
    async fn ask(
        &'static self,
        isolate: &Isolate,
        host: &CachedHost,
        request: Request,
    ) -> Result<Answered, JsValue> {
        let begin = clock::now();
        let budget = Budget::begin(begin);
        let Ok(keys) = &self.keys else {
            let response = forward::as_it_comes(isolate, request, None).await?;
            return Ok(Answered::of(response));
        };
        let continent = headers::continent(&request);
        let knowledge = self.known.get(&self.env).await;
        let key = rendezvous::hash_of(&request.url());
        let (fleet, places) = (&self.fleet, &knowledge.places);
        let asked = (continent.as_deref(), key);
        let chosen = choice::with_wanted(host, fleet, &knowledge, asked, |wanted| {
            let choice = choice::choose(fleet, places, wanted)?;
            let before = choice::before(fleet, places, wanted, choice.primary, begin);
            Some((choice, before))
        });
        let choice = chosen.as_ref().map(|(choice, _)| choice);
        let because = choice.map(|choice| choice.because.to_string());
        let because = because.unwrap_or_default();
        let mut failed = String::new();
        if let Some((choice, before)) = chosen {
            for upper in [Some(choice.primary), choice.fallback]
                .into_iter()
                .flatten()
            {
                if !self
                    .breakers
                    .borrow_mut()
                    .may_ask(upper.name(), clock::now())
                {
                    failed += &format!("; {} rests", upper.name());
                    continue;
                }
                let before = before.filter(|before| before.name() != upper.name());
                let marker = Marker {
                    hop: Hop::Tier,
                    tier: upper.name().to_owned(),
                    before: before.map(|before| before.name().to_owned()),
                };
                match self
                    .call(keys, upper, &marker, &request, key, &budget)
                    .await
                {
                    Ok((response, said)) => {
                        self.breakers.borrow_mut().note_success(upper.name());
                        self.count(&host.host, |counts| {
                            counts.asked(upper.name(), Some(said));
                            counts.fallbacks += u64::from(!failed.is_empty());
                        });
                        return Ok(Answered {
                            response,
                            collapsed: said == Said::Collapsed,
                            detail: Some(format!("{}, {because}{failed}", upper.name())),
                        });
                    }
                    Err(Failure::Origin) => {
                        let said = Some(Said::OriginFailed);
                        self.count(&host.host, |counts| counts.asked(upper.name(), said));
                        self.breakers.borrow_mut().note_success(upper.name());
                        failed += &format!("; {} has no answer from the origin", upper.name());
                        break;
                    }
                    Err(Failure::Tier(reason)) => {
                        let now = clock::now();
                        self.breakers.borrow_mut().note_failure(upper.name(), now);
                        self.count(&host.host, |counts| counts.asked(upper.name(), None));
                        failed += &format!("; {} failed", upper.name());
                        let reason = clean(&reason);
                        log::write(&Entry::TierFailed {
                            tier: upper.name(),
                            reason,
                        });
                    }
                }
            }
        }
        self.count(&host.host, |counts| counts.origin += 1);
        let response = forward::as_it_comes(isolate, request, None).await?;
        Ok(Answered {
            detail: Some(format!("origin, {because}{failed}")),
            ..Answered::of(response)
        })
    }

    /// Calls a tier; [`budget`] says how long it is waited for.
    async fn call(
        &self,
        keys: &Keys,
        upper: &Upper,
        marker: &Marker,
        request: &Request,
        key: u64,
        budget: &Budget,
    ) -> Result<(Response, Said), Failure> {
        let target = self.target(upper, key).map_err(failure)?;
        let call = marked(keys, &target, request, marker);
        let answer = JsFuture::from(call.response());
        let quiet = Delay::from(budget.quiet(clock::now()));
        let answer = match select(answer, quiet).await {
            Either::Left((answered, _)) => return judge(answered),
            Either::Right((_, answer)) => answer,
        };
        let ping = Marker::of(Hop::Ping, &marker.tier);
        let ping = async {
            let patience = budget.alive(clock::now());
            let answered = within(&marked(keys, &target, request, &ping), patience).await;
            answered.is_some_and(|answered| said(&answered) == Some(Said::Here))
        };
        let answer = match select(answer, pin!(ping)).await {
            Either::Left((answered, _)) => return judge(answered),
            Either::Right((true, answer)) => answer,
            Either::Right((false, _)) => {
                call.stop();
                return Err(Failure::Tier("no sign of life".to_owned()));
            }
        };
        match select(answer, Delay::from(budget.rest(clock::now()))).await {
            Either::Left((answered, _)) => judge(answered),
            Either::Right(_) => {
                call.stop();
                Err(Failure::Tier("no answer in time".to_owned()))
            }
        }
    }

    /// Asks the origin as the upper tier called `tier`; before it, the tier that was asked before a
    /// change, for what that has stored.
    async fn ask_origin(
        &self,
        isolate: &Isolate,
        (host, tier): (&CachedHost, &str),
        before: Option<&str>,
        request: Request,
    ) -> Result<Answered, JsValue> {
        if let (Ok(keys), Some(upper)) = (&self.keys, before.and_then(|name| self.fleet.get(name)))
            && let Some(response) = self.stored(keys, upper, &request).await
        {
            return Ok(Answered {
                detail: Some(format!("stored in {} before", upper.name())),
                ..Answered::of(response)
            });
        }
        let response = self.origin(isolate, host, tier, request).await?;
        Ok(Answered::of(response))
    }

    /// What a tier has stored; it has a moment for it.
    async fn stored(&self, keys: &Keys, upper: &Upper, request: &Request) -> Option<Response> {
        let key = rendezvous::hash_of(&request.url());
        let target = self.target(upper, key).ok()?;
        let now = clock::now();
        let call = marked(
            keys,
            &target,
            request,
            &Marker::of(Hop::Stored, upper.name()),
        );
        let answered = within(&call, Budget::begin(now).alive(now)).await?;
        (said(&answered) == Some(Said::Hit)).then(|| answered.unchecked_into())
    }

    /// The origin's answer to the upper tier called `tier`, in the time that it has.
    async fn origin(
        &self,
        isolate: &Isolate,
        host: &CachedHost,
        tier: &str,
        request: Request,
    ) -> Result<Response, JsValue> {
        self.count(&host.host, |counts| counts.origin += 1);
        let mark = |method: &str, url: &str| {
            let marker = Marker::of(Hop::Origin, tier);
            let keys = self.keys.as_ref().ok()?;
            Some(marker::sign(keys, &marker, method, url, clock::now()))
        };
        let answer = pin!(forward::as_it_comes(isolate, request, Some(&mark)));
        match select(answer, Delay::from(budget::of_origin())).await {
            Either::Left((answer, _)) => answer,
            Either::Right(_) => Err("the origin has not answered in time".into()),
        }
    }
}

/// A call to a tier, with the marker by which that knows whose it is.
pub(super) fn marked(
    keys: &Keys,
    target: &JsValue,
    request: &Request,
    marker: &Marker,
) -> TierCall {
    let (method, url) = (request.method(), request.url());
    let marker = marker::sign(keys, marker, &method, &url, clock::now());
    TierCall::new(target, request, &marker)
}

/// What a call is answered in time; none if it fails. One that is late is given up.
pub(super) async fn within(call: &TierCall, patience: Duration) -> Option<JsValue> {
    match select(JsFuture::from(call.response()), Delay::from(patience)).await {
        Either::Left((answered, _)) => answered.ok(),
        Either::Right(_) => {
            call.stop();
            None
        }
    }
}

fn failure(error: JsValue) -> Failure {
    Failure::Tier(binding::message_of(error))
}

/// What a tier says of its answer; none if the answer is not a tier's.
fn said(answered: &JsValue) -> Option<Said> {
    let response = answered.dyn_ref::<Response>()?;
    let word = response.headers().get(marker::HEADER).ok().flatten()?;
    Said::read(&word)
}

fn judge(answered: Result<JsValue, JsValue>) -> Result<(Response, Said), Failure> {
    let answered = answered.map_err(failure)?;
    match said(&answered) {
        Some(said) if said.is_answer() => Ok((answered.unchecked_into(), said)),
        Some(Said::OriginFailed) => Err(Failure::Origin),
        Some(said) => Err(Failure::Tier(said.as_str().to_owned())),
        None => Err(Failure::Tier("the answer is not the tier's".to_owned())),
    }
}
