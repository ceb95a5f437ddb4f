//! The room: who is in, who waits, whose turn it is.

pub mod ledger;
pub mod message;
pub mod number;
pub mod policy;
pub mod seed;
pub mod snapshot;
