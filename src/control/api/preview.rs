//! Previews of a page: what waiting visitors would see, for anybody who has the address.
//!
//! The page is foreign to the operator's origin: a browser is told to give it an origin of its own, so
//! its scripts reach no cookie, no storage and no answer of any site. No room is asked.

use serde_json::Value;

use super::super::access::Access;
use super::super::configuration::Declared;
use super::super::rate::Buckets;
use super::change::Call;
use super::envelope::{Answer, Fault, Refusal, Success};
use super::{Outcome, Request};
use crate::page::facts::{Event, Facts, State};
use crate::page::language::{Language, language};
use crate::page::{Pages, content_security_policy};
use crate::site::language::DEFAULT;
use crate::site::room::{QueueingMethod, SameSite, is_id};
use crate::time::{Instant, Span};

/// A preview is shown for a day.
const KEPT: Span = Span::from_secs(86_400);
/// The wait that is shown unless `waitTime` says otherwise, in minutes.
const WAIT: u32 = 10;

/// What the query of a preview's address asks for. The names are Cloudflare's, but for `language`.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct PreviewQuery {
    force_queue: bool,
    queue_is_full: bool,
    method: QueueingMethod,
    event: Occasion,
    shuffle: bool,
    wait: Option<u32>,
    language: Option<String>,
    now: Instant,
}

#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
enum Occasion {
    #[default]
    None,
    Prequeueing,
    Started,
}

/// Keeps a page for its preview.
pub(super) fn keep_preview(
    call: &mut Call<'_>,
    access: &Access,
    request: &Request,
    mut body: Declared,
) -> Result<Outcome, Refusal> {
    let html = match body.remove("custom_html") {
        Some(Value::String(html)) => html,
        _ => {
            let fault = Fault::invalid("/custom_html", "custom_html must be text");
            return Err(Refusal::invalid(vec![fault]));
        }
    };
    if let Some(name) = body.keys().next() {
        let fault = Fault::invalid(format!("/{name}"), format!("{name} unknown field"));
        return Err(Refusal::invalid(vec![fault]));
    }
    let odd = crate::page::template::check::check(&html).map_err(|fault| {
        let fault = Fault::invalid("/custom_html", format!("custom_html {fault}"));
        Refusal::invalid(vec![fault])
    })?;
    let id = call.id();
    let address = access.preview_address(&request.origin, &id);
    let result = serde_json::json!({ "preview_url": address });
    let answer = Success {
        messages: odd,
        ..Success::of(result)
    }
    .answer();
    let until = call.now + KEPT;
    Ok(Outcome::KeepPreview {
        id,
        html,
        until,
        answer,
    })
}

/// Shows a page that was kept, to anybody.
pub(super) fn show_preview(
    buckets: &mut Buckets,
    request: &Request,
    id: &str,
    now: Instant,
) -> Result<Outcome, Refusal> {
    buckets.preview(now).map_err(Refusal::too_often)?;
    if request.method != "GET" || !is_id(id) {
        return Err(Refusal::new(404, 7000, "No route for that URI"));
    }
    let show = PreviewQuery::parse(&request.query, now);
    Ok(Outcome::ShowPreview {
        id: id.to_owned(),
        show,
    })
}

impl PreviewQuery {
    /// Reads a query. What it cannot read is as if it were not there.
    pub(super) fn parse(query: &str, now: Instant) -> Self {
        let mut read = Self {
            now,
            ..Self::default()
        };
        for (name, value) in super::query::pairs(query) {
            let flag = matches!(value.as_str(), "" | "1" | "true");
            match name.as_str() {
                "force_queue" => read.force_queue = flag,
                "queue_is_full" => read.queue_is_full = flag,
                "shuffle_at_event_start" => read.shuffle = flag,
                "queueing_method" => {
                    read.method = match value.as_str() {
                        "random" => QueueingMethod::Random,
                        "passthrough" => QueueingMethod::Passthrough,
                        "reject" => QueueingMethod::Reject,
                        _ => QueueingMethod::Fifo,
                    };
                }
                "event" => {
                    read.event = match value.as_str() {
                        "prequeueing" => Occasion::Prequeueing,
                        "started" => Occasion::Started,
                        _ => Occasion::None,
                    };
                }
                "waitTime" => read.wait = value.parse().ok().filter(|wait| *wait > 0),
                "language" => read.language = Some(value),
                _ => {}
            }
        }
        read
    }

