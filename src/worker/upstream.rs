//! Whom a cache asks for what it does not have.

use wasm_bindgen::JsValue;
use web_sys::{Request, Response};

use super::forward;
use super::isolate::Isolate;

/// Where an answer comes from that is not in the cache.
#[derive(Clone, Debug)]
pub(super) enum Upstream {
    /// The origin itself.
    Origin,
}

/// What was answered, and how it came.
pub(super) struct Answered {
    /// The answer. Its body is as it came, compressed or not.
    pub(super) response: Response,
    /// Whether this request waited for the answer to another one.
    pub(super) collapsed: bool,
    /// Who was asked and why, for `Cache-Status`; none for the origin.
    pub(super) detail: Option<String>,
}

impl Upstream {
    /// Asks.
    pub(super) async fn ask(
        &self,
        isolate: &Isolate,
        request: Request,
    ) -> Result<Answered, JsValue> {
        match self {
            Self::Origin => Ok(Answered {
                response: forward::as_it_comes(isolate, request).await?,
                collapsed: false,
                detail: None,
            }),
        }
    }
}
