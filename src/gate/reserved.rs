//! Slots that an edge has reserved for newcomers to come, so that they need no call to the room.
//!
//! One task of the isolate, the keeper, asks for a reservation about once a second while newcomers
//! keep coming, and gives back what was not used. The one before the last is given back with the
//! next question, so passes can be made all the while the question is under way. The keeper's flag
//! is a deadline and no lock, like that of the snapshot's refresh.

use super::token::Standing;
use crate::room::ledger::RESERVED_FOR;
use crate::room::message::{Message, Reply};
use crate::room::number::{Incarnation, TicketId, TicketNumber};
use crate::time::{Instant, Span};

/// So many newcomers within [`COUNTED_FOR`] are worth a reservation.
const MANY: u32 = 8;
const COUNTED_FOR: Span = Span::from_millis(1_000);

/// A reservation is followed by another one when it is so old.
const NEXT_AFTER: Span = Span::from_millis(1_000);

/// Or when little of it is left, but no sooner than this.
const SOONEST: Span = Span::from_millis(200);

/// A keeper that has not been heard of for so long is dead.
const KEEPER_DEADLINE: Span = Span::from_secs(5);

/// A keeper gives everything back after so long and leaves it to another request to begin anew: the
/// runtime ends tasks that outlive their request by 30 seconds.
const KEEPER_LIFE: Span = Span::from_secs(20);

/// What an edge holds of one reservation.
#[derive(Clone, Copy, Debug)]
struct Held {
    id: TicketId,
    incarnation: Incarnation,
    first: TicketNumber,
    count: u32,
    used: u32,
    asked: Instant,
    expires: Instant,
    provisional: bool,
}

impl Held {
    /// Whether passes may still be made. A clock that was set back does not make it good again.
    fn is_good(&self, now: Instant) -> bool {
        self.asked <= now && now < self.asked + RESERVED_FOR && now < self.expires
    }

    fn next(&self, now: Instant) -> Option<Standing> {
        if !self.is_good(now) || self.used >= self.count {
            return None;
        }
        Some(Standing::Admitted {
            number: TicketNumber::new(self.first.get() + u64::from(self.used))?,
            incarnation: self.incarnation,
            issued: now,
            expires: self.expires,
            provisional: self.provisional,
        })
    }

    const fn give_back(&self) -> Message {
        Message::Return {
            reservation: self.id,
            incarnation: self.incarnation,
            used: self.used,
        }
    }
}

/// The reservations of one room.
#[derive(Clone, Debug, Default)]
pub struct Reserved {
    held: Option<Held>,
    /// What is to be given back.
    back: Vec<Message>,
    keeper_since: Instant,
    keeper_until: Instant,
    counting_since: Instant,
    newcomers: u32,
}

impl Reserved {
    /// The pass for the next newcomer, if there is one.
    pub fn next(&self, now: Instant) -> Option<Standing> {
        self.held?.next(now)
    }

    /// The pass of [`Reserved::next`] is made.
    pub const fn take(&mut self) {
        if let Some(held) = &mut self.held {
            held.used += 1;
        }
    }

    /// Counts a newcomer while the room has slots to `spare`; true if the caller shall start a
    /// keeper.
    pub fn note_newcomer(&mut self, spare: u32, now: Instant) -> bool {
        let has_keeper = self.keeper_until > now;
        if !has_keeper && now.since(self.counting_since) >= COUNTED_FOR {
            self.count_from(now);
        }
        self.newcomers = self.newcomers.saturating_add(1);
        let starts = !has_keeper && spare > 0 && self.newcomers >= MANY;
        if starts {
            self.keeper_since = now;
            self.keeper_until = now + KEEPER_DEADLINE;
        }
        starts
    }

    /// What the keeper has to say to the room: what is given back, and a question for more, named
    /// `id`, while newcomers keep coming. If it is nothing, the keeper is done.
    pub fn ask(&mut self, spare: u32, id: TicketId, now: Instant) -> Vec<Message> {
        let elapsed = now.since(self.counting_since).as_millis().max(1);
        let per_second = u64::from(self.newcomers) * 1_000 / elapsed;
        self.count_from(now);
        let goes_on = spare > 0
            && per_second >= u64::from(MANY)
            && now.since(self.keeper_since) < KEEPER_LIFE;
        if !goes_on || self.held.is_some_and(|held| !held.is_good(now)) {
            self.let_go();
        }
        let mut messages = std::mem::take(&mut self.back);
        if goes_on {
            // Twice as many as come in a second: they may become more.
            let count = u32::try_from(per_second * 2).unwrap_or(u32::MAX).min(spare);
            messages.push(Message::Reserve {
                reservation: id,
                count,
            });
        }
        self.keeper_until = if messages.is_empty() {
            Instant::default()
        } else {
            now + KEEPER_DEADLINE
        };
        messages
    }

    /// Takes in the room's `replies` to what was [asked](Self::ask) at `asked`.
    pub fn answered(
        &mut self,
        messages: &[Message],
        replies: &[Reply],
        incarnation: Incarnation,
        asked: Instant,
    ) {
        for pair in messages.iter().zip(replies) {
            let (
                &Message::Reserve { reservation, .. },
                &Reply::Reserved {
                    first,
                    count,
                    expires,
                    provisional,
                },
            ) = pair
            else {
                continue;
            };
            self.let_go();
            self.held = Some(Held {
                id: reservation,
                incarnation,
                first,
                count,
                used: 0,
                asked,
                expires,
                provisional,
            });
        }
    }

