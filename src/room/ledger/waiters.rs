//! Who still waits: the last poll of every place that has not been called.
//!
//! An estimate, fed by the reports of the edges. Nothing here decides who gets in; it decides who
//! counts as a person ahead, and for whom no slot is kept free. Not stored: after a restart
//! everybody counts as present until they have had the time to poll.

use std::collections::VecDeque;

use crate::room::place::{Draw, Place};
use crate::room::snapshot::Ahead;
use crate::time::{Instant, Span};

/// So many people at the head of the line are counted one by one; behind them every point of the
/// line that is told to edges stands for an eighth more people than the one before.
const COUNTED_ONE_BY_ONE: u32 = 64;

/// Above this many waiters the line is drawn anew at most once a second.
const DRAWN_AT_ONCE: usize = 2048;
const REDRAW_AFTER: Span = Span::from_millis(1000);

/// The last polls of the places from `base` on, in seconds after `birth`; 0 for one who has left.
#[derive(Clone, Debug)]
pub(super) struct Waiters {
    birth: Instant,
    base: u64,
    last_polls: VecDeque<u32>,
    drawing: Option<(Instant, Drawing)>,
}

/// The line as it is told to edges.
#[derive(Clone, Debug, Default)]
pub(super) struct Drawing {
    /// Points of the line, see [`Ahead`]; people who are called are not counted in.
    pub(super) points: Vec<Ahead>,
    /// How many wait.
    pub(super) queued: u32,
}

impl Waiters {
    /// The places from `base` up to `issued`, all present at `now`.
    pub(super) fn new(base: u64, issued: u64, birth: Instant, now: Instant) -> Self {
        let mut waiters = Self {
            birth,
            base,
            last_polls: VecDeque::new(),
            drawing: None,
        };
        let present = waiters.seconds(now);
        let waiting = usize::try_from((issued + 1).saturating_sub(base)).unwrap_or(usize::MAX);
        waiters.last_polls.resize(waiting, present);
        waiters
    }

    /// Seconds since one second before the birth, so that no poll is noted as 0.
    fn seconds(&self, at: Instant) -> u32 {
        u32::try_from(at.since(self.birth).as_secs() + 1).unwrap_or(u32::MAX)
    }

    /// The number after the last one that was given joins the line.
    pub(super) fn join(&mut self, now: Instant) {
        let now = self.seconds(now);
        self.last_polls.push_back(now);
        self.drawing = None;
    }

    /// `place` has polled.
    pub(super) fn polled(&mut self, place: Place, now: Instant) {
        let now = self.seconds(now);
        if let Some(last_poll) = self.entry(place) {
            *last_poll = now;
        }
    }

    /// Makes up for a time in which nobody could poll: everybody in line is present at `now`.
    pub(super) fn excuse(&mut self, now: Instant) {
        let now = self.seconds(now);
        for last_poll in self
            .last_polls
            .iter_mut()
            .filter(|last_poll| **last_poll > 0)
        {
            *last_poll = now;
        }
        self.drawing = None;
    }

    /// `place` has left the line.
    pub(super) fn left(&mut self, place: Place) {
        if let Some(last_poll) = self.entry(place) {
            *last_poll = 0;
            self.drawing = None;
        }
    }

    /// The draw is held: everybody in it takes the last poll along to their new place. Nobody in it
    /// has been called.
    pub(super) fn shuffle(&mut self, draw: &Draw) {
        let Some(start) = draw.first.checked_sub(self.base) else {
            return;
        };
        let of = |place: u64| usize::try_from(start + place).unwrap_or(usize::MAX);
        let before = self.last_polls.clone();
        for (number, place) in (0..).zip(draw.permutation().places()) {
            if let (Some(polled), Some(entry)) =
                (before.get(of(number)), self.last_polls.get_mut(of(place)))
            {
                *entry = *polled;
            }
        }
        self.drawing = None;
    }

    /// The first place in line is called or admitted: takes it out and tells whether it was
    /// present.
    pub(super) fn call_first(&mut self, now: Instant, absent_after: Span) -> Option<bool> {
        let last_poll = self.last_polls.pop_front()?;
        self.base += 1;
        self.drawing = None;
        Some(self.is_present(last_poll, self.seconds(now), absent_after))
    }

