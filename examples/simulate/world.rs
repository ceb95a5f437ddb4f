//! The loop: visitors, edges and the production ledger on a virtual clock.
//!
//! Polls of visitors whose turn is far change nothing but their presence, so they are no events:
//! presence is reported in bulk, once per [`SWEEP_SECONDS`]. From about ninety seconds before the
//! call on, each poll is an event. Observed visitors poll by events all the time.

use std::sync::Arc;

use anteroom::room::ledger::Ledger;
use anteroom::room::message::{Message, Reply, Request, Response, VERSION};
use anteroom::room::number::{Incarnation, TicketId, TicketNumber};
use anteroom::room::policy::Policy;
use anteroom::room::seed::Seed;
use anteroom::room::snapshot::Snapshot;
use anteroom::time::{Instant, Span};
use fastrand::Rng;

use crate::arrivals::Arriving;
use crate::calendar::Calendar;
use crate::crowd::{Stage, Visitor};
use crate::judge::{Judge, Second};
use crate::network::Edges;
use crate::relays::Bundle;
use crate::scenario::Scenario;

pub(crate) const START: Instant = Instant::from_secs(1_800_000_000);

/// Far visitors are reported as present once in so many seconds; they count as absent after 75.
const SWEEP_SECONDS: u32 = 40;

/// From this expected wait on, polls are events.
const NEAR_BY: Span = Span::from_secs(90);

/// The edge's own constants (`gate::decision`): when a turn is near, and how soon one who is called
/// asks again.
const NEAR: Span = Span::from_secs(60);
const FEW: u64 = 5;
const AT_ONCE_MS: u32 = 2000;

/// A hidden tab polls so often.
const HIDDEN_MS: u32 = 60_000;

/// A visitor's request gives up on the room after so long.
const PATIENCE_MS: u32 = 3000;

/// About so many visitors are observed.
const OBSERVED: u32 = 4000;

/// Something that happens. What the room hears it hears from a relay, where edges go through one.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Event {
    /// A newcomer, or one who brings a ticket back, is heard by the room.
    Arrive {
        ticket: u32,
        pop: u16,
        bot: bool,
        returning: bool,
    },
    /// A waiting visitor polls an edge.
    Poll(u32),
    /// A claim is heard by the room.
    Claim(u32),
    /// A renewal is heard by the room.
    Renew(u32),
    /// The end of a session is heard by the room.
    Leave(u32),
    /// A pass may have run out.
    Expire(u32),
    /// A first pass comes back.
    Return(u32),
}

/// The world.
#[derive(Debug)]
pub(crate) struct World {
    scenario: Scenario,
    policy: Policy,
    ledger: Ledger,
    /// Milliseconds since the start.
    now: u32,
    rng: Rng,
    arriving: Arriving,
    calendar: Calendar<Event>,
    crowd: Vec<Visitor>,
    edges: Edges,
    snapshot: Arc<Snapshot>,
    next_ticket: u32,
    /// Every number up to here polls by events.
    near_up_to: u32,
    sweep: u32,
    request: Request,
    contexts: Vec<Event>,
    polls: u32,
    observe_every: u32,
    unserved: u64,
    /// Admissions until the last sample.
    entered: u64,
    pub(crate) judge: Judge,
}

impl World {
    pub(crate) fn new(scenario: &Scenario) -> Self {
        let mut rng = Rng::with_seed(scenario.seed);
        let seed = Seed::new(std::array::from_fn(|_| rng.u8(..)));
        let edges = Edges::new(&scenario.network, scenario.outage.as_ref(), &mut rng);
        Self {
            policy: scenario.policy(),
            ledger: Ledger::new(Incarnation::new(START.as_millis()), seed, START),
            now: 0,
            rng,
            arriving: Arriving::new(scenario),
            calendar: Calendar::new(),
            crowd: Vec::new(),
            edges,
            snapshot: Arc::default(),
            next_ticket: 0,
            near_up_to: 0,
            sweep: 0,
            request: Request::default(),
            contexts: Vec::new(),
            polls: 0,
            observe_every: (scenario.everybody() / OBSERVED).max(1),
            unserved: 0,
            entered: 0,
            judge: Judge::new(scenario),
            scenario: scenario.clone(),
        }
    }

