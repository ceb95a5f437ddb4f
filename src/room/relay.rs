//! A relay: gathers what the edges of one data centre send to a busy room into one request for each
//! window, and hands back what comes of it.
//!
//! It speaks the room's own protocol on both sides ([`Request`], [`Response`]), so neither an edge
//! nor a room can tell what stands between them. It holds no truth: what it has gathered and what it
//! knows may be lost at any moment. The edges then get no answer and send their messages again, by
//! another way, and every message is idempotent.

use std::sync::Arc;

use super::figures::counts::Counts;
use super::message::{Message, Request, Response, VERSION};
use super::news::{Headline, News};
use super::number::TicketNumber;
use super::snapshot::{Snapshot, Stamp};
use crate::control::version::Version;
use crate::time::{Instant, Span};

/// Who wants a snapshot and nothing else gets the one that is known while it is younger than this.
const FRESH: Span = Span::from_millis(1_000);

/// The window until the room has told one.
const FIRST_WINDOW: Span = Span::from_millis(20);

/// A request to the room carries no more messages than this; others come with the next.
const MOST_MESSAGES: usize = 1024;

/// More polls than this are not gathered: a room that is not reached for long loses estimates only.
const MOST_POLLS: usize = 1 << 18;

/// A relay. `A` is whom it owes an answer.
#[derive(Clone, Debug)]
pub struct Relay<A> {
    /// The last snapshot, and when it came.
    known: Option<(Arc<Snapshot>, Instant)>,
    news: News,
    waiting: Vec<(Request, A)>,
    polls: Vec<TicketNumber>,
    returns: Vec<TicketNumber>,
    /// Requests of edges since the last one to the room.
    gathered: u32,
    /// What edges have counted, likewise.
    counts: Counts,
    /// The newest configuration that any of them knows.
    configuration: Version,
    last_call: Instant,
}

/// A part of a request to the room: how many of its messages are whose.
#[derive(Debug)]
pub struct Part<A> {
    messages: usize,
    knows: Option<Stamp>,
    /// Who is owed the replies.
    pub to: A,
}

impl<A> Default for Relay<A> {
    fn default() -> Self {
        Self {
            known: None,
            news: News::default(),
            waiting: Vec::new(),
            polls: Vec::new(),
            returns: Vec::new(),
            gathered: 0,
            counts: Counts::default(),
            configuration: Version::EMBEDDED,
            last_call: Instant::default(),
        }
    }
}

impl<A> Relay<A> {
    /// An edge asks. The answer comes at once if it wants a snapshot alone and a fresh one is known.
    pub fn hear(&mut self, request: Request, from: A, now: Instant) -> Option<(Response, A)> {
        // A relay may stand before another one.
        self.gathered = self.gathered.saturating_add(request.gathered.max(1));
        self.counts.add(request.counts);
        self.configuration = self.configuration.max(request.configuration);
        note(&mut self.polls, &request.polled, request.polls.iter());
        note(&mut self.returns, &request.returned, request.returns.iter());
        if request.messages.is_empty()
            && let Some((known, heard)) = &self.known
            && now < *heard + FRESH
        {
            let Stamp(life, sequence, taken) = known.stamp();
            let stamp = Stamp(life, sequence, taken + now.since(*heard));
            let response = Response {
                version: VERSION,
                replies: Vec::new(),
                life: Some(life),
                snapshot: self.told_to(request.knows, stamp),
            };
            return Some((response, from));
        }
        self.waiting.push((request, from));
        None
    }

    /// How long to gather yet; none if nobody waits.
    pub fn due_in(&self, now: Instant) -> Option<Span> {
        let relays = self.known.as_ref().and_then(|(known, _)| known.relays);
        let window = relays.map_or(FIRST_WINDOW, |relays| relays.window);
        let is_awaited = !self.waiting.is_empty();
        is_awaited.then(|| (self.last_call + window).since(now))
    }

    /// The request to the room, and whose it is; none if nobody waits.
    pub fn take(&mut self, now: Instant) -> Option<(Request, Vec<Part<A>>)> {
        let mut count = 0;
        let mut messages: Vec<Message> = Vec::new();
        for (request, _) in &self.waiting {
            if count > 0 && messages.len() + request.messages.len() > MOST_MESSAGES {
                break;
            }
            messages.extend(&request.messages);
            count += 1;
        }
        if count == 0 {
            return None;
        }
        let parts = self.waiting.drain(..count).map(|(request, to)| Part {
            messages: request.messages.len(),
            knows: request.knows,
            to,
        });
        let parts = parts.collect();
        self.last_call = now;
        let polls = std::mem::take(&mut self.polls);
        let returns = std::mem::take(&mut self.returns);
        let known = self.known.as_ref().map(|(known, _)| known);
        let request = Request {
            version: VERSION,
            messages,
            knows: known.map(|known| known.stamp()),
            gathered: std::mem::take(&mut self.gathered),
            counts: std::mem::take(&mut self.counts),
            configuration: self.configuration,
            ..Request::default()
        };
        let reads = known.map_or(0, |known| known.reads);
        Some((request.reporting(reads, polls, returns), parts))
    }

    /// The room has answered a request: what goes to whom. None if the replies are not those to the
    /// messages.
    pub fn split(
        &mut self,
        response: Response,
        parts: &[Part<A>],
        now: Instant,
    ) -> Option<Vec<Response>> {
        let life = response.life();
        if let Some(snapshot) = response.snapshot {
            self.learn(snapshot, now);
        }
        let stamp = self.known.as_ref()?.0.stamp();
        let mut replies = response.replies.into_iter();
        let mut responses = Vec::with_capacity(parts.len());
        for part in parts {
            let own: Vec<_> = replies.by_ref().take(part.messages).collect();
            if own.len() < part.messages {
                return None;
            }
            responses.push(Response {
                version: VERSION,
                replies: own,
                life,
                snapshot: self.told_to(part.knows, stamp),
            });
        }
        Some(responses)
    }

    fn learn(&mut self, snapshot: Arc<Snapshot>, now: Instant) {
        let is_old = |(known, _): &(Arc<Snapshot>, _)| known.supersedes(&snapshot);
        if !self.known.as_ref().is_some_and(is_old) {
            let headline = Headline::from(snapshot.as_ref());
            self.news.observe(headline, snapshot.stamp());
            self.known = Some((snapshot, now));
        }
    }

    fn told_to(&self, knows: Option<Stamp>, now: Stamp) -> Option<Arc<Snapshot>> {
        let known = self.known.as_ref().map(|(known, _)| Arc::clone(known));
        known.filter(|_| !self.news.is_known_to(knows, now))
    }
}

fn note(
    gathered: &mut Vec<TicketNumber>,
    listed: &[TicketNumber],
    set: impl Iterator<Item = TicketNumber>,
) {
    let left = MOST_POLLS.saturating_sub(gathered.len());
    gathered.extend(listed.iter().copied().chain(set).take(left));
}

#[cfg(test)]
mod tests;
