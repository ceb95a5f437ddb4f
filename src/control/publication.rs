//! What travels from the control object to isolates and rooms.

use serde::{Deserialize, Serialize};

use super::published::Published;
use super::version::Version;

/// A configuration on its way: what is published, and in which life of the object's storage.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Publication {
    /// See [`Version`].
    pub life: u64,
    /// What is published.
    #[serde(flatten)]
    pub published: Published,
}

impl Publication {
    /// Which one it is.
    pub const fn version(&self) -> Version {
        Version(self.life, self.published.version)
    }
}
