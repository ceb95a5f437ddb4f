//! What a waiting visitor sees.

pub mod facts;
pub mod template;
