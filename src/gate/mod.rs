//! What decides over a request at the edge.
//!
//! `route` finds the room, `visitor` reads the cookie, `intent` tells what the request wants,
//! `decision` says what happens, and `answer` says it to the client.

pub mod accept;
pub mod answer;
pub mod binding;
pub mod cookie;
pub mod cors;
pub mod decision;
pub mod edition;
pub mod header;
pub mod intent;
pub mod joint;
pub(crate) mod jws;
pub mod keys;
pub mod memory;
pub mod reserved;
pub mod route;
pub mod token;
pub mod visitor;
