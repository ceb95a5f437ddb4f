//! The worlds that are explored, each about one thing, in two sizes.

use serde_json::{Value, json};

use super::scenario::{
    Budget, Patient, Reach, Scenario, an_epoch_is_drawn, joins, joins_elsewhere, joins_first,
    keeps, looks, walks_in,
};
use super::world::Action;
use anteroom::time::Span;

/// How much is explored.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Size {
    /// Seconds.
    Small,
    /// Minutes.
    Large,
}

impl Size {
    const fn or<T: Copy>(self, small: T, large: T) -> T {
        match self {
            Self::Small => small,
            Self::Large => large,
        }
    }
}

/// The slowest clock of an edge that is allowed, five seconds behind the room's, and the fastest that
/// such an edge takes tokens from.
fn clocks_apart() -> Vec<i64> {
    vec![-5_000, 55_000]
}

const COMES_IN: Reach = ("the second visitor comes in", |_, world| world.is_in(1));
const RENEWED: Reach = ("a session is renewed", |_, world| {
    world.witness.sessions.iter().any(|session| session.renewed)
});
const LOST: Reach = ("a crash loses a row", |_, world| world.has_lost_a_row);

/// Visitors come to an empty room with one slot; messages are lost, late and doubled, and the
/// object dies.
pub(crate) fn newcomers(size: Size) -> Scenario {
    Scenario {
        edges: clocks_apart(),
        visitors: 2,
        reaches: &[LOST, COMES_IN],
        budget: Budget {
            requests: 2,
            faults: size.or(1, 2),
            crashes: 1,
            ..Budget::default()
        },
        ..Scenario::new(1, 2, json!({}))
    }
}

/// One visitor is in and one in line; the session ends while clocks are apart and step.
pub(crate) fn a_session_ends(size: Size) -> Scenario {
    Scenario {
        edges: clocks_apart(),
        before: [walks_in(0, 0), joins_elsewhere(1, 1), vec![Action::Moment]].concat(),
        reaches: &[RENEWED, COMES_IN],
        budget: Budget {
            requests: 1,
            moments: size.or(3, 4),
            looks: 1,
            crashes: 1,
            steps_back: 1,
            ..Budget::default()
        },
        ..Scenario::new(1, 2, json!({}))
    }
}

/// Sessions are renewed by edges whose clocks are apart, or not.
pub(crate) fn a_session_is_renewed(size: Size) -> Scenario {
    Scenario {
        edges: clocks_apart(),
        roam: true,
        visitors: 1,
        before: walks_in(0, 0),
        reaches: &[RENEWED, LOST],
        budget: Budget {
            requests: 2,
            moments: size.or(4, 5),
            faults: 1,
            crashes: 1,
            ..Budget::default()
        },
        ..Scenario::new(1, 3, json!({}))
    }
}

/// One visitor a minute: one is in, others wait for the minute to be over.
pub(crate) fn the_minute_is_full(size: Size) -> Scenario {
    Scenario {
        edges: clocks_apart(),
        visitors: 2,
        before: [walks_in(0, 0), joins_elsewhere(1, 1)].concat(),
        watch_rate: true,
        reaches: &[COMES_IN],
        budget: Budget {
            requests: size.or(1, 2),
            moments: 3,
            looks: 1,
            faults: 1,
            crashes: 1,
            steps_back: 1,
            ..Budget::default()
        },
        ..Scenario::new(3, 1, json!({ "session_duration_seconds": 300 }))
    }
}

/// Two are in, one is in line, and the operator lowers the limit to one.
pub(crate) fn limits_are_lowered(size: Size) -> Scenario {
    Scenario {
        visitors: 3,
        before: [walks_in(0, 0), walks_in(1, 0), joins(2, 0)].concat(),
        new_limits: Some((1, 5)),
        reaches: &[("the third visitor comes in", |_, world| world.is_in(2))],
        budget: Budget {
            requests: 1,
            moments: 2,
            leaves: 1,
            crashes: size.or(0, 1),
            ..Budget::default()
        },
        ..Scenario::new(2, 5, json!({}))
    }
}

/// Somebody leaves and shows the cookie again that they had before, while another waits.
pub(crate) fn an_old_cookie_comes_back(size: Size) -> Scenario {
    Scenario {
        before: [walks_in(0, 0), joins(1, 0)].concat(),
        reaches: &[COMES_IN],
        budget: Budget {
            requests: size.or(2, 3),
            pauses: 1,
            leaves: 1,
            copies: 1,
            crashes: 1,
            ..Budget::default()
        },
        ..Scenario::new(1, 5, json!({}))
    }
}

