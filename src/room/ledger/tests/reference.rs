//! The ledger's promises, written for clarity: one list of everybody who was ever given a number,
//! nothing forgotten, everything counted anew each time it is asked for.
//!
//! The reference hears what was said and what was answered. It does not foretell who is called when,
//! which is policy; it says which answers the promises allow, and what the room must then look like.
//! Where the ledger may be inexact, the bounds stand here:
//!
//! - An admission counts for 60 seconds, and for less than a tenth of a second longer.
//! - The time at which a number was called is known to a second, so its place may be over up to a
//!   second early. While nobody could be heard no place is lost, so it may be kept for as much longer.
//! - A place at the door is held for at least 10 seconds and at most 95 after the visitor has asked.

use super::*;
use crate::room::position::Position;

const MINUTE: Span = Span::from_secs(60);
const COUNTS_LONGER: Span = Span::from_millis(100);
const TICKET_MEMORY: Span = Span::from_secs(120);
const HELD_AT_LEAST: Span = Span::from_secs(10);
const HELD_AT_MOST: Span = Span::from_secs(95);
const CALL_KNOWN_TO: Span = Span::from_secs(1);

/// Somebody who was given a number.
#[derive(Clone, Copy, Debug)]
struct Visitor {
    number: TicketNumber,
    ticket: TicketId,
    joined: Instant,
    /// When the number was called, at the earliest and at the latest.
    called: Option<Instant>,
    /// When they last asked at the door in vain.
    asked: Option<Instant>,
    session: Option<Session>,
    /// When they gave up their place or session.
    left: bool,
}

#[derive(Clone, Copy, Debug)]
struct Session {
    admitted: Instant,
    expires: Instant,
    provisional: bool,
}

/// What a number stands for; more than one where the bounds allow it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Stands {
    Waiting,
    Called,
    Active,
    Over,
    CalledOrOver,
}

/// Everything that has happened in a room.
#[derive(Clone, Debug)]
pub(super) struct Reference {
    incarnation: Incarnation,
    now: Instant,
    heard: Instant,
    serving: u64,
    visitors: Vec<Visitor>,
    /// Time in which nobody could be heard: when it ended, and how long it was.
    silences: Vec<(Instant, Span)>,
}

impl Reference {
    pub(super) fn new(incarnation: Incarnation, now: Instant) -> Self {
        Self {
            incarnation,
            now,
            heard: now,
            serving: 0,
            visitors: Vec::new(),
            silences: Vec::new(),
        }
    }

    /// The room was recovered at this time of its own.
    pub(super) fn recovered(&mut self, now: Instant) {
        // What was heard since the last row is not stored, so all of it may count as silence.
        self.excuse(now, now.since(START));
    }

    /// One batch: what was asked, what was answered, and the room after it.
    pub(super) fn hear(
        &mut self,
        policy: &Policy,
        messages: &[Message],
        replies: &[Reply],
        after: &Snapshot,
    ) {
        assert!(after.taken >= self.now, "the room's time went back");
        self.now = after.taken;
        let quiet = self.now.since(self.heard);
        if quiet > policy.absent_after() {
            self.excuse(self.now, quiet);
        }
        self.heard = self.now;
        assert_eq!(messages.len(), replies.len());
        for (message, reply) in messages.iter().zip(replies) {
            self.judge(policy, *message, *reply, after);
        }
        self.called_up_to(after.serving);
        self.compare(after);
    }

    fn excuse(&mut self, now: Instant, silence: Span) {
        self.now = now;
        self.heard = now;
        self.silences.push((now, silence));
        for visitor in &mut self.visitors {
            visitor.asked = visitor.asked.map(|_| now);
        }
    }