    /// The question of [`Reserved::ask`] has had no answer. What was given back is given back
    /// again, and so is what may have been granted.
    pub fn failed(&mut self, messages: Vec<Message>, incarnation: Incarnation) {
        self.back
            .extend(messages.into_iter().map(|message| match message {
                Message::Reserve { reservation, .. } => Message::Return {
                    reservation,
                    incarnation,
                    used: 0,
                },
                other => other,
            }));
    }

    /// Whether the keeper has something to say before its next turn would come: little is left, or
    /// it is time.
    pub fn is_due(&self, now: Instant) -> bool {
        let waited = now.since(self.counting_since);
        let runs_out = self
            .held
            .is_some_and(|held| held.count - held.used < held.count / 4);
        waited >= NEXT_AFTER || (runs_out && waited >= SOONEST)
    }

    /// Whether the keeper has nothing more to see to.
    pub fn is_done(&self, now: Instant) -> bool {
        now.since(self.keeper_since) >= KEEPER_LIFE && self.held.is_none() && self.back.is_empty()
    }

    /// The keeper ends.
    pub fn end(&mut self) {
        self.keeper_until = Instant::default();
    }

    const fn count_from(&mut self, now: Instant) {
        self.counting_since = now;
        self.newcomers = 0;
    }

    fn let_go(&mut self) {
        self.back
            .extend(self.held.take().map(|held| held.give_back()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Instant = Instant::from_secs(1_800_000_000);
    const LIFE: Incarnation = Incarnation::new(1);

    fn at(millis: u64) -> Instant {
        NOW + Span::from_millis(millis)
    }

    fn granted(first: u64, count: u32) -> Reply {
        Reply::Reserved {
            first: TicketNumber::new(first).unwrap(),
            count,
            expires: NOW + Span::from_secs(300),
            provisional: false,
        }
    }

    fn many(reserved: &mut Reserved, millis: u64) -> bool {
        (0..20).any(|_| reserved.note_newcomer(100, at(millis)))
    }

    fn number(pass: Option<Standing>) -> Option<u64> {
        match pass? {
            Standing::Admitted { number, .. } => Some(number.get()),
            other => panic!("{other:?}"),
        }
    }

    /// A keeper with a reservation of the numbers 5 to 8.
    fn kept() -> Reserved {
        let mut reserved = Reserved::default();
        assert!(many(&mut reserved, 0));
        let messages = reserved.ask(100, TicketId::new(1), at(0));
        assert!(
            matches!(messages[..], [Message::Reserve { count: 100, .. }]),
            "{messages:?}"
        );
        reserved.answered(&messages, &[granted(5, 4)], LIFE, at(0));
        reserved
    }

    #[test]
    fn a_few_newcomers_start_no_keeper_and_many_start_one() {
        let mut reserved = Reserved::default();
        let starts = (0..100).filter(|n| reserved.note_newcomer(100, at(n * 200)));
        assert_eq!(starts.count(), 0, "five a second");
        assert!(
            !(0..20).any(|_| reserved.note_newcomer(0, at(30_000))),
            "nothing to spare"
        );
        assert!(many(&mut reserved, 40_000));
        assert!(!many(&mut reserved, 40_100), "one at a time");
        assert!(many(&mut reserved, 46_000), "the other is dead");
    }

    #[test]
    fn each_number_becomes_one_pass_and_none_after_the_time() {
        let mut reserved = kept();
        for expected in 5..=8 {
            assert_eq!(number(reserved.next(at(1_999))), Some(expected));
            assert_eq!(reserved.next(at(2_000)), None, "too late");
            assert_eq!(reserved.next(NOW - Span::from_millis(1)), None, "set back");
            reserved.take();
        }
        assert_eq!(reserved.next(at(1_000)), None, "all are used");
    }

    #[test]
    fn the_one_before_serves_until_the_next_is_there_and_then_goes_back() {
        let mut reserved = kept();
        reserved.take();
        many(&mut reserved, 900);
        let messages = reserved.ask(100, TicketId::new(2), at(1_000));
        assert!(matches!(messages[..], [Message::Reserve { .. }]));
        reserved.take();
        assert_eq!(number(reserved.next(at(1_100))), Some(7));
        reserved.answered(&messages, &[granted(20, 9)], LIFE, at(1_000));
        assert_eq!(number(reserved.next(at(2_500))), Some(20));
        many(&mut reserved, 1_900);
        let messages = reserved.ask(100, TicketId::new(3), at(2_000));
        let back = Message::Return {
            reservation: TicketId::new(1),
            incarnation: LIFE,
            used: 2,
        };
        assert_eq!(messages[0], back);
    }

    #[test]
    fn when_nobody_comes_any_more_all_goes_back_and_the_keeper_ends() {
        let mut reserved = kept();
        let messages = reserved.ask(100, TicketId::new(2), at(1_000));
        // Twenty newcomers were counted before the first question, and none since.
        assert!(
            matches!(messages[..], [Message::Return { used: 0, .. }]),
            "{messages:?}"
        );
        assert_eq!(reserved.next(at(1_000)), None);
        assert!(reserved.ask(100, TicketId::new(3), at(2_000)).is_empty());
        assert!(many(&mut reserved, 2_001), "another may start");
    }

    #[test]
    fn what_may_have_been_granted_is_given_back_too() {
        let mut reserved = kept();
        many(&mut reserved, 900);
        let messages = reserved.ask(100, TicketId::new(2), at(1_000));
        reserved.failed(messages, LIFE);
        let messages = reserved.ask(100, TicketId::new(3), at(3_000));
        let back = |id, used| Message::Return {
            reservation: TicketId::new(id),
            incarnation: LIFE,
            used,
        };
        assert_eq!(messages, [back(2, 0), back(1, 0)]);
    }
}
