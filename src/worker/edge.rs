//! A request for a covered URL: what is read of it, whom it asks, who answers.

use std::panic::AssertUnwindSafe;
use std::time::Duration;

use futures_channel::oneshot;
use futures_util::FutureExt;
use futures_util::future::select;
use wasm_bindgen::JsValue;
use web_sys::{Request, Response};
use worker::{Context, Delay, Env};

use super::answer;
use super::headers::Fields;
use super::isolate::Isolate;
use super::url::{authority, host_of};
use super::{call, clock};
use crate::gate::answer::{Asked, leave_url};
use crate::gate::binding::{Binding, bind};
use crate::gate::cookie;
use crate::gate::cors::Cors;
use crate::gate::decision::{self, Change, Kind, Outcome, Step};
use crate::gate::header;
use crate::gate::intent::{self, Intent};
use crate::gate::keys::Keys;
use crate::gate::route::Match;
use crate::gate::token::{Standing, Token};
use crate::gate::visitor::Visitor;
use crate::room::message::Message;
use crate::room::number::TicketId;
use crate::room::snapshot::Snapshot;
use crate::site::room::{BindPass, FirstPass, Room};
use crate::time::{Instant, Span};

/// A visitor who needs an answer from the room waits for it so long and no longer.
pub(super) const ARRIVAL_PATIENCE: Duration = Duration::from_secs(3);

/// A request that finds a snapshot too old waits so long for a new one, then uses what it has.
const LOOK_PATIENCE: Duration = Duration::from_millis(300);

/// A refresh in the background.
const REFRESH_PATIENCE: Duration = Duration::from_secs(2);

/// First passes that come back are reported while they are so young.
const YOUNG: Span = Span::from_secs(60);

/// A covered request: who asks, as far as one look at the cookie tells.
pub(super) struct Covered {
    pub(super) isolate: &'static Isolate,
    pub(super) index: usize,
    pub(super) room: &'static Room,
    pub(super) keys: &'static Keys,
    pub(super) request: Request,
    pub(super) fields: Fields,
    pub(super) https: bool,
    pub(super) visitor: Visitor,
    pub(super) binding: Option<Binding>,
    pub(super) now: Instant,
}

impl Covered {
    /// Reads the cookie, and what the room binds its passes to, if it does.
    pub(super) fn look(
        isolate: &'static Isolate,
        room: &'static Room,
        keys: &'static Keys,
        matched: &Match<'_>,
        request: Request,
    ) -> Self {
        #[cfg(feature = "planted-panic")]
        super::planted::in_request(&request, "look");
        let now = clock::now();
        let fields = Fields::of(&request);
        let binding = match room.bind_pass {
            BindPass::None => None,
            setting => bind(
                setting,
                fields.read("User-Agent").as_deref(),
                fields.read("CF-Connecting-IP").as_deref(),
            ),
        };
        let cookies = fields.read("Cookie");
        let visitor = Visitor::recognize(keys, room, cookies.as_deref(), binding.as_ref(), now);
        let visitor = isolate
            .with_snapshot(matched.room, |snapshot| visitor.checked(snapshot))
            .unwrap_or(visitor);
        Self {
            isolate,
            index: matched.room,
            room,
            keys,
            request,
            fields,
            https: matched.https,
            visitor,
            binding,
            now,
        }
    }

    /// Whether the visitor is admitted and nothing but the origin has anything to say. This is what
    /// every request of an admitted visitor pays: the look above, and one more field read here.
    pub(super) fn may_pass_at_once(&self, matched: &Match<'_>) -> bool {
        let Some(standing @ Standing::Admitted { number, issued, .. }) = self.standing() else {
            return false;
        };
        let touches = self.room.revoke_enabled
            || self.room.origin_assertion
            || self.room.strip_cookie
            || matched.leave
            || matched.disputed
            || decision::renewal_is_due(self.room, &standing, self.now)
            || intent::is_poll(&|name| self.fields.read(name));
        if self.room.first_pass != FirstPass::Full && self.now < issued + YOUNG {
            self.isolate.note_return(self.index, number);
        }
        !touches
    }

    /// Whether the request is a poll of the waiting page, which is never handed on.
    pub(super) fn is_poll(request: &Request) -> bool {
        let fields = Fields::of(request);
        intent::is_poll(&|name| fields.read(name))
    }

    /// The request, to be handed on.
    pub(super) fn into_request(self) -> Request {
        self.request
    }

    pub(super) fn standing(&self) -> Option<Standing> {
        self.visitor.token.map(|token| token.standing)
    }

    /// Renews the snapshot in the background, if it is time and nobody is at it. The receiver is told
    /// when it is there.
    pub(super) fn refresh_if_due(&self, env: &Env, ctx: &Context) -> Option<oneshot::Receiver<()>> {
        let report = self.isolate.start_refresh(self.index, self.now)?;
        let (done, is_done) = oneshot::channel();
        let (isolate, index, room, env) = (self.isolate, self.index, self.room, env.clone());
        ctx.wait_until(async move {
            match call::look(&env, &room.id, &report, REFRESH_PATIENCE).await {
                Ok(snapshot) => isolate.learn(index, snapshot, clock::now()),
                Err(error) => {
                    worker::console_warn!("room {}: {error}", room.name);
                    isolate.fail(index, clock::now());
                }
            }
            // Most requests do not wait for it.
            let _ = done.send(());
        });
        Some(is_done)
    }

