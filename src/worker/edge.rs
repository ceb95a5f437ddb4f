//! A request for a covered URL that cannot pass at once: whom it asks, who answers.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures_channel::oneshot;
use futures_util::FutureExt;
use futures_util::future::select;
use wasm_bindgen::JsValue;
use web_sys::Response;
use worker::{Context, Delay, Env};

use super::answer;
use super::covered::Covered;
use super::{clock, joint, log, reserve};
use crate::gate::answer::Asked;
use crate::gate::cookie;
use crate::gate::cors::Cors;
use crate::gate::decision::{self, Change, Kind, Outcome, Step};
use crate::gate::header;
use crate::gate::intent::{self, Intent};
use crate::gate::token::{Standing, Token};
use crate::log::{Entry, clean};
use crate::page::shared::Body;
use crate::room::message::Message;
use crate::room::number::{Incarnation, TicketId, TicketNumber};
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
    /// The id for a new ticket.
    pub(super) new_ticket: TicketId,
}

/// How far a request comes without waiting.
pub(super) enum Begun {
    /// The room's state is on its way, and the decision waits for it.
    Uninformed(oneshot::Receiver<()>),
    /// It is decided.
    Decided(Next),
}

/// What is left to do.
pub(super) enum Next {
    /// Nothing: this is the answer.
    Answer(Response),
    /// The origin is asked.
    Pass,
    /// The origin is asked, and the room to renew the session.
    PassAndRenew(TicketNumber, Incarnation),
    /// The origin is asked, and the newcomer gets this pass.
    Admit(Standing),
    /// The room is asked.
    Ask(Message),
}

impl Prepared {
    /// Does all that needs no waiting. Most answers of ours are complete then, and need no future.
    pub(super) fn begin(&mut self, env: &Env, ctx: &Context) -> Begun {
        if let Some(location) = &self.redirect {
            return Begun::Decided(Next::Answer(self.redirect_to(location)));
        }
        match self.be_informed(env, ctx) {
            Some(news) => Begun::Uninformed(news),
            None => Begun::Decided(self.decide()),
        }
    }

    /// Does the rest. Whatever goes wrong on the way, a panic included, the visitor gets an answer.
    pub(super) async fn finish(mut self, begun: Begun, env: &Env, ctx: &Context) -> Response {
        match AssertUnwindSafe(self.conclude(begun, env, ctx))
            .catch_unwind()
            .await
        {
            Ok(Ok(response)) => response,
            Ok(Err(error)) => self.no_answer(&error),
            Err(_panic) => self.error(503, "Something went wrong here. Try again.\n"),
        }
    }

    async fn conclude(
        &mut self,
        begun: Begun,
        env: &Env,
        ctx: &Context,
    ) -> Result<Response, JsValue> {
        let next = match begun {
            Begun::Uninformed(news) => {
                // In time or not: what is known by then is used.
                select(news, Delay::from(LOOK_PATIENCE)).await;
                self.decide()
            }
            Begun::Decided(next) => next,
        };
        match next {
            Next::Answer(response) => Ok(response),
            Next::Pass => self.pass(env, ctx, None).await,
            Next::PassAndRenew(number, incarnation) => {
                self.pass_and_renew(env, ctx, number, incarnation).await
            }
            Next::Admit(pass) => {
                self.note_newcomer(env, ctx);
                self.pass(env, ctx, Some(pass)).await
            }
            Next::Ask(message) => {
                if let Message::Arrive {
                    returning: false, ..
                } = message
                {
                    self.note_newcomer(env, ctx);
                }
                match self.ask(env, message).await {
                    (Outcome::Pass(standing), _) => self.pass(env, ctx, standing).await,
                    (Outcome::Answer(answer), snapshot) => {
                        Ok(self.say(&answer, snapshot.as_deref()))
                    }
                }
            }
        }
    }

    fn snapshot(&self) -> Option<Arc<Snapshot>> {
        self.covered
            .memory(|room| room.snapshot().cloned())
            .flatten()
    }

    fn decide(&mut self) -> Next {
        let snapshot = self.snapshot();
        self.covered.visitor = self.covered.visitor.checked(snapshot.as_deref());
        let request = self.request(snapshot.as_deref());
        let step = match self.refusal {
            Some(kind) => request.refuse(kind),
            None => request.decide(),
        };
        match step {
            Step::Pass => Next::Pass,
            Step::PassAndRenew(number, incarnation) => Next::PassAndRenew(number, incarnation),
            Step::Admit(pass) => {
                // No await lies between the look at the reservation and here.
                self.covered.memory(|room| room.reserved.take());
                Next::Admit(pass)
            }
            Step::Preflight => Next::Answer(self.preflight()),
            Step::Answer(answer) => Next::Answer(self.say(&answer, snapshot.as_deref())),
            Step::Ask(message) => Next::Ask(message),
        }
    }

    fn request<'a>(&'a self, snapshot: Option<&'a Snapshot>) -> decision::Request<'a> {
        let covered = &self.covered;
        decision::Request {
            room: &covered.room,
            bypassed: covered.bypassed,
            intent: self.intent,
            is_listed_origin: self.cors().is_allowed(),
            visitor: covered.visitor,
            snapshot,
            reachable: covered.memory(|room| room.is_reachable()) != Some(false),
            now: covered.now,
            new_ticket: self.new_ticket,
            reserved: covered
                .memory(|room| room.next_reserved(covered.now))
                .flatten(),
        }
    }