    fn judge(&mut self, policy: &Policy, message: Message, reply: Reply, after: &Snapshot) {
        match message {
            Message::Arrive { ticket, returning } => {
                self.arrives(policy, ticket, returning, reply, after);
            }
            Message::Claim {
                number,
                incarnation,
                ..
            } => match self.stands(number, incarnation) {
                Stands::Over => self.replaced(policy, number, incarnation, reply, after),
                Stands::CalledOrOver if said(reply) != Some(number) => {
                    self.replaced(policy, number, incarnation, reply, after);
                }
                _ => self.asks(policy, number, reply, after),
            },
            Message::Renew {
                number,
                incarnation,
            } => self.renews(policy, number, incarnation, reply),
            Message::Leave {
                number,
                incarnation,
                ..
            } => {
                assert_eq!(reply, Reply::Over);
                if incarnation == self.incarnation
                    && let Some(visitor) = self.visitor_mut(number)
                {
                    visitor.left = true;
                }
            }
            Message::Find { number } => self.found(number, reply),
            Message::End { number } => {
                if let Some(visitor) = self.visitor_mut(number) {
                    visitor.left = true;
                }
                self.found(number, reply);
            }
            Message::Reserve { .. } | Message::Return { .. } => {
                panic!("reservations are judged in ledger/reserve/tests.rs")
            }
        }
    }

    /// The holder of a number that is over arrives anew, always by the same ticket.
    fn replaced(
        &mut self,
        policy: &Policy,
        number: TicketNumber,
        incarnation: Incarnation,
        reply: Reply,
        after: &Snapshot,
    ) {
        let ticket = replacement_ticket(number, incarnation);
        self.arrives(policy, ticket, true, reply, after);
    }

    fn arrives(
        &mut self,
        policy: &Policy,
        ticket: TicketId,
        returning: bool,
        reply: Reply,
        after: &Snapshot,
    ) {
        let latest = self
            .visitors
            .iter()
            .rfind(|visitor| visitor.ticket == ticket);
        if let Some(known) = latest.filter(|known| known.joined + TICKET_MEMORY > self.now) {
            let number = known.number;
            match self.stands(number, self.incarnation) {
                Stands::Over => {}
                Stands::CalledOrOver if said(reply) != Some(number) => {}
                _ => return self.asks(policy, number, reply, after),
            }
        }
        let is_alone = self
            .visitors
            .iter()
            .all(|visitor| matches!(self.stands_for(visitor), Stands::Over | Stands::Active));
        let must_walk_in = match policy.admits {
            Admits::Everybody => true,
            Admits::Nobody => false,
            Admits::InOrder | Admits::AtRandom => is_alone && self.free_for_sure(policy) > 0,
        };
        let walks_in = matches!(reply, Reply::Admitted { .. });
        assert!(
            walks_in || !must_walk_in,
            "{reply:?} to a newcomer while there is room"
        );
        let Some(number) = said(reply) else {
            assert_eq!(reply, Reply::ComeBack);
            assert!(
                !returning || after.full,
                "one who has come back gets no number"
            );
            return;
        };
        assert!(
            walks_in || returning,
            "a full room gives a number to one who keeps no cookie"
        );
        assert_eq!(
            number.get(),
            self.visitors.len() as u64 + 1,
            "numbers are given in order"
        );
        self.visitors.push(Visitor {
            number,
            ticket,
            joined: self.now,
            called: None,
            asked: None,
            session: None,
            left: false,
        });
        if walks_in {
            self.admits(policy, number, reply);
            self.called_up_to(number.get().min(after.serving));
        } else {
            let joined = Some(self.now);
            assert!(matches!(reply, Reply::Waiting { joined: at, .. } if at == joined));
        }
    }

