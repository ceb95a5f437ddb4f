//! What an isolate remembers between requests: the site, ready for use, and the last that is known
//! of each room.
//!
//! All of it can be lost at any moment. Nothing here is ever awaited by two requests: a request
//! reads, or leaves something for the next one.

use std::cell::{OnceCell, RefCell};
use std::collections::{BTreeMap, BTreeSet};

use worker::Env;

use crate::gate::keys::Keys;
use crate::gate::route::Routes;
use crate::packed;
use crate::page::Pages;
use crate::room::message::{Request, VERSION};
use crate::room::number::TicketNumber;
use crate::room::snapshot::Snapshot;
use crate::site::room::{Room, Site};
use crate::time::{Instant, Span};

use super::renewal::Renewed;

/// While there is traffic, a snapshot is renewed in the background when it is so old.
const RENEW_AFTER: Span = Span::from_millis(1_000);

/// A refresh that has not come back after so long is given up: the flag is no lock, so one that
/// dies with its request stops nobody.
const REFRESH_DEADLINE: Span = Span::from_millis(2_000);

/// A snapshot older than this is renewed by the request that needs it.
const STALE_AFTER: Span = Span::from_millis(2_000);

/// A snapshot older than this says nothing any more: each request that needs it asks by itself.
const USELESS_AFTER: Span = Span::from_secs(10);

/// After a failed call nobody calls for so long: a room in trouble is left alone, and visitors get
/// their answer at once.
const BREATHER: Span = Span::from_millis(2_000);

/// A report names no more numbers than this; the rest waits for the next one or is dropped, which
/// makes estimates a little worse and nothing else.
const REPORT: usize = 4096;

/// The site, ready for use.
pub(super) struct Isolate {
    pub(super) site: Site,
    pub(super) routes: Routes,
    pub(super) pages: Pages,
    /// The keys of passes, or what is wrong with the secret.
    pub(super) keys: Result<Keys, String>,
    /// The keys of assertions for the origin, where the secret exists.
    pub(super) origin_keys: Option<Result<Keys, String>>,
    /// Whether anteroom speaks of visitors to the origin, so that no client may.
    pub(super) asserts: bool,
    /// `ORIGIN`: where requests go instead of the zone's own origin.
    pub(super) origin: Option<String>,
    rooms: Vec<RefCell<Known>>,
}

/// The last that is known of a room, and what it has to be told.
#[derive(Default)]
struct Known {
    snapshot: Option<(Snapshot, Instant)>,
    refreshing_until: Instant,
    failed_at: Option<Instant>,
    polled: Vec<TicketNumber>,
    returned: BTreeSet<TicketNumber>,
    renewals: BTreeMap<TicketNumber, Renewed>,
}

thread_local! {
    static ISOLATE: OnceCell<&'static Isolate> = const { OnceCell::new() };
}

/// The secret with the keys of passes.
const KEYS: &str = "ANTEROOM_KEYS";
/// The secret with the keys of assertions.
const ORIGIN_KEYS: &str = "ANTEROOM_ORIGIN_KEYS";
/// The variable that names another origin.
const ORIGIN: &str = "ORIGIN";

