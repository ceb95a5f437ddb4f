//! The ledger of a room: `(state, now, requests) -> (state, row to store, responses)`, without I/O.
//!
//! What it promises, on the room's clock, which never goes back:
//!
//! - No grant while the active sessions are at or above the current `total_active_users`.
//! - No more than the current `new_users_per_minute` grants in any 60 seconds.
//! - First come, first served: a visitor who is called and polls goes in before every later number,
//!   except that a called one may be overtaken by others called while they have not come yet.
//! - No number twice, no session that is not counted, no slot held by nobody for longer than
//!   [`EXPIRY_GRACE`] after its pass.
//!
//! The promises rest on three rules. A slot is granted in two places only ([`Ledger::admit`], and
//! [`reserve`] for an edge that expects many), after a check against both limits in the same call. Everything that was promised to a visitor is in the
//! [`Book`], and the shell sends responses only once the batch's [`Row`] is durable. A pass says when
//! it ends, and its slot stays taken for a little longer ([`EXPIRY_GRACE`]) than any edge honours it.
//!
//! The rest (who still polls, how many of the called come, how fast the line moves) are estimates:
//! they decide how many to call and what to tell, never whether a grant is within the limits.

pub mod book;
mod calling;
mod door;
mod epochs;
mod figures;
mod forecast;
mod full;
mod handle;
mod invitations;
pub mod journal;
mod lifetimes;
mod load;
mod lot;
mod outlook;
mod pacing;
mod patience;
mod publish;
mod random;
mod rate;
mod reserve;
mod returns;
mod slots;
mod spent;
mod standby;
mod tally;
#[cfg(test)]
mod tests;
mod throughput;
mod tickets;
mod tracers;
mod turnout;
mod waiters;

use std::sync::Arc;

pub use reserve::RESERVED_FOR;

use book::{Book, Effect};
use invitations::Invitations;
use journal::Row;
use load::Load;
use outlook::Outlook;
use pacing::Pacing;
use returns::Returns;
use standby::Departures;
use turnout::Turnout;
use waiters::Waiters;

use super::figures::histogram::Histogram;
use super::figures::recorder::Recorder;
use super::message::{self, Reply, Request, Response};
use super::news::News;
use super::number::Incarnation;
use super::policy::Policy;
use super::seed::Seed;
use super::snapshot::Stamp;
use crate::time::{Instant, Span};

/// A slot stays taken for so long after its pass ends, so that an edge whose clock is slow does not
/// honour a pass whose slot is let again.
pub const EXPIRY_GRACE: Span = Span::from_secs(5);

/// A waiting visitor's place is kept for so long after their last poll.
pub const PLACE_KEPT: Span = Span::from_secs(300);

/// How long the room remembers a place that was called: [`PLACE_KEPT`] and a minute more for edge
/// clocks that are ahead, and the grace.
const PLACE_MEMORY: Span = Span::from_secs(365);

/// A called visitor who has not come for so long is no longer counted on. They may come all the
/// same. It spans a poll from afar (20 s and jitter), so that a call is not given up before most
/// have heard it.
pub const CLAIM_WINDOW: Span = Span::from_secs(30);

/// The life of a provisional pass.
pub const PROVISIONAL: Span = Span::from_secs(60);

/// What one batch of requests comes to.
#[derive(Clone, Debug)]
pub struct Batch {
    /// What must be durable before any response leaves; none if nothing changed.
    pub row: Option<Row>,
    /// The responses, one for each request.
    pub responses: Vec<Response>,
}

/// A room.
#[derive(Clone, Debug)]
pub struct Ledger {
    book: Book,
    effects: Vec<Effect>,
    heard: Instant,
    /// Silence since the last row.
    silence: Span,
    /// Whether this is the first batch after a recovery. It always stores a row, so that what the
    /// room publishes supersedes all that it published before, even if the clock went back.
    recovered: bool,
    waiters: Waiters,
    invitations: Invitations,
    departures: Departures,
    pacing: Pacing,
    outlook: Outlook,
    returns: Returns,
    turnout: Turnout,
    /// Whether newcomers get no number, as last published.
    full: bool,
    load: Load,
    news: News,
    recorder: Recorder,
}

impl Ledger {
    /// An empty room.
    pub fn new(incarnation: Incarnation, seed: Seed, now: Instant) -> Self {
        Self {
            recovered: false,
            silence: Span::ZERO,
            ..Self::with_book(Book::new(incarnation, seed, now), now)
        }
    }

    /// The room as it was when `rows`, which follow `checkpoint`, had been stored.
    pub fn recover(checkpoint: Book, rows: impl IntoIterator<Item = Row>, now: Instant) -> Self {
        let mut book = checkpoint;
        for row in rows {
            book.advance(row.at, row.silence);
            for effect in row.effects {
                book.apply(effect);
            }
            book.sequence = row.sequence;
        }
        Self::with_book(book, now)
    }

