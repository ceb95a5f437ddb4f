//! What is said to the control object by the rest of the Worker. As everywhere between two objects:
//! additions only, with defaults.

use serde::{Deserialize, Serialize};

use super::version::Version;
use crate::site::room::{Room, RoomId};

/// The name of the one control object.
pub const NAME: &str = "control";

/// What a policy that a room is told begins with. A request to a room begins with a brace, so an older
/// room refuses it as what it does not understand, and asks later.
pub const POLICY: &str = "policy ";

/// A question to the control object.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Ask {
    /// What is published? The answer is a text that [`Publication::read`] reads; without the
    /// publication if the asker has it.
    ///
    /// [`Publication::read`]: super::publication::Publication::read
    Look {
        /// What the asker has.
        knows: Version,
    },
    /// What is published of one room? The answer is a [`Policy`].
    Room {
        /// The room.
        id: RoomId,
    },
    /// What runs, and is it what the Worker was built with? The answer is a
    /// [`Standing`](super::keeper::Standing).
    Standing,
}

/// What a room goes by.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct Policy {
    /// Of which configuration.
    pub version: Version,
    /// The room as declared; none if the configuration has no such room.
    #[serde(default)]
    pub room: Option<Room>,
}
