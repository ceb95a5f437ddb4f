//! What the objects of the atlas are asked: JSON, by the protocol of all objects.

use serde::{Deserialize, Serialize};

use super::api::cloud_regions::Call;
use crate::atlas::origin_name::OriginName;

/// The name of the object that keeps everything.
pub const NAME: &str = "atlas";

/// Before the location hint in the name of an object that is a checkpoint: `probe/weur`.
pub const CHECKPOINT: &str = "probe/";

/// A question.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Ask {
    /// A call of the API. The answer is a [`Reply`](super::message::Reply).
    CloudRegions(Call),
    /// What was changed of the hints, and by whom. The answer is a [`Trail`](super::audit::Trail).
    Trail,
    /// It is time: files are asked for and origins probed, where due. The answer is a [`Ticked`].
    Tick,
    /// To a checkpoint: time handshakes with these. The answer is a
    /// [`Report`](crate::atlas::probe::Report), or `null` from one that does not know where it is.
    Probe {
        /// The origins.
        origins: Vec<OriginName>,
        /// The TCP port.
        port: u16,
    },
}

/// What was done.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(default)]
pub struct Ticked {
    /// The files that were asked for.
    pub files: usize,
    /// What was wrong with some, one text for each.
    pub faults: Vec<String>,
    /// The origins that were probed.
    pub origins: usize,
    /// The checkpoints that have reported.
    pub checkpoints: usize,
    /// The names of the placed Workers that were to probe and have not reported.
    pub silent: Vec<String>,
    /// Regions of the files of which nobody knows where they are.
    pub lost: Vec<String>,
}

#[cfg(test)]
mod tests {
    //! As it is said between two versions of the Worker. A line here may be added, never changed.

    use serde_json::{from_str, to_string};

    use super::*;
    use crate::control::api::cloud_regions::{Action, Version};

    #[test]
    fn questions_are_read_as_they_were_first_written() {
        let origins = vec!["192.0.2.1".parse().unwrap()];
        let get = Call {
            version: Version::V2,
            action: Action::Get("192.0.2.1".into()),
            by: "ops".into(),
        };
        for (ask, text) in [
            (Ask::Tick, r#""tick""#),
            (Ask::Trail, r#""trail""#),
            (
                Ask::Probe { origins, port: 443 },
                r#"{"probe":{"origins":["192.0.2.1"],"port":443}}"#,
            ),
            (
                Ask::CloudRegions(get),
                r#"{"cloud_regions":{"version":"v2","action":{"get":"192.0.2.1"},"by":"ops"}}"#,
            ),
        ] {
            assert_eq!(to_string(&ask).unwrap(), text);
            assert_eq!(from_str::<Ask>(text).unwrap(), ask);
        }
        // Before there was a trail of hints.
        let first = r#"{"cloud_regions":{"version":"v2","action":{"get":"192.0.2.1"}}}"#;
        assert!(from_str::<Ask>(first).is_ok());
    }
}
