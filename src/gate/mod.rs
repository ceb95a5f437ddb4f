//! What decides over a request at the edge.

pub mod binding;
pub(crate) mod jws;
pub mod keys;
pub mod token;