    /// Somebody with a place or a session asks to come in.
    fn asks(&mut self, policy: &Policy, number: TicketNumber, reply: Reply, after: &Snapshot) {
        let now = self.now;
        assert_eq!(said(reply), Some(number), "{reply:?} to {number}");
        match (self.stands(number, self.incarnation), reply) {
            (
                Stands::Active,
                Reply::Admitted {
                    expires,
                    provisional,
                    ..
                },
            ) => {
                let held = self.visitor(number).and_then(|visitor| visitor.session);
                let held = held.map(|session| (session.expires, session.provisional));
                assert_eq!(
                    held,
                    Some((expires, provisional)),
                    "{number} asked once more"
                );
            }
            (Stands::Waiting, Reply::Waiting { joined: None, .. }) => {}
            // Called since the last batch, which the reference cannot know.
            (Stands::Waiting, _) if !after.is_called(number) => panic!("{reply:?} before the call"),
            (Stands::Waiting | Stands::Called | Stands::CalledOrOver, Reply::Admitted { .. }) => {
                self.admits(policy, number, reply);
            }
            (Stands::Waiting | Stands::Called | Stands::CalledOrOver, Reply::AtDoor { .. }) => {
                let before = self.at_door_before(number, HELD_AT_MOST) + self.on_the_way(number);
                let free = self.free_for_sure(policy);
                assert!(
                    free <= before,
                    "{number} stands before {free} free slots, {before} before"
                );
                if let Some(visitor) = self.visitor_mut(number) {
                    visitor.asked = Some(now);
                }
            }
            (stands, _) => panic!("{reply:?} to {number}, which is {stands:?}"),
        }
        // In random order whoever comes was drawn, which says nothing of those before.
        if policy.admits != Admits::AtRandom && !matches!(reply, Reply::Waiting { .. }) {
            self.called_up_to(number.get().min(after.serving));
        }
    }

    /// Somebody of the operator's was told where a number stands.
    fn found(&self, number: TicketNumber, reply: Reply) {
        let Reply::Found(position) = reply else {
            panic!("{reply:?} says not where {number} stands");
        };
        let session = self.visitor(number).and_then(|visitor| visitor.session);
        let agrees = match position {
            Position::NeverGiven => self.visitor(number).is_none(),
            Position::Active { admitted, expires } => {
                self.stands(number, self.incarnation) == Stands::Active
                    && session.is_some_and(|session| {
                        (session.admitted, session.expires) == (admitted, expires)
                    })
            }
            Position::Waiting { .. } => self.stands(number, self.incarnation) == Stands::Waiting,
            Position::Called { .. } => matches!(
                self.stands(number, self.incarnation),
                // Called since the last batch, which the reference cannot know.
                Stands::Waiting | Stands::Called | Stands::CalledOrOver
            ),
            // The list is longer than the numbers of these histories.
            Position::Ending { .. } => false,
            Position::Over => matches!(
                self.stands(number, self.incarnation),
                Stands::Over | Stands::CalledOrOver
            ),
        };
        assert!(agrees, "{number} is said to be {position:?}");
    }

    /// A slot is granted: the one thing that must never be wrong.
    fn admits(&mut self, policy: &Policy, number: TicketNumber, reply: Reply) {
        let Reply::Admitted {
            expires,
            provisional,
            ..
        } = reply
        else {
            panic!("{reply:?} is no grant");
        };
        let (active, recent) = (self.active(), self.admitted_within(MINUTE));
        match policy.admits {
            Admits::Nobody => panic!("{number} is admitted while nobody is"),
            Admits::Everybody => {}
            Admits::InOrder | Admits::AtRandom => {
                let (total, rate) = (policy.total_active_users, policy.new_users_per_minute);
                assert!(
                    active < total as usize,
                    "{active} of {total} are in, and {number} now"
                );
                assert!(
                    recent < rate as usize,
                    "{recent} of {rate} in a minute, and {number} now"
                );
                let before = self.at_door_before(number, HELD_AT_LEAST);
                let free = (total as usize - active).min(rate as usize - recent);
                assert!(
                    before < free,
                    "{number} takes the slot of one of {before} before it"
                );
            }
        }
        let life = if provisional {
            PROVISIONAL.min(policy.session)
        } else {
            policy.session
        };
        let life = policy.session_max.map_or(life, |longest| life.min(longest));
        assert_eq!(expires, self.now + life);
        let session = Session {
            admitted: self.now,
            expires,
            provisional,
        };
        if let Some(visitor) = self.visitor_mut(number) {
            assert!(
                visitor.session.is_none(),
                "{number} is admitted for the second time"
            );
            visitor.session = Some(session);
            visitor.asked = None;
        }
    }

