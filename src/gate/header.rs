//! The names of anteroom's own header fields.

/// On every answer that anteroom made, and on no other: tells a program that it holds no content.
pub const STATUS: &str = "Anteroom-Status";

/// On a poll of the waiting page: answered at the edge, never forwarded.
pub const POLL: &str = "Anteroom-Poll";

/// On a request to the origin: a signed statement of who was admitted. Removed from what clients
/// send.
pub const ASSERTION: &str = "Anteroom-Assertion";

/// From the origin: ends the session of the visitor whose request it answers (Cloudflare's name).
pub const COMMAND: &str = "Cf-Waiting-Room-Command";

/// On answers to visitors whom a draw concerns: its commitment before it is held, and then all that
/// is needed to check it.
pub const DRAW: &str = "Anteroom-Draw";

/// On answers of the API: which configuration is in force, and where it comes from.
pub const CONFIGURATION: &str = "Anteroom-Configuration";

/// Between the parts of a deployment with upper tiers: who asks, and what was found
/// ([`crate::tier::marker`]).
pub const TIER: &str = "Anteroom-Tier";
