//! A request for a covered URL: what one look at it tells, and whether it may pass at once.

use std::sync::Arc;
use std::time::Duration;

use futures_channel::oneshot;
use web_sys::Request;
use worker::{Context, Env};

use super::call::{self, Way};
use super::edge::Prepared;
use super::headers::{Fields, colo};
use super::isolate::Isolate;
use super::random::random;
use super::url::{authority, host_of};
use crate::gate::answer::leave_url;
use crate::gate::binding::{Binding, bind};
use crate::gate::decision::{self, Kind};
use crate::gate::intent::{self, Intent};
use crate::gate::keys::Keys;
use crate::gate::memory::Memory;
use crate::gate::route::Match;
use crate::gate::token::Standing;
use crate::gate::visitor::Visitor;
use crate::room::figures::counts::Counts;
use crate::room::message;
use crate::room::number::TicketId;
use crate::site::room::{BindPass, FirstPass, Room};
use crate::time::{Instant, Span};

/// A refresh in the background.
const REFRESH_PATIENCE: Duration = Duration::from_secs(2);

/// First passes that come back are reported while they are so young.
const YOUNG: Span = Span::from_secs(60);

/// A covered request: who asks, as far as one look at the cookie tells.
pub(super) struct Covered {
    pub(super) isolate: Isolate,
    pub(super) index: usize,
    pub(super) room: Arc<Room>,
    pub(super) keys: &'static Keys,
    /// Whether a rule lets the request pass by the room.
    pub(super) bypassed: bool,
    pub(super) fields: Fields,
    pub(super) https: bool,
    pub(super) visitor: Visitor,
    pub(super) binding: Option<Binding>,
    pub(super) now: Instant,
}

impl Covered {
    /// Recognizes the visitor by the cookie, and by what the room binds its passes to, if it does.
    pub(super) fn look(
        isolate: Isolate,
        room: Arc<Room>,
        keys: &'static Keys,
        matched: &Match<'_>,
        fields: Fields,
        bypassed: bool,
        now: Instant,
    ) -> Self {
        #[cfg(feature = "planted-panic")]
        super::planted::in_request(&fields, "look");
        let binding = match room.bind_pass {
            BindPass::None => None,
            setting => bind(
                setting,
                fields.read("User-Agent").as_deref(),
                fields.read("CF-Connecting-IP").as_deref(),
            ),
        };
        let visitor = Visitor::recognize(keys, &room, fields.cookie(), binding.as_ref(), now);
        let visitor = isolate
            .edition
            .memory(matched.room, |room| {
                visitor.checked(room.snapshot().map(Arc::as_ref))
            })
            .unwrap_or(visitor);
        Self {
            isolate,
            index: matched.room,
            room,
            keys,
            bypassed,
            fields,
            https: matched.https,
            visitor,
            binding,
            now,
        }
    }

    /// Whether the visitor is admitted and nothing but the origin has anything to say. This is what
    /// every request of an admitted visitor pays: the look above, and nothing more.
    pub(super) fn may_pass_at_once(&self, matched: &Match<'_>) -> bool {
        let Some(standing @ Standing::Admitted { number, issued, .. }) = self.standing() else {
            return false;
        };
        let touches = self.room.revoke_enabled
            || self.room.origin_assertion
            || self.room.strip_cookie
            || matched.leave
            || matched.disputed
            || decision::renewal_is_due(&self.room, &standing, self.now)
            || intent::is_poll(&|name| self.fields.read(name));
        if self.room.first_pass != FirstPass::Full && self.now < issued + YOUNG {
            self.memory(|room| room.note_return(number));
        }
        !touches
    }

    /// The request, to be handed on.
    pub(super) fn into_request(self) -> Request {
        self.fields.into_request()
    }

    /// What the isolate remembers of the room.
    pub(super) fn memory<T>(&self, with: impl FnOnce(&mut Memory) -> T) -> Option<T> {
        self.isolate.edition.memory(self.index, with)
    }

    /// The way to the room.
    pub(super) fn way(&self) -> Way {
        Way::find(&self.isolate, self.index, &self.room.id, || self.colo())
    }

    /// The data centre in which the request has arrived; none where the runtime does not say.
    pub(super) fn colo(&self) -> Option<String> {
        colo(self.fields.request())
    }

    pub(super) fn standing(&self) -> Option<Standing> {
        self.visitor.token.map(|token| token.standing)
    }

    /// Counts something for the room's figures.
    pub(super) fn count(&self, note: impl FnOnce(&mut Counts)) {
        self.memory(|room| note(&mut room.counts));
    }

    /// Notes that the request passes at once, and renews the snapshot in the background, if it is
    /// time.
    pub(super) fn note_passage(&self, env: &Env, ctx: &Context) {
        let report = self.memory(|room| room.note_passage(self.now)).flatten();
        if let Some(report) = report {
            drop(self.refresh(env, ctx, report));
        }
    }

    /// Renews the snapshot in the background, if it is time and nobody is at it ([`Memory::start_refresh`]).
    /// The receiver is told when it is there.
    pub(super) fn refresh_if_due(
        &self,
        env: &Env,
        ctx: &Context,
        needs: bool,
    ) -> Option<oneshot::Receiver<()>> {
        let report = self
            .memory(|room| room.start_refresh(self.now, needs))
            .flatten()?;
        Some(self.refresh(env, ctx, report))
    }

    fn refresh(&self, env: &Env, ctx: &Context, report: message::Request) -> oneshot::Receiver<()> {
        let (done, is_done) = oneshot::channel();
        let (way, env) = (self.way(), env.clone());
        ctx.wait_until(async move {
            let Way { isolate, index, .. } = &way;
            let known = isolate
                .edition
                .memory(*index, |room| room.snapshot().cloned());
            let known = known.flatten();
            let counts = report.counts;
            match call::look(&env, &way, report, known.as_ref(), REFRESH_PATIENCE).await {
                Ok(snapshot) => isolate.heard(*index, snapshot),
                Err(error) => {
                    isolate.unheard(*index, &error);
                    // It may have been heard all the same, and is then counted twice.
                    isolate
                        .edition
                        .memory(*index, |room| room.counts.add(counts));
                }
            }
            // Most requests do not wait for it.
            let _ = done.send(());
        });
        is_done
    }

    /// Reads the rest of what the answer depends on.
    pub(super) fn prepare(self, url: &str, matched: &Match<'_>) -> Prepared {
        let path = String::from_utf8_lossy(matched.path()).into_owned();
        let host = host_of(url).to_ascii_lowercase();
        let read = |name: &str| self.fields.read(name);
        let method = self.fields.request().method();
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
        let read_if = |wanted: bool, name| wanted.then(|| read(name)).flatten();
        let is_page = intent != Intent::Poll;
        let may_redirect = method == "GET" && refusal.is_none();
        let redirect = may_redirect.then(|| matched.redirect()).flatten();
        Prepared {
            leave_url: leave_url(&self.room, &host, &path),
            intent,
            is_safe: matches!(method.as_str(), "GET" | "HEAD"),
            refusal,
            redirect,
            // A poll is answered in one form and language; CORS is for rooms that list origins.
            accept: read_if(is_page, "Accept"),
            accept_language: read_if(is_page, "Accept-Language"),
            origin: read_if(!self.room.allowed_origins.is_empty(), "Origin"),
            // The top bit belongs to the ledger.
            new_ticket: TicketId::new(random() >> 1),
            host,
            path,
            covered: self,
        }
    }
}
