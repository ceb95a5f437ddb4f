//! To be written.

pub mod route;
