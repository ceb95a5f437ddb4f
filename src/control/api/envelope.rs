//! Answers, in the envelope that Cloudflare's have.

use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::time::Span;

/// An answer of the API, for the shell to send.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Answer {
    /// The status.
    pub status: u16,
    /// The header fields.
    pub headers: Vec<(&'static str, String)>,
    /// The body.
    pub body: String,
}

/// One thing that is wrong with a request.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub(super) struct Fault {
    pub(super) code: u16,
    pub(super) message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) source: Option<Source>,
}

#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub(super) struct Source {
    /// A JSON pointer into the request's body (RFC 6901).
    pub(super) pointer: String,
}

/// Why a request is refused.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Refusal {
    pub(super) status: u16,
    pub(super) headers: Vec<(&'static str, String)>,
    pub(super) faults: Vec<Fault>,
}

/// Cloudflare's code for a body with a value that is not allowed.
const INVALID: u16 = 1002;

impl Fault {
    /// A value of the body that is not allowed.
    pub(super) fn invalid(pointer: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            code: INVALID,
            message: message.into(),
            source: Some(Source {
                pointer: pointer.into(),
            }),
        }
    }
}

impl Refusal {
    pub(super) fn new(status: u16, code: u16, message: impl Into<String>) -> Self {
        let message = message.into();
        Self {
            status,
            headers: Vec::new(),
            faults: vec![Fault {
                code,
                message,
                source: None,
            }],
        }
    }

    pub(super) fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    pub(super) fn invalid(faults: Vec<Fault>) -> Self {
        Self {
            status: 400,
            headers: Vec::new(),
            faults,
        }
    }

    /// What was asked for is not there.
    pub(super) fn not_found() -> Self {
        Self::new(404, 1001, "Object not found.")
    }

    pub(super) fn unknown_caller() -> Self {
        let message = "Authentication error: a known token is needed, as Authorization: Bearer";
        Self::new(401, 10000, message).with("WWW-Authenticate", "Bearer")
    }

    pub(super) fn not_allowed() -> Self {
        let message = "Unauthorized to access requested resource: the token may read, not write";
        Self::new(403, 9109, message)
    }

    pub(super) fn too_often(wait: Span) -> Self {
        let seconds = wait.as_millis().div_ceil(1000).max(1);
        let message = "Please wait and consider throttling your request speed";
        Self::new(429, 10429, message).with("Retry-After", seconds.to_string())
    }

    pub(super) fn answer(self) -> Answer {
        let body = json!({
            "success": false, "errors": self.faults, "messages": [], "result": null,
        });
        let mut answer = Answer::json(self.status, &body);
        answer.headers.extend(self.headers);
        answer
    }
}

/// What a call gives back.
#[derive(Clone, Debug, Default)]
pub(super) struct Success {
    pub(super) result: Value,
    pub(super) messages: Vec<String>,
    pub(super) info: Option<Value>,
}

impl Success {
    pub(super) fn of(result: Value) -> Self {
        Self {
            result,
            ..Self::default()
        }
    }

    pub(super) fn answer(self) -> Answer {
        let messages = self.messages.into_iter();
        let messages: Vec<Value> = messages
            .map(|message| json!({ "code": 1000, "message": message }))
            .collect();
        let mut body = Map::new();
        body.insert("success".into(), true.into());
        body.insert("errors".into(), json!([]));
        body.insert("messages".into(), messages.into());
        body.insert("result".into(), self.result);
        if let Some(info) = self.info {
            body.insert("result_info".into(), info);
        }
        Answer::json(200, &Value::Object(body))
    }
}

impl Answer {
    fn json(status: u16, body: &Value) -> Self {
        Self::new(status, "application/json", body.to_string())
    }

    pub(super) fn new(status: u16, content_type: &str, body: String) -> Self {
        Self {
            status,
            headers: vec![
                ("Content-Type", content_type.to_owned()),
                ("Cache-Control", "no-store".to_owned()),
                ("X-Content-Type-Options", "nosniff".to_owned()),
            ],
            body,
        }
    }

    /// The answer while a room, or the configuration's own store, does not.
    pub fn unavailable() -> Self {
        let message = "not available just now; read before you repeat a change";
        Refusal::new(503, 1000, message)
            .with("Retry-After", "2")
            .answer()
    }
}
