//! What somebody outside would note who sees every stored row and every signed pass, and nothing of
//! the ledger's own state: plain lists, from which the promises are judged.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use anteroom::gate::token::Standing;
use anteroom::room::draw::Commitment;
use anteroom::room::ledger::book::Effect;
use anteroom::room::ledger::journal::Row;
use anteroom::room::ledger::{EXPIRY_GRACE, PLACE_KEPT, RESERVED_FOR};
use anteroom::room::message::{Message, Reply};
use anteroom::room::number::{TicketId, TicketNumber};
use anteroom::room::snapshot::{Snapshot, Stamp};
use anteroom::time::{Instant, Span};

use super::room::Counts;

pub(crate) const TOTAL: &str = "no grant while the active sessions are at the limit or above it";
pub(crate) const RATE: &str = "no more grants in any 60 seconds than the limit";
pub(crate) const TWICE: &str = "no number is given twice";
pub(crate) const REVIVED: &str = "no number is admitted twice";
pub(crate) const PLACE: &str = "a place that is claimed in time is never lost";
pub(crate) const COUNT: &str = "the room counts its sessions and admissions exactly";
pub(crate) const DRAWN: &str = "who is called or drawn may come to the door";
pub(crate) const LOTS: &str = "a place that was drawn by lot stays what it is";
pub(crate) const KEY: &str =
    "the key that orders a pre-queue is the one committed to, and told when it is over";
pub(crate) const EARLY: &str = "nobody of a pre-queue is let in before its draw";
pub(crate) const MADE: &str = "a pass is made of a reserved slot in its time, and of no other";
pub(crate) const SLOT: &str = "no valid pass without a slot";

const MINUTE: Span = Span::from_secs(60);

/// Edge clocks are at most so far ahead of the room's.
const AHEAD: Span = Span::from_secs(60);

#[derive(Clone, Debug, Default, Hash, PartialEq)]
pub(crate) struct Witness {
    /// Every session whose admission is durable.
    pub(crate) sessions: Vec<Session>,
    /// Every number that was told to somebody, and by what they were known when they got it.
    owners: BTreeMap<TicketNumber, Owner>,
    /// Every pass that was signed and may be valid at some edge, by its text.
    passes: BTreeMap<Arc<str>, (TicketNumber, Instant)>,
    /// The last number that is stored.
    last: u64,
    /// Reservations that are stored: the first number, and how many.
    reserved: BTreeMap<TicketId, (u64, u32)>,
    /// The numbers of reservations of which edges have made passes.
    made: BTreeSet<TicketNumber>,
    /// The draw that is announced in what is stored.
    announced: Option<Announced>,
    /// How the places of the pre-queue were drawn, once an edge has heard of it, and when that was.
    lots: Option<(Stamp, String)>,
    /// The numbers whose place or session was given up.
    ended: BTreeSet<TicketNumber>,
    /// The first promise that was broken.
    pub(crate) broken: Option<&'static str>,
}

#[derive(Clone, Debug, Hash, PartialEq)]
struct Announced {
    commitment: Commitment,
    start: Instant,
    first: u64,
    held: bool,
}

#[derive(Clone, Debug, Hash, PartialEq)]
pub(crate) struct Session {
    pub(crate) number: TicketNumber,
    pub(crate) admitted: Instant,
    /// The last moment at which its pass may be made: later than the admission if it was reserved.
    made_by: Instant,
    pub(crate) expires: Instant,
    pub(crate) renewed: bool,
    ended: bool,
}

/// What a number was given for.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
enum Owner {
    Arrival(TicketId),
    /// A claim of another number, which was over.
    InsteadOf(TicketNumber),
}

impl Witness {
    fn breaks(&mut self, promise: &'static str) {
        self.broken = self.broken.or(Some(promise));
    }

    /// Sessions that hold a slot at `now`.
    fn active(&self, now: Instant) -> usize {
        let holds = |session: &&Session| session.holds_at(now);
        self.sessions.iter().filter(holds).count()
    }

