//! Panics on purpose, for the end-to-end tests alone (feature `planted-panic`).
//!
//! The header field [`HEADER`] of a covered request says where: `look` at the edge, before anything
//! is awaited, where `trap` ends the whole instance; `object` in the room's object, when it has read
//! the request; `batch` in the object, in the middle of a batch.

use std::cell::Cell;

use super::headers::Fields;

const HEADER: &str = "Anteroom-Plant";

thread_local! {
    static PLANTED: Cell<Option<&'static str>> = const { Cell::new(None) };
}

/// Panics if the request wants it `here`, or traps if it wants that.
pub(super) fn in_request(fields: &Fields, here: &str) {
    let wanted = fields.read(HEADER);
    if wanted.as_deref() == Some("trap") {
        core::arch::wasm32::unreachable();
    }
    assert!(wanted.as_deref() != Some(here), "planted: {here}");
}

/// Remembers what the request wants of the object. The next [`message`] takes it along.
pub(super) fn note(fields: &Fields) {
    let wanted = fields.read(HEADER);
    let places = ["object", "batch"];
    PLANTED.set(
        places
            .into_iter()
            .find(|place| wanted.as_deref() == Some(place)),
    );
}

/// The message to the object, with what was noted in a field that the object skips.
pub(super) fn message(body: String) -> String {
    match (PLANTED.take(), body.strip_prefix('{')) {
        (Some(place), Some(rest)) => format!(r#"{{"planted":"{place}",{rest}"#),
        _ => body,
    }
}

/// Panics if the message wants it in the object, and notes it if it is wanted in the batch.
pub(super) fn in_object(body: &str) {
    assert!(!body.contains(r#""planted":"object""#), "planted: object");
    if body.contains(r#""planted":"batch""#) {
        PLANTED.set(Some("batch"));
    }
}

/// Panics if a message of the batch wanted it.
pub(super) fn in_batch() {
    assert!(PLANTED.take() != Some("batch"), "planted: batch");
}
