//! Drawn visitors who have not come to the door yet, and how many of the drawn do come.
//!
//! Whom a draw has hit is not looked up, since that would take a look at every number that waits. So
//! these are expected values: they decide how many to draw next and nothing else.

use std::collections::VecDeque;

use super::CLAIM_WINDOW;
use super::invitations::MOST_CALLS_PER_SLOT;
use crate::room::policy::Policy;
use crate::time::{Instant, Span};

/// The weight of the measured past against one more who was drawn: the last hundred or so count.
const MEMORY: f64 = 0.99;

/// A draw whose visitors may still come.
#[derive(Clone, Copy, Debug)]
struct Expected {
    index: u64,
    drawn_at: Instant,
    visitors: f64,
    came: u32,
}

/// The recent draws and how they turned out.
#[derive(Clone, Debug, Default)]
pub(super) struct Turnout {
    recent: VecDeque<Expected>,
    expected: f64,
    came: f64,
}

impl Turnout {
    /// About `visitors` were drawn in the epoch `index`.
    pub(super) fn drawn(&mut self, index: u64, now: Instant, visitors: f64) {
        self.recent.push_back(Expected {
            index,
            drawn_at: now,
            visitors,
            came: 0,
        });
    }

    /// One who was drawn in the epoch `index` has come.
    pub(super) fn came(&mut self, index: u64) {
        if let Some(expected) = self.recent.iter_mut().find(|draw| draw.index == index) {
            expected.came = expected.came.saturating_add(1);
        }
    }

    /// How many are still to come, if all do.
    pub(super) fn open(&self) -> f64 {
        let open = |draw: &Expected| (draw.visitors - f64::from(draw.came)).max(0.0);
        self.recent.iter().map(open).sum()
    }

    /// The share of the drawn who come: 0.25 to 1. Starts at 1.
    pub(super) fn share(&self) -> f64 {
        // Two visitors who came are assumed, so that the first no-show does not say everything.
        let share = (self.came + 2.0) / (self.expected + 2.0);
        share.clamp(1.0 / f64::from(MOST_CALLS_PER_SLOT), 1.0)
    }

    /// Counts those as lost who have not come within one and a half intervals of polls from afar.
    pub(super) fn advance(&mut self, now: Instant, policy: &Policy) {
        let window = Span::from_millis(policy.poll_far.as_millis().saturating_mul(3) / 2);
        let window = window.max(CLAIM_WINDOW);
        while let Some(draw) = self.recent.front() {
            if draw.drawn_at + window > now {
                break;
            }
            let weight = MEMORY.powf(draw.visitors);
            self.expected = self.expected * weight + draw.visitors;
            self.came = self.came * weight + f64::from(draw.came);
            self.recent.pop_front();
        }
    }

    /// Makes up for a time of `gap` in which nobody could come.
    pub(super) fn excuse(&mut self, gap: Span) {
        for draw in &mut self.recent {
            draw.drawn_at = draw.drawn_at + gap;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_share_of_those_who_come_is_learnt_and_bounded() {
        let policy = crate::room::ledger::tests::policy(100, 100);
        let mut turnout = Turnout::default();
        assert_eq!(turnout.share(), 1.0);
        let mut now = Instant::from_secs(0);
        let mut play = |turnout: &mut Turnout, come: u32| {
            for index in 0..100 {
                turnout.drawn(index, now, 10.0);
                (0..come).for_each(|_| turnout.came(index));
                assert_eq!(turnout.open(), f64::from(10 - come));
                now = now + CLAIM_WINDOW;
                turnout.advance(now, &policy);
                assert_eq!(turnout.open(), 0.0);
            }
            turnout.share()
        };
        let half = play(&mut turnout, 5);
        assert!((half - 0.5).abs() < 0.02, "{half}");
        assert_eq!(play(&mut turnout, 0), 0.25);
    }
}
