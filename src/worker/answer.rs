//! From an answer of ours to a response of the runtime.

use std::cell::RefCell;
use std::rc::Rc;

use js_sys::Uint8Array;
use wasm_bindgen::JsCast;
use web_sys::Response;

use super::{binding, log};
use crate::gate::cors::Field;
use crate::gate::header;
use crate::log::{Entry, clean};
use crate::page::shared::Body;

/// So many pages are kept as the runtime's own bytes.
const MOST_PAGES: usize = 32;

thread_local! {
    /// Pages that many visitors get, the newest last. Held as long as they stand here, so that the
    /// address of a text tells which it is.
    static PAGES: RefCell<Vec<(Rc<str>, Uint8Array)>> = const { RefCell::new(Vec::new()) };
}

/// Makes a response. The header fields cross to the runtime as one text, and where many answers have
/// the same it is read once.
pub(super) fn respond(
    status: u16,
    fields: &[Field<'_>],
    cookie: Option<&str>,
    body: &Body,
) -> Response {
    let mut head = String::with_capacity(512);
    for (name, value) in fields {
        // No value of ours has a line feed; one that had would be no value of a header field.
        if !value.contains('\n') {
            head.extend([name, ":", value, "\n"]);
        }
    }
    let response = match body {
        // A 204 or an answer to HEAD has no body, which is not the same as an empty one.
        Body::Text(text) => {
            let text = Some(text.as_str()).filter(|text| !text.is_empty());
            binding::respond(status, &head, cookie, text)
        }
        Body::Shared(page) => binding::respond_with_bytes(status, &head, cookie, &bytes_of(page)),
    };
    // Fails only for a status or a field that is none, and all of ours are checked when the
    // configuration is; then the bare response still says that the visitor is to come back.
    response
        .or_else(|_| Response::new_with_opt_str(Some("Try again in a moment.\n")))
        .unwrap_or_else(|error| error.unchecked_into())
}

/// The page as the runtime holds it.
fn bytes_of(page: &Rc<str>) -> Uint8Array {
    PAGES.with_borrow_mut(|pages| {
        if let Some((_, bytes)) = pages.iter().find(|(known, _)| Rc::ptr_eq(known, page)) {
            return bytes.clone();
        }
        if pages.len() >= MOST_PAGES {
            pages.remove(0);
        }
        let bytes = Uint8Array::from(page.as_bytes());
        pages.push((Rc::clone(page), bytes.clone()));
        bytes
    })
}

/// The answer when the Worker is not set up right: it says so to the operator and keeps the origin
/// protected.
pub(super) fn broken(message: &str) -> Response {
    let reason = clean(message);
    log::write(&Entry::NotSetUp { reason });
    let text = format!("anteroom is not set up: {message}\n");
    error(503, &text, Vec::new())
}

/// The answer when this program has failed before it knew what to say.
pub(super) fn failed() -> Response {
    let text = "Something went wrong here. Try again.\n";
    error(503, text, Vec::new())
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
    respond(status, &fields, None, &Body::Text(text.to_owned()))
}