    fn admitted_within(&self, span: Span, now: Instant) -> usize {
        let recent = |session: &&Session| session.made_by + span > now;
        self.sessions.iter().filter(recent).count()
    }

    /// A row has become durable that was decided under these limits.
    pub(crate) fn stored(&mut self, row: &Row, (total, rate): (u32, u32)) {
        for effect in &row.effects {
            match *effect {
                Effect::Admitted {
                    number, expires, ..
                } => {
                    if self.active(row.at) >= total as usize {
                        self.breaks(TOTAL);
                    }
                    if self.admitted_within(MINUTE, row.at) >= rate as usize {
                        self.breaks(RATE);
                    }
                    if self.sessions.iter().any(|session| session.number == number) {
                        self.breaks(REVIVED);
                    }
                    let mut undrawn = self.announced.iter().filter(|draw| !draw.held);
                    if undrawn.any(|draw| number.get() >= draw.first) {
                        self.breaks(EARLY);
                    }
                    self.sessions.push(Session {
                        number,
                        admitted: row.at,
                        made_by: row.at,
                        expires,
                        renewed: false,
                        ended: false,
                    });
                }
                Effect::DrawAnnounced { start, key, .. } => {
                    self.announced = Some(Announced {
                        commitment: key.commitment(),
                        start,
                        first: self.last + 1,
                        held: false,
                    });
                }
                Effect::DrawHeld => {
                    if self
                        .announced
                        .as_ref()
                        .is_none_or(|draw| row.at < draw.start)
                    {
                        self.breaks(KEY);
                    }
                    if let Some(draw) = &mut self.announced {
                        draw.held = true;
                    }
                }
                Effect::Issued { number, .. } => self.last = number.get(),
                Effect::Reserved {
                    reservation,
                    count,
                    expires,
                    ..
                } => {
                    if self.active(row.at) + count as usize > total as usize {
                        self.breaks(TOTAL);
                    }
                    if self.admitted_within(MINUTE, row.at) + count as usize > rate as usize {
                        self.breaks(RATE);
                    }
                    let first = self.last + 1;
                    self.last += u64::from(count);
                    self.reserved.insert(reservation, (first, count));
                    let numbers = (first..=self.last).filter_map(TicketNumber::new);
                    self.sessions.extend(numbers.map(|number| Session {
                        number,
                        admitted: row.at,
                        made_by: row.at + RESERVED_FOR,
                        expires,
                        renewed: false,
                        ended: false,
                    }));
                }
                Effect::Returned { reservation, used } => {
                    if let Some((first, count)) = self.reserved.remove(&reservation) {
                        let back = first + u64::from(used)..first + u64::from(count);
                        for session in &mut self.sessions {
                            session.ended |= back.contains(&session.number.get());
                        }
                    }
                }
                Effect::Renewed { number, expires } => {
                    for session in &mut self.sessions {
                        if session.number == number && session.holds_at(row.at) {
                            session.expires = session.expires.max(expires);
                            session.renewed = true;
                        }
                    }
                }
                Effect::Ended { number } => {
                    self.ended.insert(number);
                    for session in &mut self.sessions {
                        session.ended |= session.number == number;
                    }
                }
                _ => {}
            }
        }
    }

    /// What the room counts once a batch is durable.
    pub(crate) fn counted(&mut self, counts: Counts) {
        let (active, now) = (counts.active as usize, counts.now);
        let admitted = counts.admitted_last_minute as usize;
        let exactly = self.admitted_within(MINUTE, now);
        // An admission may count for up to a tenth of a second longer.
        let at_most = self.admitted_within(MINUTE + Span::from_millis(100), now);
        if active != self.active(now) || !(exactly..=at_most).contains(&admitted) {
            self.breaks(COUNT);
        }
    }

