//! When visitors come.

use crate::scenario::{Arrivals, Curve, Scenario};

/// The flows of a scenario, and how far each has come.
#[derive(Debug)]
pub(crate) struct Arriving {
    flows: Vec<(Arrivals, u32)>,
}

impl Arriving {
    pub(crate) fn new(scenario: &Scenario) -> Self {
        Self {
            flows: scenario
                .arrivals
                .iter()
                .map(|flow| (flow.clone(), 0))
                .collect(),
        }
    }

    /// How many visitors and how many bots come up to `millis` who have not been told before.
    pub(crate) fn up_to(&mut self, millis: u32) -> (u32, u32) {
        let (mut visitors, mut bots) = (0, 0);
        for (flow, told) in &mut self.flows {
            let come = flow.come_by(millis);
            let new = come.saturating_sub(*told);
            *told += new;
            *(if flow.bots { &mut bots } else { &mut visitors }) += new;
        }
        (visitors, bots)
    }

    /// Whether everybody has come.
    pub(crate) fn is_over(&self) -> bool {
        self.flows.iter().all(|(flow, told)| *told == flow.visitors)
    }
}

impl Arrivals {
    /// How many have come by `millis`.
    fn come_by(&self, millis: u32) -> u32 {
        let elapsed = f64::from(millis) / 1000.0 - f64::from(self.start_seconds);
        let x = (elapsed / f64::from(self.over_seconds.max(1))).clamp(0.0, 1.0);
        let share = match self.curve {
            Curve::Steady => x,
            Curve::Ramp => x * x,
            // Half of them in the first eighth of the time.
            Curve::Flash => (1.0 - (-5.5 * x).exp()) / (1.0 - (-5.5_f64).exp()),
        };
        (share * f64::from(self.visitors)).round() as u32
    }
}
