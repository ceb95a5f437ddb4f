//! What an isolate has done with the requests to a cached host.

use serde::{Deserialize, Serialize};

/// Counts since the isolate began. An isolate is one of many, and short-lived: these are a sample, and the
/// sum over all isolates is nowhere.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(default)]
pub struct Counts {
    /// Requests to the host that passed to its cache.
    pub requests: u64,
    /// Those that were answered from the cache, without a question to anybody before.
    pub hits: u64,
    /// Of these, those that were answered with a stale answer.
    pub stale: u64,
    /// Questions about a stored answer that the other side has confirmed.
    pub revalidated: u64,
    /// Those that went by the cache.
    pub bypassed: u64,
    /// Requests that the other side was sent, those behind an answer included.
    pub forwarded: u64,
    /// Stale answers that were served because the other side failed.
    pub stale_on_error: u64,
    /// Answers that were stored.
    pub stored: u64,
}