    /// Runs to the end. `progress` is told the simulated milliseconds, each second.
    pub(crate) fn run(&mut self, mut progress: impl FnMut(u32, u32)) {
        let end = self.scenario.minutes * 60_000;
        let mut due = Vec::new();
        let mut next_second = 1000;
        while self.now < end && !self.is_over() {
            self.now += self.scenario.batch_ms;
            self.calendar.advance(&mut due);
            self.come();
            for event in due.drain(..) {
                self.happen(event);
            }
            let second_is_over = self.now >= next_second;
            if second_is_over {
                self.sweep();
            }
            self.decide();
            if second_is_over {
                next_second += 1000;
                self.watch();
                progress(self.now, self.snapshot.queued);
            }
            self.come_near();
            self.edges.relay(self.now);
            let snapshot = Arc::clone(&self.snapshot);
            self.edges.refresh(&snapshot, self.now, &mut self.rng);
        }
    }

    fn is_over(&self) -> bool {
        self.arriving.is_over() && self.unserved == 0
    }

    fn after(&mut self, at: u32, event: Event) {
        self.calendar
            .add(u64::from(at.div_ceil(self.scenario.batch_ms)), event);
    }

    fn spread(&mut self, interval_ms: u32) -> u32 {
        let tenth = interval_ms / 10;
        interval_ms - tenth + self.rng.u32(0..=2 * tenth)
    }

    /// New visitors and bots send their first request.
    fn come(&mut self) {
        let (visitors, bots) = self.arriving.up_to(self.now);
        for index in 0..visitors + bots {
            let bot = index >= visitors;
            let pop = self.edges.draw(&mut self.rng);
            self.next_ticket += 1;
            if !bot {
                self.unserved += 1;
            }
            self.first_request(self.next_ticket, pop, bot);
        }
    }

    fn first_request(&mut self, ticket: u32, pop: u16, bot: bool) {
        let queueing = self
            .edges
            .view(pop, self.now)
            .is_some_and(|view| view.queueing);
        let (returning, at) = match (queueing, bot) {
            // A client that keeps no cookies gets a ticket and does not bring it back.
            (true, true) => return,
            (true, false) => (true, self.now + self.spread(AT_ONCE_MS)),
            (false, _) => (false, self.now),
        };
        let at = self.edges.at_room(pop, at);
        self.after(
            at,
            Event::Arrive {
                ticket,
                pop,
                bot,
                returning,
            },
        );
    }

    fn visitor(&mut self, number: u32) -> &mut Visitor {
        &mut self.crowd[number as usize - 1]
    }

    fn happen(&mut self, event: Event) {
        match event {
            Event::Arrive { pop, .. } => self.goes_to_room(pop, event),
            Event::Poll(number) => self.poll(number),
            Event::Claim(number) => {
                let pop = self.visitor(number).pop;
                self.goes_to_room(pop, event);
            }
            Event::Renew(number) | Event::Leave(number) => {
                let visitor = *self.visitor(number);
                if visitor.stage == Stage::Inside {
                    self.goes_to_room(visitor.pop, event);
                }
            }
            Event::Expire(number) => self.expire(number),
            Event::Return(number) => {
                if let Some(number) = TicketNumber::new(number.into()) {
                    self.request.returned.push(number);
                }
            }
        }
    }

    /// The event's message is at the relay of `pop`, or at the room.
    fn goes_to_room(&mut self, pop: u16, event: Event) {
        if self.edges.goes_through_relay(pop) {
            let Some(message) = self.message(event) else {
                return;
            };
            let at = self.clock();
            let request = Request::of(message);
            // A message is never answered at once.
            self.edges.relays.hear(pop, request, Some(event), at);
            return;
        }
        self.edges.count(1);
        if self.gets_through(pop) {
            self.request.messages.extend(self.message(event));
            self.contexts.push(event);
        } else {
            self.unheard(event);
        }
    }

    /// The message of an event has not reached the room.
    fn unheard(&mut self, event: Event) {
        match event {
            Event::Arrive { bot: false, .. } => {
                let later = self.now + PATIENCE_MS + self.spread(20_000);
                self.after(later, event);
            }
            Event::Claim(number) => {
                let later = PATIENCE_MS + self.spread(self.far_ms());
                self.after(self.now + later, Event::Poll(number));
            }
            Event::Renew(_) => self.after(self.now + 5000, event),
            _ => {}
        }
    }

    fn clock(&self) -> Instant {
        START + Span::from_millis(self.now.into())
    }

    fn gets_through(&mut self, pop: u16) -> bool {
        !self.edges.is_out(pop, self.now) && !self.edges.loses(&mut self.rng)
    }

