//! A request to a cached host, after all that decides whether its visitor may pass.
//!
//! Nothing here is awaited by two requests. A stale answer that is renewed behind is renewed by the request
//! that found it so, in its own background.

use std::panic::AssertUnwindSafe;
use std::rc::Rc;

use futures_util::FutureExt;
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{ReadableStream, Request, Response};
use worker::Context;

use super::cache_store::{self, Found, Look};
use super::isolate::Isolate;
use super::leasing::{Lead, Leasing, Permit};
use super::upstream::Upstream;
use super::url::target;
use super::{answer, binding, clock, forward, headers, log};
use crate::cache::asked::{Asked, GoesBy, Use};
use crate::cache::counts::Counts;
use crate::cache::entry::Entry;
use crate::cache::fields::Fields;
use crate::cache::invalidation::invalidated;
use crate::cache::key::{Variants, place_of};
use crate::cache::memory::Index;
use crate::cache::reply::remove_what_is_ours;
use crate::cache::status::{Forwarded, Handled};
use crate::cache::validation::is_error;
use crate::log::{Entry as Line, clean};
use crate::site::cached_host::CachedHost;
use crate::tier::lease::Outcome;
use crate::tier::marker;
use crate::tier::said::Said;
use crate::time::Instant;

/// The cache's side of one request.
#[derive(Clone)]
pub(super) struct Cache {
    pub(super) isolate: Isolate,
    pub(super) index: Index,
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

/// A request on its way.
struct Exchange<'a> {
    cache: &'a Cache,
    asked: Asked<'static>,
    request: Request,
}

/// An answer from upstream.
struct Answer {
    response: Response,
    status: u16,
    fields: Fields,
    requested: Instant,
    received: Instant,
    handled: Handled,
}

