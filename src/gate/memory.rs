//! What an edge remembers of a room between requests: the last snapshot, whether the room answers,
//! and what it has yet to be told.
//!
//! All of it can be lost at any moment, and nothing of it is waited for: a request reads, or leaves
//! something for another one.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::joint::Joint;
use super::reserved::Reserved;
use super::token::Standing;
use crate::room::figures::counts::Counts;
use crate::room::message::{Request, VERSION};
use crate::room::number::TicketNumber;
use crate::room::snapshot::{READS_SETS, Snapshot};
use crate::time::{Instant, Span};

/// While there is traffic, a snapshot is renewed in the background when it is so old.
pub const RENEW_AFTER: Span = Span::from_millis(1_000);

/// A refresh that has not come back after so long is given up: the flag is no lock, so one that
/// dies with its request stops nobody.
pub const REFRESH_DEADLINE: Span = Span::from_millis(2_000);

/// A snapshot older than this is renewed by the request that needs it.
pub const STALE_AFTER: Span = Span::from_millis(2_000);

/// A snapshot older than this says nothing any more: each request that needs it asks by itself.
pub const USELESS_AFTER: Span = Span::from_secs(10);

/// After a failed call nobody calls for so long: a room in trouble is left alone, and visitors get
/// their answer at once.
pub const BREATHER: Span = Span::from_millis(2_000);

/// A report names no more numbers than this; the rest is dropped, which makes estimates a little
/// worse and nothing else. As a set they are 100 KB at most.
const REPORT: usize = 65_536;

/// The same where the room reads plain lists alone.
const PLAIN_REPORT: usize = 4096;

/// The renewals of so many sessions are remembered.
const RENEWALS: usize = 4096;

/// How the last renewal of a session ended.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Renewed {
    /// The session goes on until then, and the visitor has not been told.
    Until(Instant),
    /// It was refused at this time.
    Refused(Instant),
}

/// The memory of one room.
#[derive(Clone, Debug, Default)]
pub struct Memory {
    snapshot: Option<(Arc<Snapshot>, Instant)>,
    refreshing_until: Instant,
    failed_at: Option<Instant>,
    relay_failed_at: Option<Instant>,
    polled: Vec<TicketNumber>,
    returned: BTreeSet<TicketNumber>,
    renewals: BTreeMap<TicketNumber, Renewed>,
    /// Slots for newcomers to come.
    pub reserved: Reserved,
    /// What requests have to say to the room.
    pub joint: Joint,
    /// What has been counted since the last report.
    pub counts: Counts,
}

impl Memory {
    /// The last snapshot.
    pub fn snapshot(&self) -> Option<&Arc<Snapshot>> {
        self.snapshot.as_ref().map(|(snapshot, _)| snapshot)
    }

    /// Whether the snapshot is too old to be relied on.
    pub fn is_stale(&self, now: Instant) -> bool {
        self.is_older(STALE_AFTER, now)
    }

    /// Whether the snapshot is so old, or there is none, that it says nothing.
    pub fn is_useless(&self, now: Instant) -> bool {
        self.is_older(USELESS_AFTER, now)
    }

    /// Whether no call has failed since the last that succeeded.
    pub const fn is_reachable(&self) -> bool {
        self.failed_at.is_none()
    }

    /// Whether the room is left alone just now because a call has failed.
    pub fn is_resting(&self, now: Instant) -> bool {
        self.failed_at.is_some_and(|at| now < at + BREATHER)
    }

    /// Takes in what the room has said, unless something newer is known. A response without a
    /// snapshot says that the one known is still good; it is given here once more, and ages on.
    pub fn learn(&mut self, snapshot: Arc<Snapshot>, now: Instant) {
        self.failed_at = None;
        match &mut self.snapshot {
            Some((known, _)) if Arc::ptr_eq(known, &snapshot) => return,
            Some((known, _)) if known.supersedes(&snapshot) => {}
            slot => *slot = Some((snapshot, now)),
        }
        self.refreshing_until = Instant::default();
    }

    /// Notes that a call has failed.
    pub const fn fail(&mut self, now: Instant) {
        self.failed_at = Some(now);
    }

    /// Notes that a relay has failed.
    pub const fn relay_fail(&mut self, now: Instant) {
        self.relay_failed_at = Some(now);
    }

    /// How many relays there are to choose from; none if the room is to be called directly, as it
    /// is for a moment after a relay has failed.
    pub fn relays(&self, now: Instant) -> Option<u32> {
        let is_resting = self.relay_failed_at.is_some_and(|at| now < at + BREATHER);
        let relays = self.snapshot()?.relays.filter(|_| !is_resting)?;
        Some(relays.shards.max(1))
    }

    /// The report to send, if it is time to renew the snapshot and nobody is at it. A request that
    /// `needs` the snapshot does not rely on another's refresh when the old one is useless.
    pub fn start_refresh(&mut self, now: Instant, needs: bool) -> Option<Request> {
        let is_underway = self.refreshing_until > now;
        let relies = !(needs && self.is_useless(now));
        if !self.is_older(RENEW_AFTER, now) || self.is_resting(now) || (is_underway && relies) {
            return None;
        }
        self.refreshing_until = now + REFRESH_DEADLINE;
        Some(self.report())
    }

