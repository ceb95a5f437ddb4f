//! A shared cache by the letter of RFC 9111: what may be stored, what may be served, and what is asked.
//!
//! All of it are functions of what they are given; `worker/cache.rs` is around them. The way of a request:
//! [`asked`] says whether the cache has a say at all, [`key`] where an answer would lie, [`entry`] what lies
//! there and how long it is good, [`validation`] how the origin is asked about it and what its answer
//! changes, [`reply`] what the visitor gets, and [`status`] how that is told (RFC 9211). A [`purge`] makes
//! stored answers old, wherever they lie.

pub mod asked;
pub mod date;
pub mod directives;
pub mod entry;
pub mod fields;
pub mod invalidation;
pub mod key;
pub mod memory;
pub mod purge;
pub mod reply;
pub mod status;
pub mod validation;
