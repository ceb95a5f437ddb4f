//! The room: who waits, who is inside.

pub mod number;
