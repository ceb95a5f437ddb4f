//! What the operator declares: rooms and their routes.
//!
//! `build.rs` compiles this folder too, to check and pack `rooms.toml`. So nothing in here may name
//! another part of the crate, and every path starts with `super` or `self`.

pub mod room;
