//! Who still waits: about when each place that has not been called has polled last.
//!
//! An estimate, fed by the reports of the edges. Nothing here decides who gets in; it decides who
//! counts as a person ahead, and for whom no slot is kept free. Not stored: after a restart
//! everybody counts as present until they have had the time to poll.
//!
//! Ten million may wait, and each of them polls. So a place takes one byte, a poll sets it, and
//! nothing ever looks at all bytes at once: places stand in blocks that know how many of theirs are
//! present, and every second a part of the blocks is swept for those who are present no more.

use std::collections::VecDeque;

use super::PLACE_KEPT;
use crate::room::place::{Draw, Place};
use crate::room::snapshot::Ahead;
use crate::time::{Instant, Span};

/// So many people at the head of the line are counted one by one; behind them every point of the
/// line that is told to edges stands for an eighth more people than the one before.
const COUNTED_ONE_BY_ONE: u32 = 64;

/// Above this many present the line is drawn anew no more often than this.
const DRAWN_AT_ONCE: u32 = 2048;
const REDRAW_AFTER: Span = Span::from_millis(250);

/// Places in a block.
const BLOCK: usize = 1024;

/// A line of no more blocks than this is swept whole for each drawing; a longer one in so many steps
/// of a second each.
const SWEPT_AT_ONCE: usize = 16;
const SWEEP_STEPS: u64 = 8;

/// Who has left, or never was.
const LEFT: u8 = 0;

/// The bit of a byte that says whether its place is counted as present. The other seven say when it
/// has polled: in ticks of four seconds, counted from [`FIRST_TICK`] to 127 and round again, in
/// 504 s. Before that, once the last poll is longer ago than any place is kept, they say [`GONE`].
const PRESENT: u8 = 0x80;
const GONE: u8 = 1;
const FIRST_TICK: u8 = 2;
const TICKS: u64 = 126;
const TICK_SECS: u64 = 4;

/// The places that have not been called.
#[derive(Clone, Debug)]
pub(super) struct Waiters {
    /// The first in line.
    base: u64,
    /// One more than the last.
    end: u64,
    /// The first place of the first block.
    start: u64,
    blocks: VecDeque<Block>,
    present: u32,
    /// The block to be swept next, and when the last ones were.
    sweep: (usize, Instant),
    drawing: Option<(Instant, Drawing)>,
}

/// The bytes of [`BLOCK`] places, and how many of them are present.
#[derive(Clone, Debug)]
struct Block {
    bytes: Box<[u8]>,
    present: u32,
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
    pub(super) fn new(base: u64, issued: u64, now: Instant) -> Self {
        let mut waiters = Self {
            base,
            end: base,
            start: base,
            blocks: VecDeque::new(),
            present: 0,
            sweep: (0, now),
            drawing: None,
        };
        for _ in base..=issued {
            waiters.join(now);
        }
        waiters
    }

    /// The place after the last one joins the line.
    pub(super) fn join(&mut self, now: Instant) {
        let index = (self.end - self.start) as usize;
        if index / BLOCK == self.blocks.len() {
            self.blocks.push_back(Block {
                bytes: vec![LEFT; BLOCK].into(),
                present: 0,
            });
        }
        self.end += 1;
        self.note(index, PRESENT | tick(now));
    }

    /// `place` has polled.
    pub(super) fn polled(&mut self, place: Place, now: Instant) {
        if let Some(index) = self.index(place)
            && self.byte(index) != LEFT
        {
            self.note(index, PRESENT | tick(now));
        }
    }

    /// Makes up for a time in which nobody could poll: everybody in line is present at `now`.
    pub(super) fn excuse(&mut self, now: Instant) {
        let now = PRESENT | tick(now);
        self.present = 0;
        for block in &mut self.blocks {
            block.present = 0;
            for byte in block.bytes.iter_mut().filter(|byte| **byte != LEFT) {
                *byte = now;
                block.present += 1;
            }
            self.present += block.present;
        }
        self.drawing = None;
    }

    /// `place` has left the line.
    pub(super) fn left(&mut self, place: Place) {
        if let Some(index) = self.index(place) {
            self.note(index, LEFT);
        }
    }

    /// The draw is held: everybody in it takes the last poll along to their new place. Nobody in it
    /// has been called.
    pub(super) fn shuffle(&mut self, draw: &Draw) {
        if draw.first < self.base {
            return;
        }
        let start = (draw.first - self.start) as usize;
        let before: Vec<u8> = (0..draw.count as usize)
            .map(|number| self.byte(start + number))
            .collect();
        for (byte, place) in before.into_iter().zip(draw.permutation().places()) {
            self.note(start + place as usize, byte);
        }
        self.drawing = None;
    }

    /// The first place in line is called or admitted: takes it out and tells whether it was
    /// present.
    pub(super) fn call_first(&mut self, now: Instant, absent_after: Span) -> Option<bool> {
        if self.base == self.end {
            return None;
        }
        let index = (self.base - self.start) as usize;
        let byte = self.byte(index);
        self.note(index, LEFT);
        self.base += 1;
        if index + 1 == BLOCK {
            self.blocks.pop_front();
            self.start += BLOCK as u64;
            self.sweep.0 = self.sweep.0.saturating_sub(1);
        }
        Some(byte & PRESENT != 0 && !is_older(byte, tick(now), absent_after))
    }