impl Cache {
    /// The cache of the data centre that the visitor has come to.
    pub(super) fn lower(
        isolate: &Isolate,
        (index, host): (Index, &'static CachedHost),
        request: &Request,
    ) -> Self {
        let colo = headers::colo(request);
        Self {
            isolate: isolate.clone(),
            index,
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
        self.count(|counts| counts.requests += 1);
        let url = request.url();
        let (path, _) = target(&url);
        let fields = Fields::parse(&binding::all_fields(&request)?);
        let Some(settings) = self.host.settings(path.as_bytes()) else {
            return self.go_by(request, GoesBy::Bypass).await;
        };
        let asked = Asked::new(request.method(), url.clone(), fields, settings);
        if let Some(why) = asked.goes_by() {
            return self.go_by(request, why).await;
        }
        let exchange = Exchange {
            cache: self,
            asked,
            request,
        };
        exchange.answer(ctx).await
    }

    fn count(&self, note: impl FnOnce(&mut Counts)) {
        self.isolate
            .caching(|memory| memory.count(self.index, note));
    }

    /// Hands the request on and its answer back, and takes out of the cache what it has changed.
    async fn go_by(&self, request: Request, why: GoesBy) -> Result<Response, JsValue> {
        self.count(|counts| counts.bypassed += 1);
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
        if self.is_upper {
            let said = Said::Miss.as_str();
            let response = binding::with_field(&response, marker::HEADER, said)?;
            return binding::with_field(&response, "Cache-Status", &status);
        }
        binding::with_field(&response, "Cache-Status", &status)
    }
}

impl Exchange<'_> {
    async fn answer(&self, ctx: &Context) -> Result<Response, JsValue> {
        let Look { found, variants } = cache_store::look(&self.asked).await;
        let now = clock::now();
        let (found, why) = match found {
            Err(why) => (None, why),
            Ok(found) => match self.asked.judge(&found.entry, self.purges(), now) {
                Use::Serve => return self.hit(found, now).await,
                Use::ServeAndRenew => {
                    self.renew_behind(&found, variants, now, ctx);
                    return self.hit(found, now).await;
                }
                Use::Stale => (Some(found), Forwarded::Stale),
                Use::Request => (Some(found), Forwarded::Request),
                Use::Miss => (None, Forwarded::Miss),
            },
        };
        if self.cache.upstream.is_nobody() {
            return self.say_that(
                504,
                Said::Nothing,
                Fields::default(),
                None,
                Handled::default(),
            );
        }
        if self.asked.only_if_cached() {
            return self.say(504, Fields::default(), None, Handled::default());
        }
        let lead = match self.permit(variants.as_ref()).await {
            Permit::Lead(lead) => Some(lead),
            Permit::Alone => None,
            Permit::Look => match self.look_again(why).await {
                Some(response) => return response,
                None => None,
            },
        };
        self.ask(found, variants, why, lead, ctx).await
    }

    /// Whether to ask, or to wait until another one has.
    async fn permit(&self, variants: Option<&Variants>) -> Permit {
        // What comes in parts, or without a body, is not stored, and nobody could wait for it.
        let is_whole = self.asked.method == "GET" && !self.asked.fields.has("range");
        match &self.cache.leasing {
            Some(leasing) if is_whole => {
                let place = variants.map(|variants| self.asked.variant(variants));
                leasing
                    .ask(&place.unwrap_or_else(|| self.asked.place()))
                    .await
            }
            _ => Permit::Alone,
        }
    }

    /// What another request has stored meanwhile, if it is for this one too.
    async fn look_again(&self, why: Forwarded) -> Option<Result<Response, JsValue>> {
        let found = cache_store::look(&self.asked).await.found.ok()?;
        let now = clock::now();
        match self.asked.judge(&found.entry, self.purges(), now) {
            Use::Serve | Use::ServeAndRenew => {}
            Use::Stale | Use::Request | Use::Miss => return None,
        }
        self.cache.count(|counts| counts.hits += 1);
        let handled = Handled {
            forwarded: Some(why),
            collapsed: true,
            ttl: Some(found.entry.ttl(now)),
            ..Handled::default()
        };
        Some(self.serve(found, now, handled, None).await)
    }

    fn purges(&self) -> &crate::cache::purge::Purges {
        &self.cache.isolate.edition.purges
    }

    /// Serves what is stored, without asking anybody.
    async fn hit(&self, found: Found, now: Instant) -> Result<Response, JsValue> {
        let is_stale = !found.entry.is_fresh(now);
        self.cache.count(|counts| {
            counts.hits += 1;
            counts.stale += u64::from(is_stale);
        });
        let handled = Handled {
            hit: true,
            ttl: Some(found.entry.ttl(now)),
            ..Handled::default()
        };
        self.serve(found, now, handled, None).await
    }

    /// The reply from a stored answer. `cookie` is one that came with its confirmation.
    async fn serve(
        &self,
        mut found: Found,
        now: Instant,
        handled: Handled,
        cookie: Option<String>,
    ) -> Result<Response, JsValue> {
        if self.asked.fields.has("if-range")
            && let Some(range) = self.asked.range()
            && found.entry.status == 200
            && self.asked.wants_part_of(&found.entry)
            && let Some(part) = cache_store::answer(&found.place, Some(range)).await
        {
            found = Found {
                entry: found.entry,
                ..part
            };
        }
        let reply = self.asked.reply(&found.entry, found.part.as_deref(), now);
        let body = found.response.body().filter(|_| reply.with_body);
        let mut fields = reply.fields;
        if let Some(cookie) = cookie {
            fields.set("set-cookie", cookie);
        }
        self.say(reply.status, fields, body, handled)
    }

    fn say(
        &self,
        status: u16,
        fields: Fields,
        body: Option<ReadableStream>,
        handled: Handled,
    ) -> Result<Response, JsValue> {
        let said = match &handled {
            Handled { hit: true, .. } => Said::Hit,
            Handled {
                collapsed: true, ..
            } => Said::Collapsed,
            _ => Said::Miss,
        };
        self.say_that(status, said, fields, body, handled)
    }

    fn say_that(
        &self,
        status: u16,
        said: Said,
        mut fields: Fields,
        body: Option<ReadableStream>,
        handled: Handled,
    ) -> Result<Response, JsValue> {
        let before = fields.get("cache-status");
        let told = handled.after(before.as_deref(), &self.cache.name);
        fields.set("cache-status", told);
        if self.cache.is_upper {
            fields.set(&marker::HEADER.to_ascii_lowercase(), said.as_str());
        } else {
            remove_what_is_ours(&mut fields);
        }
        binding::compose(status, &fields.lines(), body.as_ref())
    }

    /// Asks upstream, about what is stored or for an answer.
    async fn ask(
        &self,
        found: Option<Found>,
        variants: Option<Variants>,
        why: Forwarded,
        lead: Option<Lead>,
        ctx: &Context,
    ) -> Result<Response, JsValue> {
        let conditions = found
            .as_ref()
            .map(|found| self.asked.conditions(&found.entry));
        let conditions = conditions.unwrap_or_default();
        let answer = self.forward(&conditions, why).await;
        let failed = !matches!(&answer, Ok(answer) if !is_error(answer.status));
        let now = clock::now();
        let (answer, found) = match (answer, found) {
            (answer, Some(found))
                if failed
                    && self
                        .asked
                        .may_serve_on_error(&found.entry, self.purges(), now) =>
            {
                self.cache.count(|counts| counts.stale_on_error += 1);
                let handled = Handled {
                    forwarded: Some(why),
                    status: answer.ok().map(|answer| answer.status),
                    ttl: Some(found.entry.ttl(now)),
                    ..Handled::default()
                };
                return self.serve(found, now, handled, None).await;
            }
            (answer, found) => (answer?, found),
        };
        match found {
            Some(found) if answer.status == 304 && !conditions.is_empty() => {
                if found.entry.is_confirmed_by(&answer.fields) {
                    return self.confirmed(found, answer, variants, lead, ctx).await;
                }
                // It speaks of another answer than the one that was asked about.
                let own = ["if-none-match", "if-modified-since"].map(|name| (name, None));
                let answer = self.forward(&own, why).await?;
                self.new_answer(answer, Some(found.place), variants, lead, ctx)
            }
            found => {
                let place = found.map(|found| found.place);
                self.new_answer(answer, place, variants, lead, ctx)
            }
        }
    }

    async fn forward(
        &self,
        changes: &[(&str, Option<String>)],
        why: Forwarded,
    ) -> Result<Answer, JsValue> {
        self.cache.count(|counts| counts.forwarded += 1);
        let request = match changes {
            [] => Clone::clone(&self.request),
            changes => forward::with_fields(&self.request, changes)?,
        };
        let requested = clock::now();
        let answered = self
            .cache
            .upstream
            .ask(&self.cache.isolate, request)
            .await?;
        let received = clock::now();
        let described = binding::describe(&answered.response)?;
        let (_, lines) = described.split_once('\n').unwrap_or_default();
        let status = answered.response.status();
        Ok(Answer {
            status,
            fields: Fields::parse(lines),
            requested,
            received,
            handled: Handled {
                forwarded: Some(why),
                status: Some(status),
                collapsed: answered.collapsed,
                detail: answered.detail,
                ..Handled::default()
            },
            response: answered.response,
        })
    }

    /// What is stored is as it was: it is served and kept with what the confirmation says.
    async fn confirmed(
        &self,
        found: Found,
        answer: Answer,
        variants: Option<Variants>,
        lead: Option<Lead>,
        ctx: &Context,
    ) -> Result<Response, JsValue> {
        self.cache.count(|counts| counts.revalidated += 1);
        let now = clock::now();
        let Answer {
            fields,
            requested,
            received,
            mut handled,
            ..
        } = answer;
        let (entry, why_not) = found
            .entry
            .confirmed(&self.asked, &fields, requested, received);
        handled.ttl = Some(entry.ttl(now));
        handled.stored = why_not.is_none();
        let keep = self.keep_confirmed(entry.clone(), why_not.is_some(), &found, variants);
        ctx.wait_until(async move { finish(lead, keep.await).await });
        let mut found = Found { entry, ..found };
        if let Some(before) = fields.get("cache-status") {
            found.entry.fields.set("cache-status", before);
        }
        let cookie = fields.get("set-cookie");
        self.serve(found, now, handled, cookie).await
    }

    /// Stores what was confirmed. The cache cannot change the fields of what it holds, so the body is put
    /// there once more.
    fn keep_confirmed(
        &self,
        entry: Entry,
        is_over: bool,
        found: &Found,
        variants: Option<Variants>,
    ) -> impl Future<Output = Outcome> + 'static {
        let (cache, asked, place) = (self.cache.clone(), self.asked.clone(), found.place.clone());
        async move {
            if is_over {
                cache_store::remove(vec![place]).await;
                return Outcome::NotStored;
            }
            let Some(whole) = cache_store::answer(&place, None).await else {
                return Outcome::Failed;
            };
            cache
                .store(&asked, entry, variants, whole.response.body())
                .await
        }
    }