    const fn far_ms(&self) -> u32 {
        self.scenario.room.poll_far_seconds * 1000
    }

    /// A waiting visitor asks an edge.
    fn poll(&mut self, number: u32) {
        let visitor = *self.visitor(number);
        if visitor.stage != Stage::Near {
            return;
        }
        if visitor.gone_at <= self.now {
            self.goes(number);
            return;
        }
        self.polls += 1;
        if self.edges.is_out(visitor.pop, self.now) {
            let later = self.now + self.spread(self.far_ms());
            self.after(later, Event::Poll(number));
            return;
        }
        let Some(ticket) = TicketNumber::new(number.into()) else {
            return;
        };
        let Some(view) = self.edges.view(visitor.pop, self.now) else {
            let later = self.now + self.spread(self.far_ms());
            self.after(later, Event::Poll(number));
            return;
        };
        if view.is_called(ticket) {
            if visitor.ignores_call() {
                self.goes(number);
                return;
            }
            let at = self.edges.at_room(visitor.pop, self.now);
            self.after(at, Event::Claim(number));
            return;
        }
        let ahead = view.users_ahead(ticket);
        let wait = view.expected_wait(ahead);
        if number.is_multiple_of(self.observe_every) {
            let tell = |earlier| view.promise(ahead, earlier);
            self.judge.told(number, self.now, tell);
        }
        self.request.polled.push(ticket);
        let interval = if visitor.is_hidden() {
            HIDDEN_MS
        } else if ahead < FEW || wait.is_some_and(|wait| wait <= NEAR) {
            self.scenario.room.poll_near_seconds * 1000
        } else {
            self.far_ms()
        };
        let later = self.now + self.spread(interval);
        self.visitor(number).last_poll = self.now;
        self.after(later, Event::Poll(number));
    }

    /// A visitor gives up the line.
    fn goes(&mut self, number: u32) {
        self.visitor(number).stage = Stage::Gone;
        self.unserved -= 1;
        self.judge.left_line(number);
    }

    fn expire(&mut self, number: u32) {
        let (now, visitor) = (self.now, self.visitor(number));
        if visitor.stage != Stage::Inside {
            return;
        }
        if visitor.expires > now {
            let at = visitor.expires;
            self.after(at, Event::Expire(number));
            return;
        }
        visitor.stage = Stage::Gone;
        self.judge.valid -= 1;
    }

    /// What the room is told by an event.
    fn message(&self, event: Event) -> Option<Message> {
        let incarnation = Incarnation::new(START.as_millis());
        let named = |number: u32| TicketNumber::new(number.into()).unwrap_or(TicketNumber::MAX);
        match event {
            Event::Arrive {
                ticket, returning, ..
            } => Some(Message::Arrive {
                ticket: TicketId::new(ticket.into()),
                returning,
            }),
            Event::Claim(number) => {
                let visitor = self.crowd[number as usize - 1];
                Some(Message::Claim {
                    number: named(number),
                    incarnation,
                    last_poll: START + Span::from_millis(visitor.last_poll.into()),
                    joined: None,
                })
            }
            Event::Renew(number) => Some(Message::Renew {
                number: named(number),
                incarnation,
            }),
            Event::Leave(number) => Some(Message::Leave {
                number: named(number),
                incarnation,
                revoked: false,
            }),
            Event::Poll(_) | Event::Expire(_) | Event::Return(_) => None,
        }
    }

    /// The room decides on all that it has heard.
    fn decide(&mut self) {
        let (now, edges) = (self.clock(), &mut self.edges);
        let mut request = std::mem::take(&mut self.request);
        request.version = VERSION;
        request.gathered = edges.take_direct();
        let mut requests = vec![request];
        let mut bundles = edges.relays.arrived(self.now);
        let mut lost = Vec::new();
        bundles.retain_mut(|bundle| {
            let gets_through = !edges.is_out(bundle.pop, self.now) && !edges.loses(&mut self.rng);
            if gets_through {
                edges.count_bundle();
                requests.push(std::mem::take(&mut bundle.request));
            } else {
                lost.extend(bundle.parts.iter().filter_map(|part| part.to));
            }
            gets_through
        });
        let batch = self.ledger.batch(now, &self.policy, &requests);
        let mut responses = batch.responses.into_iter();
        if let Some(response) = responses.next() {
            if let Some(snapshot) = response.snapshot {
                self.snapshot = snapshot;
            }
            let contexts = std::mem::take(&mut self.contexts);
            for (event, reply) in contexts.iter().zip(response.replies) {
                self.hear(*event, reply);
            }
            self.contexts = contexts;
            self.contexts.clear();
        }
        for (bundle, response) in bundles.iter().zip(responses) {
            self.split(bundle, response, now);
        }
        for event in lost {
            self.unheard(event);
        }
        self.judge
            .order
            .called(self.snapshot.serving as u32, self.now);
        // The vectors are used again.
        if let Some(mut request) = requests.into_iter().next() {
            request.messages.clear();
            request.polled.clear();
            request.returned.clear();
            self.request = request;
        }
    }

