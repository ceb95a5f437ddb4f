//! One request to the cache: what is stored, what upstream says, and what the visitor gets of both.

use wasm_bindgen::JsValue;
use web_sys::{ReadableStream, Request, Response};
use worker::Context;

use super::cache::Cache;
use super::cache_store::{self, Found, Look};
use super::leasing::{Lead, Permit, finish};
use super::{binding, clock, forward};
use crate::cache::asked::{Asked, Use};
use crate::cache::entry::Entry;
use crate::cache::fields::Fields;
use crate::cache::key::Variants;
use crate::cache::purge::Purges;
use crate::cache::reply::remove_what_is_ours;
use crate::cache::status::{Forwarded, Handled};
use crate::cache::validation::is_error;
use crate::tier::lease::Outcome;
use crate::tier::marker;
use crate::tier::said::Said;
use crate::time::Instant;

/// A request on its way.
pub(super) struct Exchange<'a> {
    pub(super) cache: &'a Cache,
    pub(super) asked: Asked<'static>,
    pub(super) request: Request,
}

/// An answer from upstream.
pub(super) struct Answer {
    pub(super) response: Response,
    pub(super) status: u16,
    pub(super) fields: Fields,
    pub(super) requested: Instant,
    pub(super) received: Instant,
    pub(super) handled: Handled,
}

impl Exchange<'_> {
    /// The answer.
    pub(super) async fn answer(&self, ctx: &Context) -> Result<Response, JsValue> {
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
            let (fields, handled) = (Fields::default(), Handled::default());
            return self.say_that(504, Said::Nothing, fields, None, handled);
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
                let place = place.unwrap_or_else(|| self.asked.place());
                leasing.ask(&place).await
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
        let handled = Handled {
            forwarded: Some(why),
            collapsed: true,
            ttl: Some(found.entry.ttl(now)),
            ..Handled::default()
        };
        Some(self.serve(found, now, handled, None).await)
    }

    fn purges(&self) -> &Purges {
        &self.cache.isolate.edition.purges
    }

    /// Serves what is stored, without asking anybody.
    async fn hit(&self, found: Found, now: Instant) -> Result<Response, JsValue> {
        self.cache.tally(|counts| counts.hits += 1);
        let handled = Handled {
            hit: true,
            ttl: Some(found.entry.ttl(now)),
            ..Handled::default()
        };
        self.serve(found, now, handled, None).await
    }

    /// The reply from a stored answer. `cookie` is one that came with its confirmation.
    pub(super) async fn serve(
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
        let body = found.body.filter(|body| {
            if !reply.with_body {
                // Nobody waits for it.
                drop(body.cancel());
            }
            reply.with_body
        });
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
                let handled = Handled {
                    forwarded: Some(why),
                    status: answer.ok().map(|answer| answer.status),
                    ttl: Some(found.entry.ttl(now)),
                    ..Handled::default()
                };
                return self.serve(found, now, handled, None).await;
            }
            // The promise of RFC 9111 section 5.2.2.2.
            (Err(_), Some(found)) if found.entry.strict => {
                let handled = Handled {
                    forwarded: Some(why),
                    ..Handled::default()
                };
                return self.say(504, Fields::default(), None, handled);
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

    /// Sends the request on with changed fields.
    pub(super) async fn forward(
        &self,
        changes: &[(&str, Option<String>)],
        why: Forwarded,
    ) -> Result<Answer, JsValue> {
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
        let lines = binding::all_fields(&answered.response)?;
        let status = answered.response.status();
        Ok(Answer {
            status,
            fields: Fields::parse(&lines),
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
                let outcome = match is_error(status) {
                    true => Outcome::Failed,
                    false => Outcome::NotStored,
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
        let (ours, theirs) = cache_store::tee(body)?;
        let (cache, asked) = (self.cache.clone(), self.asked.clone());
        ctx.wait_until(async move {
            let outcome = cache.store(&asked, entry, variants, ours).await;
            finish(lead, outcome).await;
        });
        self.say(status, fields, theirs, handled)
    }
}
