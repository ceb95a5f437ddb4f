//! The visitors: one small record for each number that the room has given.

use fastrand::Rng;

use crate::scenario::Visitors;

/// What a visitor is at.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Stage {
    /// Waits; far polls are arithmetic.
    Far,
    /// Waits; each poll is an event.
    Near,
    /// Holds a pass.
    Inside,
    /// Gone: left the line, or the session is over.
    Gone,
}

/// A visitor with a number. Times are milliseconds since the start.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Visitor {
    pub(crate) joined: u32,
    /// When they close the tab while waiting.
    pub(crate) gone_at: u32,
    pub(crate) last_poll: u32,
    /// When the pass ends, or, for one without, 0.
    pub(crate) expires: u32,
    /// How long they use the site.
    pub(crate) stay_ms: u32,
    pub(crate) pop: u16,
    pub(crate) stage: Stage,
    traits: u8,
}

const IGNORES_CALL: u8 = 1;
const DROPS_AT_DOOR: u8 = 2;
const HIDDEN: u8 = 4;
const LEAVES: u8 = 8;
const BOT: u8 = 16;

impl Visitor {
    pub(crate) fn draw(model: &Visitors, pop: u16, bot: bool, now: u32, rng: &mut Rng) -> Self {
        let mut traits = 0;
        let mut trait_of = |share: f64, bit: u8, rng: &mut Rng| {
            if rng.f64() < share {
                traits |= bit;
            }
        };
        trait_of(model.gone_when_called, IGNORES_CALL, rng);
        trait_of(model.gone_at_door, DROPS_AT_DOOR, rng);
        trait_of(model.hidden, HIDDEN, rng);
        trait_of(model.leave_share, LEAVES, rng);
        if bot {
            traits |= BOT;
        }
        let gone_at = if rng.f64() < model.gone_while_waiting {
            now.saturating_add((rng.f64() * model.patience_seconds * 1000.0) as u32)
        } else {
            u32::MAX
        };
        let shortest = model.shortest_stay_seconds.min(model.stay_seconds);
        let beyond = -(1.0 - rng.f64()).ln() * (model.stay_seconds - shortest);
        Self {
            joined: now,
            gone_at,
            last_poll: now,
            expires: 0,
            stay_ms: ((shortest + beyond) * 1000.0) as u32,
            pop,
            stage: Stage::Far,
            traits,
        }
    }

    pub(crate) const fn ignores_call(&self) -> bool {
        self.traits & IGNORES_CALL != 0
    }

    pub(crate) const fn drops_at_door(&self) -> bool {
        self.traits & DROPS_AT_DOOR != 0
    }

    pub(crate) const fn is_hidden(&self) -> bool {
        self.traits & HIDDEN != 0
    }

    pub(crate) const fn leaves(&self) -> bool {
        self.traits & LEAVES != 0
    }

    pub(crate) const fn is_bot(&self) -> bool {
        self.traits & BOT != 0
    }
}