    /// How many are counted as present, as of the last [`Waiters::advance`].
    pub(super) fn present(&self) -> u32 {
        self.present
    }

    /// Whether the first in line has left it, or has not polled for longer than `after`.
    pub(super) fn first_is_gone(&self, now: Instant, after: Span) -> bool {
        let index = (self.base - self.start) as usize;
        self.base < self.end && is_older(self.byte(index), tick(now), after)
    }

    /// The first place in line, and one more than the last.
    pub(super) const fn range(&self) -> (u64, u64) {
        (self.base, self.end)
    }

    /// How many are present before each of `places`, which go up.
    pub(super) fn before_each(&self, places: impl Iterator<Item = u64>) -> Vec<u32> {
        let (mut passed, mut whole) = (0, 0);
        let counts = places.map(|place| {
            let index = (place.clamp(self.start, self.end) - self.start) as usize;
            while passed < index / BLOCK {
                whole += self.blocks.get(passed).map_or(0, |block| block.present);
                passed += 1;
            }
            let part = self.blocks.get(passed);
            whole + part.map_or(0, |block| block.before(index % BLOCK))
        });
        counts.collect()
    }

    /// How many before `place` are present.
    pub(super) fn before(&self, place: Place) -> u32 {
        let index = (place.get().clamp(self.start, self.end) - self.start) as usize;
        let block = index / BLOCK;
        // Counted from the nearer end: who joins is at the far one.
        let present = |block: &Block| block.present;
        let whole = if block <= self.blocks.len() / 2 {
            self.blocks.iter().take(block).map(present).sum()
        } else {
            let behind: u32 = self.blocks.iter().skip(block).map(present).sum();
            self.present - behind
        };
        let part = self.blocks.get(block);
        whole + part.map_or(0, |block| block.before(index % BLOCK))
    }

    /// Sweeps the blocks whose turn it is.
    pub(super) fn advance(&mut self, now: Instant, absent_after: Span) {
        let (first, last) = self.sweep;
        let steps = now.since(last).as_secs();
        if steps == 0 {
            return;
        }
        let all = self.blocks.len();
        let count = match usize::try_from(steps) {
            Ok(steps) if steps < SWEEP_STEPS as usize => all.div_ceil(SWEEP_STEPS as usize) * steps,
            _ => all,
        };
        for index in (first..first + count.min(all)).filter_map(|turn| turn.checked_rem(all)) {
            self.sweep(index, now, absent_after);
        }
        self.sweep = ((first + count).checked_rem(all).unwrap_or(0), now);
    }

    /// The line as of `now`, or of a moment before when it is long.
    pub(super) fn draw(&mut self, now: Instant, absent_after: Span) -> &Drawing {
        let is_fresh = self
            .drawing
            .as_ref()
            .is_some_and(|(drawn, _)| self.present > DRAWN_AT_ONCE && now < *drawn + REDRAW_AFTER);
        if !is_fresh {
            if self.blocks.len() <= SWEPT_AT_ONCE {
                for index in 0..self.blocks.len() {
                    self.sweep(index, now, absent_after);
                }
            }
            self.drawing = Some((now, self.drawn()));
        }
        &self
            .drawing
            .get_or_insert_with(|| (now, Drawing::default()))
            .1
    }

    fn drawn(&self) -> Drawing {
        let mut points = vec![Ahead(self.base, 0)];
        let (mut ahead, mut next_point) = (0_u32, 1_u32);
        for (first, block) in (self.start..).step_by(BLOCK).zip(&self.blocks) {
            if ahead + block.present < next_point {
                ahead += block.present;
                continue;
            }
            let present = (first..).zip(&block.bytes);
            for (place, _) in present.filter(|(_, byte)| **byte & PRESENT != 0) {
                ahead += 1;
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
        }
        if points.last().is_some_and(|point| point.0 < self.end) {
            points.push(Ahead(self.end, ahead));
        }
        Drawing {
            points,
            queued: ahead,
        }
    }

    fn sweep(&mut self, index: usize, now: Instant, absent_after: Span) {
        if let Some(block) = self.blocks.get_mut(index) {
            let gone = block.sweep(tick(now), absent_after);
            self.present -= gone;
        }
    }

    fn index(&self, place: Place) -> Option<usize> {
        let in_line = (self.base..self.end).contains(&place.get());
        in_line.then(|| (place.get() - self.start) as usize)
    }

    fn byte(&self, index: usize) -> u8 {
        let block = self.blocks.get(index / BLOCK);
        let byte = block.and_then(|block| block.bytes.get(index % BLOCK));
        byte.copied().unwrap_or(LEFT)
    }

    fn note(&mut self, index: usize, value: u8) {
        let Some(block) = self.blocks.get_mut(index / BLOCK) else {
            return;
        };
        let Some(byte) = block.bytes.get_mut(index % BLOCK) else {
            return;
        };
        let was = u32::from(*byte & PRESENT != 0);
        let is = u32::from(value & PRESENT != 0);
        *byte = value;
        block.present = block.present + is - was;
        self.present = self.present + is - was;
    }
}

impl Block {
    /// How many of the first `count` places are present.
    fn before(&self, count: usize) -> u32 {
        let before = self.bytes.iter().take(count);
        before.filter(|byte| **byte & PRESENT != 0).count() as u32
    }

