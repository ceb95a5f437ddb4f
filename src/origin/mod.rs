//! What the origin gets to see.

pub mod assertion;
pub mod storage;