    /// Renews the snapshot in the background. Some: the decision rests on one that is too old, and the
    /// new one is worth a moment.
    fn be_informed(&self, env: &Env, ctx: &Context) -> Option<oneshot::Receiver<()>> {
        let covered = &self.covered;
        let (is_stale, is_useless, queues) = covered
            .memory(|room| {
                let queues = room.snapshot().is_some_and(|snapshot| snapshot.queueing);
                let now = covered.now;
                (room.is_stale(now), room.is_useless(now), queues)
            })
            .unwrap_or_default();
        let rests_on_it = match covered.standing() {
            Some(Standing::Waiting { .. }) => true,
            // Where the origin ends sessions, an isolate that has long heard nothing asks first
            // whether this one still holds.
            Some(Standing::Admitted { .. }) => covered.room.revoke_enabled && is_useless,
            Some(Standing::Ticket { .. }) => false,
            None => queues,
        };
        covered
            .refresh_if_due(env, ctx, rests_on_it)
            .filter(|_| rests_on_it && is_stale)
    }

    fn note_newcomer(&self, env: &Env, ctx: &Context) {
        let covered = &self.covered;
        if covered.memory(|room| room.note_newcomer(covered.now)) == Some(true) {
            ctx.wait_until(reserve::keep(
                env.clone(),
                covered.isolate.clone(),
                covered.index,
                Arc::clone(&covered.room),
                covered.colo(),
            ));
        }
    }

    async fn ask(&self, env: &Env, message: Message) -> (Outcome, Option<Arc<Snapshot>>) {
        let known = self.snapshot();
        let request = self.request(known.as_deref());
        if self
            .covered
            .memory(|room| room.is_resting(self.covered.now))
            == Some(true)
        {
            return (request.unanswered(), known);
        }
        #[cfg(feature = "planted-panic")]
        super::planted::note(&self.covered.fields);
        match joint::ask(env, &self.covered.way(), message, ARRIVAL_PATIENCE).await {
            Some((reply, snapshot)) => (request.settle(reply, &snapshot), Some(snapshot)),
            None => (request.unanswered(), known),
        }
    }

    /// The answer of ours.
    fn say(&self, answer: &decision::Answer, snapshot: Option<&Snapshot>) -> Response {
        let Covered { isolate, room, .. } = &self.covered;
        self.note_answer();
        if let Change::Set(Standing::Waiting { number, .. }) = answer.cookie {
            self.covered.memory(|room| room.note_poll(number));
        }
        let written = answer.write(room, &isolate.edition.pages, snapshot, &self.asked());
        let cookie = match answer.cookie {
            Change::Keep => None,
            Change::Set(standing) => Some(self.cookie(standing)),
            Change::Clear => Some(self.no_cookie()),
        };
        answer::respond(
            written.status,
            &written.fields,
            cookie.as_deref(),
            &written.body,
        )
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
        self.note_answer();
        let read = |name: &str| self.covered.fields.read(name);
        let cors = self.cors();
        let method = read("Access-Control-Request-Method").unwrap_or_default();
        let names = read("Access-Control-Request-Headers");
        let mut fields = cors.preflight(&method, names.as_deref());
        fields.push((header::STATUS, "preflight".into()));
        fields.push(("Cache-Control", "no-store".into()));
        answer::respond(204, &fields, None, &Body::NONE)
    }

    fn note_answer(&self) {
        self.covered
            .count(|counts| counts.answered = counts.answered.saturating_add(1));
    }

    fn redirect_to(&self, location: &str) -> Response {
        self.note_answer();
        let mut fields = self.cors().answer();
        fields.push((header::STATUS, "redirect".into()));
        fields.push(("Cache-Control", "no-store".into()));
        fields.push(("Location", location.into()));
        answer::respond(308, &fields, None, &Body::NONE)
    }

    /// The answer when the origin gives none. It takes the visitor's pass along like any other, or
    /// the slot that was just granted would be nobody's.
    pub(super) fn no_answer(&self, error: &JsValue) -> Response {
        let room = self.covered.room.name.as_str();
        let reason = clean(&format!("{error:?}"));
        log::write(&Entry::OriginFailed { room, reason });
        self.covered
            .count(|counts| counts.origin_failed = counts.origin_failed.saturating_add(1));
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
        } = &self.covered;
        let token = Token {
            standing,
            binding: *binding,
            embedded: self.is_embedded(),
        };
        // The token says whole seconds, so its cookie lives for the difference of those.
        let ends = Instant::from_secs(standing.expires().as_secs());
        let life = ends.since(Instant::from_secs(clock::now().as_secs()));
        cookie::set_cookie(
            &room.cookie,
            &keys.sign(&room.id, &token),
            life,
            *https,
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
        let read = |name: &str| self.covered.fields.read(name);
        intent::is_embedded(&read)
            || self
                .covered
                .visitor
                .token
                .is_some_and(|token| token.embedded)
    }
}
