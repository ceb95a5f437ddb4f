//! What the operator declares: rooms and their routes.
//!
//! `build.rs` compiles this folder too, to check and pack `rooms.toml`. So nothing in here may name
//! another part of the crate, and every path starts with `super` or `self`.

mod coverage;
mod cross;
mod declaration;
pub mod fault;
pub mod fields;
pub mod host;
pub mod language;
mod origin;
pub mod path;
pub mod room;
mod scope;
mod table;

pub use self::declaration::{Context, validate};
