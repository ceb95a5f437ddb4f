//! Runs the checker to its end and says how far it got.

use std::collections::BTreeMap;
use std::time::Duration;

use stateright::report::{ReportData, ReportDiscovery, Reporter};
use stateright::{Checker, Model};

use super::scenario::Scenario;
use super::world::Action;

/// What an exploration comes to.
pub(crate) struct Explored {
    /// The actions that lead to the breach of each promise that is broken.
    pub(crate) broken: BTreeMap<&'static str, Vec<Action>>,
}

/// Explores all of a scenario, breadth first, on two threads.
pub(crate) fn explore(name: &str, scenario: Scenario) -> Explored {
    let mut progress = Progress { name };
    let checker = scenario.checker().threads(2).spawn_bfs().report(&mut progress);
    let broken = checker.discoveries();
    Explored {
        broken: broken
            .into_iter()
            .map(|(promise, path)| (promise, path.into_actions()))
            .collect(),
    }
}

struct Progress<'a> {
    name: &'a str,
}

impl Reporter<Scenario> for Progress<'_> {
    fn report_checking(&mut self, data: ReportData) {
        let ReportData {
            total_states,
            unique_states,
            max_depth,
            duration,
            done,
        } = data;
        let word = if done { "done" } else { "....." };
        eprintln!(
            "{word:<5} {}: {unique_states} states, {total_states} steps, depth {max_depth}, {:.1} s",
            self.name,
            duration.as_secs_f64(),
        );
    }

    fn report_discoveries(
        &mut self,
        _model: &Scenario,
        _discoveries: BTreeMap<&'static str, ReportDiscovery<Scenario>>,
    ) {
    }

    fn delay(&self) -> Duration {
        Duration::from_secs(5)
    }
}
