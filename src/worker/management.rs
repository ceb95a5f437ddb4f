//! Requests to the API: recognised before any room is, refused here where the token does not allow
//! them, and else answered by the control object.

use std::time::Duration;

use wasm_bindgen_futures::JsFuture;
use web_sys::{Request, Response};
use worker::Env;

use super::configuration::Configured;
use super::url::{authority, host_of, target};
use super::{answer, binding, call, clock, log, tiers};
use crate::control::api::{self, MOST_BODY};
use crate::control::message::{Ask, Call, Reply};
use crate::log::{Entry, clean};

/// The object may have to ask a room.
const PATIENCE: Duration = Duration::from_secs(10);

impl Configured {
    /// Whether a URL is the API's: then no room covers it.
    pub(super) fn is_api(&self, url: &str) -> bool {
        let (path, _) = target(url);
        let access = self.access.as_ref();
        access.is_some_and(|access| access.covers(host_of(url), path))
    }
}

/// Answers a request to the API.
pub(super) async fn answer(
    configured: &Configured,
    request: Request,
    url: &str,
    env: &Env,
) -> Response {
    let (path, query) = target(url);
    let scheme = url.split("://").next().unwrap_or_default();
    let read = |name: &str| request.headers().get(name).ok().flatten();
    let mut call = Call {
        method: request.method(),
        origin: format!("{scheme}://{}", authority(url)),
        path: path.to_owned(),
        query: query.to_owned(),
        authorization: read("Authorization"),
        content_type: read("Content-Type"),
        body: Some(String::new()),
    };
    // A stranger's body is not even read, and the object never hears of them.
    let known = api::Request::from(call.clone());
    if let Some(access) = &configured.access {
        let mut buckets = configured.buckets.borrow_mut();
        if let Some(refusal) = access.refusal(&mut buckets, &known, clock::now()) {
            return written(&Reply::from(refusal));
        }
    }
    if let Some(access) = &configured.access
        && let Some(question) = access.about_tiers(&known)
    {
        let answer = match question {
            Ok(question) => tiers::explain(&question, env).await,
            Err(answer) => answer,
        };
        return written(&Reply::from(answer));
    }
    call.body = body(&request, read("Content-Length")).await;
    match call::control(env, &Ask::Api(call), PATIENCE).await {
        Ok(text) => match serde_json::from_str(&text) {
            Ok(reply) => written(&reply),
            Err(error) => unavailable(&error.to_string()),
        },
        Err(error) => unavailable(&error.to_string()),
    }
}

/// The body as text; none if it is too long, or not to be had.
async fn body(request: &Request, length: Option<String>) -> Option<String> {
    let length = length.and_then(|length| length.parse::<usize>().ok());
    if length.is_some_and(|length| length > MOST_BODY) {
        return None;
    }
    let text = JsFuture::from(request.text().ok()?)
        .await
        .ok()?
        .as_string()?;
    Some(text).filter(|text| text.len() <= MOST_BODY)
}

/// The object gives no answer. Whether a change was made is then not known.
fn unavailable(message: &str) -> Response {
    let reason = clean(message);
    log::write(&Entry::ApiFailed { reason });
    written(&Reply::from(api::Answer::unavailable()))
}

fn written(reply: &Reply) -> Response {
    let mut head = String::new();
    for (name, value) in &reply.headers {
        if !value.contains(['\n', '\r']) {
            head.extend([name, ":", value, "\n"]);
        }
    }
    let body = Some(reply.body.as_str()).filter(|body| !body.is_empty());
    binding::respond(reply.status, &head, None, body).unwrap_or_else(|_| answer::failed())
}
