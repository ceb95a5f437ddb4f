//! Stored answers that upstream confirms, before a visitor gets them or behind.

use std::panic::AssertUnwindSafe;

use futures_util::FutureExt;
use wasm_bindgen::JsValue;
use web_sys::{ReadableStream, Request, Response};
use worker::Context;

use super::cache::Cache;
use super::cache_store::{self, Found};
use super::exchange::{Answer, Exchange};
use super::leasing::{Lead, finish};
use super::{clock, log};
use crate::cache::asked::Asked;
use crate::cache::entry::{Entry, NotStored};
use crate::cache::key::Variants;
use crate::cache::status::Forwarded;
use crate::cache::validation::is_error;
use crate::log::{Entry as Line, clean};
use crate::tier::lease::Outcome;
use crate::time::Instant;

impl Exchange<'_> {
    /// What is stored is as it was: it is served and kept with what the confirmation says.
    pub(super) async fn confirmed(
        &self,
        mut found: Found,
        answer: Answer,
        variants: Option<Variants>,
        lead: Option<Lead>,
        ctx: &Context,
    ) -> Result<Response, JsValue> {
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
        let keep = Kept {
            cache: self.cache.clone(),
            asked: self.asked.clone(),
            place: found.place.clone(),
            variants,
        };
        let whole = match why_not {
            None if found.part.is_none() => {
                let (ours, theirs) = cache_store::tee(found.body.take())?;
                found.body = theirs;
                Some(ours)
            }
            _ => None,
        };
        let confirmed = entry.clone();
        ctx.wait_until(async move {
            let outcome = match whole {
                Some(body) => keep.replaced(confirmed, body).await,
                None => keep.confirmed(confirmed, why_not).await,
            };
            finish(lead, outcome).await;
        });
        let mut found = Found { entry, ..found };
        if let Some(before) = fields.get("cache-status") {
            found.entry.fields.set("cache-status", before);
        }
        let cookie = fields.get("set-cookie");
        self.serve(found, now, handled, cookie).await
    }

    /// Renews an answer that is served stale, behind it.
    pub(super) fn renew_behind(
        &self,
        found: &Found,
        variants: Option<Variants>,
        now: Instant,
        ctx: &Context,
    ) {
        let isolate = self.cache.isolate.clone();
        let place = found.place.clone();
        if isolate.caching(|memory| memory.start_renewal(&place, now)) != Some(true) {
            return;
        }
        let renewal = Renewal {
            request: Clone::clone(&self.request),
            entry: found.entry.clone(),
            kept: Kept {
                cache: self.cache.clone(),
                asked: self.asked.for_everybody(),
                place: place.clone(),
                variants,
            },
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

/// A stored answer, for what is done with it behind the visitor's.
struct Kept {
    cache: Cache,
    asked: Asked<'static>,
    place: String,
    variants: Option<Variants>,
}

/// The renewal of an answer behind the one that was served.
struct Renewal {
    request: Request,
    entry: Entry,
    kept: Kept,
}

impl Kept {
    /// Stores what was confirmed, unless there is a reason why not any longer. The cache cannot change the
    /// fields of what it holds, so the body is put there once more.
    async fn confirmed(self, entry: Entry, why_not: Option<NotStored>) -> Outcome {
        if why_not.is_some() {
            cache_store::remove(vec![self.place]).await;
            return Outcome::NotStored;
        }
        match cache_store::answer(&self.place, None).await {
            Some(whole) => self.replaced(entry, whole.body).await,
            None => Outcome::Failed,
        }
    }

    async fn replaced(self, entry: Entry, body: Option<ReadableStream>) -> Outcome {
        let Self {
            cache,
            asked,
            variants,
            ..
        } = self;
        cache.store(&asked, entry, variants, body).await
    }
}

impl Renewal {
    async fn run(self) -> Result<(), JsValue> {
        let Self {
            request,
            entry,
            kept,
        } = self;
        let exchange = Exchange {
            cache: &kept.cache,
            asked: kept.asked.clone(),
            request,
        };
        let mut changes = exchange.asked.conditions(&entry);
        if changes.is_empty() {
            // The visitor's own conditions and range are no concern of the cache's.
            let own = ["if-none-match", "if-modified-since", "range", "if-range"];
            changes = own.map(|name| (name, None)).into();
        }
        let answer = exchange.forward(&changes, Forwarded::Stale).await?;
        let (fields, requested, received) = (&answer.fields, answer.requested, answer.received);
        if answer.status == 304 {
            if entry.is_confirmed_by(fields) {
                let (entry, why_not) = entry.confirmed(&kept.asked, fields, requested, received);
                kept.confirmed(entry, why_not).await;
            }
            return Ok(());
        }
        if is_error(answer.status) {
            return Ok(());
        }
        let entry = Entry::of(&kept.asked, answer.status, fields, requested, received);
        match entry {
            Ok(entry) if cache_store::fits(&entry) => {
                kept.replaced(entry, answer.response.body()).await;
            }
            // What was stored is no longer what the origin says to everybody.
            _ => cache_store::remove(vec![kept.place]).await,
        }
        Ok(())
    }
}