    /// A relay hands on what the room has answered.
    fn split(&mut self, bundle: &Bundle<Option<Event>>, response: Response, now: Instant) {
        let relays = &mut self.edges.relays;
        let responses = relays.split(bundle.pop, response, &bundle.parts, now);
        let there = self.now + self.edges.latency(bundle.pop);
        for (part, response) in bundle.parts.iter().zip(responses.into_iter().flatten()) {
            match part.to {
                Some(event) => {
                    for reply in response.replies {
                        self.hear(event, reply);
                    }
                }
                None => {
                    if let Some(snapshot) = response.snapshot {
                        self.edges.comes(bundle.pop, snapshot, there);
                    }
                }
            }
        }
    }

    fn hear(&mut self, event: Event, reply: Reply) {
        match event {
            Event::Arrive {
                ticket, pop, bot, ..
            } => self.hear_arrival(ticket, pop, bot, reply),
            Event::Claim(number) => self.hear_claim(number, reply),
            Event::Renew(number) => {
                let expires = match reply {
                    Reply::Admitted { expires, .. } => Self::millis(expires),
                    _ => return,
                };
                let visitor = self.visitor(number);
                visitor.expires = visitor.expires.max(expires);
                self.plan_renewal(number);
            }
            Event::Leave(number) => {
                let visitor = self.visitor(number);
                visitor.stage = Stage::Gone;
                self.judge.valid -= 1;
            }
            Event::Poll(_) | Event::Expire(_) | Event::Return(_) => {}
        }
    }

    fn hear_arrival(&mut self, ticket: u32, pop: u16, bot: bool, reply: Reply) {
        let number = match reply {
            Reply::ComeBack => {
                if !bot {
                    let at = self.now + 2 * self.edges.latency(pop) + self.spread(AT_ONCE_MS);
                    let returning = true;
                    self.after(
                        at,
                        Event::Arrive {
                            ticket,
                            pop,
                            bot,
                            returning,
                        },
                    );
                }
                return;
            }
            Reply::Admitted { number, .. }
            | Reply::Waiting { number, .. }
            | Reply::AtDoor { number, .. } => number.get() as u32,
            _ => return,
        };
        if number as usize == self.crowd.len() + 1 {
            let model = &self.scenario.visitors;
            let visitor = Visitor::draw(model, pop, bot, self.now, &mut self.rng);
            self.crowd.push(visitor);
        }
        if let Reply::Admitted {
            expires,
            provisional,
            ..
        } = reply
        {
            self.enters(number, Self::millis(expires), None);
            if !bot {
                let soon = self.now + self.rng.u32(1000..10_000);
                self.after(soon, Event::Return(number));
                if provisional {
                    self.after(soon, Event::Renew(number));
                }
            }
            return;
        }
        if number.is_multiple_of(self.observe_every) {
            self.visitor(number).stage = Stage::Near;
            let later = self.now + self.spread(self.far_ms());
            self.after(later, Event::Poll(number));
        }
    }

    fn hear_claim(&mut self, number: u32, reply: Reply) {
        let visitor = *self.visitor(number);
        if visitor.stage != Stage::Near {
            return;
        }
        let there = self.now + self.edges.latency(visitor.pop);
        // The visitor may not get to hear the answer; what the room has decided stands.
        let heard = !self.edges.loses(&mut self.rng);
        match reply {
            Reply::Admitted { expires, .. } => {
                let waited = self.now - visitor.joined;
                self.judge
                    .order
                    .admitted(number, visitor.last_poll, self.now);
                self.enters(number, Self::millis(expires), Some(waited));
            }
            Reply::AtDoor { .. } => {
                self.judge.order.asked(number, visitor.last_poll, self.now);
                if visitor.drops_at_door() {
                    self.goes(number);
                    return;
                }
                let later = if heard {
                    self.spread(AT_ONCE_MS)
                } else {
                    PATIENCE_MS + self.spread(self.far_ms())
                };
                self.visitor(number).last_poll = self.now;
                self.after(there + later, Event::Poll(number));
            }
            _ => {
                let later = there + self.spread(self.far_ms());
                self.after(later, Event::Poll(number));
            }
        }
    }