    fn renews(&mut self, policy: &Policy, number: TicketNumber, from: Incarnation, reply: Reply) {
        if self.stands(number, from) != Stands::Active {
            assert_eq!(reply, Reply::Over, "to {number}, which has no session");
            return;
        }
        if policy.drain_over_limit && self.active() > policy.total_active_users as usize {
            assert_eq!(reply, Reply::NotRenewed);
            return;
        }
        let now = self.now;
        let Some(session) = self
            .visitor_mut(number)
            .and_then(|visitor| visitor.session.as_mut())
        else {
            panic!("{number} is active without a session");
        };
        let renewed = match (policy.renewal, session.provisional) {
            (true, _) => session
                .expires
                .max(policy.session_ends(session.admitted, now)),
            (false, true) => session
                .expires
                .max(policy.session_ends(session.admitted, session.admitted)),
            (false, false) => session.expires,
        };
        // Less than a second more is not worth a row.
        let is_worth_it = session.provisional || renewed >= session.expires + LEAST_RENEWAL;
        let expires = if is_worth_it {
            renewed
        } else {
            session.expires
        };
        let provisional = false;
        assert_eq!(
            reply,
            Reply::Admitted {
                number,
                expires,
                provisional
            }
        );
        (session.expires, session.provisional) = (expires, false);
    }

    fn called_up_to(&mut self, serving: u64) {
        assert!(
            serving <= self.visitors.len() as u64,
            "{serving} was called and never given"
        );
        self.serving = self.serving.max(serving);
        for visitor in &mut self.visitors {
            if visitor.number.get() <= self.serving {
                visitor.called = visitor.called.or(Some(self.now));
            }
        }
    }

    /// The room as it presents itself.
    fn compare(&self, after: &Snapshot) {
        assert_eq!(after.issued, self.visitors.len() as u64);
        assert_eq!(after.serving, self.serving, "what was called stays called");
        assert_eq!(after.active as usize, self.active(), "active sessions");
        let recent = after.admitted_last_minute as usize;
        let bounds = self.admitted_within(MINUTE)..=self.admitted_within(MINUTE + COUNTS_LONGER);
        assert!(
            bounds.contains(&recent),
            "{recent} admitted in a minute, {bounds:?} expected"
        );
        let mut revoked = after.revoked.clone();
        revoked.sort();
        let over = self.visitors.iter().filter(|visitor| {
            let runs = |session: Session| session.expires + EXPIRY_GRACE > self.now;
            visitor.left && visitor.session.is_some_and(runs)
        });
        let over: Vec<_> = over.map(|visitor| visitor.number).collect();
        assert_eq!(revoked, over, "sessions that were ended before their pass");
    }

    /// The same of what only the book tells.
    pub(super) fn compare_standings(&self, book: &Book, after: &Snapshot) {
        for visitor in &self.visitors {
            let (number, stands) = (visitor.number, self.stands_for(visitor));
            let is = book.standing(number);
            let agrees = match stands {
                // Drawn by lot, one may come for as long as the room remembers the draw.
                Stands::Waiting => {
                    is == Standing::Waiting || (is == Standing::Called && after.is_called(number))
                }
                Stands::Called => is == Standing::Called,
                Stands::Active => matches!(is, Standing::Active(slot)
                    if Some(slot.expires) == visitor.session.map(|session| session.expires)),
                Stands::Over => is == Standing::Spent,
                Stands::CalledOrOver => matches!(is, Standing::Called | Standing::Spent),
            };
            assert!(agrees, "{number} is {is:?} and should be {stands:?}");
        }
        assert_eq!(book.standing(book.next_number()), Standing::Unknown);
    }

