//! What is known of an origin, gathered for one choice.

use crate::atlas::cloud::Region;
use crate::atlas::origin_name::OriginName;

/// What is known of one origin.
#[derive(Clone, Debug, PartialEq)]
pub struct Evidence {
    /// The origin.
    pub origin: OriginName,
    /// What the operator says: the region of a hint.
    pub hint: Option<Located>,
    /// Whether it answers from many places, as far as probes can tell.
    pub anycast: Option<bool>,
    /// The place with the shortest way to it.
    pub measured: Option<Measured>,
    /// The region that a cloud assigns its address to.
    pub prefix: Option<Located>,
}

/// A region, and the places from where it is best reached.
#[derive(Clone, Debug, PartialEq)]
pub struct Located {
    /// The region.
    pub region: Region,
    /// What its subnets voted for; none before there is a vote.
    pub voted: Option<Voted>,
}

/// The outcome of a vote.
#[derive(Clone, Debug, PartialEq)]
pub struct Voted {
    /// The code of the best place.
    pub primary: String,
    /// The best one in another place.
    pub fallback: String,
    /// Whether measurements decided, and not geography.
    pub measured: bool,
}

/// What probes of one origin found.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    /// The code of the place with the shortest round-trip time.
    pub place: String,
    /// The next best one in another place.
    pub fallback: Option<String>,
    /// That time, in milliseconds.
    pub rtt_ms: f64,
}

impl Located {
    /// Whether the region's tier was found by measuring.
    pub fn is_measured(&self) -> bool {
        self.voted.as_ref().is_some_and(|voted| voted.measured)
    }
}

impl Evidence {
    /// That of an origin of which nothing is known.
    pub const fn none(origin: OriginName) -> Self {
        Self {
            origin,
            hint: None,
            anycast: None,
            measured: None,
            prefix: None,
        }
    }
}
