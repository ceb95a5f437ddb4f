//! Visitors, edges, relays and the room in a model checker: every order of events in small worlds.
//!
//! What is modelled, what is shown at which size and what is not is said in `docs/proof.md`. The
//! small sizes run in `make test`, the larger ones with `make model`.

#![expect(
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a step that fails is a failed test"
)]

mod edge;
mod network;
mod planted;
mod printed;
mod report;
mod room;
mod scenario;
mod scenarios;
mod witness;
mod world;

#[path = "../common/mod.rs"]
mod common;

use report::explore;
use scenarios::Size;

/// Explores a scenario in which no promise may break.
fn holds(name: &str, scenario: scenario::Scenario) {
    let explored = explore(name, scenario);
    assert!(explored.broken.is_empty(), "{name}: {:#?}", explored.broken);
    assert!(
        explored.missed.is_empty(),
        "{name} never met {:?}",
        explored.missed
    );
}

macro_rules! scenarios {
    ($($name:ident)*) => {
        $(#[test]
        fn $name() {
            holds(stringify!($name), scenarios::$name(Size::Small));
        })*

        mod large {
            use super::*;

            $(#[test]
            #[ignore = "minutes: make model"]
            fn $name() {
                holds(stringify!($name), scenarios::$name(Size::Large));
            })*
        }
    };
}

scenarios! {
    newcomers
    a_session_ends
    a_session_is_renewed
    the_minute_is_full
    limits_are_lowered
    an_old_cookie_comes_back
    relays
    slots_are_reserved
    whoever_is_drawn
    an_event_opens
    somebody_asks_behind_a_no_show
    somebody_asks_behind_others
}
