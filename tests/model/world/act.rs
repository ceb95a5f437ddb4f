//! What each action does.

use anteroom::gate::intent::Intent;
use anteroom::gate::memory::Memory;
use anteroom::room::number::TicketId;

use super::{Action, PAUSE, STEP_BACK, World};
use crate::network::{Bundle, Call, Caller, Stage};
use crate::printed::Printed;
use crate::scenario::{ROUND, Scenario};

impl World {
    /// None where nothing changes.
    pub(super) fn act(&mut self, scenario: &Scenario, action: &Action) -> Option<()> {
        match *action {
            Action::Visit(visitor, edge) => self.visit(scenario, visitor, edge, Intent::Navigation),
            Action::Leave(visitor, edge) => {
                self.left.leaves -= 1;
                self.visit(scenario, visitor, edge, Intent::Leave)
            }
            Action::ShowCopy(visitor) => {
                self.left.copies -= 1;
                let visitor = &mut self.visitors[visitor];
                let copy = visitor
                    .copy
                    .take()
                    .filter(|copy| visitor.cookie.as_ref() != Some(copy))?;
                visitor.cookie = Some(copy);
                Some(())
            }
            Action::Look(edge) => {
                self.left.looks -= 1;
                let asked = self.edge(scenario, edge).look()?;
                self.send(scenario, None, edge, asked);
                Some(())
            }
            Action::Keep(edge) => {
                self.left.keeps -= 1;
                let id = TicketId::new(1_000 + u64::from(self.left.keeps));
                let asked = self.edge(scenario, edge).keep(id)?;
                self.send(scenario, None, edge, asked);
                self.calls.last_mut()?.keeps = true;
                Some(())
            }
            Action::Forget(edge) => {
                self.left.forgets -= 1;
                self.memories[edge] = Printed::new(Memory::default());
                for call in self.calls.iter_mut().filter(|call| call.edge == edge) {
                    call.waits = None;
                    call.keeps = false;
                }
                Some(())
            }
            Action::Deliver(index) => {
                let call = self.calls.remove(index);
                self.decide(scenario, vec![Caller::Edge(call)]);
                Some(())
            }
            Action::DeliverBundle(index) => {
                let bundle = self.bundles.remove(index);
                self.decide(scenario, vec![Caller::Relay(bundle)]);
                Some(())
            }
            Action::DeliverAll => {
                let calls = std::mem::take(&mut self.calls);
                let (sent, kept) = calls
                    .into_iter()
                    .partition(|call| call.stage == Stage::ToRoom);
                self.calls = kept;
                let sent: Vec<Call> = sent;
                let bundles = std::mem::take(&mut self.bundles).into_iter();
                let callers = sent.into_iter().map(Caller::Edge);
                self.decide(
                    scenario,
                    callers.chain(bundles.map(Caller::Relay)).collect(),
                );
                Some(())
            }
            Action::Store => {
                let pending = self.room.pending.take()?;
                self.stored(&pending);
                self.room.checkpoint(scenario.checkpoint_after);
                self.answer_all(pending.answers);
                Some(())
            }
            Action::Crash { stored } => {
                self.left.crashes -= 1;
                if let Some(pending) = self.room.pending.take() {
                    if stored {
                        self.stored(&pending);
                    } else {
                        self.has_lost_a_row = true;
                    }
                    for (caller, _) in pending.answers {
                        self.fail_caller(scenario, caller);
                    }
                }
                self.room.crash();
                Some(())
            }
            Action::Answer(index) => {
                let call = self.calls.remove(index);
                let Stage::Answered(response) = &call.stage else {
                    return None;
                };
                self.hear(scenario, &call, response);
                Some(())
            }
            Action::Lose(index) => {
                self.left.faults -= 1;
                let call = self.calls.remove(index);
                self.fail(scenario, &call);
                Some(())
            }
            Action::GiveUp(index) => {
                self.left.faults -= 1;
                let call = self.calls[index].clone();
                self.fail(scenario, &call);
                self.calls[index].waits = None;
                self.calls[index].keeps = false;
                Some(())
            }
            Action::Repeat(index) => {
                self.left.faults -= 1;
                let again = Call {
                    waits: None,
                    keeps: false,
                    ..self.calls[index].clone()
                };
                self.calls.push(again);
                Some(())
            }
            Action::Forward(relay) => {
                let (now, mut taken) = (self.now, None);
                self.relays[relay] = self.relays[relay].with(|relay| taken = relay.take(now));
                let sent = taken?;
                for call in &mut self.calls {
                    if sent.1.iter().any(|part| call.is_known_to(relay, part.to)) {
                        call.stage = Stage::Bundled;
                    }
                }
                self.bundles.push(Bundle {
                    relay: Some(relay),
                    sent: Printed::new(sent),
                });
                Some(())
            }
            Action::Vanish(relay) => self.vanish(scenario, relay),
            Action::Moment => {
                self.left.moments -= 1;
                self.now = self.next_moment(scenario)?;
                Some(())
            }
            Action::Pause => {
                self.left.pauses -= 1;
                self.now = self.now + PAUSE;
                Some(())
            }
            Action::SetBack => {
                self.left.steps_back -= 1;
                self.room_behind = self.room_behind + STEP_BACK;
                Some(())
            }
            Action::Limits => {
                self.limits = scenario.new_limits?;
                Some(())
            }
            Action::Round => {
                let patient = scenario.patient?;
                self.has_asked = false;
                self.now = self.now + ROUND;
                // An edge with traffic renews its snapshot all the while.
                let home = patient.visitor % scenario.edges.len();
                if let Some(asked) = self.edge(scenario, home).look() {
                    self.send(scenario, None, home, asked);
                }
                Some(())
            }
        }
    }
}