    fn stands(&self, number: TicketNumber, incarnation: Incarnation) -> Stands {
        let ours = incarnation == self.incarnation;
        let visitor = self.visitor(number).filter(|_| ours);
        visitor.map_or(Stands::Over, |visitor| self.stands_for(visitor))
    }

    fn stands_for(&self, visitor: &Visitor) -> Stands {
        let Visitor {
            session,
            left,
            called,
            asked,
            ..
        } = *visitor;
        if let Some(session) = session {
            let runs = session.expires + EXPIRY_GRACE > self.now;
            return if runs && !left {
                Stands::Active
            } else {
                Stands::Over
            };
        }
        if left {
            return Stands::Over;
        }
        let Some(since) = asked.or(called) else {
            return Stands::Waiting;
        };
        let silences = self.silences.iter().filter(|(ended, _)| *ended > since);
        let excused = silences
            .map(|(_, span)| *span)
            .fold(Span::ZERO, |sum, span| sum + span);
        if since + PLACE_MEMORY > self.now + CALL_KNOWN_TO {
            Stands::Called
        } else if since + PLACE_MEMORY + excused <= self.now {
            Stands::Over
        } else {
            Stands::CalledOrOver
        }
    }

    fn active(&self) -> usize {
        let is_active = |visitor: &&Visitor| self.stands_for(visitor) == Stands::Active;
        self.visitors.iter().filter(is_active).count()
    }

    fn admitted_within(&self, span: Span) -> usize {
        let sessions = self.visitors.iter().filter_map(|visitor| visitor.session);
        sessions
            .filter(|session| session.admitted + span > self.now)
            .count()
    }

    /// Slots that are free by both limits, however long admissions count.
    fn free_for_sure(&self, policy: &Policy) -> usize {
        match policy.admits {
            Admits::Nobody => 0,
            Admits::Everybody => usize::MAX,
            Admits::InOrder | Admits::AtRandom => {
                let recent = self.admitted_within(MINUTE + COUNTS_LONGER);
                let slots = (policy.total_active_users as usize).saturating_sub(self.active());
                slots.min((policy.new_users_per_minute as usize).saturating_sub(recent))
            }
        }
    }

    /// Whether `number` stands at the door.
    pub(super) fn is_at_door(&self, number: TicketNumber) -> bool {
        let visitor = self.visitor(number);
        visitor.is_some_and(|visitor| visitor.asked.is_some() && !visitor.left)
    }

    /// Those before `number`, who is called, that are so too and may not have heard of it yet.
    fn on_the_way(&self, number: TicketNumber) -> usize {
        let is_on_the_way = |visitor: &&Visitor| {
            visitor.number < number
                && visitor.asked.is_none()
                && matches!(
                    self.stands_for(visitor),
                    Stands::Waiting | Stands::Called | Stands::CalledOrOver
                )
        };
        self.visitors.iter().filter(is_on_the_way).count()
    }

    /// Those at the door before `number` who have asked within `span`.
    fn at_door_before(&self, number: TicketNumber, span: Span) -> usize {
        let before = |visitor: &&Visitor| {
            visitor.number < number
                && !visitor.left
                && visitor.asked.is_some_and(|asked| asked + span > self.now)
        };
        self.visitors.iter().filter(before).count()
    }

    fn visitor(&self, number: TicketNumber) -> Option<&Visitor> {
        self.visitors
            .iter()
            .find(|visitor| visitor.number == number)
    }

    fn visitor_mut(&mut self, number: TicketNumber) -> Option<&mut Visitor> {
        self.visitors
            .iter_mut()
            .find(|visitor| visitor.number == number)
    }
}

/// The number that a reply tells.
const fn said(reply: Reply) -> Option<TicketNumber> {
    match reply {
        Reply::Admitted { number, .. }
        | Reply::Waiting { number, .. }
        | Reply::AtDoor { number, .. } => Some(number),
        Reply::ComeBack
        | Reply::Over
        | Reply::NotRenewed
        | Reply::Reserved { .. }
        | Reply::NotReserved
        | Reply::Found(_) => None,
    }
}