    /// Counts a request that passes at once. The report to send, as [`Memory::start_refresh`] has it.
    pub fn note_passage(&mut self, now: Instant) -> Option<Request> {
        self.counts.passed = self.counts.passed.saturating_add(1);
        self.start_refresh(now, false)
    }

    /// Counts a request that a rule exempts. It is reported when one that is not comes.
    pub const fn note_bypass(&mut self) {
        self.counts.bypassed = self.counts.bypassed.saturating_add(1);
    }

    fn report(&mut self) -> Request {
        let mut polled = std::mem::take(&mut self.polled);
        let mut returned: Vec<_> = std::mem::take(&mut self.returned).into_iter().collect();
        let reads = self.snapshot().map_or(0, |known| known.reads);
        if reads < READS_SETS {
            polled.truncate(PLAIN_REPORT);
            returned.truncate(PLAIN_REPORT);
        }
        let report = Request {
            version: VERSION,
            knows: self.snapshot().map(|known| known.stamp()),
            counts: std::mem::take(&mut self.counts),
            ..Request::default()
        };
        report.reporting(reads, polled, returned)
    }

    fn is_older(&self, age: Span, now: Instant) -> bool {
        self.snapshot
            .as_ref()
            .is_none_or(|(_, heard)| *heard + age <= now)
    }

    /// The pass that a newcomer may have without asking the room.
    pub fn next_reserved(&self, now: Instant) -> Option<Standing> {
        let snapshot = self.snapshot()?;
        let relies = !snapshot.queueing && !self.is_older(STALE_AFTER, now) && self.is_reachable();
        relies.then(|| self.reserved.next(now)).flatten()
    }

    /// Notes a newcomer, and tells whether somebody has to see to the reservations from now on.
    pub fn note_newcomer(&mut self, now: Instant) -> bool {
        let spare = self.snapshot().map_or(0, |snapshot| snapshot.spare);
        self.reserved.note_newcomer(spare, now)
    }

    /// Takes what is remembered of the last renewal of a session. A refusal stays.
    pub fn take_renewal(&mut self, number: TicketNumber) -> Option<Renewed> {
        match self.renewals.get(&number) {
            Some(Renewed::Until(_)) => self.renewals.remove(&number),
            other => other.copied(),
        }
    }

    /// Remembers how a renewal has ended.
    pub fn remember_renewal(&mut self, number: TicketNumber, renewed: Renewed) {
        if self.renewals.len() >= RENEWALS {
            // The lowest number has most likely left.
            self.renewals.pop_first();
        }
        self.renewals.insert(number, renewed);
    }

    /// Notes a counted poll for the next report.
    pub fn note_poll(&mut self, number: TicketNumber) {
        if self.polled.len() < REPORT {
            self.polled.push(number);
        }
    }

