//! Calls on their way: from a visitor to an edge, through a relay or not, to the room and back.

use std::sync::Arc;

use anteroom::gate::intent::Intent;
use anteroom::gate::token::Standing;
use anteroom::room::ledger::EXPIRY_GRACE;
use anteroom::room::message::{Message, Reply, Request, Response, VERSION};
use anteroom::room::number::TicketId;
use anteroom::room::policy::Policy;
use anteroom::room::relay::Relay;

use super::World;
use crate::edge::{Cookie, sign};
use crate::network::{Asked, Bundle, Call, Caller, Stage};
use crate::printed::Printed;
use crate::room::{Pending, decoded, over_the_wire};
use crate::scenario::{Plant, Scenario};

impl World {
    pub(super) fn visit(
        &mut self,
        scenario: &Scenario,
        visitor: usize,
        edge: usize,
        intent: Intent,
    ) -> Option<()> {
        let before = (
            self.memories[edge].clone(),
            self.visitors[visitor].cookie.clone(),
        );
        let is_patient = scenario
            .patient
            .is_some_and(|patient| patient.visitor == visitor);
        let browser = &mut self.visitors[visitor];
        if is_patient {
            self.has_asked = true;
        } else if intent != Intent::Leave {
            browser.requests -= 1;
        }
        let ticket = ticket_of(visitor, browser.tickets);
        let cookie = browser.cookie.clone();
        let met = self
            .edge(scenario, edge)
            .meet(cookie.as_deref(), intent, ticket);
        if let (None, Cookie::Set(Standing::Admitted { number, .. })) = (&cookie, met.cookie) {
            self.witness.made(number, self.room_latest);
        }
        self.give(scenario, visitor, met.cookie);
        let asks = met.ask.is_some();
        if let Some(asked) = met.ask {
            if let Some(Message::Arrive { ticket: sent, .. }) = asked.request.messages.first()
                && *sent == ticket
            {
                self.visitors[visitor].tickets += 1;
            }
            self.send(scenario, Some(visitor), edge, asked);
        }
        let after = (&self.memories[edge], &self.visitors[visitor].cookie);
        (asks || is_patient || (&before.0, &before.1) != after).then_some(())
    }

    pub(super) fn send(
        &mut self,
        scenario: &Scenario,
        waits: Option<usize>,
        edge: usize,
        asked: Asked,
    ) {
        let mut call = Call {
            id: 0,
            waits,
            keeps: false,
            edge,
            relay: None,
            asked: Printed::new(asked),
            stage: Stage::ToRoom,
        };
        if scenario.relays > 0 {
            let relay = edge % scenario.relays;
            let (request, now) = (over_the_wire(&call.asked.request), self.now);
            call.id = self.next_call;
            self.next_call += 1;
            call.relay = Some(relay);
            let (mut at_once, id) = (None, call.id);
            self.relays[relay] =
                self.relays[relay].with(|relay| at_once = relay.hear(request, id, now));
            call.stage = match at_once {
                Some((response, _)) => Stage::Answered(Printed::new(over_the_wire(&response))),
                None => Stage::AtRelay,
            };
        }
        self.calls.push(call);
    }

    /// The room hears these calls in one batch.
    pub(super) fn decide(&mut self, scenario: &Scenario, callers: Vec<Caller>) {
        let limits = self.limits;
        let policy = |now| Policy {
            total_active_users: limits.0,
            new_users_per_minute: limits.1,
            ..Policy::at(&scenario.timeline, now)
        };
        let sent: Vec<Request> = callers
            .iter()
            .map(|caller| match caller {
                Caller::Edge(call) => call.asked.request.clone(),
                Caller::Relay(bundle) => bundle.sent.0.clone(),
            })
            .collect();
        let clock = self.room_clock();
        let decided = self.room.decide(clock, &policy, &sent, scenario.plant);
        let responses = decided.responses.into_iter().map(Printed::new);
        let mut answers: Vec<_> = callers.into_iter().zip(responses).collect();
        let Some(row) = decided.row else {
            self.witness.counted(decided.counts);
            return self.answer_all(answers);
        };
        if scenario.plant == Some(Plant::AnswerBeforeDurable) {
            self.answer_all(std::mem::take(&mut answers));
        }
        self.room.pending = Some(Pending {
            row,
            answers,
            counts: decided.counts,
            limits: self.limits,
        });
    }

    pub(super) fn stored(&mut self, pending: &Pending) {
        self.room.store(Arc::clone(&pending.row));
        self.witness.stored(&decoded(&pending.row), pending.limits);
        self.witness.counted(pending.counts);
    }

    pub(super) fn answer_all(&mut self, answers: Vec<(Caller, Printed<Response>)>) {
        for (caller, response) in answers {
            match caller {
                Caller::Edge(call) => {
                    let stage = Stage::Answered(response);
                    self.calls.push(Call { stage, ..call });
                }
                Caller::Relay(bundle) => self.split(&bundle, &response),
            }
        }
    }

    /// A relay hands back what the room has answered.
    pub(super) fn split(&mut self, bundle: &Bundle, response: &Response) {
        let Some(relay) = bundle.relay else {
            return;
        };
        let ((_, parts), now) = (&*bundle.sent, self.now);
        let mut responses = None;
        self.relays[relay] =
            self.relays[relay].with(|relay| responses = relay.split(response.clone(), parts, now));
        for (part, response) in parts.iter().zip(responses.into_iter().flatten()) {
            for call in self
                .calls
                .iter_mut()
                .filter(|call| call.is_known_to(relay, part.to))
            {
                call.stage = Stage::Answered(Printed::new(over_the_wire(&response)));
            }
        }
    }

