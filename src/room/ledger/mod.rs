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
mod door;
mod epochs;
mod figures;
mod full;
mod invitations;
pub mod journal;
mod load;
mod lot;
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

use book::{Book, Effect, Standing};
use invitations::{Invitations, MOST_CALLS_PER_SLOT};
use journal::Row;
use load::Load;
use returns::Returns;
use standby::Departures;
use throughput::Throughput;
use turnout::Turnout;
use waiters::Waiters;

use super::figures::histogram::Histogram;
use super::figures::recorder::Recorder;
use super::message::{self, Message, Reply, Request, Response};
use super::news::{Headline, News};
use super::number::{Incarnation, TicketId, TicketNumber};
use super::place::Place;
use super::policy::{Admits, Policy};
use super::seed::Seed;
use super::snapshot::{Ahead, READS_SETS, Snapshot, Stamp};
use crate::site::room::FirstPass;
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

/// A renewal that would lengthen a session by less than this is answered but not stored: a hundred
/// requests sent at once make one row.
const LEAST_RENEWAL: Span = Span::from_secs(1);

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
    throughput: Throughput,
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
            throughput: Throughput::default(),
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
        self.load.advance(self.book.time, policy.relays);
        self.waiters.advance(self.book.time, policy.absent_after());
        // Before an event starts nothing moves, and that says nothing of how fast it will.
        let moves = policy.drawing.is_none() && !self.may_walk_in(policy);
        self.throughput
            .observe(moves, self.book.active(), self.book.time);
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

    fn handle(&mut self, policy: &Policy, message: Message) -> Reply {
        match message {
            Message::Arrive { ticket, returning } => self.arrive(policy, ticket, returning),
            Message::Claim {
                number,
                incarnation,
                last_poll,
                joined,
            } => {
                let standing = self.standing(number, incarnation);
                let reply = self.asks(policy, number, standing, last_poll);
                if let (Standing::Called, Some(Reply::Admitted { .. }), Some(joined)) =
                    (standing, reply, joined)
                {
                    let waited = self.book.time.since(joined);
                    self.recorder.current().waited.record(waited);
                }
                reply.unwrap_or_else(|| {
                    // The same spent number gets the same new one, or a copied token would be
                    // good for any number of places.
                    let ticket = replacement_ticket(number, incarnation);
                    self.arrive(policy, ticket, true)
                })
            }
            Message::Renew {
                number,
                incarnation,
            } => self.renew(policy, number, incarnation),
            Message::Leave {
                number,
                incarnation,
                revoked,
            } => {
                self.leave(number, self.standing(number, incarnation), revoked);
                Reply::Over
            }
            Message::Reserve { reservation, count } => self.reserve(policy, reservation, count),
            Message::Return {
                reservation,
                incarnation,
                used,
            } => self.take_back(reservation, incarnation, used),
            Message::Find { number } => Reply::Found(self.position(number)),
            Message::End { number } => {
                self.leave(number, self.book.standing(number), true);
                Reply::Found(self.position(number))
            }
        }
    }

    fn standing(&self, number: TicketNumber, incarnation: Incarnation) -> Standing {
        if incarnation == self.book.incarnation {
            self.book.standing(number)
        } else {
            Standing::Unknown
        }
    }

    /// Somebody with a number asks to come in. None if the number is over, or none of this room's.
    fn asks(
        &mut self,
        policy: &Policy,
        number: TicketNumber,
        standing: Standing,
        last_poll: Instant,
    ) -> Option<Reply> {
        match standing {
            Standing::Active(slot) => Some(Reply::Admitted {
                number,
                expires: slot.expires,
                provisional: slot.provisional,
            }),
            Standing::Waiting => Some(self.keep_waiting(number)),
            Standing::Called => Some(self.claim(policy, number, last_poll)),
            Standing::Spent | Standing::Unknown => None,
        }
    }

    fn arrive(&mut self, policy: &Policy, ticket: TicketId, returning: bool) -> Reply {
        if let Some(number) = self.book.number_of(ticket) {
            let standing = self.book.standing(number);
            if let Some(reply) = self.asks(policy, number, standing, self.book.time) {
                return reply;
            }
        }
        let walks_in = self.may_walk_in(policy);
        if !walks_in && (!returning || self.full) {
            return Reply::ComeBack;
        }
        let number = self.book.next_number();
        self.record(Effect::Issued { number, ticket });
        self.waiters.join(self.book.time);
        if walks_in {
            self.returns.given(number, self.book.time);
            let provisional = self.first_pass_is_provisional(policy);
            self.admit(policy, number, provisional)
        } else {
            self.throughput.joined();
            let tally = self.recorder.current();
            tally.joined = tally.joined.saturating_add(1);
            let ahead = self.ahead_of(number);
            self.foretell(policy, ahead);
            Reply::Waiting {
                number,
                joined: Some(self.book.time),
                ahead: Some(ahead),
            }
        }
    }

    /// A called visitor asks to come in. They do if there are more free slots than visitors before
    /// them who stand at the door, or were called so lately that they may not have heard of it.
    fn claim(&mut self, policy: &Policy, number: TicketNumber, last_poll: Instant) -> Reply {
        let place = self.book.place_of(number);
        self.invitations.close(place, true, self.book.time);
        self.drawn_comes(number);
        let free = self.free(policy);
        let now = self.book.time;
        let ahead = self.book.door.held_before(place);
        if free > ahead && free - ahead > self.invitations.fresh_before(place, now) {
            return self.admit(policy, number, false);
        }
        if !self.book.door.contains(place) {
            self.record(Effect::CameToDoor { number });
        }
        // Edge clocks may be off; what lies ahead of the room's is no gap at all.
        self.book
            .door
            .ask(place, last_poll.min(now), now, policy.usual_gap());
        Reply::AtDoor { number, ahead }
    }

    /// Grants a slot to a visitor. The caller has checked [`Ledger::free`].
    fn admit(&mut self, policy: &Policy, number: TicketNumber, provisional: bool) -> Reply {
        let expires = self.book.time + Self::life(policy, provisional);
        let called = self.book.called;
        self.record(Effect::Admitted {
            number,
            expires,
            provisional,
        });
        if self.book.called > called {
            self.waiters
                .call_first(self.book.time, policy.absent_after());
        } else {
            self.waiters.left(self.book.place_of(number));
        }
        self.throughput.record(self.book.active());
        let tally = self.recorder.current();
        tally.granted = tally.granted.saturating_add(1);
        Reply::Admitted {
            number,
            expires,
            provisional,
        }
    }

    /// How long a new pass lives.
    fn life(policy: &Policy, provisional: bool) -> Span {
        // An event may have longer sessions than its room.
        let longest = policy.session_max.unwrap_or(policy.session);
        let session = policy.session.min(longest);
        if provisional {
            PROVISIONAL.min(session)
        } else {
            session
        }
    }

    fn keep_waiting(&mut self, number: TicketNumber) -> Reply {
        self.waiters
            .polled(self.book.place_of(number), self.book.time);
        Reply::Waiting {
            number,
            joined: None,
            ahead: Some(self.ahead_of(number)),
        }
    }

    /// How many live visitors come before one in line.
    fn ahead_of(&self, number: TicketNumber) -> u32 {
        let before = self.waiters.before(self.book.place_of(number));
        self.expected_at_door().saturating_add(before)
    }

    fn renew(&mut self, policy: &Policy, number: TicketNumber, from: Incarnation) -> Reply {
        let Standing::Active(slot) = self.standing(number, from) else {
            return Reply::Over;
        };
        let expires = if policy.renewal {
            policy.session_ends(slot.admitted, self.book.time)
        } else if slot.provisional {
            slot.admitted + policy.session
        } else {
            // Made whole before; the acknowledgement may have been lost.
            slot.expires
        };
        if policy.drain_over_limit && self.book.active() > policy.total_active_users {
            return Reply::NotRenewed;
        }
        self.returns.returned(number);
        if !slot.provisional && expires < slot.expires + LEAST_RENEWAL {
            return Reply::Admitted {
                number,
                expires: slot.expires,
                provisional: false,
            };
        }
        self.record(Effect::Renewed { number, expires });
        Reply::Admitted {
            number,
            expires: slot.expires.max(expires),
            provisional: false,
        }
    }

    fn leave(&mut self, number: TicketNumber, standing: Standing, revoked: bool) {
        match standing {
            Standing::Unknown | Standing::Spent => return,
            Standing::Waiting => self.waiters.left(self.book.place_of(number)),
            Standing::Called => {
                let place = self.book.place_of(number);
                self.waiters.left(place);
                self.invitations.close(place, false, self.book.time);
            }
            Standing::Active(_) => self.departures.record(self.book.time),
        }
        self.count_end(standing, revoked);
        self.record(Effect::Ended { number });
    }

    /// Raises `serving` so far that those expected to come are as many as are wanted.
    fn call(&mut self, policy: &Policy) {
        match policy.admits {
            Admits::Nobody => return,
            Admits::AtRandom if self.draw_epoch(policy) => return,
            _ => {}
        }
        let now = self.book.time;
        let wanted = self.wanted(policy);
        let missing = wanted.saturating_sub(self.book.door.held());
        let most = wanted.saturating_mul(MOST_CALLS_PER_SLOT);
        let mut open = self
            .invitations
            .open_since(self.invitations.usual_delay(), now);
        let mut expected = self.invitations.expected(now);
        let mut called = self.book.called;
        while called < self.book.callable() {
            let place = Place::new(called + 1);
            let enough = expected.fill(missing) || open >= most;
            let spent = self.book.spent.contains(place);
            if enough && !spent {
                break;
            }
            // One who has not polled for long is called too, and may come, but is not counted on.
            let present = self
                .waiters
                .call_first(now, policy.absent_after())
                .unwrap_or(false);
            if present && !spent {
                self.invitations.invite(place, now);
                self.throughput.called(1);
                expected.one_more();
                open = open.saturating_add(1);
            }
            called = place.get();
        }
        if called > self.book.called {
            let up_to = Place::new(called);
            self.record(Effect::Called { up_to });
            self.throughput.reached(called, now);
        }
    }

    /// Slots that may be granted now: the lesser of what both limits leave.
    fn free(&self, policy: &Policy) -> u32 {
        match policy.admits {
            Admits::Nobody => 0,
            Admits::Everybody => u32::MAX,
            Admits::InOrder | Admits::AtRandom => {
                let slots = policy.total_active_users.saturating_sub(self.book.active());
                let rate = self.book.admitted_last_minute();
                slots.min(policy.new_users_per_minute.saturating_sub(rate))
            }
        }
    }

    /// Whether a newcomer may go in at once: nobody waits, and a slot is left beside those who were
    /// called.
    fn may_walk_in(&self, policy: &Policy) -> bool {
        match policy.admits {
            Admits::Nobody => false,
            Admits::Everybody => true,
            Admits::InOrder | Admits::AtRandom => {
                self.book.called == self.book.issued && self.free(policy) > self.expected_at_door()
            }
        }
    }

    /// How many of the called are expected to take a slot.
    fn expected_at_door(&self) -> u32 {
        self.invitations.open() + self.book.door.held()
    }

    fn first_pass_is_provisional(&self, policy: &Policy) -> bool {
        match policy.first_pass {
            FirstPass::Full => false,
            FirstPass::Provisional => true,
            FirstPass::Auto => self.returns.suspicious(),
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

    /// How many are in line, called ones included.
    fn in_line(&self) -> u32 {
        self.waiters
            .present()
            .saturating_add(self.expected_at_door())
    }

    fn headline(&self, policy: &Policy) -> Headline {
        let queueing = !self.may_walk_in(policy);
        Headline {
            queueing,
            full: queueing && self.is_full(policy, self.in_line()),
            provisional: self.first_pass_is_provisional(policy),
            relays: self.load.relays(policy.relays),
            undrawn_from: self.book.lots.undrawn_from(),
            drawn_from: self.book.lots.held.last().map(|draw| draw.first),
        }
    }

    fn snapshot(&mut self, policy: &Policy, headline: Headline) -> Arc<Snapshot> {
        let now = self.book.time;
        let called = self.expected_at_door();
        let spare = self.spare(policy);
        let drawn = self.turnout.open().round() as u32;
        let Headline {
            queueing,
            full,
            provisional,
            relays,
            ..
        } = headline;
        let drawing = self.waiters.draw(now, policy.absent_after());
        self.throughput.line(drawing.queued);
        let behind = |point: &Ahead| Ahead(point.0, point.1.saturating_add(called));
        Arc::new(Snapshot {
            incarnation: self.book.incarnation,
            sequence: self.book.sequence,
            taken: now,
            serving: self.book.called,
            issued: self.book.issued,
            active: self.book.active(),
            admitted_last_minute: self.book.admitted_last_minute(),
            called: called.saturating_add(drawn),
            queued: drawing.queued.saturating_sub(drawn),
            admissions_per_minute: self.throughput.per_minute(now),
            pace: self.throughput.pace(policy, &drawing.points, called, now),
            ahead: drawing.points.iter().map(behind).collect(),
            queueing,
            full,
            epochs: self.book.epochs.iter().copied().collect(),
            spare,
            provisional,
            revoked: self.book.revoked(),
            announced: self.book.lots.announcement(),
            draws: self.book.lots.held.clone(),
            reads: READS_SETS,
            relays,
        })
    }
}

/// The ticket under which the holder of a spent number arrives again. Edges choose ids below 2^63,
/// so it is no other visitor's.
fn replacement_ticket(number: TicketNumber, incarnation: Incarnation) -> TicketId {
    // 2^64 divided by the golden ratio spreads incarnations over the bits above a number's 53.
    let life = incarnation.get().wrapping_mul(0x9e37_79b9_7f4a_7c15) << 53;
    TicketId::new(1 << 63 | (life ^ number.get()))
}