impl Isolate {
    /// The isolate's memory, built by the first request: it lives as long as the isolate does.
    pub(super) fn get(env: &Env) -> Result<&'static Self, String> {
        ISOLATE.with(|cell| match cell.get() {
            Some(isolate) => Ok(*isolate),
            None => {
                let isolate = Self::build(env)?;
                Ok(*cell.get_or_init(|| Box::leak(Box::new(isolate))))
            }
        })
    }

    fn build(env: &Env) -> Result<Self, String> {
        let site = packed::site().map_err(|error| format!("packed site: {error}"))?;
        let keys = match env.secret(KEYS) {
            Ok(text) => Keys::parse(&text.to_string()).map_err(|fault| format!("{KEYS}: {fault}")),
            Err(_) => Err(format!("the secret {KEYS} is not set")),
        };
        let origin_keys = env.secret(ORIGIN_KEYS).ok().map(|text| {
            Keys::parse(&text.to_string()).map_err(|fault| format!("{ORIGIN_KEYS}: {fault}"))
        });
        let origin = env.var(ORIGIN).ok().map(|origin| origin.to_string());
        Ok(Self {
            routes: Routes::new(&site),
            pages: Pages::new(packed::pages()),
            keys,
            asserts: origin_keys.is_some() || site.rooms.iter().any(|room| room.origin_assertion),
            origin_keys,
            origin: origin.filter(|origin| !origin.is_empty()),
            rooms: site.rooms.iter().map(|_| RefCell::default()).collect(),
            site,
        })
    }

    /// The keys of a room's passes.
    ///
    /// # Errors
    /// What is missing for the room to do what it was declared to do.
    pub(super) fn keys_for(&self, room: &Room) -> Result<&Keys, String> {
        match (&self.origin_keys, room.origin_assertion) {
            (None, true) => Err(format!(
                "room {} has origin_assertion, and {ORIGIN_KEYS} is not set",
                room.name
            )),
            (Some(Err(fault)), true) => Err(fault.clone()),
            _ => self.keys.as_ref().map_err(Clone::clone),
        }
    }

    fn known<T>(&self, room: usize, read: impl FnOnce(&mut Known) -> T) -> Option<T> {
        Some(read(&mut *self.rooms.get(room)?.try_borrow_mut().ok()?))
    }

    /// The last snapshot of a room.
    pub(super) fn snapshot(&self, room: usize) -> Option<Snapshot> {
        self.known(room, |known| {
            known
                .snapshot
                .as_ref()
                .map(|(snapshot, _)| snapshot.clone())
        })?
    }

    /// Reads the last snapshot of a room in place.
    pub(super) fn with_snapshot<T>(
        &self,
        room: usize,
        read: impl FnOnce(Option<&Snapshot>) -> T,
    ) -> Option<T> {
        self.known(room, |known| {
            read(known.snapshot.as_ref().map(|(snapshot, _)| snapshot))
        })
    }

    /// Whether the snapshot of a room is too old to be relied on.
    pub(super) fn is_stale(&self, room: usize, now: Instant) -> bool {
        self.known(room, |known| {
            known
                .snapshot
                .as_ref()
                .is_none_or(|(_, heard)| *heard + STALE_AFTER <= now)
        })
        .unwrap_or(true)
    }

    /// Whether no call has failed since the last that succeeded.
    pub(super) fn is_reachable(&self, room: usize) -> bool {
        self.known(room, |known| known.failed_at.is_none())
            .unwrap_or(true)
    }

    /// Whether the room is left alone just now because a call has failed.
    pub(super) fn is_resting(&self, room: usize, now: Instant) -> bool {
        self.known(room, |known| {
            known.failed_at.is_some_and(|at| now < at + BREATHER)
        })
        .unwrap_or(false)
    }

    /// Takes in what the room has said, unless something newer is known.
    pub(super) fn learn(&self, room: usize, snapshot: Snapshot, now: Instant) {
        self.known(room, |known| {
            known.failed_at = None;
            known.refreshing_until = Instant::default();
            match &mut known.snapshot {
                Some((old, heard)) if !snapshot.supersedes(old) => {
                    if snapshot.incarnation == old.incarnation && snapshot.sequence == old.sequence
                    {
                        *heard = now;
                    }
                }
                other => *other = Some((snapshot, now)),
            }
        });
    }

    /// Notes that a call has failed.
    pub(super) fn fail(&self, room: usize, now: Instant) {
        self.known(room, |known| known.failed_at = Some(now));
    }

    /// The report to send, if it is time to renew the snapshot and nobody is at it. On a snapshot
    /// that is too old for anything nobody waits for another.
    pub(super) fn start_refresh(&self, room: usize, now: Instant) -> Option<Request> {
        self.known(room, |known| {
            let heard = known.snapshot.as_ref().map(|(_, heard)| *heard);
            let is_fresh = heard.is_some_and(|heard| heard + RENEW_AFTER > now);
            let is_useless = heard.is_none_or(|heard| heard + USELESS_AFTER <= now);
            let is_resting = known.failed_at.is_some_and(|at| now < at + BREATHER);
            let is_underway = known.refreshing_until > now && !is_useless;
            if is_fresh || is_resting || is_underway {
                return None;
            }
            known.refreshing_until = now + REFRESH_DEADLINE;
            Some(known.report())
        })?
    }

    /// Takes what is remembered of the last renewal of a session. A refusal stays.
    pub(super) fn renewal(&self, room: usize, number: TicketNumber) -> Option<Renewed> {
        self.known(room, |known| match known.renewals.get(&number) {
            Some(Renewed::Until(_)) => known.renewals.remove(&number),
            other => other.copied(),
        })?
    }

    /// Remembers how a renewal has ended.
    pub(super) fn remember_renewal(&self, room: usize, number: TicketNumber, renewed: Renewed) {
        self.known(room, |known| {
            if known.renewals.len() >= REPORT {
                // The lowest number has most likely left.
                known.renewals.pop_first();
            }
            known.renewals.insert(number, renewed);
        });
    }

    /// Notes a counted poll for the next report.
    pub(super) fn note_poll(&self, room: usize, number: TicketNumber) {
        self.known(room, |known| {
            if known.polled.len() < REPORT {
                known.polled.push(number);
            }
        });
    }

    /// Notes for the next report that a first pass has come back.
    pub(super) fn note_return(&self, room: usize, number: TicketNumber) {
        self.known(room, |known| {
            if known.returned.len() < REPORT {
                known.returned.insert(number);
            }
        });
    }
}

impl Known {
    fn report(&mut self) -> Request {
        Request {
            version: VERSION,
            messages: Vec::new(),
            polled: std::mem::take(&mut self.polled),
            returned: std::mem::take(&mut self.returned).into_iter().collect(),
        }
    }
}