    /// Notes for the next report that a first pass has come back.
    pub fn note_return(&mut self, number: TicketNumber) {
        if self.returned.len() < REPORT {
            self.returned.insert(number);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::room::number::Incarnation;
    use crate::room::snapshot::Relays;

    const NOW: Instant = Instant::from_secs(1_800_000_000);

    fn at(millis: u64) -> Instant {
        NOW + Span::from_millis(millis)
    }

    fn snapshot(sequence: u64) -> Arc<Snapshot> {
        Arc::new(Snapshot {
            incarnation: Incarnation::new(1),
            sequence,
            taken: NOW,
            reads: READS_SETS,
            ..Snapshot::default()
        })
    }

    #[test]
    fn one_refresh_at_a_time_about_once_a_second() {
        let mut memory = Memory::default();
        assert!(memory.start_refresh(at(0), false).is_some());
        assert!(
            memory.start_refresh(at(10), false).is_none(),
            "one is under way"
        );
        memory.learn(snapshot(1), at(20));
        assert!(memory.start_refresh(at(1_019), false).is_none(), "fresh");
        assert!(memory.start_refresh(at(1_020), false).is_some());
        let calls = (1_021..3_000).filter(|ms| memory.start_refresh(at(*ms), false).is_some());
        assert_eq!(calls.count(), 0);
    }

    #[test]
    fn a_refresher_that_dies_stops_nobody() {
        let mut memory = Memory::default();
        memory.learn(snapshot(1), at(0));
        assert!(memory.start_refresh(at(1_000), true).is_some());
        // It is never heard of again.
        assert!(memory.start_refresh(at(2_999), true).is_none());
        assert!(memory.start_refresh(at(3_000), true).is_some());
    }

    #[test]
    fn who_needs_a_useless_snapshot_does_not_rely_on_another() {
        let mut memory = Memory::default();
        memory.learn(snapshot(1), at(0));
        // A quiet site: the snapshot is ten minutes old.
        assert!(memory.is_stale(at(600_000)));
        assert!(memory.start_refresh(at(600_000), false).is_some());
        assert!(
            memory.start_refresh(at(600_001), false).is_none(),
            "who passes anyway relies"
        );
        assert!(memory.start_refresh(at(600_001), true).is_some());
    }

    #[test]
    fn what_is_known_never_goes_back() {
        let mut memory = Memory::default();
        memory.learn(snapshot(5), at(0));
        memory.learn(snapshot(4), at(1_500));
        assert_eq!(memory.snapshot().map(|known| known.sequence), Some(5));
        assert!(
            memory.is_stale(at(2_000)),
            "an older answer does not make it fresh"
        );
        memory.learn(snapshot(5), at(2_000));
        assert!(
            !memory.is_stale(at(2_100)),
            "the same state, heard again, does"
        );
    }

    #[test]
    fn a_room_in_trouble_is_left_alone_for_a_moment() {
        let mut memory = Memory::default();
        memory.fail(at(0));
        assert!(!memory.is_reachable());
        assert!(memory.start_refresh(at(1_999), true).is_none());
        assert!(memory.start_refresh(at(2_000), true).is_some());
        assert!(!memory.is_reachable(), "until it has answered");
        memory.learn(snapshot(1), at(2_100));
        assert!(memory.is_reachable());
    }

    #[test]
    fn a_report_takes_what_was_noted_and_is_bounded() {
        let mut memory = Memory::default();
        let note = |memory: &mut Memory| {
            for value in (1..=70_000).filter_map(TicketNumber::new) {
                memory.note_poll(value);
                memory.note_return(value);
                memory.note_return(value);
                memory.remember_renewal(value, Renewed::Refused(NOW));
            }
        };
        // Before the first answer it is not known what the room reads.
        note(&mut memory);
        let report = memory.start_refresh(at(0), false).unwrap();
        assert_eq!(
            (report.polled.len(), report.returned.len()),
            (PLAIN_REPORT, PLAIN_REPORT)
        );
        assert!(report.polls.is_empty() && report.returns.is_empty());
        assert_eq!(report.knows, None);
        assert_eq!(memory.renewals.len(), RENEWALS);
        memory.learn(snapshot(1), at(1));
        note(&mut memory);
        let report = memory.start_refresh(at(2_000), false).unwrap();
        let most = REPORT as u64;
        assert_eq!((report.polls.len(), report.returns.len()), (most, most));
        assert!(report.polled.is_empty() && report.returned.is_empty());
        assert_eq!(report.knows, Some(snapshot(1).stamp()));
        let next = memory.start_refresh(at(4_000), false).unwrap();
        assert!(next.polls.is_empty() && next.returns.is_empty());
    }

    #[test]
    fn a_response_without_a_snapshot_shows_that_the_room_is_there_and_makes_nothing_fresh() {
        let (mut memory, known) = (Memory::default(), snapshot(1));
        memory.learn(Arc::clone(&known), at(0));
        memory.fail(at(500));
        memory.learn(known, at(900));
        assert!(memory.is_reachable());
        assert!(memory.start_refresh(at(1_000), false).is_some());
    }

    #[test]
    fn a_room_is_reached_through_relays_when_it_says_so_and_they_answer() {
        let mut memory = Memory::default();
        assert_eq!(memory.relays(at(0)), None);
        memory.learn(snapshot(1), at(0));
        assert_eq!(memory.relays(at(0)), None);
        let (shards, window) = (3, Span::from_millis(20));
        let relays = Some(Relays { shards, window });
        let busy = Snapshot {
            relays,
            ..(*snapshot(2)).clone()
        };
        memory.learn(Arc::new(busy), at(0));
        assert_eq!(memory.relays(at(0)), Some(3));
        memory.relay_fail(at(10));
        assert_eq!(memory.relays(at(2_009)), None);
        assert_eq!(memory.relays(at(2_010)), Some(3));
    }

    #[test]
    fn what_is_counted_goes_with_the_next_report() {
        let mut memory = Memory::default();
        let first = memory.note_passage(at(0)).unwrap();
        assert_eq!(first.counts.passed, 1);
        memory.learn(snapshot(1), at(1));
        memory.note_bypass();
        assert_eq!(memory.note_passage(at(500)), None);
        let second = memory.note_passage(at(1_500)).unwrap();
        assert_eq!((second.counts.passed, second.counts.bypassed), (2, 1));
        let third = memory.start_refresh(at(9_000), false).unwrap();
        assert!(third.counts.is_zero());
    }

    #[test]
    fn a_late_acknowledgement_goes_out_once_and_a_refusal_stays() {
        let (mut memory, number) = (Memory::default(), TicketNumber::FIRST);
        memory.remember_renewal(number, Renewed::Until(NOW));
        assert_eq!(memory.take_renewal(number), Some(Renewed::Until(NOW)));
        assert_eq!(memory.take_renewal(number), None);
        memory.remember_renewal(number, Renewed::Refused(NOW));
        assert_eq!(memory.take_renewal(number), Some(Renewed::Refused(NOW)));
        assert_eq!(memory.take_renewal(number), Some(Renewed::Refused(NOW)));
    }
}