    /// Reads the rest of what the answer depends on.
    pub(super) fn prepare(self, url: &str, matched: &Match<'_>) -> Prepared {
        let path = String::from_utf8_lossy(matched.path()).into_owned();
        let host = host_of(url).to_ascii_lowercase();
        let read = |name: &str| self.fields.read(name);
        let method = self.request.method();
        let own_origin = format!(
            "{}://{}",
            if self.https { "https" } else { "http" },
            authority(url)
        );
        let intent = intent::classify(&method, &path, &read);
        let refusal = if matched.disputed {
            Some(Kind::Ambiguous)
        } else if matched.leave && method != "POST" && method != "OPTIONS" {
            Some(Kind::PostOnly)
        } else if intent == Intent::Leave && !intent::is_same_origin(&own_origin, &read) {
            Some(Kind::Forged)
        } else {
            None
        };
        let may_redirect = method == "GET" && refusal.is_none();
        let redirect = may_redirect.then(|| matched.redirect()).flatten();
        Prepared {
            leave_url: leave_url(self.room, &host, &path),
            intent,
            is_safe: matches!(method.as_str(), "GET" | "HEAD"),
            refusal,
            redirect,
            accept: read("Accept"),
            accept_language: read("Accept-Language"),
            origin: read("Origin"),
            is_embedded: intent::is_embedded(&read),
            host,
            path,
            covered: self,
        }
    }
}

/// A covered request with all that its answer depends on.
pub(super) struct Prepared {
    pub(super) covered: Covered,
    intent: Intent,
    is_safe: bool,
    refusal: Option<Kind>,
    redirect: Option<String>,
    host: String,
    path: String,
    leave_url: String,
    accept: Option<String>,
    accept_language: Option<String>,
    origin: Option<String>,
    is_embedded: bool,
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
        let snapshot = self.covered.isolate.snapshot(self.covered.index);
        self.covered.visitor = self.covered.visitor.checked(snapshot.as_ref());
        let request = self.request(snapshot.as_ref());
        let step = match self.refusal {
            Some(kind) => request.refuse(kind),
            None => request.decide(),
        };
        match step {
            Step::Pass => self.pass(env, None).await,
            Step::PassAndRenew(number, incarnation) => {
                self.pass_and_renew(env, ctx, number, incarnation).await
            }
            Step::Preflight => Ok(self.preflight()),
            Step::Answer(answer) => Ok(self.say(&answer, snapshot.as_ref())),
            Step::Ask(message) => {
                let (outcome, snapshot) = self.ask(env, message, &request, snapshot.clone()).await;
                match outcome {
                    Outcome::Pass(standing) => self.pass(env, standing).await,
                    Outcome::Answer(answer) => Ok(self.say(&answer, snapshot.as_ref())),
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
            reachable: covered.isolate.is_reachable(covered.index),
            now: covered.now,
            // The top bit belongs to the ledger.
            new_ticket: TicketId::new(random() >> 1),
        }
    }

    /// Renews the snapshot: in the background, or at once where the decision rests on an old one.
    async fn be_informed(&self, env: &Env, ctx: &Context) {
        let (isolate, index) = (self.covered.isolate, self.covered.index);
        let rests_on_it = match self.covered.standing() {
            Some(Standing::Waiting { .. }) => true,
            Some(Standing::Admitted { .. } | Standing::Ticket { .. }) => false,
            None => isolate
                .with_snapshot(index, |known| {
                    known.is_some_and(|snapshot| snapshot.queueing)
                })
                .unwrap_or(false),
        };
        let is_stale = isolate.is_stale(index, self.covered.now);
        let refresh = self.covered.refresh_if_due(env, ctx);
        if let Some(is_done) = refresh
            && rests_on_it
            && is_stale
        {
            // In time or not: what is known by then is used.
            select(is_done, Delay::from(LOOK_PATIENCE)).await;
        }
    }

    async fn ask(
        &self,
        env: &Env,
        message: Message,
        request: &decision::Request<'_>,
        known: Option<Snapshot>,
    ) -> (Outcome, Option<Snapshot>) {
        let Covered {
            isolate,
            index,
            room,
            ..
        } = self.covered;
        if isolate.is_resting(index, self.covered.now) {
            return (request.unanswered(), known);
        }
        #[cfg(feature = "planted-panic")]
        super::planted::note(&self.covered.request);
        match call::ask(env, &room.id, message, ARRIVAL_PATIENCE).await {
            Ok((reply, snapshot)) => {
                isolate.learn(index, snapshot.clone(), clock::now());
                (request.settle(reply, &snapshot), Some(snapshot))
            }
            Err(error) => {
                worker::console_warn!("room {}: {error}", room.name);
                isolate.fail(index, clock::now());
                (request.unanswered(), known)
            }
        }
    }

    /// The answer of ours.
    fn say(&self, answer: &decision::Answer, snapshot: Option<&Snapshot>) -> Response {
        let Covered {
            isolate,
            index,
            room,
            ..
        } = self.covered;
        if let Change::Set(Standing::Waiting { number, .. }) = answer.cookie {
            isolate.note_poll(index, number);
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
fn random() -> u64 {
    getrandom::u64().unwrap_or_else(|_| clock::now().as_millis() << 20)
}