    /// Whether the first number in line has left it, or has not polled for longer than `after`.
    pub(super) fn first_is_gone(&self, now: Instant, after: Span) -> bool {
        let last_poll = self.last_polls.front();
        last_poll.is_some_and(|last_poll| !self.is_present(*last_poll, self.seconds(now), after))
    }

    /// The line as of `now`, or of up to a second before when it is long.
    pub(super) fn draw(&mut self, now: Instant, absent_after: Span) -> &Drawing {
        let fresh = self.drawing.as_ref().is_some_and(|(drawn, _)| {
            self.last_polls.len() > DRAWN_AT_ONCE && now < *drawn + REDRAW_AFTER
        });
        if !fresh {
            self.drawing = Some((now, self.drawn(now, absent_after)));
        }
        &self
            .drawing
            .get_or_insert_with(|| (now, Drawing::default()))
            .1
    }

    fn drawn(&self, now: Instant, absent_after: Span) -> Drawing {
        let now = self.seconds(now);
        let mut points = vec![Ahead(self.base, 0)];
        let (mut ahead, mut next_point) = (0_u32, 1_u32);
        for (place, last_poll) in (self.base..).zip(&self.last_polls) {
            if !self.is_present(*last_poll, now, absent_after) {
                continue;
            }
            ahead = ahead.saturating_add(1);
            if ahead >= next_point {
                points.push(Ahead(place + 1, ahead));
                let step = if ahead < COUNTED_ONE_BY_ONE {
                    1
                } else {
                    ahead / 8
                };
                next_point = ahead.saturating_add(step);
            }
        }
        let end = self.base + self.last_polls.len() as u64;
        if points.last().is_some_and(|point| point.0 < end) {
            points.push(Ahead(end, ahead));
        }
        Drawing {
            points,
            queued: ahead,
        }
    }

    fn is_present(&self, last_poll: u32, now: u32, absent_after: Span) -> bool {
        last_poll > 0 && u64::from(now.saturating_sub(last_poll)) <= absent_after.as_secs()
    }

    fn entry(&mut self, place: Place) -> Option<&mut u32> {
        let index = usize::try_from(place.get().checked_sub(self.base)?).ok()?;
        self.last_polls
            .get_mut(index)
            .filter(|last_poll| **last_poll > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::room::number::TicketNumber;
    use crate::room::snapshot::Snapshot;

    const ABSENT_AFTER: Span = Span::from_secs(75);

    fn number(value: u64) -> TicketNumber {
        TicketNumber::new(value).unwrap()
    }

    #[test]
    fn those_who_left_or_no_longer_poll_are_not_ahead() {
        let (birth, later) = (Instant::from_secs(50), Instant::from_secs(126));
        let mut waiters = Waiters::new(1, 5, birth, birth);
        waiters.left(Place::new(2));
        for present in [1, 2, 4, 5] {
            waiters.polled(Place::new(present), later);
        }
        let drawing = waiters.draw(later, ABSENT_AFTER);
        assert_eq!(drawing.queued, 3);
        let snapshot = Snapshot {
            ahead: drawing.points.clone(),
            ..Snapshot::default()
        };
        let ahead: Vec<u64> = (1..=6).map(|n| snapshot.users_ahead(number(n))).collect();
        assert_eq!(ahead, [0, 1, 1, 1, 2, 3]);
        let called: Vec<_> =
            std::iter::from_fn(|| waiters.call_first(later, ABSENT_AFTER)).collect();
        assert_eq!(called, [true, false, false, true, true]);
    }

    #[test]
    fn a_long_line_is_told_in_few_points_and_precisely() {
        let now = Instant::from_secs(0);
        let mut waiters = Waiters::new(11, 1_000_010, now, now);
        let points = waiters.draw(now, ABSENT_AFTER).points.clone();
        assert!(points.len() < 160, "{} points", points.len());
        let snapshot = Snapshot {
            ahead: points,
            ..Snapshot::default()
        };
        for n in [11, 12, 60, 100, 1_000, 54_321, 1_000_010] {
            assert_eq!(snapshot.users_ahead(number(n)), n - 11);
        }
    }
}