/// Edges speak to the room through relays, which vanish with messages in hand.
pub(crate) fn relays(size: Size) -> Scenario {
    Scenario {
        edges: clocks_apart(),
        relays: 1,
        visitors: 2,
        reaches: &[LOST],
        budget: Budget {
            requests: 2,
            faults: size.or(0, 1),
            vanishings: 1,
            crashes: 1,
            ..Budget::default()
        },
        ..Scenario::new(1, 2, json!({}))
    }
}

/// One is in, and one is called who does not come: behind them somebody asks every five seconds,
/// and the room's object dies once.
pub(crate) fn somebody_asks_behind_a_no_show(size: Size) -> Scenario {
    Scenario {
        patient: Some(Patient {
            visitor: 2,
            within: Span::from_secs(size.or(100, 110)),
        }),
        reaches: &[],
        budget: Budget {
            faults: size.or(1, 2),
            crashes: 1,
            ..Budget::default()
        },
        ..behind_others()
    }
}

/// One is in and may renew, one waits and may come in or not: behind them somebody asks every five
/// seconds.
pub(crate) fn somebody_asks_behind_others(size: Size) -> Scenario {
    Scenario {
        patient: Some(Patient {
            visitor: 2,
            within: Span::from_secs(size.or(110, 190)),
        }),
        reaches: &[RENEWED, COMES_IN],
        budget: Budget {
            requests: 1,
            crashes: size.or(0, 1),
            ..Budget::default()
        },
        ..behind_others()
    }
}

/// An edge that sees many newcomers reserves slots and makes passes of them, while calls of its keeper
/// are lost or doubled, the object dies, and the edge itself.
pub(crate) fn slots_are_reserved(size: Size) -> Scenario {
    Scenario {
        edges: vec![0],
        visitors: 2,
        before: [looks(0), keeps(0)].concat(),
        reaches: &[
            ("a pass is made of a reservation", |_, world| {
                world.witness.has_made_one()
            }),
            LOST,
        ],
        budget: Budget {
            requests: 1,
            keeps: size.or(1, 2),
            pauses: 1,
            faults: size.or(1, 0),
            crashes: 1,
            forgets: size.or(0, 1),
            ..Budget::default()
        },
        ..Scenario::new(40, 50, json!({}))
    }
}

/// One is in, three are in line, and an epoch has drawn.
pub(crate) fn three_wait_and_an_epoch_draws() -> Vec<Action> {
    [
        walks_in(0, 0),
        joins(1, 0),
        joins(2, 0),
        joins(3, 0),
        an_epoch_is_drawn(0),
    ]
    .concat()
}

/// One is in, and of those who wait each epoch draws some; the object dies.
pub(crate) fn whoever_is_drawn(size: Size) -> Scenario {
    Scenario {
        visitors: 4,
        before: three_wait_and_an_epoch_draws(),
        reaches: &[
            ("somebody is drawn", |_, world| world.knows_a_draw()),
            ("somebody who waited comes in", |_, world| {
                (1..4).any(|visitor| world.is_in(visitor))
            }),
        ],
        budget: Budget {
            requests: 1,
            moments: 1,
            looks: 1,
            faults: size.or(0, 1),
            crashes: 1,
            ..Budget::default()
        },
        ..Scenario::new(1, 10, json!({ "queueing_method": "random" }))
    }
}

/// Two wait for an event, at whose start their places are drawn; the object dies.
pub(crate) fn an_event_opens(size: Size) -> Scenario {
    Scenario {
        edges: clocks_apart(),
        visitors: 2,
        before: [joins_first(0, 0), joins_elsewhere(1, 1)].concat(),
        reaches: &[
            ("places are drawn", |_, world| world.knows_a_draw()),
            ("somebody comes in", |_, world| {
                world.is_in(0) || world.is_in(1)
            }),
        ],
        budget: Budget {
            requests: size.or(2, 1),
            moments: 1,
            pauses: 1,
            looks: 2,
            faults: size.or(0, 1),
            crashes: 1,
            ..Budget::default()
        },
        ..Scenario::new(1, 10, opening())
    }
}

/// An event that starts ten seconds after everything begins.
pub(crate) fn opening() -> Value {
    json!({ "events": [{
        "name": "opening",
        "prequeue_start_time": "2027-01-15T07:50:00Z",
        "event_start_time": "2027-01-15T08:00:10Z",
        "event_end_time": "2027-01-15T20:00:00Z",
        "shuffle_at_event_start": true,
    }] })
}

/// One slot, which is taken, one in line, and a third visitor behind.
fn behind_others() -> Scenario {
    Scenario {
        visitors: 3,
        before: [walks_in(0, 0), joins(1, 0), joins(2, 0)].concat(),
        ..Scenario::new(1, 10, json!({}))
    }
}
