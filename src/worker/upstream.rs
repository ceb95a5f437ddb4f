//! Whom a lower cache asks for what it does not have.

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

impl Upstream {
    /// Asks. The answer's body is as it came, compressed or not.
    pub(super) async fn ask(
        &self,
        isolate: &Isolate,
        request: Request,
    ) -> Result<Response, JsValue> {
        match self {
            Self::Origin => forward::as_it_comes(isolate, request).await,
        }
    }
}
