//! Calls to a room's object, each with a time-out: directly, or through a relay while the room says
//! that it is too busy for direct ones.

use std::sync::Arc;
use std::time::Duration;

use wasm_bindgen::JsValue;
use wasm_bindgen_futures::JsFuture;
use worker::Env;

use super::configuration::CONTROL;
use super::isolate::Isolate;
use super::{binding, clock, log};
use crate::control::atlas;
use crate::control::message::{self as control, Ask, Policy};
use crate::log::{Entry, clean};
use crate::room::figures::told::{self, QUESTION, Question};
use crate::room::message::{Message, Reply, Request, Response, VERSION};
use crate::room::snapshot::Snapshot;
use crate::site::room::RoomId;
use crate::tier::{lease, tally};
use crate::time::Span;

/// The Durable Object namespaces of rooms, relays and the atlas.
const ROOMS: &str = "ROOM";
const RELAYS: &str = "RELAY";
pub(super) const ATLAS: &str = "ATLAS";
/// That of the leases of upper tiers.
const LEASES: &str = "LEASE";
/// That of the sum of what was counted.
pub(super) const TALLY: &str = "TALLY";

/// A relay gets this share of the patience; the rest is for the room.
const RELAYS_THIRDS: u32 = 2;

/// The way to a room.
pub(super) struct Way {
    pub(super) isolate: Isolate,
    pub(super) index: usize,
    pub(super) room: RoomId,
    /// The relay to go through.
    pub(super) relay: Option<String>,
}

impl Way {
    /// The way to take now. `colo` is asked for the data centre if a relay is to be found there.
    pub(super) fn find(
        isolate: &Isolate,
        index: usize,
        room: &RoomId,
        colo: impl FnOnce() -> Option<String>,
    ) -> Self {
        let now = clock::now();
        let shards = isolate.edition.memory(index, |room| room.relays(now));
        let shards = shards.flatten();
        let relay = shards.map(|shards| {
            // Locally there is no data centre.
            let colo = colo().unwrap_or_else(|| "local".to_owned());
            let shard = getrandom::u32().unwrap_or_default() % shards.max(1);
            format!("{room}/{colo}/{shard}")
        });
        Self {
            isolate: isolate.clone(),
            index,
            room: room.clone(),
            relay,
        }
    }
}

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

impl Unanswered {
    /// Whether asking again at once may help: the stub may have been that of an object that was
    /// reset, but more of the same helps nobody who is overloaded.
    fn is_worth_repeating(&self) -> bool {
        !matches!(self, Self::TimedOut(_)) && !self.to_string().contains("overloaded")
    }
}

/// Sends one message and waits for its reply, for `patience` at most, further attempts included:
/// they are safe, because every message is idempotent. The snapshot is the room's, or the one that
/// is `known` if the room has nothing to add to it.
pub(super) async fn ask(
    env: &Env,
    way: &Way,
    message: Message,
    known: Option<&Arc<Snapshot>>,
    patience: Duration,
) -> Result<(Reply, Arc<Snapshot>), Unanswered> {
    let (replies, snapshot) = exchange(env, way, &[message], known, patience).await?;
    let missing = || Unanswered::NotUnderstood("no reply to the message".to_owned());
    Ok((replies.first().copied().ok_or_else(missing)?, snapshot))
}

/// Sends several messages and waits for their replies, and the snapshot as [`ask`] has it.
pub(super) async fn exchange(
    env: &Env,
    way: &Way,
    messages: &[Message],
    known: Option<&Arc<Snapshot>>,
    patience: Duration,
) -> Result<(Vec<Reply>, Arc<Snapshot>), Unanswered> {
    let request = Request {
        version: VERSION,
        messages: messages.to_vec(),
        knows: known.map(|known| known.stamp()),
        ..Request::default()
    };
    let response = travel(env, way, request, patience).await?;
    let snapshot = snapshot_of(&response, known)?;
    Ok((response.replies, snapshot))
}

/// Sends a report and waits for the snapshot that comes back.
pub(super) async fn look(
    env: &Env,
    way: &Way,
    report: Request,
    known: Option<&Arc<Snapshot>>,
    patience: Duration,
) -> Result<Arc<Snapshot>, Unanswered> {
    snapshot_of(&travel(env, way, report, patience).await?, known)
}

/// A request goes the way; when the relay on it fails, to the room itself.
async fn travel(
    env: &Env,
    way: &Way,
    mut request: Request,
    patience: Duration,
) -> Result<Response, Unanswered> {
    let begin = clock::now();
    request.configuration = way.isolate.edition.version;
    if let Some(relay) = &way.relay {
        match send(env, RELAYS, relay, &request, patience * RELAYS_THIRDS / 3).await {
            Ok(response) => return Ok(response),
            Err(error) => {
                let reason = clean(&error.to_string());
                log::write(&Entry::RelayFailed { relay, reason });
                let now = clock::now();
                let edition = &way.isolate.edition;
                edition.memory(way.index, |room| room.relay_fail(now));
            }
        }
    }
    let spent = clock::now().since(begin);
    pass_on(env, &way.room, &request, rest(patience, spent)).await
}

