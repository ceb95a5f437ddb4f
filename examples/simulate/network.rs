//! The PoPs between the visitors and the room: latencies, snapshots, losses, the outage of one, and
//! how many messages each object gets.

use std::sync::Arc;

use anteroom::room::message::{Request, VERSION};
use anteroom::room::snapshot::Snapshot;
use anteroom::time::Span;
use fastrand::Rng;

use crate::relays::Relays;
use crate::scenario::{Network, Outage};
use crate::world::{Event, START};

/// Isolates renew their snapshot so often.
const REFRESH_MS: u32 = 1000;

/// What an edge wants to hear of a relay: the answer to a message, or, if none, a snapshot.
type Owed = Option<Event>;

/// One PoP.
#[derive(Debug)]
struct Pop {
    latency_ms: u32,
    next_refresh: u32,
    known: Option<Arc<Snapshot>>,
    coming: Option<(u32, Arc<Snapshot>)>,
}

/// All PoPs.
#[derive(Debug)]
pub(crate) struct Edges {
    pops: Vec<Pop>,
    settings: Network,
    outage: Option<(u32, u32)>,
    pub(crate) relays: Relays<Owed>,
    /// The messages that the room has heard in the present second.
    heard: u32,
    /// Messages of edges to the room since its last batch.
    direct: u32,
}

impl Edges {
    pub(crate) fn new(settings: &Network, outage: Option<&Outage>, rng: &mut Rng) -> Self {
        let spread = settings.farthest_ms - settings.nearest_ms;
        let pops = (0..settings.pops).map(|pop| Pop {
            latency_ms: settings.nearest_ms
                + spread * u32::from(pop) / u32::from(settings.pops.max(2) - 1),
            next_refresh: rng.u32(0..REFRESH_MS),
            known: None,
            coming: None,
        });
        Self {
            pops: pops.collect(),
            settings: settings.clone(),
            outage: outage.map(|outage| {
                let start = outage.start_seconds * 1000;
                (start, start + outage.seconds * 1000)
            }),
            relays: Relays::new(settings.pops),
            heard: 0,
            direct: 0,
        }
    }

    /// A visitor's PoP: the first has the most, about as Zipf's law would have it.
    pub(crate) fn draw(&self, rng: &mut Rng) -> u16 {
        let pops = self.settings.pops;
        // Half of the visitors are spread evenly, half by a power law.
        if rng.bool() {
            rng.u16(0..pops)
        } else {
            (f64::from(pops).powf(rng.f64()) - 1.0) as u16 % pops
        }
    }

    /// Whether `pop` is cut off.
    pub(crate) fn is_out(&self, pop: u16, now: u32) -> bool {
        pop == 0
            && self
                .outage
                .is_some_and(|(start, end)| (start..end).contains(&now))
    }

    /// When a message that `pop` sends at `now` is at the room, or at the relay that it goes through.
    pub(crate) fn at_room(&self, pop: u16, now: u32) -> u32 {
        if self.goes_through_relay(pop) {
            now
        } else {
            now + self.latency(pop)
        }
    }

    /// Whether the room has told `pop` to go through its relay.
    pub(crate) fn goes_through_relay(&self, pop: u16) -> bool {
        let known = self.pops[usize::from(pop)].known.as_ref();
        known.is_some_and(|known| known.relays.is_some())
    }

    /// One way between `pop` and the room, in milliseconds.
    pub(crate) fn latency(&self, pop: u16) -> u32 {
        self.pops[usize::from(pop)].latency_ms
    }

    /// Whether a message is lost on the way.
    pub(crate) fn loses(&self, rng: &mut Rng) -> bool {
        self.settings.loss > 0.0 && rng.f64() < self.settings.loss
    }

    /// Counts messages that the room hears from edges.
    pub(crate) fn count(&mut self, messages: u32) {
        self.direct += messages;
        self.heard += messages;
    }

    /// Counts one that it hears from a relay.
    pub(crate) fn count_bundle(&mut self) {
        self.heard += 1;
    }

    /// The messages of edges since the last time.
    pub(crate) fn take_direct(&mut self) -> u32 {
        std::mem::take(&mut self.direct)
    }

    /// A snapshot has come to `pop`, or will have by `at`.
    pub(crate) fn comes(&mut self, pop: u16, snapshot: Arc<Snapshot>, at: u32) {
        let pop = &mut self.pops[usize::from(pop)];
        if let Some((_, earlier)) = pop.coming.take() {
            pop.known = Some(earlier);
        }
        pop.coming = Some((at, snapshot));
    }

    /// What `pop` knows of the room.
    pub(crate) fn view(&mut self, pop: u16, now: u32) -> Option<&Snapshot> {
        let pop = &mut self.pops[usize::from(pop)];
        if pop.coming.as_ref().is_some_and(|(at, _)| *at <= now) {
            pop.known = pop.coming.take().map(|(_, snapshot)| snapshot);
        }
        pop.known.as_deref()
    }

    /// Relays whose window is over send what they have.
    pub(crate) fn relay(&mut self, now: u32) {
        let at = START + Span::from_millis(now.into());
        let Self { relays, pops, .. } = self;
        relays.send(at, now, |pop| pops[usize::from(pop)].latency_ms);
    }

    /// PoPs whose time has come ask for a snapshot. The room's is `snapshot`.
    pub(crate) fn refresh(&mut self, snapshot: &Arc<Snapshot>, now: u32, rng: &mut Rng) {
        let isolates = self.settings.isolates_per_pop;
        for index in 0..self.settings.pops {
            let pop = &self.pops[usize::from(index)];
            if pop.next_refresh > now {
                continue;
            }
            let (latency, knows) = (
                pop.latency_ms,
                pop.known.as_ref().map(|known| known.stamp()),
            );
            self.pops[usize::from(index)].next_refresh = now + REFRESH_MS + latency;
            let lost = self.is_out(index, now) || self.loses(rng);
            if self.goes_through_relay(index) {
                let request = Request {
                    version: VERSION,
                    gathered: isolates,
                    knows,
                    ..Request::default()
                };
                let at = START + Span::from_millis(now.into());
                let answer = self.relays.hear(index, request, None, at);
                if let Some(snapshot) = answer.and_then(|answer| answer.snapshot) {
                    self.comes(index, snapshot, now);
                }
                continue;
            }
            self.count(isolates);
            if !lost {
                self.comes(index, Arc::clone(snapshot), now + latency);
            }
        }
    }

    /// The messages of the last second: to the room, and to the relay that has the most. Starts the
    /// next second.
    pub(crate) fn second(&mut self) -> (u32, u32) {
        (std::mem::take(&mut self.heard), self.relays.second())
    }
}
