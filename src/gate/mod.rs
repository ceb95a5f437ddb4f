//! What decides over a request at the edge.

pub mod accept;
pub mod binding;
pub mod cookie;
pub mod cors;
pub mod header;
pub mod intent;
pub(crate) mod jws;
pub mod keys;
pub mod token;
