//! The PoPs between the visitors and the room: latencies, snapshots, losses, the outage of one, and
//! how many messages each object gets.

use std::sync::Arc;

use anteroom::room::snapshot::Snapshot;
use fastrand::Rng;

use crate::scenario::{Network, Outage};

/// Isolates renew their snapshot so often.
const REFRESH_MS: u32 = 1000;

/// One PoP.
#[derive(Debug)]
struct Pop {
    latency_ms: u32,
    next_refresh: u32,
    known: Option<Arc<Snapshot>>,
    coming: Option<(u32, Arc<Snapshot>)>,
    /// Messages of visitors in the present second.
    messages: u32,
}

/// All PoPs.
#[derive(Debug)]
pub(crate) struct Edges {
    pops: Vec<Pop>,
    settings: Network,
    outage: Option<(u32, u32)>,
    /// The messages of the present second that were sent to the room, and the most to any relay.
    pub(crate) direct: u32,
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
            messages: 0,
        });
        Self {
            pops: pops.collect(),
            settings: settings.clone(),
            outage: outage.map(|outage| {
                let start = outage.start_seconds * 1000;
                (start, start + outage.seconds * 1000)
            }),
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

    /// When a message that `pop` sends at `now` is at the room.
    pub(crate) fn at_room(&self, pop: u16, now: u32, rng: &mut Rng) -> u32 {
        let window = if self.settings.relays {
            rng.u32(0..=self.settings.relay_window_ms)
        } else {
            0
        };
        now + window + self.latency(pop)
    }

    /// One way between `pop` and the room, in milliseconds.
    pub(crate) fn latency(&self, pop: u16) -> u32 {
        self.pops[usize::from(pop)].latency_ms
    }

    /// Whether a message is lost on the way.
    pub(crate) fn loses(&self, rng: &mut Rng) -> bool {
        self.settings.loss > 0.0 && rng.f64() < self.settings.loss
    }

    /// Counts a visitor's message to the room.
    pub(crate) fn count(&mut self, pop: u16) {
        self.pops[usize::from(pop)].messages += 1;
        self.direct += 1;
    }

    /// What `pop` knows of the room.
    pub(crate) fn view(&mut self, pop: u16, now: u32) -> Option<&Snapshot> {
        let pop = &mut self.pops[usize::from(pop)];
        if pop.coming.as_ref().is_some_and(|(at, _)| *at <= now) {
            pop.known = pop.coming.take().map(|(_, snapshot)| snapshot);
        }
        pop.known.as_deref()
    }

    /// PoPs whose time has come get `snapshot`.
    pub(crate) fn refresh(&mut self, snapshot: &Arc<Snapshot>, now: u32, rng: &mut Rng) {
        for index in 0..self.pops.len() {
            if self.pops[index].next_refresh > now {
                continue;
            }
            let lost = self.is_out(index as u16, now) || self.loses(rng);
            let window = if self.settings.relays {
                self.settings.relay_window_ms
            } else {
                0
            };
            let pop = &mut self.pops[index];
            pop.next_refresh = now + REFRESH_MS + pop.latency_ms;
            if lost {
                continue;
            }
            if let Some((_, earlier)) = pop.coming.take() {
                pop.known = Some(earlier);
            }
            pop.coming = Some((now + pop.latency_ms + window / 2, Arc::clone(snapshot)));
        }
    }

    /// The messages of the last second: to the room, and to the relay that has the most. Starts the
    /// next second.
    pub(crate) fn second(&mut self) -> (u32, u32) {
        let refreshes = self.settings.isolates_per_pop * 1000 / REFRESH_MS;
        let most = self.pops.iter().map(|pop| pop.messages + refreshes).max();
        let relayed = u32::from(self.settings.pops) * 1000 / self.settings.relay_window_ms.max(1);
        let direct = self.direct + u32::from(self.settings.pops) * refreshes;
        for pop in &mut self.pops {
            pop.messages = 0;
        }
        self.direct = 0;
        if self.settings.relays {
            (relayed.min(direct), most.unwrap_or_default())
        } else {
            (direct, 0)
        }
    }
}
