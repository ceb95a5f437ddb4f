//! Keeps the tally of the minute that is running, and of all the time since the start.
//!
//! It is told what happens and decides nothing. Only whole minutes leave it, to be stored; what it
//! has of the current one is lost with the object's memory.

use std::fmt;

use super::tally::Tally;
use crate::time::{Instant, Span};

/// The span of the finest tally.
pub const MINUTE: Span = Span::from_secs(60);

/// So many finished minutes are kept for whoever takes them; the oldest give way.
const MOST_FINISHED: usize = 8;

/// The tally of one minute.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Minute {
    /// When it began: a multiple of [`MINUTE`].
    pub start: Instant,
    /// What happened in it.
    pub tally: Tally,
}

/// The recorder of a room.
#[derive(Clone, Default)]
pub struct Recorder {
    since: Instant,
    minute: u64,
    tally: Tally,
    /// Up to when the levels are recorded, and what they are since.
    at: Instant,
    active: u32,
    queued: u32,
    finished: Vec<Minute>,
    totals: Tally,
}

/// What is recorded changes nothing in what a room does, so it is no part of what a room prints: the
/// model in `tests/model` tells the states of a room apart by that.
impl fmt::Debug for Recorder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Recorder")
    }
}

impl Recorder {
    /// A recorder that begins at `now`.
    pub fn new(now: Instant) -> Self {
        Self {
            since: now,
            minute: index(now),
            at: now,
            ..Self::default()
        }
    }

    /// Time passes up to `now`. The levels are held up to the end of the minute that they were set
    /// in, and through the next one up to `now`; of a longer silence nothing is known.
    pub fn advance(&mut self, now: Instant) {
        if index(now) > self.minute {
            self.hold(start(self.minute + 1));
            self.finish();
            if index(now) > self.minute + 1 {
                // A whole minute and more without a word.
                self.at = now;
            }
            self.minute = index(now);
        }
        self.hold(now);
    }

    fn hold(&mut self, until: Instant) {
        let span = until.since(self.at);
        if span == Span::ZERO {
            return;
        }
        self.at = until;
        self.tally.watched = self.tally.watched + span;
        self.tally.active.hold(self.active, span);
        self.tally.queued.hold(self.queued, span);
    }

    fn finish(&mut self) {
        let tally = std::mem::take(&mut self.tally);
        self.tally.total_active_users = tally.total_active_users;
        self.tally.new_users_per_minute = tally.new_users_per_minute;
        self.totals.follow(&tally);
        if self.finished.len() >= MOST_FINISHED {
            self.finished.remove(0);
        }
        let start = start(self.minute);
        self.finished.push(Minute { start, tally });
    }

    /// So many are active and in line from now on.
    pub fn level(&mut self, active: u32, queued: u32) {
        (self.active, self.queued) = (active, queued);
        self.tally.active.rise(active);
        self.tally.queued.rise(queued);
    }

    /// The tally of the minute that is running, to count in.
    pub const fn current(&mut self) -> &mut Tally {
        &mut self.tally
    }

    /// The minutes that have ended since this was asked for last, the latest eight at the most.
    pub fn take_finished(&mut self) -> Vec<Minute> {
        std::mem::take(&mut self.finished)
    }

    /// When the recorder was made.
    pub const fn since(&self) -> Instant {
        self.since
    }

    /// Everything since then.
    pub fn totals(&self) -> Tally {
        let mut totals = self.totals.clone();
        totals.follow(&self.tally);
        totals
    }

    /// When somebody should look in again so that the running minute is not lost: a second after its
    /// end. None if nobody is in the room or in line, and nothing has happened in this minute.
    pub fn due(&self) -> Option<Instant> {
        let quiet = Tally {
            watched: self.tally.watched,
            total_active_users: self.tally.total_active_users,
            new_users_per_minute: self.tally.new_users_per_minute,
            calls: self.tally.calls,
            ..Tally::default()
        };
        (self.tally != quiet).then(|| start(self.minute + 1) + Span::from_secs(1))
    }
}

fn index(at: Instant) -> u64 {
    at.as_millis() / MINUTE.as_millis()
}

const fn start(minute: u64) -> Instant {
    Instant::from_millis(minute.saturating_mul(MINUTE.as_millis()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> Instant {
        Instant::from_secs(6_000 + seconds)
    }

    #[test]
    fn minutes_end_at_the_full_minute_and_levels_go_on_over_it() {
        let mut recorder = Recorder::new(at(30));
        recorder.level(10, 0);
        recorder.advance(at(50));
        recorder.level(20, 4);
        recorder.current().granted += 10;
        assert!(recorder.take_finished().is_empty());
        recorder.advance(at(90));
        let [minute] = &recorder.take_finished()[..] else {
            panic!("one minute has ended");
        };
        assert_eq!(minute.start, at(0));
        let tally = &minute.tally;
        assert_eq!(tally.watched, Span::from_secs(30));
        assert_eq!(
            (tally.granted, tally.active.last, tally.active.highest),
            (10, 20, 20)
        );
        // 20 s of ten and 10 s of twenty.
        assert_eq!(tally.active.area, 400_000);
        assert_eq!(recorder.totals().watched, Span::from_secs(60));
        assert_eq!(recorder.totals().active.area, 1_000_000);
        assert_eq!(recorder.totals().granted, 10);
    }

    #[test]
    fn of_a_long_silence_nothing_is_known() {
        let mut recorder = Recorder::new(at(0));
        recorder.level(5, 5);
        recorder.advance(at(3_600 + 30));
        assert_eq!(recorder.take_finished().len(), 1);
        assert_eq!(recorder.totals().watched, Span::from_secs(60));
        recorder.advance(at(3_600 + 40));
        assert_eq!(recorder.totals().watched, Span::from_secs(70));
    }

    #[test]
    fn a_quiet_and_empty_room_needs_nobody_to_look_in() {
        let mut recorder = Recorder::new(at(0));
        recorder.advance(at(10));
        recorder.level(0, 0);
        recorder.current().calls += 1;
        assert_eq!(recorder.due(), None);
        recorder.level(1, 0);
        assert_eq!(recorder.due(), Some(at(61)));
        recorder.advance(at(61));
        recorder.level(0, 0);
        assert_eq!(
            recorder.due(),
            Some(at(121)),
            "somebody was there in this minute"
        );
        recorder.advance(at(121));
        assert_eq!(recorder.due(), None);
    }

    #[test]
    fn minutes_that_nobody_takes_are_bounded() {
        let mut recorder = Recorder::new(at(0));
        for minute in 0..100 {
            recorder.current().granted += 1;
            recorder.advance(at(minute * 60));
        }
        let finished = recorder.take_finished();
        assert_eq!(finished.len(), MOST_FINISHED);
        assert_eq!(finished.last().unwrap().start, at(98 * 60));
        assert_eq!(recorder.totals().granted, 100);
    }

    #[test]
    fn what_is_recorded_is_not_printed() {
        let mut recorder = Recorder::new(at(0));
        recorder.current().granted = 1;
        assert_eq!(format!("{recorder:?}"), "Recorder");
    }
}
