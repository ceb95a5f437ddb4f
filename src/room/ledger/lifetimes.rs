//! How long passes go on: with how much of their time left they are renewed, or ended.
//!
//! The room knows when each pass ends, and nearly all of what it does not know is whether it will be
//! renewed first. Sites renew early: who is still there asks again soon after a quarter of the time.
//! So a pass that was not renewed by then will most likely run out, and the room sees minutes ahead
//! how many slots become free when, also when many sessions began together.
//!
//! Counts alone are kept, so that equal histories make equal ledgers.

use super::EXPIRY_GRACE;
use super::slots::Slots;
use crate::time::{Instant, Span};

/// The time that a slot is taken is told apart in so many classes, none shorter than a second.
const CLASSES: u64 = 64;

/// The memory: when a class has been at risk for so many times its length, everything noted counts
/// half. At least so many, and so many times the active sessions.
const MEMORY: u64 = 2_048;
const MEMORY_PER_SESSION: u64 = 2;

/// Time between two looks that is longer than so many classes tells nothing of them.
const LONGEST_LOOK: u64 = 4;

/// Ends are known to the second.
const HALF_A_SECOND: Span = Span::from_millis(500);

/// What was seen of the passes of one class.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
struct Class {
    /// The sum of the milliseconds for which passes that were in it at one look were looked at.
    at_risk: u64,
    renewed: u64,
    ended: u64,
}

/// What was seen of passes, by the time that was left of them.
#[derive(Clone, Debug, Default, Eq, Hash, PartialEq)]
pub(super) struct Lifetimes {
    session: Span,
    /// The last look, and the slots that were taken then.
    looked: Option<Instant>,
    taken: Vec<u32>,
    classes: Vec<Class>,
    /// Passes that were ended, or half over without having been renewed.
    known: u64,
}

impl Lifetimes {
    /// The length of a class.
    pub(super) fn step(&self) -> Span {
        Span::from_millis((self.session.as_millis() / CLASSES).max(1_000))
    }

    /// Looks at all passes at `now`, where sessions are `session` long.
    pub(super) fn look(&mut self, session: Span, slots: &Slots, now: Instant) {
        if self.session != session {
            *self = Self {
                session,
                ..Self::default()
            };
        }
        let elapsed = now.since(*self.looked.get_or_insert(now));
        let step = self.step();
        if elapsed < step {
            return;
        }
        let taken = self.taken(slots, now);
        let then = std::mem::replace(&mut self.taken, taken);
        self.looked = Some(now);
        if elapsed.as_millis() > LONGEST_LOOK * step.as_millis() {
            return;
        }
        let half = self.class(now + Span::from_millis(session.as_millis() / 2), now);
        let mut longest = 0;
        for (class, count) in then.into_iter().enumerate() {
            self.note(class, |class| {
                class.at_risk += u64::from(count) * elapsed.as_millis();
                longest = longest.max(class.at_risk);
            });
            if class == half {
                self.known = self.known.saturating_add(count.into());
            }
        }
        let memory = MEMORY.max(MEMORY_PER_SESSION * u64::from(slots.active()));
        if longest > memory * step.as_millis() {
            for class in &mut self.classes {
                class.at_risk /= 2;
                class.renewed /= 2;
                class.ended /= 2;
            }
        }
    }

    /// A pass that was to end at `expires` is renewed.
    pub(super) fn renewed(&mut self, expires: Instant) {
        let class = self.class_then(expires);
        self.note(class, |class| class.renewed += 1);
    }

    /// A session whose pass was to end at `expires` is ended.
    pub(super) fn ended(&mut self, expires: Instant) {
        let class = self.class_then(expires);
        self.note(class, |class| class.ended += 1);
        self.known = self.known.saturating_add(1);
    }

    /// How many passes were ended, or were half over without having been renewed. Before there are some
    /// it is not known when passes are renewed.
    pub(super) const fn known(&self) -> u64 {
        self.known
    }

    /// How many slots are taken, by the class of the time for which they are if nothing happens.
    pub(super) fn taken(&self, slots: &Slots, now: Instant) -> Vec<u32> {
        let mut taken = vec![0_u32; self.class(now + self.session, now) + 1];
        for (second, count) in slots.ends_by_second() {
            let class = self.class(Instant::from_secs(second) + HALF_A_SECOND, now);
            // Longer sessions than the present ones, from before the settings changed.
            let class = class.min(taken.len() - 1);
            if let Some(taken) = taken.get_mut(class) {
                *taken = taken.saturating_add(count);
            }
        }
        taken
    }

