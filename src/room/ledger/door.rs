//! The door: called visitors who have come while every slot was taken, in the order of their
//! places.
//!
//! A visitor at the door holds the next slot against everybody behind them, but only while they may
//! be expected to ask again: else a closed tab would keep a slot empty. That is a few seconds, and
//! longer for one who has asked rarely so far, because a browser lets a hidden tab run about once a
//! minute only.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::PLACE_MEMORY;
use crate::room::place::Place;
use crate::time::{Instant, Span};

/// Who polls as told asks again at the door after two seconds: a place is held for so long.
const HOLD: Span = Span::from_secs(5);

/// The longest time for which a place is held, for tabs that browsers let run once a minute.
const LONGEST_HOLD: Span = Span::from_secs(95);

/// A visitor at the door.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
struct Stand {
    last_poll: Instant,
    held_until: Instant,
}

/// The visitors at the door.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(transparent)]
pub(super) struct Door {
    stands: BTreeMap<Place, Stand>,
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
        self.stands.insert(
            place,
            Stand {
                last_poll: now,
                held_until,
            },
        );
    }

    /// `place` is let in or has left.
    pub(super) fn remove(&mut self, place: Place) {
        self.stands.remove(&place);
    }

    /// Whether somebody stands at the door with a place from `first` to `last`.
    pub(super) fn any_within(&self, first: Place, last: Place) -> bool {
        self.stands.range(first..=last).next().is_some()
    }

    /// How many hold a place before `place`, counted up to `enough`.
    pub(super) fn held_before(&self, place: Place, now: Instant, enough: u32) -> u32 {
        let held = self
            .stands
            .range(..place)
            .filter(|(_, stand)| stand.held_until > now);
        u32::try_from(held.take(enough as usize).count()).unwrap_or(u32::MAX)
    }

    /// How many hold a place.
    pub(super) fn held(&self, now: Instant) -> u32 {
        let held = self.stands.values().filter(|stand| stand.held_until > now);
        u32::try_from(held.count()).unwrap_or(u32::MAX)
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
        for stand in self.stands.values_mut() {
            *stand = Stand {
                last_poll: now,
                held_until: now + LONGEST_HOLD,
            };
        }
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
            (first, 2, 5),
            (first, 22, 5),
            (first, 60, 95),
            (first, 30, 50),
        ] {
            door.remove(place);
            door.ask(place, at(1000 - gap), at(1000), usual);
            assert_eq!(
                door.held_before(second, at(1000 + held - 1), 9),
                1,
                "gap {gap}"
            );
            assert_eq!(door.held_before(second, at(1000 + held), 9), 0, "gap {gap}");
            assert!(door.contains(place));
        }
        // A poll that is older than the last one seen does not lengthen the hold.
        door.ask(first, at(1000), at(1060), usual);
        door.ask(first, at(0), at(1062), usual);
        assert_eq!(door.held_before(second, at(1067), 9), 0);
    }
}
