//! What the operator declares: rooms, their routes and their events.
//!
//! `build.rs` compiles this folder too, to check and pack `rooms.toml`. So nothing in here may name
//! another part of the crate but `crate::rules` and `crate::atlas::origin_name`, which `build.rs`
//! compiles as well.

pub mod cached_host;
mod cached_host_declaration;
mod coverage;
mod cross;
mod declaration;
pub mod event;
mod event_declaration;
pub mod fault;
pub mod fields;
pub mod host;
pub mod language;
pub mod moment;
mod origin;
pub mod path;
pub mod room;
pub mod rule;
mod rule_declaration;
mod scope;
mod table;
pub mod tier;
mod tier_declaration;
pub mod timeline;

pub use self::cached_host_declaration::cached_hosts;
pub use self::declaration::{Context, validate};
pub use self::tier_declaration::{Located, World, tiers};
