//! A virtual waiting room for Cloudflare Workers.
//!
//! The folders stand in the order in which a request travels; `ARCHITECTURE.md` has the map.

pub mod atlas;
pub mod cache;
pub mod control;
pub mod gate;
pub mod log;
pub mod origin;
pub mod packed;
pub mod page;
pub mod room;
pub mod rules;
pub mod site;
pub mod tier;
pub mod time;

#[cfg(target_arch = "wasm32")]
mod worker;
