//! Keeps the tally of the minute that is running, and of all the time since the start.
//!
//! It is told what happens and decides nothing. Minutes leave it whole, to be stored; the running one
//! can be kept meanwhile, and taken up by the next life of the object's memory.

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
    /// What an earlier life of the object's memory has recorded of this minute.
    before: Option<Tally>,
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
        let tally = after(self.before.take(), tally);
        if self.finished.len() >= MOST_FINISHED {
            self.finished.remove(0);
        }
        let start = start(self.minute);
        self.finished.push(Minute { start, tally });
    }

    /// The running minute as far as it is recorded, to be kept against a restart.
    pub fn running(&self) -> Minute {
        Minute {
            start: start(self.minute),
            tally: after(self.before.clone(), self.tally.clone()),
        }
    }

    /// Takes up the minute that was running before a restart. If it is over, it is finished now.
    pub fn resume(&mut self, kept: Minute) {
        if kept.start == start(self.minute) {
            self.before = Some(kept.tally);
        } else {
            self.finished.push(kept);
        }
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
        let is_quiet = self.tally == quiet && self.before.is_none();
        (!is_quiet).then(|| start(self.minute + 1) + Span::from_secs(1))
    }
}

/// The tally of a minute of which a part was recorded before.
fn after(before: Option<Tally>, tally: Tally) -> Tally {
    match before {
        Some(mut sum) => {
            sum.follow(&tally);
            sum
        }
        None => tally,
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
    fn a_minute_goes_on_after_a_restart() {
        let mut first = Recorder::new(at(0));
        first.level(3, 0);
        first.current().granted = 3;
        first.advance(at(20));
        let kept = first.running();
        for (restarted, minutes) in [(at(40), 1), (at(70), 2)] {
            let mut second = Recorder::new(restarted);
            second.resume(kept.clone());
            assert_eq!(second.due().is_some(), minutes == 1, "if it still runs");
            second.level(5, 0);
            second.current().granted = 2;
            second.advance(at(120));
            let finished = second.take_finished();
            assert_eq!(finished.len(), minutes);
            assert_eq!(finished[0].start, at(0));
            let granted: u32 = finished.iter().map(|minute| minute.tally.granted).sum();
            assert_eq!(granted, 5);
            assert_eq!(second.totals().granted, 2, "which begin anew");
        }
    }

    #[test]
    fn what_is_recorded_is_not_printed() {
        let mut recorder = Recorder::new(at(0));
        recorder.current().granted = 1;
        assert_eq!(format!("{recorder:?}"), "Recorder");
    }
}
