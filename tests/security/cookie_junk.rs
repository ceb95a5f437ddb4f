//! Attack: a Cookie header full of junk, from a neighbouring host or a broken proxy, that should
//! crash the gate, hide the visitor's place or open the door.
//!
//! Defence: the header is read leniently to a limit, and each cookie of the right name is tried.

use anteroom::gate::cookie::candidates;
use anteroom::gate::token::Token;

use crate::support::{NOW, admitted, keys, room};

const NAME: &str = "__cfwaitingroom";

/// What the gate does: the first candidate that verifies wins.
fn read(header: &str) -> Option<Token> {
    candidates(header, NAME).find_map(|text| keys().verify(&room('a'), text, None, NOW).ok())
}

#[test]
fn junk_hides_no_pass() {
    let pass = keys().sign(&room('a'), &admitted());
    let ours = format!("{NAME}={pass}");
    let of_other_room = format!("{NAME}={}", keys().sign(&room('b'), &admitted()));
    for header in [
        ours.clone(),
        format!("{NAME}=; {ours}"),
        format!("{NAME}=junk; {NAME}=a.b.c; {ours}; {NAME}=junk"),
        format!("{of_other_room}; {ours}"),
        format!("%; =; ;;; \u{0}\u{7f}; a=\"; {ours}"),
        format!("{NAME}=%E0%A4%A; {ours}"),
        format!("a=1, {NAME}={}, {ours}", "x".repeat(5000)),
        format!("{}; {ours}", "a=b; ".repeat(10_000)),
        format!("{}{ours}", format!("{NAME}=junk; ").repeat(7)),
    ] {
        assert_eq!(
            read(&header),
            Some(admitted()),
            "{}",
            header.get(..80).unwrap_or(&header)
        );
    }
}

#[test]
fn junk_is_no_pass() {
    let pass = keys().sign(&room('a'), &admitted());
    for header in [
        String::new(),
        NAME.to_owned(),
        format!("{NAME}="),
        format!("{NAME}={pass}x"),
        format!("x{NAME}={pass}"),
        format!("{NAME}_a={pass}"),
        format!("{NAME}={}", pass.replace('.', "%2E")),
        format!("{NAME}={pass}").to_uppercase(),
    ] {
        assert_eq!(read(&header), None, "{header}");
    }
}

#[test]
fn work_is_bounded() {
    let many = format!("{NAME}=junk; ").repeat(100_000);
    assert_eq!(candidates(&many, NAME).count(), 8);
    let far = format!("{}; {NAME}=x", "a".repeat(10_000_000));
    assert_eq!(
        candidates(&far, NAME).count(),
        0,
        "what is beyond any real header is not read"
    );
}
