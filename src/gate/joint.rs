//! Calls to a room that the requests of an isolate make together.
//!
//! While one call is under way, what others have to say gathers; whoever looks first once it is over takes all
//! of it along. So a busy isolate makes one call after the other instead of one for each visitor, and a request
//! that is alone calls at once.
//!
//! No request waits for a promise of another, which may end with its own request: each looks from time to
//! time, by a timer of its own. A call whose request ends before its answer is there holds the others up for
//! [`CALL_DEADLINE`] at most; then they say it again, which is safe, because every message is idempotent.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use crate::room::message::{Message, Reply};
use crate::room::snapshot::Snapshot;
use crate::time::{Instant, Span};

/// A call of which nothing was heard for so long is not waited for: either its request has ended, or the room
/// is so slow that another call for each such time makes no difference.
pub const CALL_DEADLINE: Span = Span::from_millis(1_000);

/// A call takes so many messages along: a part of what a relay does ([`crate::room::relay`]).
const MOST_MESSAGES: usize = 128;

/// So many outcomes are kept for those who have not looked yet. Whose is gone says it again.
const MOST_KEPT: usize = 4_096;

/// The place of a message in the order in which they came.
#[derive(Clone, Copy, Debug, Default, Eq, Ord, PartialEq, PartialOrd)]
pub struct Seat(u64);

/// What came of a message: the reply, and the snapshot that came with it; none if there was no answer.
pub type Outcome = Option<(Reply, Arc<Snapshot>)>;

/// What a request is to do.
#[derive(Clone, Debug, PartialEq)]
pub enum Turn {
    /// It is answered.
    Told(Outcome),
    /// To make a call for these, to say what came of it ([`Joint::tell`]), and to look again.
    Call(Vec<(Seat, Message)>),
    /// To look again a little later.
    Wait,
}

/// The messages of one room that are on their way.
#[derive(Clone, Debug, Default)]
pub struct Joint {
    last: Seat,
    /// Those that no call has taken along yet.
    gathered: VecDeque<(Seat, Message)>,
    /// The call under way: those that it has taken along, and since when.
    call: Option<(Vec<Seat>, Instant)>,
    outcomes: BTreeMap<Seat, Outcome>,
}

impl Joint {
    /// Takes a message in.
    pub fn enter(&mut self, message: Message) -> Seat {
        self.last = Seat(self.last.0 + 1);
        self.gathered.push_back((self.last, message));
        self.last
    }

    /// What the request of a message is to do now.
    pub fn look(&mut self, seat: Seat, message: Message, now: Instant) -> Turn {
        if let Some(outcome) = self.outcomes.remove(&seat) {
            return Turn::Told(outcome);
        }
        if let Some((_, begun)) = &self.call
            // A clock that was set back ends the wait as well.
            && *begun <= now
            && now < *begun + CALL_DEADLINE
        {
            return Turn::Wait;
        }
        if !self.gathered.iter().any(|(other, _)| *other == seat) {
            // A call that died has taken it along.
            self.gathered.push_front((seat, message));
        }
        // In the order in which they came, so that its own may be left for the call after this one.
        let count = self.gathered.len().min(MOST_MESSAGES);
        let batch: Vec<_> = self.gathered.drain(..count).collect();
        let seats = batch.iter().map(|(seat, _)| *seat).collect();
        self.call = Some((seats, now));
        Turn::Call(batch)
    }

    /// Notes what came of a call: a reply for each message, in their order, or no answer.
    pub fn tell(&mut self, batch: &[(Seat, Message)], answer: Option<(&[Reply], &Arc<Snapshot>)>) {
        let is_this = |seats: &[Seat]| seats.iter().eq(batch.iter().map(|(seat, _)| seat));
        // One that was given up while it was under way has no say about the one that followed it.
        self.call.take_if(|(seats, _)| is_this(seats));
        for (n, (seat, _)) in batch.iter().enumerate() {
            let outcome = answer.and_then(|(replies, snapshot)| {
                let reply = replies.get(n).copied()?;
                Some((reply, Arc::clone(snapshot)))
            });
            self.outcomes.insert(*seat, outcome);
        }
        while self.outcomes.len() > MOST_KEPT {
            self.outcomes.pop_first();
        }
    }

    /// Forgets a message whose request waits no longer.
    pub fn leave(&mut self, seat: Seat) {
        self.gathered.retain(|(other, _)| *other != seat);
        self.outcomes.remove(&seat);
    }
}

#[cfg(test)]
mod tests;
