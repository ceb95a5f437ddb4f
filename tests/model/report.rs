//! Runs the checker to its end and says how far it got.

use std::collections::BTreeMap;
use std::time::Duration;

/// Between two lines of progress.
const TOLD_EVERY: Duration = Duration::from_secs(5);

use stateright::report::{ReportData, ReportDiscovery, Reporter};
use stateright::{Checker, HasDiscoveries, Model};

use super::scenario::Scenario;
use super::world::Action;

/// What an exploration comes to.
pub(crate) struct Explored {
    /// The actions that lead to the breach of each promise that is broken.
    pub(crate) broken: BTreeMap<&'static str, Vec<Action>>,
    /// What must be possible and was not met.
    pub(crate) missed: Vec<&'static str>,
}

/// Explores all of a scenario, breadth first, on two threads; one with a planted bug until a promise
/// breaks.
pub(crate) fn explore(name: &str, scenario: Scenario) -> Explored {
    let told = Duration::ZERO;
    let mut progress = Progress { name, told };
    let (reaches, finds) = (scenario.reaches, scenario.plant.is_some());
    let mut checker = scenario.checker().threads(2);
    if finds {
        checker = checker.finish_when(HasDiscoveries::AnyFailures);
    }
    let checker = checker.spawn_bfs().report(&mut progress);
    let mut met = checker.discoveries();
    let missed = reaches
        .iter()
        .filter(|(what, _)| met.remove(what).is_none());
    Explored {
        missed: missed.map(|(what, _)| *what).collect(),
        broken: met
            .into_iter()
            .map(|(promise, path)| (promise, path.into_actions()))
            .collect(),
    }
}

struct Progress<'a> {
    name: &'a str,
    told: Duration,
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
        if !done && duration < self.told + TOLD_EVERY {
            return;
        }
        self.told = duration;
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
        Duration::from_millis(50)
    }
}