    fn with_book(mut book: Book, now: Instant) -> Self {
        // What was heard since the last row is not stored, so it counts as silence.
        let silence = now.since(book.time).max(Span::from_millis(1));
        // What has ended before was counted then.
        book.stayed = Histogram::default();
        book.advance(now, silence);
        let now = book.time;
        let mut invitations = Invitations::default();
        for (place, at) in book.expected_since(now - CLAIM_WINDOW) {
            invitations.invite(place, at);
        }
        let mut waiters = Waiters::new(book.called + 1, book.issued, now);
        for place in book.left() {
            waiters.left(place);
        }
        let mut turnout = Turnout::default();
        let waiting = f64::from(waiters.present());
        for epoch in book.epochs.iter() {
            turnout.drawn(epoch.index, epoch.begins(), epoch.chance.share() * waiting);
        }
        Self {
            waiters,
            invitations,
            departures: Departures::default(),
            effects: Vec::new(),
            heard: now,
            silence,
            recovered: true,
            pacing: Pacing::default(),
            outlook: Outlook::default(),
            returns: Returns::default(),
            turnout,
            full: false,
            load: Load::default(),
            news: News::default(),
            recorder: Recorder::new(now),
            book,
        }
    }

    /// The durable part, for a checkpoint.
    pub fn book(&self) -> &Book {
        &self.book
    }

    /// The room's time when a clock shows `now`. The policy of a batch is to be that of this time.
    pub fn time(&self, now: Instant) -> Instant {
        self.book.time.max(now)
    }

    /// Handles the requests of one window in their order, all at `now`.
    pub fn batch(&mut self, now: Instant, policy: &Policy, requests: &[Request]) -> Batch {
        self.advance(now, policy);
        let replies: Vec<Vec<Reply>> = requests
            .iter()
            .map(|request| {
                self.hear(request);
                request
                    .messages
                    .iter()
                    .map(|message| self.handle(policy, *message))
                    .collect()
            })
            .collect();
        self.call(policy);
        self.note_levels(policy);
        let row = self.take_row();
        let stamp = Stamp(self.book.incarnation, self.book.sequence, self.book.time);
        let headline = self.headline(policy);
        self.full = headline.full;
        self.news.observe(headline, stamp);
        let mut shared = None;
        let mut responses = Vec::with_capacity(requests.len());
        for (request, replies) in requests.iter().zip(replies) {
            let is_known = self.news.is_known_to(request.knows, stamp);
            let mut shared =
                || Arc::clone(shared.get_or_insert_with(|| self.snapshot(policy, headline)));
            responses.push(Response {
                version: message::VERSION,
                replies,
                life: Some(stamp.0),
                snapshot: (!is_known).then(&mut shared),
            });
        }
        Batch { row, responses }
    }

    fn advance(&mut self, now: Instant, policy: &Policy) {
        let quiet = now.since(self.heard);
        let silence = if quiet > policy.absent_after() {
            quiet
        } else {
            Span::ZERO
        };
        self.book.advance(now, silence);
        self.recorder.advance(self.book.time);
        self.heard = self.book.time;
        if silence > Span::ZERO {
            self.silence = self.silence + silence;
            self.invitations.excuse(silence);
            self.turnout.excuse(silence);
            self.waiters.excuse(self.heard);
        }
        for place in self.book.door.lapsed(self.book.time) {
            if let Some(number) = self.book.lots.held.number_at(place) {
                self.record(Effect::Ended { number });
            }
        }
        self.draw_lots(policy.drawing);
        self.invitations.advance(self.book.time);
        self.departures.advance(self.book.time);
        self.returns.advance(self.book.time);
        self.pacing
            .advance(policy.new_users_per_minute, self.book.time);
        self.load.advance(self.book.time, policy.relays);
        self.waiters.advance(self.book.time, policy.absent_after());
        // Before an event starts nothing moves, and that says nothing of how fast it will.
        let moves = policy.drawing.is_none() && !self.may_walk_in(policy);
        self.look_ahead(policy, moves);
        self.call(policy);
    }

    fn hear(&mut self, request: &Request) {
        self.load.hear(request.gathered);
        let tally = self.recorder.current();
        tally.calls = tally.calls.saturating_add(1);
        tally.edges.add(request.counts);
        for number in request.polled.iter().copied().chain(request.polls.iter()) {
            let place = self.book.place_of(number);
            self.waiters.polled(place, self.book.time);
        }
        let returned = request.returned.iter().copied();
        for number in returned.chain(request.returns.iter()) {
            self.returns.returned(number);
        }
    }

    fn record(&mut self, effect: Effect) {
        self.book.apply(effect);
        self.effects.push(effect);
    }

    fn take_row(&mut self) -> Option<Row> {
        let is_needed = !self.effects.is_empty() || self.recovered;
        is_needed.then(|| self.next_row())
    }

    fn next_row(&mut self) -> Row {
        self.recovered = false;
        self.book.sequence += 1;
        Row {
            sequence: self.book.sequence,
            at: self.book.time,
            silence: std::mem::take(&mut self.silence),
            effects: std::mem::take(&mut self.effects),
        }
    }
}
