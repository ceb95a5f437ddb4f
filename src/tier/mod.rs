//! Upper tiers: on a miss a data centre asks one cache near the origin, and only that asks the origin.
//!
//! What is in here decides: which tier ([`choice`]), whether a call is one of ours ([`marker`]), who
//! of many asks the origin ([`lease`]), how long each step may take ([`budget`]) and which tier is not
//! asked for a while ([`breaker`]). Calls are made in `src/worker`. docs/tiers.md is the page about it.

pub mod breaker;
pub mod budget;
pub mod choice;
pub mod environments;
pub mod evidence;
pub mod explain;
pub mod fleet;
pub mod lease;
pub mod marker;
pub mod rendezvous;
pub mod said;
pub mod tally;
