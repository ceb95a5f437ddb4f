//! The table in `docs/routes.md`, row by row, and what holds for all URLs.
#![cfg(not(target_arch = "wasm32"))]
// clippy.toml allows these in tests, but does not know the functions that tests share.
#![allow(clippy::indexing_slicing, clippy::unwrap_used)]

mod common;

use anteroom::gate::route::Routes;
use anteroom::site::room::Site;
use proptest::prelude::*;
use serde_json::{Value, json};

/// Reads rooms as the table writes them.
fn declared(rooms: &str) -> Site {
    let rooms: Vec<Value> = rooms.split(';').map(room).collect();
    common::site(&json!({ "rooms": rooms })).unwrap()
}

fn room(text: &str) -> Value {
    let (name, routes) = text.split_once(": ").unwrap();
    let routes_alone = routes.trim_end_matches(" (any case)");
    let mut pairs = routes_alone.split(", ").map(|route| {
        let (host, path) = route.split_at(route.find('/').unwrap());
        json!({ "host": host, "path": path })
    });
    let first = pairs.next().unwrap();
    common::room(
        name.trim(),
        first["host"].as_str().unwrap(),
        json!({
            "path": first["path"],
            "additional_routes": pairs.collect::<Vec<_>>(),
            "path_case_sensitive": routes == routes_alone,
            "cookie_suffix": name.trim(),
        }),
    )
}

#[test]
fn the_table_holds() {
    let rows = common::table(include_str!("../docs/routes.md"), "## Examples");
    assert!(rows.len() > 60, "{} rows", rows.len());
    for row in rows {
        let site = declared(&row[0]);
        let routes = Routes::new(&site);
        let found = routes.find(&row[1]);
        let covered = found.as_ref().map_or("-".to_owned(), |found| {
            let ambiguous = match (found.is_ambiguous(), found.disputed) {
                (false, false) => "",
                (true, false) => " (ambiguous)",
                (true, true) => " (disputed)",
                (false, true) => panic!("disputed though not ambiguous"),
            };
            format!("{}{ambiguous}", site.rooms[found.room].name)
        });
        assert_eq!(covered, row[2], "{row:?}");
        let path = found.map(|found| String::from_utf8_lossy(found.path()).into_owned());
        assert_eq!(
            path.unwrap_or_default(),
            row.get(3).cloned().unwrap_or_default(),
            "{row:?}"
        );
    }
}

#[test]
fn the_scheme_is_told() {
    let site = declared("a: example.com/");
    let routes = Routes::new(&site);
    assert!(routes.find("https://example.com/").unwrap().https);
    assert!(routes.find("HTTPS://example.com/").unwrap().https);
    assert!(!routes.find("http://example.com/").unwrap().https);
    assert!(routes.find("example.com/").is_none());
    assert!(routes.find("").is_none());
}

#[test]
fn leaving_lies_below_a_covered_path() {
    let site = declared("a: example.com/shop; b: example.com/tickets (any case)");
    let routes = Routes::new(&site);
    let leaves = |url: &str| routes.find(url).map(|found| found.leave);
    assert_eq!(
        leaves("https://example.com/shop/.anteroom/leave"),
        Some(true)
    );
    assert_eq!(
        leaves("https://example.com/shop/x/.anteroom/leave?y"),
        Some(true)
    );
    assert_eq!(
        leaves("https://example.com/Tickets/.anteroom/leave"),
        Some(true)
    );
    assert_eq!(
        leaves("https://example.com/shop/.anteroom/leave/x"),
        Some(false)
    );
    assert_eq!(leaves("https://example.com/shop/.anteroom"), Some(false));
    assert_eq!(
        leaves("https://example.com/shop/x.anteroom/leave"),
        Some(false)
    );
    assert_eq!(leaves("https://example.com/.anteroom/leave"), None);
}

