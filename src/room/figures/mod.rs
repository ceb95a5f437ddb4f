//! Figures of a room over time, for its operator. `docs/numbers.md` says what each one means.
//!
//! Nothing in here decides anything. The ledger tells a [`recorder`] what happens; a minute that has
//! ended is stored with the next group of requests, which adds one row a minute and none to a
//! request, and [`keep`] says what becomes of it.

pub mod counts;
pub mod exposition;
pub mod histogram;
pub mod keep;
pub mod point;
pub mod query;
pub mod recorder;
pub mod tally;
pub mod told;
