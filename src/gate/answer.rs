//! What anteroom says itself: status, header fields and body of an answer that no origin gave.

mod events;

use std::borrow::Cow;

use super::accept;
use super::cors::{Cors, Field};
use super::decision::{Answer, Kind};
use super::header;
use super::intent::Intent;
use super::token::Standing;
use crate::page::facts::{Facts, State};
use crate::page::language;
use crate::page::shared::Body;
use crate::page::{Pages, content_security_policy, json};
use crate::room::number::TicketNumber;
use crate::room::snapshot::Snapshot;
use crate::room::wait::Promise;
use crate::site::room::{QueueingMethod, Room};
use crate::time::Span;

/// An answer, ready to be sent.
#[derive(Clone, Debug, PartialEq)]
pub struct Written {
    /// The status code.
    pub status: u16,
    /// The header fields, `Set-Cookie` left out.
    pub fields: Vec<Field<'static>>,
    /// The body; empty for an answer to `HEAD`.
    pub body: Body,
}

/// The request, as far as the form of the answer depends on it.
#[derive(Clone, Copy, Debug)]
pub struct Asked<'a> {
    /// What the request wants.
    pub intent: Intent,
    /// Whether its method asks for nothing but an answer (RFC 9110 section 9.2.1).
    pub is_safe: bool,
    /// The canonical host and path of the URL, for the choice of the language.
    pub host: &'a str,
    /// The path as it stands in the URL.
    pub path: &'a str,
    /// Where the page's form posts to leave: [`leave_url`].
    pub leave_url: &'a str,
    /// `Accept`.
    pub accept: Option<&'a str>,
    /// `Accept-Language`.
    pub accept_language: Option<&'a str>,
    /// `Origin`.
    pub origin: Option<&'a str>,
}

/// The form of an answer's body.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Form {
    Page,
    Json,
}

/// How many seconds a visitor who cannot be served now shall stay away.
const RETRY_SECONDS: u32 = 5;

impl Answer {
    /// Writes the answer.
    pub fn write(
        &self,
        room: &Room,
        pages: &Pages,
        snapshot: Option<&Snapshot>,
        asked: &Asked<'_>,
    ) -> Written {
        match self.kind {
            Kind::Waits(state) => {
                let facts = self.facts(state, room, snapshot);
                self.waits(state, &facts, room, pages, asked)
            }
            Kind::MayEnter => {
                let facts = self.facts(State::Called, room, snapshot);
                let mut fields = common(room, asked, "admitted");
                fields.push(("Content-Type", "application/json".into()));
                fields.extend(events::draw_field(&facts));
                Written {
                    status: 200,
                    fields,
                    body: Body::Text(json::poll(&facts, asked.leave_url, true)),
                }
            }
            Kind::Speculative => self.refuse(room, asked, 503, "speculative", ""),
            Kind::NoSocket => self.refuse(
                room,
                asked,
                503,
                "waiting",
                "A WebSocket needs a pass of this room.\n",
            ),
            Kind::PostOnly => {
                let mut written =
                    self.refuse(room, asked, 405, "error", "Leaving takes a POST request.\n");
                written.fields.push(("Allow", "POST".into()));
                written
            }
            Kind::Ambiguous => {
                let text = "Servers disagree on what this path means; ask for it in plain form.\n";
                self.refuse(room, asked, 400, "error", text)
            }
            Kind::Forged => {
                let text = "Leaving takes a request from a page of the same origin.\n";
                self.refuse(room, asked, 403, "error", text)
            }
        }
    }

    fn waits(
        &self,
        state: State,
        facts: &Facts,
        room: &Room,
        pages: &Pages,
        asked: &Asked<'_>,
    ) -> Written {
        let form = form(room, asked);
        let mut fields = common(room, asked, name(state));
        fields.push(("X-Robots-Tag", "noindex".into()));
        fields.extend(events::draw_field(facts));
        if self.refresh_seconds > 0 {
            fields.push(("Retry-After", self.refresh_seconds.to_string().into()));
        }
        let status = match state {
            State::Left => 200,
            // The order was not placed, and no program may take it for placed.
            _ if asked.intent == Intent::Api && !asked.is_safe => {
                if room.queueing_status_code == 429 {
                    429
                } else {
                    503
                }
            }
            _ => room.queueing_status_code,
        };
        let body = match form {
            Form::Json => {
                fields.push(("Content-Type", "application/json".into()));
                Body::Text(if asked.intent == Intent::Poll {
                    json::poll(facts, asked.leave_url, false)
                } else {
                    json::body(facts, asked.leave_url)
                })
            }
            Form::Page => {
                let language = language::choose(
                    asked.host,
                    asked.path,
                    asked.accept_language,
                    &room.default_template_language,
                );
                fields.push(("Content-Type", "text/html; charset=utf-8".into()));
                fields.push(("Content-Language", Cow::Borrowed(language.tag)));
                // For a browser without script. The default page's own script calls it off.
                if self.refresh_seconds > 0 {
                    fields.push(("Refresh", self.refresh_seconds.to_string().into()));
                }
                if pages.is_default(room) {
                    let policy = content_security_policy(room.cookie.samesite);
                    fields.push(("Content-Security-Policy", Cow::Borrowed(policy)));
                }
                pages.page(room, facts, language, asked.leave_url)
            }
        };
        let body = if asked.intent == Intent::Head {
            Body::NONE
        } else {
            body
        };
        Written {
            status,
            fields,
            body,
        }
    }