#[test]
fn a_get_outside_the_cookies_path_is_sent_inside() {
    let site = declared("a: example.com/caf\u{e9} x; b: example.com/S (any case); c: example.org/");
    let routes = Routes::new(&site);
    let redirect = |url: &str| routes.find(url).unwrap().redirect();
    let to = |reference: &str| Some(reference.to_owned());
    assert_eq!(site.rooms[0].cookie.path, "/caf%C3%A9%20x");
    assert_eq!(redirect("https://example.com/caf%C3%A9%20x"), None);
    assert_eq!(redirect("https://example.com/caf%C3%A9%20x/%79?q"), None);
    assert_eq!(
        redirect("https://example.com/caf%c3%a9%20x/?q=%20#f"),
        to("/caf%C3%A9%20x/?q=%20")
    );
    assert_eq!(
        redirect("https://example.com//caf%C3%A9%20x/a%zz"),
        to("/caf%C3%A9%20x/a%25zz")
    );
    assert_eq!(
        redirect("https://example.com/caf%C3%A9%20x;v"),
        to("/caf%C3%A9%20x")
    );
    assert_eq!(
        redirect("https://example.com//caf%C3%A9%20x?\r\né"),
        to("/caf%C3%A9%20x?%0D%0A%C3%A9")
    );
    // Ambiguous, and canonically outside.
    assert_eq!(
        redirect("https://example.com/x/..;/caf%C3%A9%20x/..;/y"),
        None
    );
    assert_eq!(redirect("https://example.com/s"), None);
    assert_eq!(redirect("https://example.com/%53/x"), None);
    assert_eq!(redirect("https://example.org//evil.test/"), None);
    assert_eq!(redirect("https://example.org\\evil.test"), to("/evil.test"));
}

#[test]
fn many_rooms_on_many_hosts_are_told_apart() {
    let rooms: Vec<Value> = (0..300)
        .map(|n| {
            let (host, path) = (format!("h{}.example.com", n % 17), format!("/t/{n}"));
            let suffix = n.to_string();
            common::room(
                &format!("r{n}"),
                &host,
                json!({ "path": path, "cookie_suffix": suffix }),
            )
        })
        .collect();
    let site = common::site(&json!({ "rooms": rooms })).unwrap();
    let routes = Routes::new(&site);
    for n in 0..300 {
        let url = format!("https://h{}.example.com/t/{n}/seat", n % 17);
        assert_eq!(routes.find(&url).map(|found| found.room), Some(n));
        let url = format!("https://h{}.example.com/t/{n}", (n + 1) % 17);
        assert!(routes.find(&url).is_none());
    }
}

/// The tail of a URL, made of what matters.
fn tail() -> impl Strategy<Value = String> {
    let pieces = prop::sample::select(vec![
        "/",
        "//",
        "\\",
        "/../",
        "/./",
        "..",
        "%2e",
        "%2F",
        "%5c",
        "%252f",
        "%00",
        ";a",
        "shop",
        "Shop",
        "%73hop",
        "x",
        "caf\u{e9}",
        "caf%C3%A9",
        "evil.test",
        "%",
        "?",
        "?q=//",
        "#",
        "\r\n",
        "\t",
        "@",
        ":",
    ]);
    prop::collection::vec(pieces, 0..10).prop_map(|pieces| pieces.concat())
}

/// Paths that lead to and from `shop` in ways that origins read differently.
fn climbing() -> impl Strategy<Value = String> {
    let pieces = prop::sample::select(vec![
        "/shop",
        "/shop",
        "/shop",
        "/x",
        "/..",
        "/..",
        "/..;a",
        "/%252e%252e",
        "%2f..",
        "%5c..",
        "\\..",
        "/",
        ";a",
        "%00",
        "%2fx",
        "\\x",
        "/%2e.",
    ]);
    prop::collection::vec(pieces, 1..8).prop_map(|pieces| pieces.concat())
}

/// Ways in which origins read a path; each a choice of what splits, what ends a segment, how often
/// to decode and whether empty segments count.
#[derive(Clone, Copy, Debug)]
struct Reader {
    backslash_splits: bool,
    parameters_end: bool,
    nul_ends: bool,
    decodings: usize,
    decode_before_split: bool,
    empty_counts: bool,
}

fn reader() -> impl Strategy<Value = Reader> {
    (
        any::<(bool, bool, bool)>(),
        0..4usize,
        any::<(bool, bool)>(),
    )
        .prop_map(
            |(
                (backslash_splits, parameters_end, nul_ends),
                decodings,
                (decode_before_split, empty_counts),
            )| {
                Reader {
                    backslash_splits,
                    parameters_end,
                    nul_ends,
                    decodings,
                    decode_before_split,
                    empty_counts,
                }
            },
        )
}

impl Reader {
    fn decode(self, bytes: &[u8]) -> Vec<u8> {
        (0..self.decodings).fold(bytes.to_vec(), |bytes, _| {
            percent_encoding::percent_decode(&bytes).collect()
        })
    }

