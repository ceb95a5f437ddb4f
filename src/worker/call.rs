//! Calls to a room's object, each with a time-out.

use std::pin::pin;
use std::time::Duration;

use futures_util::future::{Either, select};
use wasm_bindgen::JsValue;
use worker::{Delay, Env, Method, RequestInit};

use crate::room::message::{Message, Reply, Request, Response, VERSION};
use crate::room::snapshot::Snapshot;
use crate::site::room::RoomId;

/// The Durable Object namespace of the rooms.
const BINDING: &str = "ROOM";

/// A Durable Object ignores the host; the URL must be absolute all the same.
const URL: &str = "https://room/";

/// Why a call has no answer. All three mean the same to a visitor; the log tells them apart.
#[derive(Debug, thiserror::Error)]
pub(super) enum Unanswered {
    /// No answer in time.
    #[error("no answer within {0:?}")]
    TimedOut(Duration),
    /// The runtime or the object has failed.
    #[error("{0}")]
    Failed(String),
    /// The object answers in a way that this version does not understand.
    #[error("answer not understood: {0}")]
    NotUnderstood(String),
}

/// Sends one message and waits for its reply, for `patience` at most, time-outs of a second attempt
/// included: a stub stays broken once its object was reset, so a failed call is repeated once with a
/// new stub. That is safe, because every message is idempotent.
pub(super) async fn ask(
    env: &Env,
    room: &RoomId,
    message: Message,
    patience: Duration,
) -> Result<(Reply, Snapshot), Unanswered> {
    let request = Request::of(message);
    let response = within(patience, async {
        match send(env, room, &request).await {
            Ok(response) => Ok(response),
            // More of the same helps nobody who is overloaded.
            Err(Unanswered::Failed(why)) if why.contains("overloaded") => {
                Err(Unanswered::Failed(why))
            }
            Err(_first) => send(env, room, &request).await,
        }
    })
    .await?;
    let reply = response.replies.first().copied();
    let missing = || Unanswered::NotUnderstood("no reply to the message".to_owned());
    Ok((reply.ok_or_else(missing)?, response.snapshot))
}

/// Sends several messages and waits for their replies.
pub(super) async fn exchange(
    env: &Env,
    room: &RoomId,
    request: &Request,
    patience: Duration,
) -> Result<Response, Unanswered> {
    within(patience, send(env, room, request)).await
}

/// Sends a report and waits for the snapshot that comes back.
pub(super) async fn look(
    env: &Env,
    room: &RoomId,
    report: &Request,
    patience: Duration,
) -> Result<Snapshot, Unanswered> {
    Ok(within(patience, send(env, room, report)).await?.snapshot)
}

async fn within<T>(
    patience: Duration,
    call: impl Future<Output = Result<T, Unanswered>>,
) -> Result<T, Unanswered> {
    match select(pin!(call), Delay::from(patience)).await {
        Either::Left((result, _)) => result,
        Either::Right(_) => Err(Unanswered::TimedOut(patience)),
    }
}

async fn send(env: &Env, room: &RoomId, request: &Request) -> Result<Response, Unanswered> {
    let failed = |error: worker::Error| Unanswered::Failed(error.to_string());
    let body = serde_json::to_string(request)
        .map_err(|error| Unanswered::NotUnderstood(error.to_string()))?;
    #[cfg(feature = "planted-panic")]
    let body = super::planted::message(body);
    let stub = env
        .durable_object(BINDING)
        .and_then(|namespace| namespace.get_by_name(room.as_str()))
        .map_err(failed)?;
    let mut init = RequestInit::new();
    init.with_method(Method::Post)
        .with_body(Some(JsValue::from_str(&body)));
    let request = worker::Request::new_with_init(URL, &init).map_err(failed)?;
    let mut answer = stub.fetch_with_request(request).await.map_err(failed)?;
    let status = answer.status_code();
    let text = answer.text().await.map_err(failed)?;
    if status != 200 {
        return Err(Unanswered::Failed(format!("{status}: {text}")));
    }
    let response: Response = serde_json::from_str(&text)
        .map_err(|error| Unanswered::NotUnderstood(error.to_string()))?;
    if response.version > VERSION {
        return Err(Unanswered::NotUnderstood(format!(
            "version {}",
            response.version
        )));
    }
    Ok(response)
}
