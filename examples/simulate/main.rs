//! Simulates a room: the production ledger on a virtual clock, with up to tens of millions of
//! visitors. `docs/simulator.md` says what for and how.

// A panic here stops nothing but the simulation.
#![allow(clippy::indexing_slicing)]

mod arrivals;
mod calendar;
mod crowd;
mod judge;
mod network;
mod order;
mod plot;
mod relays;
mod report;
mod scenario;
mod table;
#[cfg(test)]
mod tests;
mod world;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Parser;
use indicatif::{ProgressBar, ProgressStyle};

use judge::Verdict;
use scenario::Scenario;
use world::World;

/// Simulates a waiting room with the production ledger.
#[derive(Debug, Parser)]
#[command(name = "simulate")]
struct Options {
    /// A scenario file, or the name of one in examples/simulate/scenarios.
    scenario: PathBuf,
    /// Instead of the scenario's total_active_users.
    #[arg(long)]
    active: Option<u32>,
    /// Instead of the scenario's new_users_per_minute.
    #[arg(long)]
    per_minute: Option<u32>,
    /// Instead of the scenario's session_seconds.
    #[arg(long)]
    session: Option<u32>,
    /// Instead of the scenario's visitors; bots are left as they are.
    #[arg(long)]
    visitors: Option<u32>,
    /// Instead of the scenario's seed.
    #[arg(long)]
    seed: Option<u64>,
    /// The share that never comes when called.
    #[arg(long)]
    gone_when_called: Option<f64>,
    /// The share that closes the tab while waiting.
    #[arg(long)]
    gone_while_waiting: Option<f64>,
    /// How long visitors use the site, on average.
    #[arg(long)]
    stay: Option<f64>,
    /// The share that says when it is done.
    #[arg(long)]
    leave: Option<f64>,
    /// Writes a report with plots: one HTML file.
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
}

impl Options {
    fn scenario(&self) -> Result<Scenario, String> {
        let name = &self.scenario;
        let path = if name.extension().is_some() || name.components().count() > 1 {
            name.clone()
        } else {
            Path::new(env!("CARGO_MANIFEST_DIR"))
                .join("examples/simulate/scenarios")
                .join(name)
                .with_extension("toml")
        };
        let text = std::fs::read_to_string(&path)
            .map_err(|error| format!("{}: {error}", path.display()))?;
        let mut scenario =
            Scenario::parse(&text).map_err(|error| format!("{}: {error}", path.display()))?;
        let room = &mut scenario.room;
        room.total_active_users = self.active.unwrap_or(room.total_active_users);
        room.new_users_per_minute = self.per_minute.unwrap_or(room.new_users_per_minute);
        room.session_seconds = self.session.unwrap_or(room.session_seconds);
        scenario.seed = self.seed.unwrap_or(scenario.seed);
        let visitors = &mut scenario.visitors;
        visitors.gone_when_called = self.gone_when_called.unwrap_or(visitors.gone_when_called);
        visitors.gone_while_waiting = self
            .gone_while_waiting
            .unwrap_or(visitors.gone_while_waiting);
        visitors.stay_seconds = self.stay.unwrap_or(visitors.stay_seconds);
        visitors.leave_share = self.leave.unwrap_or(visitors.leave_share);
        if let Some(visitors) = self.visitors {
            scenario.scale(visitors);
        }
        scenario.check()?;
        Ok(scenario)
    }
}

fn main() -> ExitCode {
    let options = Options::parse();
    match options.scenario() {
        Ok(scenario) => {
            let (verdict, world) = simulate(&scenario);
            if let Some(path) = &options.report {
                let lines = table::lines(&scenario, &verdict);
                let html = report::html(&scenario.title, &lines, &world.judge);
                if let Err(error) = std::fs::write(path, html) {
                    eprintln!("{}: {error}", path.display());
                    return ExitCode::from(2);
                }
            }
            if verdict.violations == 0 {
                ExitCode::SUCCESS
            } else {
                eprintln!("{} admissions were over a limit", verdict.violations);
                ExitCode::FAILURE
            }
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(2)
        }
    }
}

fn simulate(scenario: &Scenario) -> (Verdict, World) {
    let started = std::time::Instant::now();
    let bar = ProgressBar::new(u64::from(scenario.minutes) * 60).with_style(
        ProgressStyle::with_template("{elapsed} {wide_bar} simulated {pos}/{len} s, {msg}")
            .unwrap_or_else(|_| ProgressStyle::default_bar()),
    );
    let mut world = World::new(scenario);
    world.run(|now, queued| {
        bar.set_position(u64::from(now / 1000));
        bar.set_message(format!("{queued} waiting"));
    });
    bar.finish_and_clear();
    let verdict = world.judge.verdict();
    println!("{}", scenario.title);
    for (name, value) in table::lines(scenario, &verdict) {
        println!("  {name:<34} {value}");
    }
    println!(
        "  {:<34} {:.1} s",
        "it took",
        started.elapsed().as_secs_f64()
    );
    (verdict, world)
}
