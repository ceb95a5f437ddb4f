//! Bugs that are planted around the production code, each of which the checker must find.

use serde_json::json;

use super::report::explore;
use super::scenario::{
    Budget, Plant, Scenario, comes_in, joins, joins_first, keeps, leaves, looks, walks_in,
};
use super::scenarios::{opening, three_wait_and_an_epoch_draws};
use super::witness;
use super::world::Action;

/// Explores the scenario with and without the bug: the promise breaks with it alone.
fn breaks(name: &str, plant: Plant, promise: &str, scenario: impl Fn() -> Scenario) {
    let explored = explore(
        &format!("planted {name}"),
        Scenario {
            plant: Some(plant),
            ..scenario()
        },
    );
    let Some(path) = explored.broken.get(promise) else {
        panic!(
            "{name} was not found as \"{promise}\", but {:#?}",
            explored.broken
        );
    };
    eprintln!("found {name}: {path:?}");
    let explored = explore(name, scenario());
    assert!(
        explored.broken.is_empty(),
        "without the bug: {:#?}",
        explored.broken
    );
}

#[test]
fn an_answer_before_the_row_is_durable_gives_a_pass_without_a_slot() {
    breaks(
        "answer before durable",
        Plant::AnswerBeforeDurable,
        witness::SLOT,
        || Scenario {
            budget: Budget {
                requests: 1,
                crashes: 1,
                ..Budget::default()
            },
            ..Scenario::new(1, 2, json!({}))
        },
    );
}

#[test]
fn an_answer_before_the_row_is_durable_gives_a_number_twice() {
    breaks(
        "answer before durable",
        Plant::AnswerBeforeDurable,
        witness::TWICE,
        || Scenario {
            before: walks_in(0, 0),
            visitors: 3,
            budget: Budget {
                requests: 2,
                crashes: 1,
                ..Budget::default()
            },
            ..Scenario::new(1, 2, json!({}))
        },
    );
}

#[test]
fn a_renewal_without_acknowledgement_outlives_its_slot() {
    breaks(
        "renew unacknowledged",
        Plant::RenewUnacknowledged,
        witness::SLOT,
        || Scenario {
            before: walks_in(0, 0),
            visitors: 1,
            budget: Budget {
                requests: 1,
                moments: 4,
                pauses: 1,
                faults: 1,
                ..Budget::default()
            },
            ..Scenario::new(1, 2, json!({}))
        },
    );
}

#[test]
fn a_slot_that_is_free_when_its_pass_ends_is_let_twice_by_a_slow_clock() {
    breaks("free at expiry", Plant::FreeAtExpiry, witness::SLOT, || {
        Scenario {
            edges: vec![-5_000],
            visitors: 1,
            budget: Budget {
                requests: 1,
                moments: 4,
                ..Budget::default()
            },
            ..Scenario::new(1, 2, json!({}))
        }
    });
}

#[test]
#[ignore = "minutes: make model"]
fn a_spent_number_that_is_forgotten_walks_in_past_the_queue() {
    breaks(
        "forget spent numbers",
        Plant::ForgetSpent,
        witness::REVIVED,
        || Scenario {
            // One leaves, the other is called and comes in, and is about to leave, too.
            before: [
                walks_in(0, 0),
                joins(1, 0),
                leaves(0, 0),
                vec![Action::Pause],
                looks(0),
                comes_in(1, 0),
            ]
            .concat(),
            checkpoint_after: 1,
            // The first one's slot is kept for a while, so the copy has to ask once more.
            budget: Budget {
                requests: 2,
                pauses: 1,
                moments: 1,
                leaves: 1,
                copies: 1,
                crashes: 1,
                ..Budget::default()
            },
            ..Scenario::new(1, 5, json!({}))
        },
    );
}

#[test]
fn a_relay_that_answers_by_itself_gives_a_pass_without_a_slot() {
    breaks("relay answers", Plant::RelayAnswers, witness::SLOT, || {
        Scenario {
            relays: 1,
            visitors: 1,
            budget: Budget {
                requests: 2,
                moments: 4,
                vanishings: 1,
                ..Budget::default()
            },
            ..Scenario::new(1, 2, json!({}))
        }
    });
}

#[test]
fn a_reserved_slot_that_is_given_back_though_a_pass_was_made_of_it() {
    breaks("forget used", Plant::ForgetUsed, witness::SLOT, || {
        Scenario {
            visitors: 1,
            before: [looks(0), keeps(0)].concat(),
            budget: Budget {
                requests: 1,
                keeps: 1,
                pauses: 1,
                ..Budget::default()
            },
            ..Scenario::new(40, 50, json!({}))
        }
    });
}

#[test]
fn a_reservation_that_is_used_after_its_time_makes_a_pass_that_no_minute_counts() {
    breaks(
        "reserved too long",
        Plant::ReservedTooLong,
        witness::MADE,
        || Scenario {
            visitors: 1,
            before: [looks(0), keeps(0)].concat(),
            budget: Budget {
                requests: 1,
                pauses: 2,
                ..Budget::default()
            },
            ..Scenario::new(40, 50, json!({}))
        },
    );
}

#[test]
fn an_epoch_that_is_forgotten_sends_the_drawn_back_in_line() {
    breaks("forget epochs", Plant::ForgetEpochs, witness::DRAWN, || {
        Scenario {
            visitors: 4,
            before: three_wait_and_an_epoch_draws(),
            checkpoint_after: 1,
            budget: Budget {
                requests: 1,
                crashes: 1,
                ..Budget::default()
            },
            ..Scenario::new(1, 10, json!({ "queueing_method": "random" }))
        }
    });
}

#[test]
fn a_draw_by_lot_that_is_forgotten_changes_places() {
    breaks("forget lots", Plant::ForgetLots, witness::LOTS, || {
        Scenario {
            before: [joins_first(0, 0), joins(1, 0)].concat(),
            checkpoint_after: 1,
            budget: Budget {
                requests: 1,
                moments: 1,
                looks: 2,
                crashes: 1,
                ..Budget::default()
            },
            ..Scenario::new(1, 10, opening())
        }
    });
}
