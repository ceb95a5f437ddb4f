//! The production relays, one in each PoP, on the virtual clock.

use anteroom::room::message::{Request, Response};
use anteroom::room::relay::{Part, Relay};
use anteroom::time::{Instant, Span};

/// A request of a relay on its way to the room.
#[derive(Debug)]
pub(crate) struct Bundle<A> {
    pub(crate) pop: u16,
    pub(crate) request: Request,
    pub(crate) parts: Vec<Part<A>>,
    /// When it is at the room, in milliseconds.
    at: u32,
}

/// All relays, and what they have sent.
#[derive(Debug)]
pub(crate) struct Relays<A> {
    relays: Vec<Relay<A>>,
    /// Requests of edges that each has heard in the present second.
    heard: Vec<u32>,
    flying: Vec<Bundle<A>>,
}

impl<A> Relays<A> {
    pub(crate) fn new(pops: u16) -> Self {
        Self {
            relays: (0..pops).map(|_| Relay::default()).collect(),
            heard: vec![0; pops.into()],
            flying: Vec::new(),
        }
    }

    /// An edge of `pop` asks, for as many requests as it says. Some answers come at once.
    pub(crate) fn hear(
        &mut self,
        pop: u16,
        request: Request,
        from: A,
        now: Instant,
    ) -> Option<Response> {
        let pop = usize::from(pop);
        self.heard[pop] += request.gathered.max(1);
        let answered = self.relays[pop].hear(request, from, now);
        answered.map(|(response, _)| response)
    }

    /// The relays whose window is over send what they have; it is at the room after `latency`.
    pub(crate) fn send(&mut self, now: Instant, now_ms: u32, latency: impl Fn(u16) -> u32) {
        for (pop, relay) in (0..).zip(&mut self.relays) {
            if relay.due_in(now) != Some(Span::ZERO) {
                continue;
            }
            let Some((request, parts)) = relay.take(now) else {
                continue;
            };
            self.flying.push(Bundle {
                pop,
                request,
                parts,
                at: now_ms + latency(pop),
            });
        }
    }

    /// What has arrived at the room by `now`.
    pub(crate) fn arrived(&mut self, now: u32) -> Vec<Bundle<A>> {
        self.flying
            .extract_if(.., |bundle| bundle.at <= now)
            .collect()
    }

    /// The room has answered a request of the relay of `pop`: the answers to its parts.
    pub(crate) fn split(
        &mut self,
        pop: u16,
        response: Response,
        parts: &[Part<A>],
        now: Instant,
    ) -> Option<Vec<Response>> {
        self.relays[usize::from(pop)].split(response, parts, now)
    }

    /// The most that one relay has heard in the second that ends.
    pub(crate) fn second(&mut self) -> u32 {
        let most = self.heard.iter().copied().max().unwrap_or(0);
        self.heard.fill(0);
        most
    }
}
