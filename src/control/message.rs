//! What is said to the control object by the rest of the Worker. As everywhere between two objects:
//! additions only, with defaults.

use serde::{Deserialize, Serialize};

use super::api::{Answer, MOST_BODY, Request};
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
    /// A request to the API. The answer is a [`Reply`].
    Api(Call),
}

/// A request to the API on its way to the object.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(default)]
pub struct Call {
    /// The method.
    pub method: String,
    /// Scheme and host of the URL.
    pub origin: String,
    /// The path of the URL.
    pub path: String,
    /// Its query, without the question mark.
    pub query: String,
    /// The header field.
    pub authorization: Option<String>,
    /// The header field.
    pub content_type: Option<String>,
    /// The body; none if it is too long.
    pub body: Option<String>,
}

impl From<Call> for Request {
    fn from(call: Call) -> Self {
        let too_long = || vec![b' '; MOST_BODY + 1];
        Self {
            method: call.method,
            origin: call.origin,
            path: call.path,
            query: call.query,
            authorization: call.authorization,
            content_type: call.content_type,
            body: call.body.map_or_else(too_long, String::into_bytes),
        }
    }
}

/// An answer of the API on its way back.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct Reply {
    /// The status.
    pub status: u16,
    /// The header fields.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: String,
}

impl From<Answer> for Reply {
    fn from(answer: Answer) -> Self {
        let headers = answer.headers.into_iter();
        Self {
            status: answer.status,
            headers: headers
                .map(|(name, value)| (name.to_owned(), value))
                .collect(),
            body: answer.body,
        }
    }
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

#[cfg(test)]
mod tests {
    //! As it is said between two versions of the Worker. A line here may be added, never changed.

    use serde_json::{from_str, to_string};

    use super::*;

    #[test]
    fn questions_are_read_as_they_were_first_written() {
        let id = "0123456789abcdef0123456789abcdef";
        let look = Ask::Look {
            knows: Version(410, 7),
        };
        let room = Ask::Room {
            id: RoomId::read(id).unwrap(),
        };
        let api = Ask::Api(Call {
            method: "GET".into(),
            path: "/client/v4".into(),
            ..Call::default()
        });
        for (ask, text) in [
            (look, r#"{"look":{"knows":[410,7]}}"#.to_owned()),
            (room, format!(r#"{{"room":{{"id":"{id}"}}}}"#)),
        ] {
            assert_eq!(to_string(&ask).unwrap(), text);
            assert_eq!(from_str::<Ask>(&text).unwrap(), ask);
        }
        let text = r#"{"api":{"method":"GET","path":"/client/v4"}}"#;
        assert_eq!(from_str::<Ask>(text).unwrap(), api);
    }

    #[test]
    fn a_body_that_is_too_long_is_told_to_the_api_as_such() {
        let call = |body: Option<&str>| Call {
            body: body.map(str::to_owned),
            ..Call::default()
        };
        assert_eq!(Request::from(call(Some("{}"))).body, b"{}");
        assert!(Request::from(call(None)).body.len() > MOST_BODY);
    }
}
