//! From an answer of ours to a response of the runtime.

use js_sys::{JSON, Promise};
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{Response, ResponseInit};

use crate::gate::cors::Field;
use crate::gate::header;

/// Makes a response. The header fields cross to the runtime as one text: a crossing for each costs
/// more than the rest of a waiting poll.
pub(super) fn respond(status: u16, fields: &[Field<'_>], body: &str) -> Response {
    let init = ResponseInit::new();
    init.set_status(status);
    let fields: serde_json::Map<_, _> = fields
        .iter()
        .map(|(name, value)| ((*name).to_owned(), value.as_ref().into()))
        .collect();
    if let Ok(headers) = JSON::parse(&serde_json::Value::Object(fields).to_string()) {
        init.set_headers(&headers);
    }
    // A 204 or an answer to HEAD has no body, which is not the same as an empty one.
    let body = Some(body).filter(|body| !body.is_empty());
    // Fails only for a status or a field that is none, and all of ours are checked when the
    // configuration is; then the bare response still says that the visitor is to come back.
    Response::new_with_opt_str_and_init(body, &init)
        .or_else(|_| Response::new_with_opt_str(Some("Try again in a moment.\n")))
        .unwrap_or_else(|error| error.unchecked_into())
}

/// The answer when the Worker is not set up right: it says so to the operator and keeps the origin
/// protected.
pub(super) fn broken(message: &str) -> Promise {
    worker::console_error!("anteroom is not set up: {message}");
    let text = format!("anteroom is not set up: {message}\n");
    Promise::resolve(&JsValue::from(error(503, &text, Vec::new())))
}

/// The answer when this program has failed before it knew what to say.
pub(super) fn failed() -> Promise {
    let text = "Something went wrong here. Try again.\n";
    Promise::resolve(&JsValue::from(error(503, text, Vec::new())))
}

/// An error of ours, as plain text. `cors` lets the scripts of listed origins read it.
pub(super) fn error(status: u16, text: &str, cors: Vec<Field<'_>>) -> Response {
    let mut fields = cors;
    fields.extend([
        (header::STATUS, "error".into()),
        ("Cache-Control", "no-store".into()),
        ("Content-Type", "text/plain; charset=utf-8".into()),
        ("Retry-After", "10".into()),
        ("X-Robots-Tag", "noindex".into()),
    ]);
    respond(status, &fields, text)
}
