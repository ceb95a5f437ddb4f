//! Attack: somebody guesses tokens, or uses one that may read to write.
//!
//! Defence: guesses are counted together and soon refused unseen, while whoever has a token goes on;
//! every method but GET needs the scope to write, whatever the path.

use anteroom::control::api::Request;
use serde_json::json;

use crate::api::{Api, READ, ROOMS, request};

#[test]
fn guessing_ends_after_a_few_and_locks_nobody_out() {
    let mut api = Api::new();
    let guess = |n: u32| Request {
        authorization: Some(format!("Bearer write-{n}")),
        ..request("GET", ROOMS, json!({}))
    };
    let statuses: Vec<u16> = (0..500).map(|n| api.send(&guess(n)).status).collect();
    assert!(statuses.iter().all(|status| [401, 429].contains(status)));
    let seen = statuses.iter().filter(|status| **status == 401).count();
    assert!(seen <= 60, "{seen} guesses were answered");
    let limited = api.send(&guess(0));
    assert!(
        limited
            .headers
            .iter()
            .any(|(name, _)| *name == "Retry-After")
    );
    assert_eq!(api.send(&request("GET", ROOMS, json!({}))).status, 200);
}

#[test]
fn a_part_of_a_token_is_none() {
    let mut api = Api::new();
    for wrong in [
        "Bearer ",
        "Bearer",
        "",
        "Bearer write-0123456789abcdef0123456789abcde",
        "Bearer WRITE-0123456789ABCDEF0123456789ABCDEF",
        "Basic write-0123456789abcdef0123456789abcdef",
        "Bearer read",
        "Bearer write",
    ] {
        let authorization = Some(wrong.to_owned());
        let forged = Request {
            authorization,
            ..request("GET", ROOMS, json!({}))
        };
        assert_eq!(api.send(&forged).status, 401, "{wrong:?}");
    }
}

#[test]
fn who_may_read_changes_nothing() {
    let mut api = Api::new();
    let room = api.room();
    let before = api.configuration.clone();
    for (method, path) in [
        ("POST", ROOMS.to_owned()),
        ("PUT", room.clone()),
        ("PATCH", room.clone()),
        ("DELETE", room.clone()),
        ("POST", format!("{room}/events")),
        ("POST", format!("{room}/rules")),
        ("PUT", format!("{room}/rules")),
        ("DELETE", format!("{room}/sessions/7")),
        ("PATCH", format!("{ROOMS}/settings")),
        ("POST", format!("{ROOMS}/preview")),
        // Methods that do not exist, and spellings of those that do.
        ("post", ROOMS.to_owned()),
        ("Get", room.clone()),
        ("HEAD", room.clone()),
    ] {
        let forged = Request {
            authorization: Some(format!("Bearer {READ}")),
            ..request(method, &path, crate::api::room())
        };
        let status = api.send(&forged).status;
        assert!([403, 405].contains(&status), "{method} {path}: {status}");
    }
    assert_eq!(api.configuration, before);
}