    /// A new answer goes to the visitor, and into the cache if it may: to the place of the one that lay at
    /// `place`.
    fn new_answer(
        &self,
        answer: Answer,
        place: Option<String>,
        variants: Option<Variants>,
        lead: Option<Lead>,
        ctx: &Context,
    ) -> Result<Response, JsValue> {
        let Answer {
            response,
            status,
            fields,
            requested,
            received,
            mut handled,
        } = answer;
        if status == 101 {
            return Ok(response);
        }
        let body = response.body();
        let entry = Entry::of(&self.asked, status, &fields, requested, received);
        let entry = match entry {
            Ok(entry) if cache_store::fits(&entry) => entry,
            not_stored => {
                let failed = is_error(status);
                let outcome = if failed {
                    Outcome::Failed
                } else {
                    Outcome::NotStored
                };
                ctx.wait_until(finish(lead, outcome));
                let why = not_stored
                    .err()
                    .map_or("size".to_owned(), |why| why.to_string());
                handled.detail = handled.detail.or(Some(why));
                if let Some(place) = place.filter(|_| (200..500).contains(&status)) {
                    // What lies there is no longer what the origin says to everybody.
                    ctx.wait_until(cache_store::remove(vec![place]));
                }
                return self.say(status, fields, body, handled);
            }
        };
        handled.stored = true;
        handled.ttl = Some(entry.ttl(received));
        let (ours, theirs) = match body {
            None => (None, None),
            Some(body) => {
                let pair = body.tee();
                let branch = |n| pair.get(n).dyn_into::<ReadableStream>();
                (Some(branch(0)?), Some(branch(1)?))
            }
        };
        let (cache, asked) = (self.cache.clone(), self.asked.clone());
        ctx.wait_until(async move {
            let outcome = cache.store(&asked, entry, variants, ours).await;
            finish(lead, outcome).await;
        });
        self.say(status, fields, theirs, handled)
    }