    pub(super) fn hear(&mut self, scenario: &Scenario, call: &Call, response: &Response) {
        let mut response = response.clone();
        let message = call.asked.request.messages.first().copied();
        if let (Some(message), Some(reply)) = (message, response.replies.first()) {
            self.witness.told(message, *reply, self.room_latest);
        }
        if scenario.plant == Some(Plant::FreeAtExpiry)
            && let Some(Reply::Admitted { expires, .. }) = response.replies.first_mut()
        {
            *expires = *expires + EXPIRY_GRACE;
        }
        if let Some(snapshot) = &response.snapshot {
            self.witness.published(snapshot);
        }
        if call.keeps {
            let mut edge = self.edge(scenario, call.edge);
            return edge.keeper_hears(&call.asked, &response);
        }
        let waits = call.waits.is_some();
        let cookie = self
            .edge(scenario, call.edge)
            .hear(&call.asked, &response, waits);
        if let Some(visitor) = call.waits {
            self.give(scenario, visitor, cookie);
        }
    }

    pub(super) fn fail_caller(&mut self, scenario: &Scenario, caller: Caller) {
        match caller {
            Caller::Edge(call) => self.fail(scenario, &call),
            Caller::Relay(bundle) => {
                for part in bundle.relay.iter().flat_map(|_| &bundle.sent.1) {
                    self.go_on_without_relay(scenario, part.to);
                }
            }
        }
    }

    /// A relay has no answer to this call. Its edge asks the room itself.
    pub(super) fn go_on_without_relay(&mut self, scenario: &Scenario, id: u8) {
        let calls = std::mem::take(&mut self.calls);
        let (failed, kept): (Vec<Call>, _) = calls
            .into_iter()
            .partition(|call| call.id == id && call.relay.is_some());
        self.calls = kept;
        for call in failed.into_iter().filter(|call| call.waits.is_some()) {
            self.edge(scenario, call.edge).relay_unheard();
            self.calls.push(Call {
                id: 0,
                relay: None,
                stage: Stage::ToRoom,
                ..call
            });
        }
    }

    /// The edge will not hear the answer to this call.
    pub(super) fn fail(&mut self, scenario: &Scenario, call: &Call) {
        if call.keeps {
            self.edge(scenario, call.edge).keeper_unheard(&call.asked);
        }
        if let Some(visitor) = call.waits {
            let cookie = self.edge(scenario, call.edge).unheard(&call.asked);
            self.give(scenario, visitor, cookie);
        }
    }

    pub(super) fn vanish(&mut self, scenario: &Scenario, relay: usize) -> Option<()> {
        self.left.vanishings -= 1;
        self.relays[relay] = Printed::new(Relay::default());
        for bundle in &mut self.bundles {
            // The request has left the relay. It may still arrive.
            bundle.relay = bundle.relay.filter(|of| *of != relay);
        }
        if let Some(pending) = &mut self.room.pending {
            for (caller, _) in &mut pending.answers {
                if let Caller::Relay(bundle) = caller {
                    bundle.relay = bundle.relay.filter(|of| *of != relay);
                }
            }
        }
        let in_hand = |call: &&Call| call.relay == Some(relay);
        let ids: Vec<u8> = self
            .calls
            .iter()
            .filter(in_hand)
            .map(|call| call.id)
            .collect();
        for id in ids {
            if scenario.plant == Some(Plant::RelayAnswers) {
                self.answer_from_memory(scenario, id);
            } else {
                self.go_on_without_relay(scenario, id);
            }
        }
        Some(())
    }

    /// The planted bug of a relay that answers a renewal by itself.
    pub(super) fn answer_from_memory(&mut self, scenario: &Scenario, id: u8) {
        let Some(index) = self
            .calls
            .iter()
            .position(|call| call.relay.is_some() && call.id == id)
        else {
            return;
        };
        let call = self.calls[index].clone();
        let (Some(Message::Renew { number, .. }), Some(known)) =
            (call.asked.request.messages.first(), &call.asked.known)
        else {
            return self.go_on_without_relay(scenario, id);
        };
        let reply = Reply::Admitted {
            number: *number,
            expires: self.now + scenario.policy.session,
            provisional: false,
        };
        let response = Response {
            version: VERSION,
            replies: vec![reply],
            life: Some(known.incarnation),
            snapshot: Some(Arc::clone(known)),
        };
        self.calls.remove(index);
        self.hear(scenario, &call, &response);
    }

    /// The answer reaches the visitor.
    pub(super) fn give(&mut self, scenario: &Scenario, visitor: usize, cookie: Cookie) {
        let browser = &mut self.visitors[visitor];
        match cookie {
            Cookie::Keep => {}
            Cookie::Clear => browser.cookie = None,
            Cookie::Set(standing) => {
                let text = sign(scenario, standing);
                self.witness.signed(&text, standing);
                if let Standing::Ticket { id, .. } = standing
                    && id == ticket_of(visitor, browser.tickets)
                {
                    browser.tickets += 1;
                }
                let is_worth_copying = !matches!(standing, Standing::Ticket { .. });
                if is_worth_copying && scenario.budget.copies > 0 && browser.copy.is_none() {
                    browser.copy = Some(Arc::clone(&text));
                }
                browser.cookie = Some(text);
            }
        }
    }
}

fn ticket_of(visitor: usize, count: u8) -> TicketId {
    TicketId::new(visitor as u64 * 256 + u64::from(count) + 1)
}
