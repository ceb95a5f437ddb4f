//! The room: who is in, who waits, whose turn it is.

pub mod draw;
pub mod figures;
pub mod forecast;
pub mod ledger;
pub mod lottery;
pub mod message;
pub mod news;
pub mod number;
pub mod numbers;
pub mod place;
pub mod policy;
pub mod position;
pub mod relay;
pub mod seed;
pub mod snapshot;
pub mod status;
pub mod wait;