    /// The segments of the path as this reader finds them.
    fn read(self, path: &str) -> Vec<Vec<u8>> {
        let path = path.split(['?', '#']).next().unwrap().as_bytes();
        let path = if self.decode_before_split {
            self.decode(path)
        } else {
            path.to_vec()
        };
        let splits = |byte: &u8| *byte == b'/' || (self.backslash_splits && *byte == b'\\');
        let mut kept: Vec<Vec<u8>> = Vec::new();
        for token in path.split(splits).skip(1) {
            let mut token = if self.decode_before_split {
                token.to_vec()
            } else {
                self.decode(token)
            };
            let ends =
                |byte: &u8| (self.parameters_end && *byte == b';') || (self.nul_ends && *byte == 0);
            token.truncate(token.iter().position(ends).unwrap_or(token.len()));
            // Everybody knows the single-encoded dots of RFC 3986.
            match String::from_utf8_lossy(&token)
                .to_lowercase()
                .replace("%2e", ".")
                .as_str()
            {
                "." => {}
                ".." => drop(kept.pop()),
                "" if !self.empty_counts => {}
                _ => kept.push(token),
            }
        }
        kept.retain(|segment| !segment.is_empty());
        kept
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    #[test]
    fn nothing_in_a_url_panics(url in any::<String>(), tail in any::<String>()) {
        let site = declared("a: example.com/shop; b: example.com/ (any case)");
        let routes = Routes::new(&site);
        for url in [url, format!("https://example.com{tail}"), format!("https://example.com/{tail}")] {
            if let Some(found) = routes.find(&url) {
                found.redirect();
            }
        }
    }

    /// Neither a loop nor a way to another site.
    #[test]
    fn a_redirect_stays_here_and_ends(tail in tail(), any_case: bool) {
        let site = declared(if any_case {
            "a: example.com/shop (any case); b: example.com/caf\u{e9}/x"
        } else {
            "a: example.com/shop, example.com/shop/x/y; b: example.com/; c: example.com/caf\u{e9}/x"
        });
        let routes = Routes::new(&site);
        let url = format!("https://example.com/{tail}");
        if let Some(found) = routes.find(&url) && let Some(reference) = found.redirect() {
            prop_assert!(reference.starts_with('/'));
            let path = reference.split('?').next().unwrap();
            prop_assert!(!path.starts_with("//") && !path.contains('\\'), "{}", reference);
            prop_assert!(reference.bytes().all(|byte| byte.is_ascii_graphic()), "{}", reference);
            let next = format!("https://example.com{reference}");
            let next = routes.find(&next).unwrap();
            prop_assert_eq!(next.redirect(), None);
            if !found.is_ambiguous() {
                prop_assert_eq!(next.room, found.room);
                prop_assert_eq!(next.path(), found.path());
            }
        }
    }

    /// Whatever an origin makes of a path, if it finds the path under a route, so do we.
    #[test]
    fn no_spelling_slips_by(tail in prop_oneof![1 => tail(), 3 => climbing()], reader in reader()) {
        let site = declared("a: example.com/shop");
        let routes = Routes::new(&site);
        let path = if tail.starts_with('/') { tail } else { format!("/{tail}") };
        let read = reader.read(&path);
        if read.first().is_some_and(|segment| segment == b"shop") {
            let url = format!("https://example.com{path}");
            prop_assert!(routes.find(&url).is_some(), "{:?} reads {:?}", reader, read);
        }
    }

    /// Whatever an origin makes of a path, it does not find it under another room's route than we,
    /// unless the path is disputed.
    #[test]
    fn no_pass_of_one_room_opens_another(tail in climbing(), reader in reader()) {
        let site = declared("a: example.com/shop; b: example.com/x (any case)");
        let routes = Routes::new(&site);
        let path = if tail.starts_with('/') { tail } else { format!("/{tail}") };
        let read = reader.read(&path);
        let theirs = read.first().and_then(|segment| match segment.as_slice() {
            b"shop" => Some(0),
            b"x" => Some(1),
            _ => None,
        });
        if let Some(theirs) = theirs {
            let url = format!("https://example.com{path}");
            let found = routes.find(&url).unwrap();
            prop_assert!(found.disputed || found.room == theirs, "{:?} reads {:?}", reader, read);
        }
    }
}
