//! The data centre's cache as the Worker sees it: places, what lies in them, and what is put there.

use std::time::Duration;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use futures_util::future::{Either, select};
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::{ReadableStream, Response};
use worker::Delay;

use super::binding;
use super::random::random;
use crate::cache::asked::Asked;
use crate::cache::entry::{Entry, LONGEST_KEPT};
use crate::cache::key::{Kept, Variants};
use crate::cache::status::Forwarded;

/// The cache answers within this, or is taken for empty: it lies in the same data centre.
const PATIENCE: Duration = Duration::from_millis(1_000);

/// An answer with more than this put aside is not stored, in bytes: it has to fit a header field.
const MOST_KEPT: usize = 24 << 10;

/// Cloudflare's caches hold no larger body, in bytes.
const LARGEST_BODY: u64 = 512 << 20;

/// A stored answer that was found.
pub(super) struct Found {
    pub(super) entry: Entry,
    /// Its body, or the part of it that was asked for.
    pub(super) body: Option<ReadableStream>,
    /// The `Content-Range` of a part.
    pub(super) part: Option<String>,
    /// Where it lies.
    pub(super) place: String,
}

/// What a look into the cache has found.
pub(super) struct Look {
    /// The answer; else why there is none.
    pub(super) found: Result<Found, Forwarded>,
    /// How answers of the URL vary, if they do.
    pub(super) variants: Option<Variants>,
}

/// Looks for the answer to a request.
pub(super) async fn look(asked: &Asked<'_>) -> Look {
    // What `If-Range` means is known when the answer is.
    let range = asked.range().filter(|_| !asked.fields.has("if-range"));
    let place = asked.place();
    let missed = |why, variants| Look {
        found: Err(why),
        variants,
    };
    match find(&place, range).await {
        Some((Kept::Variants(variants), _)) if variants.url == asked.url => {
            let place = asked.variant(&variants);
            match answer(&place, range).await {
                Some(found) => Look {
                    found: Ok(found),
                    variants: Some(variants),
                },
                None => missed(Forwarded::VaryMiss, Some(variants)),
            }
        }
        Some((Kept::Answer(entry), found)) => {
            let found = Found::new(*entry, found, place, range).await;
            let found = found.ok_or(Forwarded::UriMiss);
            Look {
                found,
                variants: None,
            }
        }
        _ => missed(Forwarded::UriMiss, None),
    }
}

/// The answer that lies in a place.
pub(super) async fn answer(place: &str, range: Option<&str>) -> Option<Found> {
    match find(place, range).await? {
        (Kept::Answer(entry), found) => Found::new(*entry, found, place.to_owned(), range).await,
        (Kept::Variants(_), _) => None,
    }
}

/// A response, and the part that its body is.
type Body = (Response, Option<String>);

impl Found {
    async fn new(entry: Entry, body: Body, place: String, range: Option<&str>) -> Option<Self> {
        // A part of an error is of no use to anybody.
        let (response, part) = match entry.status {
            200 => body,
            _ if range.is_none() => body,
            _ => find(&place, None).await?.1,
        };
        Some(Self {
            entry,
            body: response.body(),
            part,
            place,
        })
    }
}

async fn find(place: &str, range: Option<&str>) -> Option<(Kept, Body)> {
    let looked = JsFuture::from(binding::find(place, range));
    let Either::Left((found, _)) = select(looked, Delay::from(PATIENCE)).await else {
        return None;
    };
    let response: Response = found.ok()?.dyn_into().ok()?;
    let lines = binding::kept(&response).ok()?;
    let (kept, part) = lines.split_once('\n')?;
    let kept = BASE64_STANDARD.decode(kept).ok()?;
    let kept = serde_json::from_slice(&kept).ok()?;
    let part = Some(part.to_owned()).filter(|part| !part.is_empty());
    Some((kept, (response, part)))
}

/// Puts an answer to its place, of which `variants` is known. The future is over when the body is stored,
/// and says where.
///
/// # Errors
/// Why it is not stored.
pub(super) async fn store(
    asked: &Asked<'_>,
    entry: Entry,
    variants: Option<&Variants>,
    body: Option<ReadableStream>,
) -> Result<String, JsValue> {
    let place = match Variants::of(&entry, variants, random()) {
        None => asked.place(),
        Some(now) => {
            let place = asked.variant(&now);
            if Some(&now) != variants {
                let seconds = LONGEST_KEPT.as_secs();
                put(&asked.place(), &Kept::Variants(now), seconds, None, None).await?;
            }
            place
        }
    };
    let seconds = entry.kept_for(asked).as_secs().max(1);
    let length = entry.length();
    let kept = Kept::Answer(Box::new(entry));
    put(&place, &kept, seconds, body, length).await?;
    Ok(place)
}

async fn put(
    place: &str,
    kept: &Kept,
    seconds: u64,
    body: Option<ReadableStream>,
    length: Option<u64>,
) -> Result<(), JsValue> {
    let text = serde_json::to_string(kept).map_err(|error| error.to_string())?;
    let text = BASE64_STANDARD.encode(text);
    let length = length.map(|length| length as f64);
    let put = binding::put(place, &text, seconds as f64, body.as_ref(), length);
    JsFuture::from(put).await.map(drop)
}

/// Whether an answer is small enough to be stored.
pub(super) fn fits(entry: &Entry) -> bool {
    entry.url.len() + entry.fields.lines().len() <= MOST_KEPT
        && entry.length().is_none_or(|length| length <= LARGEST_BODY)
}

/// Empties places, so that a request that follows finds nothing there.
pub(super) async fn remove(places: Vec<String>) {
    let removed = JsFuture::from(binding::remove(places));
    select(removed, Delay::from(PATIENCE)).await;
}

/// Two streams of the bytes of one.
///
/// # Errors
/// The runtime's own.
pub(super) fn tee(
    body: Option<ReadableStream>,
) -> Result<(Option<ReadableStream>, Option<ReadableStream>), JsValue> {
    let Some(body) = body else {
        return Ok((None, None));
    };
    let pair = body.tee();
    let branch = |n| pair.get(n).dyn_into::<ReadableStream>();
    Ok((Some(branch(0)?), Some(branch(1)?)))
}
