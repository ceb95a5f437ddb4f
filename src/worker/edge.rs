//! A request for a covered URL that cannot pass at once: whom it asks, who answers.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::select;
use wasm_bindgen::JsValue;
use web_sys::Response;
use worker::{Context, Delay, Env};

use super::answer;
use super::covered::Covered;
use super::{call, clock, reserve};
use crate::gate::answer::Asked;
use crate::gate::cookie;
use crate::gate::cors::Cors;
use crate::gate::decision::{self, Change, Kind, Outcome, Step};
use crate::gate::header;
use crate::gate::intent::Intent;
use crate::gate::token::{Standing, Token};
use crate::room::message::Message;
use crate::room::number::TicketId;
use crate::room::snapshot::Snapshot;
use crate::time::Instant;

/// A visitor who needs an answer from the room waits for it so long and no longer.
pub(super) const ARRIVAL_PATIENCE: Duration = Duration::from_secs(3);

/// A request that finds a snapshot too old waits so long for a new one, then uses what it has.
const LOOK_PATIENCE: Duration = Duration::from_millis(300);

/// A covered request with all that its answer depends on.
pub(super) struct Prepared {
    pub(super) covered: Covered,
    pub(super) intent: Intent,
    pub(super) is_safe: bool,
    pub(super) refusal: Option<Kind>,
    pub(super) redirect: Option<String>,
    pub(super) host: String,
    pub(super) path: String,
    pub(super) leave_url: String,
    pub(super) accept: Option<String>,
    pub(super) accept_language: Option<String>,
    pub(super) origin: Option<String>,
    pub(super) is_embedded: bool,
}

impl Prepared {
    /// Answers. Whatever goes wrong on the way, a panic included, the visitor gets an answer.
    pub(super) async fn answer(mut self, env: &Env, ctx: &Context) -> Response {
        match AssertUnwindSafe(self.respond(env, ctx))
            .catch_unwind()
            .await
        {
            Ok(Ok(response)) => response,
            Ok(Err(error)) => self.no_answer(&error),
            Err(_panic) => self.error(503, "Something went wrong here. Try again.\n"),
        }
    }

    async fn respond(&mut self, env: &Env, ctx: &Context) -> Result<Response, JsValue> {
        if let Some(location) = &self.redirect {
            return Ok(self.redirect_to(location));
        }
        self.be_informed(env, ctx).await;
        let snapshot = self
            .covered
            .memory(|room| room.snapshot().cloned())
            .flatten();
        self.covered.visitor = self.covered.visitor.checked(snapshot.as_deref());
        let request = self.request(snapshot.as_deref());
        let step = match self.refusal {
            Some(kind) => request.refuse(kind),
            None => request.decide(),
        };
        match step {
            Step::Pass => self.pass(env, None).await,
            Step::PassAndRenew(number, incarnation) => {
                self.pass_and_renew(env, ctx, number, incarnation).await
            }
            Step::Admit(pass) => {
                // No await lies between the look at the reservation and here.
                self.covered.memory(|room| room.reserved.take());
                self.note_newcomer(env, ctx);
                self.pass(env, Some(pass)).await
            }
            Step::Preflight => Ok(self.preflight()),
            Step::Answer(answer) => Ok(self.say(&answer, snapshot.as_deref())),
            Step::Ask(message) => {
                if let Message::Arrive {
                    returning: false, ..
                } = message
                {
                    self.note_newcomer(env, ctx);
                }
                let (outcome, snapshot) = self.ask(env, message, &request, snapshot.clone()).await;
                match outcome {
                    Outcome::Pass(standing) => self.pass(env, standing).await,
                    Outcome::Answer(answer) => Ok(self.say(&answer, snapshot.as_deref())),
                }
            }
        }
    }