    /// Of the slots of a class, the shares that are renewed and that are ended while they are in it.
    pub(super) fn shares(&self, class: usize) -> (f64, f64) {
        let Some(seen) = self.classes.get(class).filter(|seen| seen.at_risk > 0) else {
            return (0.0, 0.0);
        };
        let at_risk = seen.at_risk as f64 / self.step().as_millis() as f64;
        let renewed = (seen.renewed as f64 / at_risk).min(1.0);
        let ended = (seen.ended as f64 / at_risk).min(1.0 - renewed);
        (renewed, ended)
    }

    /// The class of a pass that is half a step old, which is that of those that were new in the last step.
    pub(super) fn newest(&self) -> usize {
        let half = Span::from_millis(self.step().as_millis() / 2);
        let begun = Instant::default();
        self.class(begun + self.session, begun + half)
    }

    fn class(&self, expires: Instant, now: Instant) -> usize {
        let left = (expires + EXPIRY_GRACE).since(now).as_millis();
        usize::try_from(left / self.step().as_millis()).unwrap_or(usize::MAX)
    }

    /// The class at the last look. Who is younger is of those that were new.
    fn class_then(&self, expires: Instant) -> usize {
        let looked = self.looked.unwrap_or(expires);
        let expires = Instant::from_secs(expires.as_secs()) + HALF_A_SECOND;
        self.class(expires, looked).min(self.newest())
    }

    fn note(&mut self, class: usize, change: impl FnOnce(&mut Class)) {
        let last = (CLASSES + EXPIRY_GRACE.as_secs()) as usize + 1;
        let class = class.min(last);
        if self.classes.len() <= class {
            self.classes.resize(class + 1, Class::default());
        }
        if let Some(class) = self.classes.get_mut(class) {
            change(class);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::room::ledger::slots::Slot;
    use crate::room::number::TicketNumber;

    const SESSION: Span = Span::from_secs(320);

    /// Every second one comes in. Of ten, three renew once a quarter of the time is over, and then
    /// never again; one leaves after a minute.
    fn busy(seconds: u64) -> (Lifetimes, Slots, Instant) {
        let (mut lifetimes, mut slots) = (Lifetimes::default(), Slots::default());
        let mut now = Instant::from_secs(0);
        let slot = |now: Instant| Slot {
            admitted: now,
            expires: now + SESSION,
            provisional: false,
            closing: false,
        };
        for second in 1..=seconds {
            now = Instant::from_secs(second);
            while slots.expire_one(now).is_some() {}
            let number = |second: u64| TicketNumber::new(second).unwrap();
            slots.set(number(second), slot(now));
            if let Some(renews) = second
                .checked_sub(82)
                .filter(|number| number % 10 < 3 && *number > 0)
            {
                lifetimes.renewed(slots.get(number(renews)).unwrap().expires);
                slots.set(number(renews), slot(now));
            }
            if let Some(leaves) = second.checked_sub(60).filter(|number| number % 10 == 9) {
                lifetimes.ended(slots.get(number(leaves)).unwrap().expires);
                slots.remove(number(leaves));
            }
            lifetimes.look(SESSION, &slots, now);
        }
        (lifetimes, slots, now)
    }

    #[test]
    fn the_shares_that_are_renewed_and_ended_are_learnt_by_the_time_that_is_left() {
        let (lifetimes, ..) = busy(3_000);
        assert_eq!(lifetimes.step(), Span::from_secs(5));
        let (mut stays, mut renewed, mut ended) = (1.0, 0.0, 0.0);
        for class in (0..=lifetimes.newest()).rev() {
            let (renews, ends) = lifetimes.shares(class);
            renewed += stays * renews;
            ended += stays * ends;
            stays *= 1.0 - renews - ends;
        }
        // Each new pass, and each renewed one, is a pass: of 13 three are renewed and one is ended.
        assert!((renewed - 3.0 / 13.0_f64).abs() < 0.02, "{renewed}");
        assert!((ended - 1.0 / 13.0_f64).abs() < 0.02, "{ended}");
        assert_eq!(lifetimes.shares(3), (0.0, 0.0));
    }

    #[test]
    fn nothing_is_known_before_passes_are_half_over_or_ended() {
        assert_eq!(busy(60).0.known(), 0);
        assert!(busy(100).0.known() <= 4);
        assert!(busy(300).0.known() > 40);
        let (mut lifetimes, slots, now) = busy(300);
        lifetimes.look(Span::from_secs(60), &slots, now);
        assert_eq!(lifetimes.known(), 0, "sessions are of another length");
    }

    #[test]
    fn every_slot_is_counted_once() {
        let (lifetimes, slots, now) = busy(1_000);
        let taken = lifetimes.taken(&slots, now);
        assert_eq!(taken.iter().sum::<u32>(), slots.active());
    }
}