    /// The preview of a page, or what is shown where there is none of that id any more.
    pub fn answer(&self, source: Option<&str>) -> Answer {
        let Some(source) = source else {
            return page(404, "There is no such preview any more.".into(), None);
        };
        let held = self.force_queue || self.event == Occasion::Prequeueing;
        if self.method == QueueingMethod::Passthrough && !held {
            let welcome = "<!doctype html><title>Welcome</title><h1>Welcome</h1>\
                           <p>The room lets everybody pass: this stands for your site.</p>";
            return page(200, welcome.into(), None);
        }
        let tag = self.language.as_deref().unwrap_or(DEFAULT);
        let written = language(tag)
            .or_else(|| language(DEFAULT))
            .and_then(|language: &Language| Pages::preview(source, &self.facts(), language));
        let own = source.is_empty().then_some(SameSite::None);
        match written {
            Some(html) => page(200, html, own),
            None => page(500, "The page cannot be written.".into(), None),
        }
    }

    fn state(&self) -> State {
        match () {
            () if self.force_queue => State::QueueAll,
            () if self.event == Occasion::Prequeueing => State::Prequeueing,
            () if self.queue_is_full => State::Full,
            () if self.method == QueueingMethod::Reject => State::Rejecting,
            () => State::Queueing,
        }
    }

    fn facts(&self) -> Facts {
        let state = self.state();
        let waits = state == State::Queueing;
        let wait = self.wait.unwrap_or(WAIT);
        let random = waits && self.method == QueueingMethod::Random;
        let fifo = waits && !random;
        let begins = |span| match self.event {
            Occasion::Started => self.now - span,
            _ => self.now + span,
        };
        let start = begins(Span::from_secs(u64::from(wait) * 60));
        Facts {
            state,
            position: fifo.then_some(1_235),
            users_ahead: fifo.then_some(1_234),
            progress_percent: fifo.then_some(40),
            wait_minutes: waits.then_some(wait),
            wait_range: None,
            wait_quartiles: random
                .then(|| [wait.div_ceil(2), wait, wait.saturating_mul(3).div_ceil(2)]),
            has_place: false,
            last_updated: self.now,
            refresh_interval_seconds: if state == State::Rejecting { 0 } else { 20 },
            queueing_method: self.method,
            notice: None,
            message: String::new(),
            event: (self.event != Occasion::None).then(|| Event {
                name: "preview".into(),
                prequeueing: self.event == Occasion::Prequeueing,
                shuffle: self.shuffle,
                start,
                end: start + Span::from_secs(7_200),
                now: self.now,
            }),
            number: None,
            draw: None,
        }
    }
}

/// A page in a sandbox. The default page keeps to its own policy as well.
fn page(status: u16, html: String, policy: Option<SameSite>) -> Answer {
    let sandbox = "sandbox allow-scripts; connect-src 'none'; form-action 'none'";
    let mut answer = Answer::new(status, "text/html; charset=utf-8", html);
    answer.headers.extend([
        ("Content-Security-Policy", sandbox.to_owned()),
        ("Referrer-Policy", "no-referrer".to_owned()),
        ("X-Robots-Tag", "noindex, nofollow".to_owned()),
    ]);
    if let Some(framed) = policy {
        let own = content_security_policy(framed).to_owned();
        answer.headers.push(("Content-Security-Policy", own));
    }
    answer
}
