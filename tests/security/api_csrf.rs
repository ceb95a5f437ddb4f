//! Attack: a page of another site makes the browser of an operator change a room.
//!
//! Defence: only a header that no browser adds by itself lets anybody in, never a cookie; only
//! `application/json` is read, which no form can send; and no answer allows another origin anything,
//! so a browser that asks before it sends JSON is told no.

use anteroom::control::api::Request;
use serde_json::json;

use crate::api::{Api, request};

#[test]
fn what_a_form_can_send_is_not_read() {
    for content_type in [
        None,
        Some("text/plain"),
        Some("application/x-www-form-urlencoded"),
        Some("multipart/form-data; boundary=x"),
        Some("text/plain; application/json"),
        Some("application/jsonp"),
    ] {
        let mut api = Api::new();
        let before = api.configuration.clone();
        let forged = Request {
            content_type: content_type.map(str::to_owned),
            ..request("PATCH", &api.room(), json!({ "suspended": true }))
        };
        assert_eq!(api.send(&forged).status, 415, "{content_type:?}");
        assert_eq!(api.configuration, before);
    }
}

#[test]
fn a_browser_that_asks_first_is_told_no() {
    let mut api = Api::new();
    let asked = Request {
        authorization: None,
        ..request("OPTIONS", &api.room(), json!({}))
    };
    let told = api.send(&asked);
    assert!(told.status >= 400);
    let read = api.send(&request("GET", &api.room(), json!({})));
    for (name, _) in told.headers.iter().chain(&read.headers) {
        assert!(!name.to_lowercase().starts_with("access-control"), "{name}");
    }
}