    fn request<'a>(&self, snapshot: Option<&'a Snapshot>) -> decision::Request<'a> {
        let covered = &self.covered;
        decision::Request {
            room: covered.room,
            intent: self.intent,
            is_listed_origin: self.cors().is_allowed(),
            visitor: covered.visitor,
            snapshot,
            reachable: covered.memory(|room| room.is_reachable()) != Some(false),
            now: covered.now,
            // The top bit belongs to the ledger.
            new_ticket: TicketId::new(random() >> 1),
            reserved: covered
                .memory(|room| room.next_reserved(covered.now))
                .flatten(),
        }
    }

    /// Renews the snapshot: in the background, or at once where the decision rests on an old one.
    async fn be_informed(&self, env: &Env, ctx: &Context) {
        let covered = &self.covered;
        let (is_stale, queues) = covered
            .memory(|room| {
                let queues = room.snapshot().is_some_and(|snapshot| snapshot.queueing);
                (room.is_stale(covered.now), queues)
            })
            .unwrap_or_default();
        let rests_on_it = match covered.standing() {
            Some(Standing::Waiting { .. }) => true,
            Some(Standing::Admitted { .. } | Standing::Ticket { .. }) => false,
            None => queues,
        };
        let refresh = covered.refresh_if_due(env, ctx, rests_on_it);
        if let Some(is_done) = refresh
            && rests_on_it
            && is_stale
        {
            // In time or not: what is known by then is used.
            select(is_done, Delay::from(LOOK_PATIENCE)).await;
        }
    }

    fn note_newcomer(&self, env: &Env, ctx: &Context) {
        let now = self.covered.now;
        if self.covered.memory(|room| room.note_newcomer(now)) == Some(true) {
            ctx.wait_until(reserve::keep(env.clone(), self.covered.way()));
        }
    }

    async fn ask(
        &self,
        env: &Env,
        message: Message,
        request: &decision::Request<'_>,
        known: Option<Arc<Snapshot>>,
    ) -> (Outcome, Option<Arc<Snapshot>>) {
        let Covered { isolate, index, .. } = self.covered;
        if self
            .covered
            .memory(|room| room.is_resting(self.covered.now))
            == Some(true)
        {
            return (request.unanswered(), known);
        }
        #[cfg(feature = "planted-panic")]
        super::planted::note(&self.covered.request);
        match call::ask(
            env,
            &self.covered.way(),
            message,
            known.as_ref(),
            ARRIVAL_PATIENCE,
        )
        .await
        {
            Ok((reply, snapshot)) => {
                isolate.heard(index, Arc::clone(&snapshot));
                (request.settle(reply, &snapshot), Some(snapshot))
            }
            Err(error) => {
                isolate.unheard(index, &error);
                (request.unanswered(), known)
            }
        }
    }

    /// The answer of ours.
    fn say(&self, answer: &decision::Answer, snapshot: Option<&Snapshot>) -> Response {
        let Covered { isolate, room, .. } = self.covered;
        if let Change::Set(Standing::Waiting { number, .. }) = answer.cookie {
            self.covered.memory(|room| room.note_poll(number));
        }
        let mut written = answer.write(room, &isolate.pages, snapshot, &self.asked());
        match answer.cookie {
            Change::Keep => {}
            Change::Set(standing) => {
                written
                    .fields
                    .push(("Set-Cookie", self.cookie(standing).into()));
            }
            Change::Clear => written.fields.push(("Set-Cookie", self.no_cookie().into())),
        }
        answer::respond(written.status, &written.fields, &written.body)
    }

    fn asked(&self) -> Asked<'_> {
        Asked {
            intent: self.intent,
            is_safe: self.is_safe,
            host: &self.host,
            path: &self.path,
            leave_url: &self.leave_url,
            accept: self.accept.as_deref(),
            accept_language: self.accept_language.as_deref(),
            origin: self.origin.as_deref(),
        }
    }

    fn cors(&self) -> Cors<'_> {
        Cors::new(&self.covered.room.allowed_origins, self.origin.as_deref())
    }

    fn preflight(&self) -> Response {
        let read = |name: &str| self.covered.fields.read(name);
        let cors = self.cors();
        let method = read("Access-Control-Request-Method").unwrap_or_default();
        let names = read("Access-Control-Request-Headers");
        let mut fields = cors.preflight(&method, names.as_deref());
        fields.push((header::STATUS, "preflight".into()));
        fields.push(("Cache-Control", "no-store".into()));
        answer::respond(204, &fields, "")
    }

    fn redirect_to(&self, location: &str) -> Response {
        let mut fields = self.cors().answer();
        fields.push((header::STATUS, "redirect".into()));
        fields.push(("Cache-Control", "no-store".into()));
        fields.push(("Location", location.into()));
        answer::respond(308, &fields, "")
    }

    /// The answer when the origin gives none. It takes the visitor's pass along like any other, or
    /// the slot that was just granted would be nobody's.
    pub(super) fn no_answer(&self, error: &JsValue) -> Response {
        worker::console_error!("origin: {error:?}");
        self.error(502, "The site cannot be reached just now.\n")
    }

    fn error(&self, status: u16, text: &str) -> Response {
        answer::error(status, text, self.cors().answer())
    }

    /// The `Set-Cookie` that gives the visitor what they now hold.
    pub(super) fn cookie(&self, standing: Standing) -> String {
        let Covered {
            room,
            keys,
            https,
            binding,
            ..
        } = self.covered;
        let token = Token {
            standing,
            binding,
            embedded: self.is_embedded(),
        };
        // The token says whole seconds, so its cookie lives for the difference of those.
        let ends = Instant::from_secs(standing.expires().as_secs());
        let life = ends.since(Instant::from_secs(clock::now().as_secs()));
        cookie::set_cookie(
            &room.cookie,
            &keys.sign(&room.id, &token),
            life,
            https,
            token.embedded,
        )
    }

    pub(super) fn no_cookie(&self) -> String {
        cookie::clear_cookie(
            &self.covered.room.cookie,
            self.covered.https,
            self.is_embedded(),
        )
    }

    fn is_embedded(&self) -> bool {
        self.is_embedded
            || self
                .covered
                .visitor
                .token
                .is_some_and(|token| token.embedded)
    }
}

/// 64 random bits. Without a source of them the clock has to do: a ticket's id is no secret, it only
/// has to be no other visitor's.
pub(super) fn random() -> u64 {
    getrandom::u64().unwrap_or_else(|_| clock::now().as_millis() << 20)
}
