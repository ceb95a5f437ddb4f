//! Attack: bodies so large, or so deep, that the object runs out of memory or stack.
//!
//! Defence: a body has an end, a page, a list and a configuration too; JSON is read to a limited depth.

use anteroom::control::api::{MOST_BODY, Request};
use serde_json::json;

use crate::api::{Api, request, room};

fn status(api: &mut Api, body: Vec<u8>) -> u16 {
    let request = Request {
        body,
        ..request("PATCH", &api.room(), json!({}))
    };
    api.send(&request).status
}

#[test]
fn a_body_has_an_end() {
    let mut api = Api::new();
    let long = format!("{{\"description\":\"{}\"}}", "x".repeat(MOST_BODY));
    assert_eq!(status(&mut api, long.into_bytes()), 413);
}

#[test]
fn a_page_has_an_end() {
    let mut api = Api::new();
    let page = |bytes: usize| json!({ "custom_page_html": "x".repeat(bytes) }).to_string();
    assert_eq!(status(&mut api, page(1_048_576).into_bytes()), 200);
    assert_eq!(status(&mut api, page(1_048_577).into_bytes()), 400);
}

#[test]
fn all_pages_together_have_an_end() {
    let mut api = Api::new();
    let statuses: Vec<u16> = (0..12)
        .map(|n| {
            let mut body = room();
            (body["name"], body["path"]) = (json!(format!("r{n}")), json!(format!("/{n}")));
            body["custom_page_html"] = json!(format!("{n}{}", "x".repeat(1_000_000)));
            api.send(&request("POST", crate::api::ROOMS, body)).status
        })
        .collect();
    assert!(
        statuses.contains(&200) && statuses.contains(&400),
        "{statuses:?}"
    );
}

#[test]
fn depth_has_an_end() {
    let mut api = Api::new();
    let deep = format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000));
    assert_eq!(status(&mut api, deep.into_bytes()), 400);
}

#[test]
fn what_is_remembered_of_changes_has_an_end() {
    let mut api = Api::new();
    for n in 0..400 {
        let text = format!("{n}{}", "x".repeat(10_000));
        status(
            &mut api,
            json!({ "description": text }).to_string().into_bytes(),
        );
    }
    let stored = serde_json::to_vec(&api.configuration).unwrap();
    assert!(stored.len() < 300_000, "{}", stored.len());
}
