//! What may happen next in each state, and what must hold in all of them.

use stateright::{Model, Property};

use super::{Action, PATIENCE, START, World};
use crate::network::{Call, Stage};
use crate::scenario::Scenario;
use crate::witness;

impl Model for Scenario {
    type State = World;
    type Action = Action;

    fn init_states(&self) -> Vec<World> {
        let mut world = World::new(self);
        for action in &self.before {
            world = self
                .next_state(&world, action.clone())
                .unwrap_or_else(|| panic!("{action:?} changes nothing in {world:#?}"));
        }
        world.left = self.budget;
        for visitor in &mut world.visitors {
            visitor.requests = self.budget.requests;
        }
        vec![world]
    }

    fn actions(&self, world: &World, actions: &mut Vec<Action>) {
        if world.witness.broken.is_some() {
            return;
        }
        let left = &world.left;
        for visitor in 0..self.visitors {
            let edges = if self.roam {
                0..self.edges.len()
            } else {
                let home = visitor % self.edges.len();
                home..home + 1
            };
            let waits = world.calls.iter().any(|call| call.waits == Some(visitor));
            for edge in edges {
                let is_patient = self
                    .patient
                    .is_some_and(|patient| patient.visitor == visitor);
                let may_ask = if is_patient {
                    !world.has_asked
                } else {
                    world.visitors[visitor].requests > 0
                };
                if !waits && may_ask {
                    actions.push(Action::Visit(visitor, edge));
                }
                if !waits && left.leaves > 0 {
                    actions.push(Action::Leave(visitor, edge));
                }
            }
            if left.copies > 0 && !waits {
                actions.push(Action::ShowCopy(visitor));
            }
        }
        if left.looks > 0 {
            actions.extend((0..self.edges.len()).map(Action::Look));
        }
        for edge in 0..self.edges.len() {
            let has_keeper = |call: &Call| call.keeps && call.edge == edge;
            if left.keeps > 0 && !world.calls.iter().any(has_keeper) {
                actions.push(Action::Keep(edge));
            }
            if left.forgets > 0 {
                actions.push(Action::Forget(edge));
            }
        }
        let is_free = world.room.pending.is_none();
        let mut to_room = world.bundles.len();
        if is_free {
            actions.extend((0..to_room).map(Action::DeliverBundle));
        }
        for (index, call) in world.calls.iter().enumerate() {
            match call.stage {
                Stage::ToRoom => {
                    to_room += 1;
                    if is_free {
                        actions.push(Action::Deliver(index));
                    }
                }
                Stage::AtRelay | Stage::Bundled => {}
                Stage::Answered(_) => actions.push(Action::Answer(index)),
            }
            if left.faults > 0 {
                if call.waits.is_some() || call.keeps {
                    actions.push(Action::GiveUp(index));
                }
                // Elsewhere a call that was given up and never arrives is as good as lost.
                if self.patient.is_some() {
                    actions.push(Action::Lose(index));
                }
                if matches!(call.stage, Stage::ToRoom) {
                    actions.push(Action::Repeat(index));
                }
            }
        }
        if to_room > 1 && is_free {
            actions.push(Action::DeliverAll);
        }
        if world.room.pending.is_some() {
            actions.push(Action::Store);
        }
        if left.crashes > 0 && world.room.is_awake() {
            actions.push(Action::Crash { stored: false });
            if world.room.pending.is_some() {
                actions.push(Action::Crash { stored: true });
            }
        }
        for relay in 0..self.relays {
            let has_some =
                |call: &Call| call.relay == Some(relay) && matches!(call.stage, Stage::AtRelay);
            if world.calls.iter().any(has_some) {
                actions.push(Action::Forward(relay));
            }
            if left.vanishings > 0 {
                actions.push(Action::Vanish(relay));
            }
        }
        if left.moments > 0 {
            actions.push(Action::Moment);
        }
        if left.pauses > 0 {
            actions.push(Action::Pause);
        }
        if left.steps_back > 0 {
            actions.push(Action::SetBack);
        }
        if self.new_limits.is_some_and(|limits| limits != world.limits) {
            actions.push(Action::Limits);
        }
        if let Some(patient) = self.patient
            && world.has_asked
            && world.calls.is_empty()
            && world.room.pending.is_none()
            && !world.is_in(patient.visitor)
            && world.now <= START + patient.within
        {
            actions.push(Action::Round);
        }
    }

    fn next_state(&self, world: &World, action: Action) -> Option<World> {
        let mut next = world.clone();
        next.act(self, &action)?;
        next.tidy(self);
        Some(next)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        fn keeps(world: &World, promise: &'static str) -> bool {
            world.witness.broken != Some(promise)
        }
        let mut properties = vec![
            Property::always(witness::TOTAL, |_, world| keeps(world, witness::TOTAL)),
            Property::always(witness::RATE, |_, world| keeps(world, witness::RATE)),
            Property::always(witness::TWICE, |_, world| keeps(world, witness::TWICE)),
            Property::always(witness::REVIVED, |_, world| keeps(world, witness::REVIVED)),
            Property::always(witness::PLACE, |_, world| keeps(world, witness::PLACE)),
            Property::always(witness::DRAWN, |_, world| keeps(world, witness::DRAWN)),
            Property::always(witness::LOTS, |_, world| keeps(world, witness::LOTS)),
            Property::always(witness::KEY, |_, world| keeps(world, witness::KEY)),
            Property::always(witness::EARLY, |_, world| keeps(world, witness::EARLY)),
            Property::always(witness::MADE, |_, world| keeps(world, witness::MADE)),
            Property::always(witness::COUNT, |_, world| keeps(world, witness::COUNT)),
            Property::always(PATIENCE, |scenario: &Self, world: &World| {
                scenario.patient.is_none_or(|patient| {
                    world.is_in(patient.visitor) || world.now <= START + patient.within
                })
            }),
            Property::always(witness::SLOT, |scenario: &Self, world: &World| {
                !world.honours_without_slot(scenario)
            }),
        ];
        let reached = self.reaches.iter();
        properties.extend(reached.map(|(what, is)| Property::sometimes(what, *is)));
        properties
    }
}
