//! Whether first passes come back.
//!
//! A client that keeps no cookies gets a new pass with every request, and each would hold a slot
//! for a whole session. So while many first passes are never seen again, they are made provisional.

use std::collections::VecDeque;

use crate::room::number::TicketNumber;
use crate::time::{Instant, Span};

/// A pass is judged between these ages: before, its return may still be on the way.
const YOUNGEST: Span = Span::from_secs(20);
const OLDEST: Span = Span::from_secs(120);

/// No more first passes than this are watched.
const WATCHED: usize = 4096;

/// Fewer say nothing.
const FEWEST: u32 = 50;

/// First passes become provisional when more than half are not seen again, and whole again when
/// fewer than three in ten are not.
const TURN_ON: f64 = 0.5;
const TURN_OFF: f64 = 0.3;

/// The first passes of the last two minutes.
#[derive(Clone, Debug, Default)]
pub(super) struct Returns {
    watched: VecDeque<(TicketNumber, Instant, bool)>,
    suspicious: bool,
}

impl Returns {
    /// Whether many first passes are not seen again, as of the last [`Returns::advance`].
    pub(super) fn suspicious(&self) -> bool {
        self.suspicious
    }

    /// A first pass is given.
    pub(super) fn given(&mut self, number: TicketNumber, now: Instant) {
        if self.watched.len() == WATCHED {
            self.watched.pop_front();
        }
        self.watched.push_back((number, now, false));
    }

    /// A first pass has come back.
    pub(super) fn returned(&mut self, number: TicketNumber) {
        if let Ok(index) = self
            .watched
            .binary_search_by_key(&number, |(number, ..)| *number)
            && let Some((_, _, returned)) = self.watched.get_mut(index)
        {
            *returned = true;
        }
    }

    /// A first pass was not given after all.
    pub(super) fn withdraw(&mut self, number: TicketNumber) {
        if let Ok(index) = self
            .watched
            .binary_search_by_key(&number, |(number, ..)| *number)
        {
            self.watched.remove(index);
        }
    }

    /// Judges the passes that are old enough.
    pub(super) fn advance(&mut self, now: Instant) {
        while self
            .watched
            .front()
            .is_some_and(|(_, given, _)| *given + OLDEST <= now)
        {
            self.watched.pop_front();
        }
        let (mut judged, mut lost) = (0_u32, 0_u32);
        for (_, given, returned) in &self.watched {
            if *given + YOUNGEST > now {
                break;
            }
            judged += 1;
            lost += u32::from(!returned);
        }
        let share = f64::from(lost) / f64::from(judged.max(1));
        self.suspicious =
            judged >= FEWEST && share > if self.suspicious { TURN_OFF } else { TURN_ON };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_of_clients_without_cookies_is_noticed_and_so_is_its_end() {
        let mut returns = Returns::default();
        let mut number = TicketNumber::FIRST;
        let mut pass = |returns: &mut Returns, second: u64, comes_back: bool| {
            returns.given(number, Instant::from_secs(second));
            if comes_back {
                returns.returned(number);
            }
            number = number.next();
        };
        for second in 0..100 {
            pass(&mut returns, second, true);
        }
        returns.advance(Instant::from_secs(119));
        assert!(!returns.suspicious());
        for second in 120..300 {
            pass(&mut returns, second, false);
        }
        returns.advance(Instant::from_secs(300));
        assert!(returns.suspicious());
        for second in 300..450 {
            pass(&mut returns, second, true);
        }
        returns.advance(Instant::from_secs(450));
        assert!(!returns.suspicious());
    }

    #[test]
    fn a_few_passes_say_nothing() {
        let mut returns = Returns::default();
        returns.given(TicketNumber::FIRST, Instant::from_secs(0));
        returns.advance(Instant::from_secs(60));
        assert!(!returns.suspicious());
    }
}