    /// Renews an answer that is served stale, behind it.
    fn renew_behind(&self, found: &Found, variants: Option<Variants>, now: Instant, ctx: &Context) {
        let isolate = self.cache.isolate.clone();
        let place = found.place.clone();
        if isolate.caching(|memory| memory.start_renewal(&place, now)) != Some(true) {
            return;
        }
        let renewal = Renewal {
            cache: self.cache.clone(),
            asked: self.asked.for_everybody(),
            request: Clone::clone(&self.request),
            entry: found.entry.clone(),
            place: place.clone(),
            variants,
        };
        ctx.wait_until(async move {
            // A panic ends the renewal alone.
            if let Ok(Err(error)) = AssertUnwindSafe(renewal.run()).catch_unwind().await {
                let reason = clean(&format!("{error:?}"));
                log::write(&Line::CacheFailed { reason });
            }
            isolate.caching(|memory| memory.end_renewal(&place));
        });
    }
}

impl Cache {
    async fn store(
        &self,
        asked: &Asked<'_>,
        entry: Entry,
        variants: Option<Variants>,
        body: Option<ReadableStream>,
    ) -> Outcome {
        match cache_store::store(asked, entry, variants.as_ref(), body).await {
            Ok(()) => {
                self.count(|counts| counts.stored += 1);
                Outcome::Stored
            }
            Err(error) => {
                let reason = clean(&format!("{error:?}"));
                log::write(&Line::CacheFailed { reason });
                Outcome::Failed
            }
        }
    }
}

/// Tells those who wait for a leader how it ended.
async fn finish(lead: Option<Lead>, outcome: Outcome) {
    if let Some(lead) = lead {
        lead.finish(outcome).await;
    }
}

/// The renewal of an answer behind the one that was served.
struct Renewal {
    cache: Cache,
    asked: Asked<'static>,
    request: Request,
    entry: Entry,
    place: String,
    variants: Option<Variants>,
}

impl Renewal {
    async fn run(self) -> Result<(), JsValue> {
        let exchange = Exchange {
            cache: &self.cache,
            asked: self.asked,
            request: self.request,
        };
        let mut changes = exchange.asked.conditions(&self.entry);
        if changes.is_empty() {
            // The visitor's own conditions and range are no concern of the cache's.
            let own = ["if-none-match", "if-modified-since", "range", "if-range"];
            changes = own.map(|name| (name, None)).into();
        }
        let answer = exchange.forward(&changes, Forwarded::Stale).await?;
        let (asked, fields) = (&exchange.asked, &answer.fields);
        let (requested, received) = (answer.requested, answer.received);
        if answer.status == 304 {
            if !self.entry.is_confirmed_by(fields) {
                return Ok(());
            }
            self.cache.count(|counts| counts.revalidated += 1);
            let (entry, why_not) = self.entry.confirmed(asked, fields, requested, received);
            if why_not.is_some() {
                cache_store::remove(vec![self.place]).await;
            } else if let Some(whole) = cache_store::answer(&self.place, None).await {
                let body = whole.response.body();
                self.cache.store(asked, entry, self.variants, body).await;
            }
            return Ok(());
        }
        if is_error(answer.status) {
            return Ok(());
        }
        let entry = Entry::of(asked, answer.status, fields, requested, received);
        match entry {
            Ok(entry) if cache_store::fits(&entry) => {
                let body = answer.response.body();
                self.cache.store(asked, entry, self.variants, body).await;
            }
            // What was stored is no longer what the origin says to everybody.
            _ => cache_store::remove(vec![self.place]).await,
        }
        Ok(())
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
