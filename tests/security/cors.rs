//! Attack: a page of a foreign origin reads what a room answers to the visitor's browser.
//!
//! Defence: an origin is granted access when the room lists exactly it, and never by a wildcard.

use anteroom::gate::cors::Cors;

fn allowed() -> Vec<String> {
    // `null` as a careless operator might list it.
    ["https://app.example.com", "http://localhost:8080", "null"]
        .map(String::from)
        .to_vec()
}

fn names_of(origin: &str) -> String {
    let allowed = allowed();
    let cors = Cors::new(&allowed, Some(origin));
    let fields = [cors.answer(), cors.preflight("GET", Some("x"))].concat();
    fields
        .iter()
        .map(|(name, value)| format!("{name}: {value}\n"))
        .collect()
}

#[test]
fn the_listed_origin_is_echoed_with_credentials() {
    let fields = names_of("https://app.example.com");
    assert!(fields.contains("Access-Control-Allow-Origin: https://app.example.com\n"));
    assert!(fields.contains("Access-Control-Allow-Credentials: true\n"));
    assert!(fields.contains("Vary: Origin\n"));
    assert!(!fields.contains('*'));
}

#[test]
fn what_only_looks_like_it_is_granted_nothing() {
    for origin in [
        "null",
        "",
        "*",
        "https://app.example.com.evil.example",
        "https://evil-app.example.com",
        "https://evil.example/https://app.example.com",
        "https://app.example.com:443",
        "https://app.example.com:8443",
        "https://app.example.com/",
        "https://APP.example.com",
        "http://app.example.com",
        "https://app.example.com, https://evil.example",
        "https://app.example.com ",
        "https://app.example.com\u{0}",
        "https://app.examplexcom",
        "https://user@app.example.com",
        "http://localhost",
    ] {
        assert!(
            !names_of(origin).contains("Access-Control-Allow"),
            "{origin}"
        );
    }
}

#[test]
fn a_preflight_writes_no_header_of_the_attacker_s() {
    let allowed = allowed();
    let cors = Cors::new(&allowed, Some("https://app.example.com"));
    for injected in ["x\r\nSet-Cookie: a=b", "x\nx", "x: y", "*", "x,*", "x\u{0}"] {
        let fields = cors.preflight(injected, Some(injected));
        assert!(
            fields.iter().all(|(_, value)| !value.contains(injected)),
            "{injected:?}"
        );
    }
}