    /// `number` has a pass until `expires`.
    fn enters(&mut self, number: u32, expires: u32, waited: Option<u32>) {
        let now = self.now;
        let visitor = self.visitor(number);
        if visitor.stage == Stage::Inside {
            return;
        }
        let is_bot = visitor.is_bot();
        visitor.stage = Stage::Inside;
        visitor.expires = expires;
        // From now on: until when they use the site.
        visitor.stay_ms = if is_bot {
            0
        } else {
            now.saturating_add(visitor.stay_ms)
        };
        let (stays_until, leaves) = (visitor.stay_ms, visitor.leaves() && !is_bot);
        if !is_bot {
            self.unserved -= 1;
        }
        self.judge.admitted(number, now, waited);
        self.after(expires, Event::Expire(number));
        if leaves {
            self.after(stays_until, Event::Leave(number));
        }
        self.plan_renewal(number);
    }

    /// The first request after a quarter of the session renews the pass.
    fn plan_renewal(&mut self, number: u32) {
        if !self.policy.renewal {
            return;
        }
        let quarter = self.scenario.room.session_seconds * 250;
        let at = self.now + quarter + self.rng.u32(0..=quarter / 4);
        if at < self.visitor(number).stay_ms {
            self.after(at, Event::Renew(number));
        }
    }

    fn millis(at: Instant) -> u32 {
        at.since(START).as_millis() as u32
    }

    /// Reports a part of the far visitors as present.
    fn sweep(&mut self) {
        let issued = self.crowd.len() as u32;
        let far = issued.saturating_sub(self.near_up_to);
        for _ in 0..far.div_ceil(SWEEP_SECONDS) {
            if self.sweep < self.near_up_to || self.sweep >= issued {
                self.sweep = self.near_up_to;
            }
            self.sweep += 1;
            let visitor = self.crowd[self.sweep as usize - 1];
            let is_out = self.edges.is_out(visitor.pop, self.now);
            if visitor.stage == Stage::Far && visitor.gone_at > self.now && !is_out {
                let number = TicketNumber::new(self.sweep.into());
                self.request.polled.extend(number);
                self.polls += SWEEP_SECONDS / self.scenario.room.poll_far_seconds.max(1);
            }
        }
    }

    /// Visitors whose turn is near poll by events from now on.
    fn come_near(&mut self) {
        let snapshot = &self.snapshot;
        let near = snapshot.ahead.iter().take_while(|point| {
            let wait = snapshot.expected_wait(point.1.into());
            u64::from(point.1) < FEW + 16 || wait.is_some_and(|wait| wait <= NEAR_BY)
        });
        let up_to = near.last().map_or(0, |point| point.0).max(snapshot.serving);
        let up_to = (up_to as u32).min(self.crowd.len() as u32);
        while self.near_up_to < up_to {
            self.near_up_to += 1;
            let number = self.near_up_to;
            let (now, far_ms) = (self.now, self.far_ms());
            let visitor = self.visitor(number);
            if visitor.stage != Stage::Far {
                continue;
            }
            visitor.stage = Stage::Near;
            let interval = if visitor.is_hidden() {
                HIDDEN_MS
            } else {
                far_ms
            };
            let soon = self.rng.u32(0..interval);
            self.visitor(number).last_poll = (now + soon).saturating_sub(interval);
            self.after(now + soon, Event::Poll(number));
        }
    }

    /// Takes a sample for the report.
    fn watch(&mut self) {
        let (room_messages, relay_messages) = self.edges.second();
        let snapshot = &self.snapshot;
        self.judge.sample(
            self.now,
            Second {
                queued: snapshot.queued,
                called: snapshot.called,
                valid: self.judge.valid,
                active: snapshot.active,
                admitted_last_minute: snapshot.admitted_last_minute,
                entered: (self.judge.all_admitted() - self.entered) as u32,
                polls: std::mem::take(&mut self.polls),
                room_messages,
                relay_messages,
            },
        );
        self.entered = self.judge.all_admitted();
    }
}