fn snapshot_of(
    response: &Response,
    known: Option<&Arc<Snapshot>>,
) -> Result<Arc<Snapshot>, Unanswered> {
    let is_of_this_life = |known: &&Arc<Snapshot>| response.life() == Some(known.incarnation);
    let snapshot = response.snapshot.as_ref();
    let snapshot = snapshot.or(known.filter(is_of_this_life));
    let missing = || Unanswered::NotUnderstood("no snapshot".to_owned());
    snapshot.cloned().ok_or_else(missing)
}

/// Sends a request to the room itself, and once more, with a new stub, if that fails.
pub(super) async fn pass_on(
    env: &Env,
    room: &RoomId,
    request: &Request,
    patience: Duration,
) -> Result<Response, Unanswered> {
    let begin = clock::now();
    match send(env, ROOMS, room.as_str(), request, patience).await {
        Err(error) if error.is_worth_repeating() => {
            let rest = rest(patience, clock::now().since(begin));
            send(env, ROOMS, room.as_str(), request, rest).await
        }
        outcome => outcome,
    }
}

fn rest(patience: Duration, spent: Span) -> Duration {
    patience.saturating_sub(Duration::from_millis(spent.as_millis()))
}

/// Asks the control object, for `patience` at most, and once more, with a new stub, if that fails. A
/// request to the API is never said twice: what it creates would be created twice.
pub(super) async fn control(
    env: &Env,
    question: &Ask,
    patience: Duration,
) -> Result<String, Unanswered> {
    let begin = clock::now();
    let body = serde_json::to_string(question).map_err(not_understood)?;
    match say(env, CONTROL, control::NAME, &body, patience).await {
        Err(error) if error.is_worth_repeating() && !matches!(question, Ask::Api(_)) => {
            let rest = rest(patience, clock::now().since(begin));
            say(env, CONTROL, control::NAME, &body, rest).await
        }
        outcome => outcome,
    }
}

/// Asks the object of the atlas, once: what it does is not to be done twice.
pub(super) async fn atlas(
    env: &Env,
    question: &atlas::Ask,
    patience: Duration,
) -> Result<String, Unanswered> {
    let body = serde_json::to_string(question).map_err(not_understood)?;
    say(env, ATLAS, atlas::NAME, &body, patience).await
}

/// Tells a room what it is to go by, for `patience` at most.
pub(super) async fn govern(
    env: &Env,
    room: &RoomId,
    policy: &Policy,
    patience: Duration,
) -> Result<(), Unanswered> {
    let body = serde_json::to_string(policy).map_err(not_understood)?;
    let body = format!("{}{body}", control::POLICY);
    say(env, ROOMS, room.as_str(), &body, patience)
        .await
        .map(drop)
}

/// Asks a room something for its operator.
pub(super) async fn question(
    env: &Env,
    room: &RoomId,
    question: &Question,
    patience: Duration,
) -> Result<told::Answer, Unanswered> {
    let body = serde_json::to_string(question).map_err(not_understood)?;
    let body = format!("{QUESTION}{body}");
    let text = say(env, ROOMS, room.as_str(), &body, patience).await?;
    serde_json::from_str(&text).map_err(not_understood)
}

/// Says something to an object that keeps leases. What it answers to who has finished means nothing.
pub(super) async fn lease(
    env: &Env,
    object: &str,
    message: &lease::Message,
    patience: Duration,
) -> Result<lease::Grant, Unanswered> {
    let body = serde_json::to_string(message).map_err(not_understood)?;
    let text = say(env, LEASES, object, &body, patience).await?;
    serde_json::from_str(&text).map_err(not_understood)
}

/// Tells the object that keeps the sum of counts what this isolate has counted, or asks it for the sum.
pub(super) async fn tally(
    env: &Env,
    message: &tally::Message,
    patience: Duration,
) -> Result<tally::Tally, Unanswered> {
    let body = serde_json::to_string(message).map_err(not_understood)?;
    let text = say(env, TALLY, "all", &body, patience).await?;
    serde_json::from_str(&text).map_err(not_understood)
}

async fn send(
    env: &Env,
    namespace: &str,
    name: &str,
    request: &Request,
    patience: Duration,
) -> Result<Response, Unanswered> {
    let body = serde_json::to_string(request).map_err(not_understood)?;
    #[cfg(feature = "planted-panic")]
    let body = super::planted::message(body);
    let text = say(env, namespace, name, &body, patience).await?;
    let response: Response = serde_json::from_str(&text).map_err(not_understood)?;
    if response.version > VERSION {
        let version = format!("version {}", response.version);
        return Err(Unanswered::NotUnderstood(version));
    }
    Ok(response)
}

/// Says a text to an object and waits for the text that it says.
async fn say(
    env: &Env,
    namespace: &str,
    name: &str,
    body: &str,
    patience: Duration,
) -> Result<String, Unanswered> {
    let failed = |error: JsValue| Unanswered::Failed(binding::message_of(error));
    let namespace = js_sys::Reflect::get(env, &JsValue::from_str(namespace)).map_err(failed)?;
    let milliseconds = u32::try_from(patience.as_millis()).unwrap_or(u32::MAX);
    let answer = binding::ask(&namespace, name, body, milliseconds, None);
    let answer = JsFuture::from(answer).await.map_err(failed)?;
    answer.as_string().ok_or(Unanswered::TimedOut(patience))
}

fn not_understood(error: serde_json::Error) -> Unanswered {
    Unanswered::NotUnderstood(error.to_string())
}