    fn refuse(
        &self,
        room: &Room,
        asked: &Asked<'_>,
        status: u16,
        marker: &'static str,
        text: &str,
    ) -> Written {
        let mut fields = common(room, asked, marker);
        fields.push(("Content-Type", "text/plain; charset=utf-8".into()));
        if status == 503 {
            fields.push(("Retry-After", RETRY_SECONDS.to_string().into()));
        }
        Written {
            status,
            fields,
            body: Body::Text(text.to_owned()),
        }
    }

    /// What the page says.
    fn facts(&self, state: State, room: &Room, snapshot: Option<&Snapshot>) -> Facts {
        let has_place = matches!(self.holds, Some(Standing::Waiting { .. }));
        let is_random = room.queueing_method == QueueingMethod::Random;
        // Where whoever is drawn comes in, nobody is ahead of anybody.
        let users_ahead = self.users_ahead.filter(|_| has_place && !is_random);
        let progress_percent = match (self.holds, users_ahead) {
            (Some(Standing::Waiting { ahead_at_join, .. }), Some(ahead)) => {
                let all = u64::from(ahead_at_join) + 1;
                let done = u64::from(ahead_at_join).saturating_sub(ahead);
                u8::try_from(done * 100 / all).ok()
            }
            _ => None,
        };
        let quartiles = match state {
            State::Queueing if is_random && has_place => snapshot.and_then(Snapshot::quartiles),
            _ => None,
        };
        let promise = match self.holds {
            Some(Standing::Waiting { promise, .. }) if state == State::Queueing => promise,
            _ => None,
        };
        let wait = if is_random {
            quartiles.map(|wait| wait.p50)
        } else {
            promise.map(|promise| promise.likely)
        };
        let number = match self.holds {
            Some(Standing::Waiting { number, .. } | Standing::Admitted { number, .. }) => {
                Some(number)
            }
            Some(Standing::Ticket { .. }) | None => None,
        };
        let draw = snapshot.and_then(|snapshot| events::draw(snapshot, number));
        let minutes = |wait: Span| {
            let minutes = wait.as_secs().div_ceil(60).max(1);
            u32::try_from(minutes).unwrap_or(u32::MAX)
        };
        Facts {
            state,
            position: users_ahead.map(|ahead| ahead + 1),
            users_ahead,
            progress_percent,
            wait_minutes: wait.map(minutes),
            wait_range: promise.map(Promise::wait).map(|wait| {
                let least = u32::try_from(wait.least.as_secs() / 60).unwrap_or(u32::MAX);
                [least.max(1), minutes(wait.most)]
            }),
            wait_quartiles: quartiles.map(|wait| [wait.p25, wait.p50, wait.p75].map(minutes)),
            has_place,
            last_updated: self.last_updated,
            refresh_interval_seconds: self.refresh_seconds,
            queueing_method: match room.queueing_method {
                QueueingMethod::Reject if room.holds_everybody() => QueueingMethod::Fifo,
                method => method,
            },
            notice: self.notice,
            message: match state {
                State::QueueAll => room.queue_all_message.clone(),
                _ => String::new(),
            },
            event: events::event(room, self.now),
            number: draw.and(number).map(TicketNumber::get),
            draw,
        }
    }
}

/// The fields of every answer. None of it may be stored: it is about one visitor at one instant.
fn common(room: &Room, asked: &Asked<'_>, marker: &'static str) -> Vec<Field<'static>> {
    let mut fields: Vec<Field<'static>> = vec![
        (header::STATUS, marker.into()),
        ("Cache-Control", "no-store".into()),
        ("X-Content-Type-Options", "nosniff".into()),
        ("Referrer-Policy", "same-origin".into()),
    ];
    let cors = Cors::new(&room.allowed_origins, asked.origin);
    let mut vary = "Cookie, Accept, Accept-Language".to_owned();
    for (name, value) in cors.answer() {
        if name == "Vary" {
            vary.push_str(", ");
            vary.push_str(&value);
        } else {
            fields.push((name, value.into_owned().into()));
        }
    }
    fields.push(("Vary", vary.into()));
    fields
}

/// The value of [`header::STATUS`] for a visitor who waits.
pub const fn name(state: State) -> &'static str {
    match state {
        State::Joining => "joining",
        State::Queueing => "queueing",
        State::Called => "called",
        State::QueueAll => "queue-all",
        State::Prequeueing => "prequeueing",
        State::Full => "full",
        State::Rejecting => "rejecting",
        State::Unavailable => "unavailable",
        State::Left => "left",
    }
}

/// A poll of the page gets JSON always; programs, and who prefers JSON, where the room has it.
fn form(room: &Room, asked: &Asked<'_>) -> Form {
    match asked.intent {
        Intent::Poll => Form::Json,
        _ if !room.json_response_enabled => Form::Page,
        Intent::Api if !accept::names_html(asked.accept) => Form::Json,
        _ if accept::prefers_json(asked.accept) => Form::Json,
        _ => Form::Page,
    }
}

/// Where a visitor at `path`, a canonical one, posts to leave: below the route that covers it, so
/// that the endpoint is covered and the room's cookie is sent along.
pub fn leave_url(room: &Room, host: &str, path: &str) -> String {
    let fold = |path: &str| {
        if room.path_case_sensitive {
            path.to_owned()
        } else {
            path.to_lowercase()
        }
    };
    let path = fold(path);
    let covers = |route: &&str| {
        let rest = path.strip_prefix(fold(route).as_str()).map(str::to_owned);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    let routes = room.routes.iter().filter(|route| route.host == host);
    let routes = routes.map(|route| route.path.trim_end_matches('/'));
    let route = routes
        .filter(covers)
        .max_by_key(|route| route.len())
        .unwrap_or_default();
    format!("{route}{}", super::intent::LEAVE_PATH)
}
