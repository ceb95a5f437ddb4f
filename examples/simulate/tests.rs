//! Small runs of what the scenarios show at size.

use crate::judge::Verdict;
use crate::scenario::Scenario;
use crate::world::World;

fn run(room: &str, visitors: &str) -> Verdict {
    let text = format!(
        "title = 'test'\nminutes = 40\nseed = 11\nbatch_ms = 100\nsteady_after_minutes = 12\n\
         [room]\n{room}\nnew_users_per_minute = 1000\n\
         [[arrivals]]\ncurve = 'steady'\nvisitors = 4000\nover_seconds = 2400\n\
         [visitors]\nstay_seconds = 50\nshortest_stay_seconds = 20\n{visitors}\n\
         [network]\npops = 3\nisolates_per_pop = 2\n"
    );
    let mut world = World::new(&Scenario::parse(&text).unwrap());
    world.run(|_, _| {});
    world.judge.verdict()
}

const FIFTY_PLACES: &str = "total_active_users = 50\nsession_seconds = 60";

#[test]
fn three_in_ten_no_shows_leave_two_in_a_hundred_slots_empty_at_the_most() {
    let kinds = [
        "gone_when_called = 0.3",
        "gone_when_called = 0.1\ngone_while_waiting = 0.2\npatience_seconds = 900\ngone_at_door = 0.03",
    ];
    for kind in kinds {
        let verdict = run(FIFTY_PLACES, kind);
        assert_eq!(verdict.violations, 0, "{verdict:?}");
        assert!(verdict.slots_used.unwrap() >= 0.98, "{verdict:?}");
        assert!(verdict.inversions.overtaken < 2.0, "{verdict:?}");
        assert!(verdict.inversions.slower < 100.0, "{verdict:?}");
    }
}

#[test]
fn seven_in_ten_leave_five_in_a_hundred() {
    let verdict = run(FIFTY_PLACES, "gone_when_called = 0.7");
    assert_eq!(verdict.violations, 0, "{verdict:?}");
    assert!(verdict.slots_used.unwrap() >= 0.95, "{verdict:?}");
}

#[test]
fn what_is_told_comes_true() {
    let room = "total_active_users = 100\nsession_seconds = 60";
    let (median, p90) = run(room, "gone_when_called = 0.2").error.unwrap();
    assert!(median < 0.1 && p90 < 0.25, "median {median}, P90 {p90}");
}

#[test]
fn every_scenario_can_be_read() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/simulate/scenarios");
    let mut scenarios = 0;
    for file in std::fs::read_dir(folder).unwrap() {
        let path = file.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        Scenario::parse(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        scenarios += 1;
    }
    assert_eq!(scenarios, 7);
}
