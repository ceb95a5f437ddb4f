//! A request to a cached host, after all that decides whether its visitor may pass.
//!
//! Nothing here is awaited by two requests. A stale answer that is renewed behind is renewed by the request
//! that found it so, in its own background.

use std::panic::AssertUnwindSafe;
use std::rc::Rc;

use futures_util::FutureExt;
use wasm_bindgen::JsValue;
use web_sys::{ReadableStream, Request, Response};
use worker::Context;

use super::exchange::Exchange;
use super::isolate::Isolate;
use super::leasing::Leasing;
use super::upstream::Upstream;
use super::url::target;
use super::{answer, binding, cache_store, forward, headers, log};
use crate::cache::asked::{Asked, GoesBy};
use crate::cache::entry::Entry;
use crate::cache::fields::Fields;
use crate::cache::invalidation::invalidated;
use crate::cache::key::{Variants, place_of};
use crate::cache::memory::Memory;
use crate::cache::status::{Forwarded, Handled};
use crate::log::{Entry as Line, clean};
use crate::site::cached_host::CachedHost;
use crate::tier::lease::Outcome;
use crate::tier::marker;
use crate::tier::said::Said;
use crate::tier::tally;

/// The log tells this once in an isolate's life.
const FORGETFUL: &str = "the cache does not keep what it is given: on workers.dev and behind Access \
                         the Cache API does nothing";

/// The cache's side of one request.
#[derive(Clone)]
pub(super) struct Cache {
    pub(super) isolate: Isolate,
    pub(super) host: &'static CachedHost,
    /// Whom it asks.
    pub(super) upstream: Upstream,
    /// How it is called in `Cache-Status`.
    pub(super) name: Rc<str>,
    /// Whether another tier of ours gets the answer, with what is for caches of ours.
    pub(super) is_upper: bool,
    /// In an upper tier: who of many asks the origin.
    pub(super) leasing: Option<Leasing>,
}

impl Cache {
    /// The cache of the data centre that the visitor has come to.
    pub(super) fn lower(isolate: &Isolate, host: &'static CachedHost, request: &Request) -> Self {
        let colo = headers::colo(request);
        Self {
            isolate: isolate.clone(),
            host,
            upstream: match isolate.tiers() {
                Some(tiers) => Upstream::Tiers(tiers, host),
                None => Upstream::Origin,
            },
            name: colo.map_or("lower".into(), |colo| format!("lower-{colo}").into()),
            is_upper: false,
            leasing: None,
        }
    }

    /// The answer to a request: from the cache, or from upstream.
    ///
    /// # Errors
    /// Upstream gives none, and nothing stored may take its place.
    pub(super) async fn fetch(&self, request: Request, ctx: &Context) -> Result<Response, JsValue> {
        self.tally(|counts| counts.requests += 1);
        if let Some(tiers) = self.isolate.all_tiers() {
            tiers.keep_up(ctx);
        }
        let url = request.url();
        let (path, _) = target(&url);
        let fields = Fields::parse(&binding::all_fields(&request)?);
        let Some(settings) = self.host.settings(path.as_bytes()) else {
            return self.go_by(request, GoesBy::Bypass, ctx).await;
        };
        let asked = Asked::new(request.method(), url.clone(), fields, settings);
        if let Some(why) = asked.goes_by() {
            return self.go_by(request, why, ctx).await;
        }
        let exchange = Exchange {
            cache: self,
            asked,
            request,
        };
        exchange.answer(ctx).await
    }

    /// Counts what a data centre does, where there are upper tiers.
    pub(super) fn tally(&self, note: impl FnOnce(&mut tally::Counts)) {
        if let Upstream::Tiers(tiers, host) = &self.upstream {
            tiers.count(&host.host, note);
        }
    }

    /// Hands the request on and its answer back, and takes out of the cache what it has changed.
    async fn go_by(
        &self,
        request: Request,
        why: GoesBy,
        ctx: &Context,
    ) -> Result<Response, JsValue> {
        let (method, url) = (request.method(), request.url());
        let response = self.upstream.pass_by(&self.isolate, request).await?;
        if response.status() == 101 {
            // A WebSocket would be lost with the response that it came in.
            return Ok(response);
        }
        let location = |name: &str| {
            let value = response.headers().get(name).ok().flatten()?;
            Some((name.to_owned(), value))
        };
        let locations = ["location", "content-location"]
            .into_iter()
            .filter_map(location);
        let urls = invalidated(&method, &url, response.status(), &locations.collect());
        if !urls.is_empty() {
            cache_store::remove(urls.iter().map(|url| place_of(url)).collect()).await;
            if let Upstream::Tiers(tiers, host) = self.upstream {
                ctx.wait_until(tiers.forget(host, urls));
            }
        }
        let handled = Handled {
            forwarded: Some(match why {
                GoesBy::Method => Forwarded::Method,
                GoesBy::Bypass => Forwarded::Bypass,
            }),
            ..Handled::default()
        };
        let before = response.headers().get("Cache-Status")?;
        let status = handled.after(before.as_deref(), &self.name);
        let response = forward::with_field(&response, "Cache-Status", &status)?;
        if self.is_upper {
            response
                .headers()
                .set(marker::HEADER, Said::Miss.as_str())?;
        }
        Ok(response)
    }

    /// Puts an answer into the cache. What goes wrong is the log's, and no visitor's.
    pub(super) async fn store(
        &self,
        asked: &Asked<'_>,
        entry: Entry,
        variants: Option<Variants>,
        body: Option<ReadableStream>,
    ) -> Outcome {
        let failed = |reason: &str| {
            let reason = clean(reason);
            log::write(&Line::CacheFailed { reason });
        };
        match cache_store::store(asked, entry, variants.as_ref(), body).await {
            Err(error) => {
                failed(&format!("{error:?}"));
                Outcome::Failed
            }
            Ok(place) => {
                let probes = self.isolate.caching(Memory::start_probe) == Some(true);
                if probes && cache_store::answer(&place, None).await.is_none() {
                    failed(FORGETFUL);
                }
                Outcome::Stored
            }
        }
    }
}

/// The same as a promise for the runtime. Whatever goes wrong, the visitor gets an answer.
pub(super) async fn answer(
    cache: Cache,
    request: Request,
    ctx: Context,
) -> Result<Response, JsValue> {
    AssertUnwindSafe(cache.fetch(request, &ctx))
        .catch_unwind()
        .await
        .unwrap_or_else(|_panic| Ok(answer::failed()))
}
