//! The door: called visitors who have come while every slot was taken, in the order of their
//! places.
//!
//! A visitor at the door holds the next slot against everybody behind them, but only while they may
//! be expected to ask again: else a closed tab would keep a slot empty. That is a few seconds, and
//! longer for one who has asked rarely so far, because a browser lets a hidden tab run about once a
//! minute only.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::PLACE_MEMORY;
use super::tally::Tally;
use crate::room::place::Place;
use crate::time::{Instant, Span};

/// Who polls as told asks again at the door after two seconds: a place is held for so long.
const HOLD: Span = Span::from_secs(10);

/// The longest time for which a place is held, for tabs that browsers let run once a minute.
const LONGEST_HOLD: Span = Span::from_secs(95);

/// A visitor at the door.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, PartialEq, Serialize)]
struct Stand {
    last_poll: Instant,
    held_until: Instant,
}

/// The visitors at the door.
#[derive(Clone, Debug, Default, Deserialize, Eq, Hash, PartialEq, Serialize)]
#[serde(from = "BTreeMap<Place, Stand>", into = "BTreeMap<Place, Stand>")]
pub(super) struct Door {
    stands: BTreeMap<Place, Stand>,
    /// The time of the last [`Door::advance`].
    now: Instant,
    /// Those who hold a place then, and until when.
    holds: BTreeSet<(Instant, Place)>,
    /// The same, to be counted.
    tally: Tally,
}

impl Door {
    /// Whether `place` stands at the door, expected soon or not.
    pub(super) fn contains(&self, place: Place) -> bool {
        self.stands.contains_key(&place)
    }

    /// `place` asks at `now`, having last asked at `previous`. A gap of no more than `usual` is that
    /// of a tab that runs freely.
    pub(super) fn ask(&mut self, place: Place, previous: Instant, now: Instant, usual: Span) {
        let stand = self.stands.get(&place);
        let gap = now.since(stand.map_or(previous, |stand| stand.last_poll.max(previous)));
        let hold = if gap <= usual {
            HOLD
        } else {
            Span::from_millis(gap.as_millis().saturating_mul(3) / 2 + 5_000)
        };
        let held_until = now + hold.min(LONGEST_HOLD);
        self.stand(
            place,
            Stand {
                last_poll: now,
                held_until,
            },
        );
    }

    /// Lets time pass: who has not asked for too long does not hold a place any more.
    pub(super) fn advance(&mut self, now: Instant) {
        self.now = now;
        while let Some(&(until, place)) = self.holds.first() {
            if until > now {
                break;
            }
            self.release(until, place);
        }
    }

    /// `place` is let in or has left.
    pub(super) fn remove(&mut self, place: Place) {
        if let Some(stand) = self.stands.remove(&place) {
            self.release(stand.held_until, place);
        }
    }

    /// Whether somebody stands at the door with a place from `first` to `last`.
    pub(super) fn any_within(&self, first: Place, last: Place) -> bool {
        self.stands.range(first..=last).next().is_some()
    }

    /// How many hold a place before `place`.
    pub(super) fn held_before(&self, place: Place) -> u32 {
        self.tally.within(Place::default(), place, |from, to| {
            let stands = self.stands.range(from..to);
            stands
                .filter(|(_, stand)| stand.held_until > self.now)
                .count()
        })
    }

    /// How many hold a place.
    pub(super) fn held(&self) -> u32 {
        u32::try_from(self.holds.len()).unwrap_or(u32::MAX)
    }

    /// Those who have not asked for so long that their place in line is lost.
    pub(super) fn lapsed(&self, now: Instant) -> Vec<Place> {
        let lapsed = self
            .stands
            .iter()
            .filter(|(_, stand)| stand.last_poll + PLACE_MEMORY <= now);
        lapsed.map(|(place, _)| *place).collect()
    }

    /// Makes up for a time in which nobody could ask.
    pub(super) fn excuse(&mut self, now: Instant) {
        let places: Vec<Place> = self.stands.keys().copied().collect();
        for place in places {
            self.stand(
                place,
                Stand {
                    last_poll: now,
                    held_until: now + LONGEST_HOLD,
                },
            );
        }
    }

    fn stand(&mut self, place: Place, stand: Stand) {
        if let Some(before) = self.stands.insert(place, stand) {
            self.release(before.held_until, place);
        }
        if self.holds.insert((stand.held_until, place)) {
            self.tally.add(place);
        }
    }

    fn release(&mut self, until: Instant, place: Place) {
        if self.holds.remove(&(until, place)) {
            self.tally.remove(place);
        }
    }
}

impl From<BTreeMap<Place, Stand>> for Door {
    /// Everybody holds their place until the next [`Door::advance`].
    fn from(stands: BTreeMap<Place, Stand>) -> Self {
        let mut door = Self::default();
        for (place, stand) in stands {
            door.stand(place, stand);
        }
        door
    }
}

impl From<Door> for BTreeMap<Place, Stand> {
    fn from(door: Door) -> Self {
        door.stands
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_at_the_door_is_held_for_as_long_as_the_visitor_polls_in_their_own_rhythm() {
        let (first, second) = (Place::new(1), Place::new(2));
        let at = Instant::from_secs;
        let mut door = Door::default();
        let usual = Span::from_secs(25);
        // A tab in front asks every 2 s, and every 20 s when it is not yet at the door; a hidden
        // one every 60 s.
        for (place, gap, held) in [
            (first, 2, 10),
            (first, 22, 10),
            (first, 60, 95),
            (first, 30, 50),
        ] {
            door.remove(place);
            door.ask(place, at(1000 - gap), at(1000), usual);
            door.advance(at(1000 + held - 1));
            assert_eq!(door.held_before(second), 1, "gap {gap}");
            door.advance(at(1000 + held));
            assert_eq!(door.held_before(second), 0, "gap {gap}");
            assert!(door.contains(place));
        }
        // A poll that is older than the last one seen does not lengthen the hold.
        door.ask(first, at(1000), at(1060), usual);
        door.ask(first, at(0), at(1062), usual);
        door.advance(at(1072));
        assert_eq!(door.held_before(second), 0);
    }

    #[test]
    fn those_before_are_counted_as_one_by_one() {
        let at = Instant::from_secs;
        let mut door = Door::default();
        for place in (1..3_000).step_by(3) {
            let second = if place % 2 == 0 { 100 } else { 200 };
            door.ask(Place::new(place), at(second), at(second), HOLD);
        }
        door.remove(Place::new(4));
        let plain = |door: &Door, place: u64, now: Instant| {
            let before = door.stands.range(..Place::new(place));
            before.filter(|(_, stand)| stand.held_until > now).count()
        };
        let stored = BTreeMap::from(door.clone());
        for mut door in [door, Door::from(stored)] {
            for now in [100, 109, 110, 209, 210] {
                door.advance(at(now));
                for place in [1, 2, 255, 256, 257, 300, 1_024, 2_999, 5_000] {
                    let held = door.held_before(Place::new(place)) as usize;
                    assert_eq!(held, plain(&door, place, at(now)), "{place} at {now}");
                }
                assert_eq!(door.held() as usize, plain(&door, 5_000, at(now)));
            }
            assert!(door.holds.is_empty() && door.tally.is_empty());
        }
    }
}