    /// Counts those out whose last poll was too long ago, and returns how many they are.
    fn sweep(&mut self, now: u8, absent_after: Span) -> u32 {
        let before = self.present;
        for byte in self.bytes.iter_mut().filter(|byte| **byte > GONE) {
            if *byte & PRESENT != 0 && is_older(*byte, now, absent_after) {
                *byte &= !PRESENT;
                self.present -= 1;
            }
            if *byte & PRESENT == 0 && is_older(*byte, now, PLACE_KEPT) {
                *byte = GONE;
            }
        }
        before - self.present
    }
}

fn tick(at: Instant) -> u8 {
    // At most 127.
    FIRST_TICK + (at.as_secs() / TICK_SECS % TICKS) as u8
}

/// Whether the poll that a byte tells of was longer ago than `span` at the tick `now`.
fn is_older(byte: u8, now: u8, span: Span) -> bool {
    let polled = byte & !PRESENT;
    let round = if polled > now { TICKS } else { 0 };
    let ticks = round + u64::from(now) - u64::from(polled);
    polled < FIRST_TICK || ticks * TICK_SECS > span.as_secs()
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
        let (early, later) = (Instant::from_secs(50), Instant::from_secs(126));
        let mut waiters = Waiters::new(1, 5, early);
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
        let mut waiters = Waiters::new(11, 1_000_010, now);
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

    /// Everything in one list, looked at whole each time.
    struct Plain(Vec<(u64, Option<Instant>)>);

    impl Plain {
        fn ahead(&self, number: u64, now: Instant) -> u32 {
            let is_present = |at: &Instant| now.since(*at) <= ABSENT_AFTER;
            let before = self
                .0
                .iter()
                .filter(|(other, at)| *other < number && at.as_ref().is_some_and(is_present));
            before.count() as u32
        }
    }

    #[test]
    fn it_tells_what_a_plain_list_would_over_hours() {
        let mut now = Instant::from_secs(1_800_000_000);
        let mut waiters = Waiters::new(1, 0, now);
        let mut plain = Plain(Vec::new());
        let (mut given, mut random) = (0, 1_u64);
        for step in 0..6_000_u64 {
            random = random
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(step);
            let pick = random >> 33;
            match pick % 8 {
                0..=3 => {
                    given += 1;
                    waiters.join(now);
                    plain.0.push((given, Some(now)));
                }
                4 if !plain.0.is_empty() => {
                    let (_, at) = plain.0.remove(0);
                    let is_present = at.is_some_and(|at| now.since(at) <= ABSENT_AFTER);
                    assert_eq!(waiters.call_first(now, ABSENT_AFTER), Some(is_present));
                }
                5 | 6 if !plain.0.is_empty() => {
                    let index = pick as usize % plain.0.len();
                    let (other, at) = plain.0.get_mut(index).unwrap();
                    waiters.polled(Place::new(*other), now);
                    *at = at.map(|_| now);
                }
                7 if !plain.0.is_empty() => {
                    let index = pick as usize % plain.0.len();
                    let (other, at) = plain.0.get_mut(index).unwrap();
                    waiters.left(Place::new(*other));
                    *at = None;
                }
                _ => {}
            }
            // Whole ticks, so that the list and the bytes round alike.
            now = now + Span::from_secs(pick % 3 * TICK_SECS);
            waiters.advance(now, ABSENT_AFTER);
            let drawing = waiters.draw(now, ABSENT_AFTER);
            assert_eq!(drawing.queued, plain.ahead(u64::MAX, now), "step {step}");
            if let Some((other, _)) = plain.0.get(pick as usize % plain.0.len().max(1)) {
                assert_eq!(waiters.before(Place::new(*other)), plain.ahead(*other, now));
            }
        }
    }

    #[test]
    fn a_long_line_is_swept_within_ten_seconds_and_never_forgets_who_polls() {
        let mut now = Instant::from_secs(1_800_000_000);
        let mut waiters = Waiters::new(1, 100_000, now);
        for _ in 0..120 {
            now = now + Span::from_secs(10);
            for polls in (1..=100_000).step_by(3) {
                waiters.polled(Place::new(polls), now);
            }
            waiters.advance(now, ABSENT_AFTER);
            let queued = waiters.draw(now, ABSENT_AFTER).queued;
            let expected = if now.as_secs() <= 1_800_000_070 {
                100_000
            } else {
                33_334
            };
            assert_eq!(queued, expected, "{}", now.as_secs() - 1_800_000_000);
        }
    }
}
