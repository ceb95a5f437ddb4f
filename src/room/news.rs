//! Who knows enough of a room to be answered without a snapshot.
//!
//! A snapshot is the largest part of a response, and an edge that asks ten times a second needs one
//! a second. What decides how an edge answers the next visitor it learns at once, though: whether
//! the room queues, whether first passes are provisional, which way leads to the room, and which
//! places are drawn.

use super::snapshot::{Relays, Snapshot, Stamp};
use crate::time::Span;

/// A snapshot is left out when the one that is known is younger than this.
const RECENT: Span = Span::from_millis(1_000);

/// What edges learn at once.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Headline {
    /// Whether a newcomer has to wait.
    pub queueing: bool,
    /// Whether newcomers get no number.
    pub full: bool,
    /// Whether first passes are provisional.
    pub provisional: bool,
    /// The way to the room.
    pub relays: Option<Relays>,
    /// The first number whose place is yet to be drawn.
    pub undrawn_from: Option<u64>,
    /// The first number of the last draw that was held.
    pub drawn_from: Option<u64>,
}

impl From<&Snapshot> for Headline {
    fn from(snapshot: &Snapshot) -> Self {
        Self {
            queueing: snapshot.queueing,
            full: snapshot.full,
            provisional: snapshot.provisional,
            relays: snapshot.relays,
            undrawn_from: snapshot.announced.as_ref().map(|announced| announced.first),
            drawn_from: snapshot.draws.last().map(|draw| draw.first),
        }
    }
}

/// The last headline, and since when it holds.
#[derive(Clone, Copy, Debug, Default)]
pub struct News {
    headline: Option<Headline>,
    since: Stamp,
}

impl News {
    /// Takes in what holds at `stamp`.
    pub fn observe(&mut self, headline: Headline, stamp: Stamp) {
        if self.headline != Some(headline) {
            self.headline = Some(headline);
            self.since = stamp;
        }
    }

    /// Whether somebody who `knows` a snapshot can do without one of `now`.
    pub fn is_known_to(&self, knows: Option<Stamp>, now: Stamp) -> bool {
        knows.is_some_and(|known| {
            known.0 == now.0 && known >= self.since && known.taken() + RECENT > now.taken()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::room::number::Incarnation;
    use crate::time::Instant;

    fn stamp(life: u64, sequence: u64, millis: u64) -> Stamp {
        Stamp(
            Incarnation::new(life),
            sequence,
            Instant::from_millis(millis),
        )
    }

    #[test]
    fn a_snapshot_is_left_out_for_a_second_unless_the_headline_changes() {
        let mut news = News::default();
        let open = Headline::default();
        news.observe(open, stamp(1, 1, 1_000));
        let now = stamp(1, 9, 2_000);
        assert!(!news.is_known_to(None, now));
        assert!(!news.is_known_to(Some(stamp(1, 1, 1_000)), now), "too old");
        assert!(news.is_known_to(Some(stamp(1, 1, 1_001)), now));
        assert!(
            !news.is_known_to(Some(stamp(2, 9, 2_000)), now),
            "of another life"
        );
        let full = Headline {
            queueing: true,
            ..open
        };
        news.observe(full, stamp(1, 5, 1_500));
        news.observe(full, stamp(1, 6, 1_600));
        assert!(!news.is_known_to(Some(stamp(1, 4, 1_400)), now));
        assert!(news.is_known_to(Some(stamp(1, 5, 1_500)), now));
    }
}
