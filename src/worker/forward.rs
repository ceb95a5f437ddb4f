//! To the origin and back.

use std::panic::AssertUnwindSafe;

use js_sys::{Array, Promise};
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::{JsFuture, future_to_promise};
use web_sys::{Request, RequestInit, Response, ResponseInit};
use worker::Context;

use super::binding;
use super::cache::{self, Cache};
use super::headers::names;
use super::isolate::Isolate;
use crate::gate::header;
use crate::origin::storage::private;
use crate::tier::marker;

/// Header fields of an answer that would let a shared cache store it in spite of `Cache-Control`.
const FOR_SHARED_CACHES: [&str; 3] = [
    "CDN-Cache-Control",
    "Cloudflare-CDN-Cache-Control",
    "Surrogate-Control",
];

thread_local! {
    static REMOVED: Array = names(&FOR_SHARED_CACHES);
}

/// Hands the request to the origin and the origin's answer back, both as they are; or through the cache,
/// where its host is cached.
pub(super) fn plainly(
    isolate: &Isolate,
    request: Request,
    url: &str,
    ctx: Context,
) -> Result<Promise, JsValue> {
    let request = if isolate.asserts() && request.headers().has(header::ASSERTION)? {
        // Nobody but us says who was admitted.
        with_fields(&request, &[(header::ASSERTION, None)])?
    } else {
        request
    };
    match isolate.cached_host(url) {
        None => send(isolate, request),
        Some(host) => {
            let cache = Cache::lower(isolate, host, &request);
            let answer = cache::answer(cache, request, ctx);
            let answer = AssertUnwindSafe(async { answer.await.map(Into::into) });
            Ok(future_to_promise(answer))
        }
    }
}

fn send(isolate: &Isolate, request: Request) -> Result<Promise, JsValue> {
    binding::fetch(&redirected(isolate, request)?)
}

/// The same, for whoever has to look at the answer.
pub(super) async fn and_wait(
    isolate: &Isolate,
    request: Request,
    ctx: &Context,
) -> Result<Response, JsValue> {
    match isolate.cached_host_of(&request) {
        None => from_origin(isolate, request).await,
        Some(host) => {
            let cache = Cache::lower(isolate, host, &request);
            cache.fetch(request, ctx).await
        }
    }
}

/// Hands what an upper tier asks to the origin, without what shows that it is one.
pub(super) fn unmarked(isolate: &Isolate, request: &Request) -> Result<Promise, JsValue> {
    let request = with_fields(request, &[(marker::HEADER, None)])?;
    binding::fetch_as_it_comes(&redirected(isolate, request)?)
}

/// The origin's own answer.
pub(super) async fn from_origin(isolate: &Isolate, request: Request) -> Result<Response, JsValue> {
    JsFuture::from(send(isolate, request)?).await?.dyn_into()
}

/// Makes of method and URL what shows that an upper tier asks.
pub(super) type Mark<'a> = &'a dyn Fn(&str, &str) -> Option<String>;

/// The origin's answer for a cache: the body is as it came, compressed or not.
pub(super) async fn as_it_comes(
    isolate: &Isolate,
    request: Request,
    mark: Option<Mark<'_>>,
) -> Result<Response, JsValue> {
    let mut request = redirected(isolate, request)?;
    if let Some(mark) = mark.and_then(|mark| mark(&request.method(), &request.url())) {
        request = with_fields(&request, &[(marker::HEADER, Some(mark))])?;
    }
    JsFuture::from(binding::fetch_as_it_comes(&request)?)
        .await?
        .dyn_into()
}

/// Sends the request to the place that `ORIGIN` names, if it names one: only scheme, host and port
/// of the URL change.
fn redirected(isolate: &Isolate, request: Request) -> Result<Request, JsValue> {
    let Some(origin) = isolate.origin() else {
        return Ok(request);
    };
    let url = request.url();
    let after_scheme = url.find("://").map_or(0, |at| at + 3);
    let rest = url.get(after_scheme..).unwrap_or_default();
    let path = rest.find('/').and_then(|at| rest.get(at..)).unwrap_or("/");
    let url = format!("{}{path}", origin.trim_end_matches('/'));
    // A request has every member of the dictionary that describes one.
    Request::new_with_str_and_init(&url, request.unchecked_ref::<RequestInit>())
}

/// The request with header fields set (`Some`) or removed (`None`).
pub(super) fn with_fields(
    request: &Request,
    fields: &[(&str, Option<String>)],
) -> Result<Request, JsValue> {
    let changed = Request::new_with_request(request)?;
    for (name, value) in fields {
        match value {
            Some(value) => changed.headers().set(name, value)?,
            None => changed.headers().delete(name)?,
        }
    }
    Ok(changed)
}

/// The origin's answer with a cookie of ours appended. No shared cache may store it any more.
pub(super) fn with_cookie(response: &Response, cookie: &str) -> Result<Response, JsValue> {
    let cache_control = response.headers().get("Cache-Control")?;
    let cache_control = private(cache_control.as_deref());
    REMOVED.with(|removed| binding::with_cookie(response, cookie, &cache_control, removed))
}

/// The same answer with a header field set.
pub(super) fn with_field(
    response: &Response,
    name: &str,
    value: &str,
) -> Result<Response, JsValue> {
    let changed = writable(response)?;
    changed.headers().set(name, value)?;
    Ok(changed)
}

/// The origin's answer without a header field.
pub(super) fn without_field(response: &Response, name: &str) -> Result<Response, JsValue> {
    let changed = writable(response)?;
    changed.headers().delete(name)?;
    Ok(changed)
}

/// The same answer with header fields that can be changed. The body goes along as the stream it is.
fn writable(response: &Response) -> Result<Response, JsValue> {
    // A response has every member of the dictionary that describes one.
    let init = response.unchecked_ref::<ResponseInit>();
    Response::new_with_opt_readable_stream_and_init(response.body().as_ref(), init)
}