    /// The edge hears this reply to this message, at this time of the room.
    pub(crate) fn told(&mut self, message: Message, reply: Reply, now: Instant) {
        let (Reply::Admitted { number, .. }
        | Reply::Waiting { number, .. }
        | Reply::AtDoor { number, .. }) = reply
        else {
            return;
        };
        if let (
            Message::Claim {
                number: claimed, ..
            },
            Reply::Waiting { number, .. },
        ) = (message, reply)
            && claimed == number
        {
            self.breaks(DRAWN);
        }
        let owner = match message {
            Message::Arrive { ticket, .. } => Owner::Arrival(ticket),
            Message::Claim {
                number: claimed,
                last_poll,
                ..
            } if claimed != number => {
                let was_in = self.sessions.iter().any(|s| s.number == claimed);
                let in_time = last_poll + PLACE_KEPT + AHEAD > now;
                if in_time && !was_in && !self.ended.contains(&claimed) {
                    self.breaks(PLACE);
                }
                Owner::InsteadOf(claimed)
            }
            _ => return,
        };
        if *self.owners.entry(number).or_insert(owner) != owner {
            self.breaks(TWICE);
        }
    }

    /// An edge has made a newcomer's pass of a number that it had reserved, at this time of the room.
    pub(crate) fn made(&mut self, number: TicketNumber, now: Instant) {
        let is_held = |session: &Session| session.number == number && now <= session.made_by;
        if !self.sessions.iter().any(is_held) {
            self.breaks(MADE);
        }
        if !self.made.insert(number) {
            self.breaks(TWICE);
        }
    }

    /// Whether there is such a pass.
    pub(crate) fn has_made_one(&self) -> bool {
        !self.made.is_empty()
    }

    /// An edge hears this snapshot.
    pub(crate) fn published(&mut self, snapshot: &Snapshot) {
        let stored = self.announced.as_ref();
        let promised = snapshot.announced.as_ref().map(|draw| draw.commitment);
        let shown = snapshot.draws.last().map(|draw| draw.key.commitment());
        if promised.is_some_and(|told| stored.is_none_or(|draw| draw.commitment != told))
            || shown
                .is_some_and(|told| stored.is_none_or(|draw| !draw.held || draw.commitment != told))
        {
            self.breaks(KEY);
        }
        let drawn = (!snapshot.draws.is_empty()).then(|| format!("{:?}", snapshot.draws));
        match (&self.lots, drawn) {
            (Some((_, before)), Some(drawn)) if *before != drawn => self.breaks(LOTS),
            (Some((since, _)), None) if snapshot.stamp() > *since => self.breaks(LOTS),
            (None, Some(drawn)) => self.lots = Some((snapshot.stamp(), drawn)),
            _ => {}
        }
    }

    /// An edge has signed this pass.
    pub(crate) fn signed(&mut self, text: &Arc<str>, standing: Standing) {
        if let Standing::Admitted {
            number, expires, ..
        } = standing
        {
            let said = Instant::from_secs(expires.as_secs());
            self.passes.insert(Arc::clone(text), (number, said));
        }
    }

    /// Forgets the passes that are over on the slowest clock.
    pub(crate) fn forget_passes(&mut self, slowest: Instant) {
        self.passes.retain(|_, (_, expires)| *expires > slowest);
    }

    /// The passes that have not run out on the slowest clock, whose visitors have not given them up,
    /// and that hold no slot at the room's time `now`.
    pub(crate) fn passes_without_slot(
        &self,
        slowest: Instant,
        now: Instant,
    ) -> impl Iterator<Item = &str> {
        self.passes
            .iter()
            .filter(move |(_, (number, expires))| {
                *expires > slowest
                    && !self.ended.contains(number)
                    && !self
                        .sessions
                        .iter()
                        .any(|s| s.number == *number && s.holds_at(now))
            })
            .map(|(text, _)| &**text)
    }

    /// Whether this text is a pass that may be valid at some edge.
    pub(crate) fn has_signed(&self, text: &Arc<str>) -> bool {
        self.passes.contains_key(text)
    }
}

impl Session {
    fn holds_at(&self, now: Instant) -> bool {
        !self.ended && self.expires + EXPIRY_GRACE > now
    }
}
