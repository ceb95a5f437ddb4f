use std::cell::RefCell;

use super::*;

type Fields = &'static [(&'static str, &'static str)];

fn reader(fields: Fields) -> impl Fn(&str) -> Option<String> {
    move |name| {
        let found = fields
            .iter()
            .find(|(field, _)| field.eq_ignore_ascii_case(name));
        found.map(|(_, value)| (*value).to_owned())
    }
}

fn intent(method: &str, fields: Fields) -> Intent {
    classify(method, "/shop", &reader(fields))
}

const PAGE: &str = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";
const URLENCODED: &str = "application/x-www-form-urlencoded";

#[test]
fn requests_are_told_apart() {
    let cases: &[(&str, Fields, Intent)] = &[
        // Opening a page: by a browser of today, by one of before, by curl.
        (
            "GET",
            &[("Sec-Fetch-Mode", "navigate"), ("Accept", PAGE)],
            Intent::Navigation,
        ),
        ("GET", &[("Accept", PAGE)], Intent::Navigation),
        ("GET", &[("Accept", "*/*")], Intent::Navigation),
        ("GET", &[], Intent::Navigation),
        // Scripts, parts of a page, programs.
        (
            "GET",
            &[("Sec-Fetch-Mode", "cors"), ("Accept", "*/*")],
            Intent::Api,
        ),
        (
            "GET",
            &[("Sec-Fetch-Mode", "no-cors"), ("Accept", "image/*")],
            Intent::Api,
        ),
        ("GET", &[("Accept", "application/json, */*")], Intent::Api),
        (
            "GET",
            &[("Accept", PAGE), ("X-Requested-With", "XMLHttpRequest")],
            Intent::Api,
        ),
        // Forms.
        ("POST", &[("Sec-Fetch-Mode", "navigate")], Intent::Form),
        (
            "POST",
            &[("Content-Type", URLENCODED), ("Accept", PAGE)],
            Intent::Form,
        ),
        (
            "POST",
            &[
                ("Content-Type", "Multipart/Form-Data; boundary=x"),
                ("Accept", PAGE),
            ],
            Intent::Form,
        ),
        (
            "POST",
            &[("Content-Type", URLENCODED), ("Accept", "*/*")],
            Intent::Api,
        ),
        (
            "POST",
            &[("Content-Type", "application/json"), ("Accept", PAGE)],
            Intent::Api,
        ),
        (
            "POST",
            &[("Sec-Fetch-Mode", "cors"), ("Content-Type", URLENCODED)],
            Intent::Api,
        ),
        ("POST", &[], Intent::Api),
        ("PUT", &[("Content-Type", "text/plain")], Intent::Api),
        ("DELETE", &[], Intent::Api),
        ("PROPFIND", &[], Intent::Api),
        // What takes no place.
        ("HEAD", &[("Sec-Fetch-Mode", "navigate")], Intent::Head),
        ("OPTIONS", &[], Intent::Options),
        (
            "OPTIONS",
            &[("Origin", "https://a.example")],
            Intent::Options,
        ),
        (
            "OPTIONS",
            &[("Access-Control-Request-Method", "PUT")],
            Intent::Options,
        ),
        (
            "OPTIONS",
            &[
                ("Origin", "https://a.example"),
                ("Access-Control-Request-Method", "PUT"),
            ],
            Intent::Preflight,
        ),
        (
            "OPTIONS",
            &[
                ("Origin", "https://a.example"),
                ("Access-Control-Request-Method", "GET"),
                ("Anteroom-Poll", "1"),
            ],
            Intent::Preflight,
        ),
        (
            "GET",
            &[("Sec-Purpose", "prefetch"), ("Sec-Fetch-Mode", "navigate")],
            Intent::Prefetch,
        ),
        (
            "GET",
            &[("Sec-Purpose", "prefetch;prerender")],
            Intent::Prefetch,
        ),
        ("GET", &[("Purpose", "prefetch")], Intent::Prefetch),
        ("GET", &[("X-Moz", "prefetch")], Intent::Prefetch),
        ("HEAD", &[("Purpose", "Prefetch")], Intent::Prefetch),
        ("GET", &[("Sec-Purpose", "prefetched")], Intent::Navigation),
        // WebSockets.
        (
            "GET",
            &[("Upgrade", "websocket"), ("Sec-Fetch-Mode", "websocket")],
            Intent::WebSocket,
        ),
        ("GET", &[("Upgrade", "h2c, WebSocket")], Intent::WebSocket),
        ("GET", &[("Upgrade", "h2c")], Intent::Navigation),
        ("POST", &[("Upgrade", "websocket")], Intent::Api),
        // Polls.
        (
            "GET",
            &[("Anteroom-Poll", "1"), ("Sec-Fetch-Mode", "cors")],
            Intent::Poll,
        ),
        ("POST", &[("Anteroom-Poll", "1")], Intent::Poll),
        ("GET", &[("Anteroom-Poll", "0")], Intent::Navigation),
    ];
    for (method, fields, expected) in cases {
        assert_eq!(intent(method, fields), *expected, "{method} {fields:?}");
    }
}

#[test]
fn leaving_is_a_post_to_a_path_of_its_own() {
    let none = reader(&[]);
    for (method, path, expected) in [
        ("POST", "/.anteroom/leave", Intent::Leave),
        ("POST", "/shop/.anteroom/leave", Intent::Leave),
        ("GET", "/shop/.anteroom/leave", Intent::Navigation),
        ("POST", "/shop/.anteroom/leave/x", Intent::Api),
        ("POST", "/shop/x.anteroom/leave", Intent::Api),
    ] {
        assert_eq!(classify(method, path, &none), expected, "{method} {path}");
    }
}

#[test]
fn what_counts_is_what_a_visitor_does() {
    let quiet = [
        Intent::Leave,
        Intent::Preflight,
        Intent::Options,
        Intent::Prefetch,
        Intent::WebSocket,
        Intent::Head,
    ];
    assert!(quiet.into_iter().all(|intent| !intent.counts()));
    let counted = [Intent::Poll, Intent::Navigation, Intent::Form, Intent::Api];
    assert!(counted.into_iter().all(Intent::counts));
}

#[test]
fn another_site_is_noticed() {
    let own = "https://shop.example";
    let cases: &[(Fields, bool)] = &[
        (&[], true),
        (&[("Sec-Fetch-Site", "same-origin")], true),
        (&[("Sec-Fetch-Site", "none")], true),
        (
            &[
                ("Sec-Fetch-Site", "same-site"),
                ("Origin", "https://shop.example"),
            ],
            false,
        ),
        (&[("Sec-Fetch-Site", "cross-site")], false),
        (&[("Origin", "https://shop.example")], true),
        (&[("Origin", "https://shop.example:8443")], false),
        (&[("Origin", "null")], false),
    ];
    for (fields, expected) in cases {
        assert_eq!(
            is_same_origin(own, &reader(fields)),
            *expected,
            "{fields:?}"
        );
    }
}

#[test]
fn a_frame_of_another_site_is_embedded() {
    let cases: &[(Fields, bool)] = &[
        (&[], false),
        (
            &[
                ("Sec-Fetch-Site", "cross-site"),
                ("Sec-Fetch-Dest", "iframe"),
            ],
            true,
        ),
        (
            &[
                ("Sec-Fetch-Site", "cross-site"),
                ("Sec-Fetch-Dest", "empty"),
            ],
            true,
        ),
        (
            &[
                ("Sec-Fetch-Site", "cross-site"),
                ("Sec-Fetch-Dest", "document"),
            ],
            false,
        ),
        (
            &[
                ("Sec-Fetch-Site", "same-site"),
                ("Sec-Fetch-Dest", "iframe"),
            ],
            false,
        ),
        (
            &[
                ("Sec-Fetch-Site", "same-origin"),
                ("Sec-Fetch-Dest", "iframe"),
            ],
            false,
        ),
    ];
    for (fields, expected) in cases {
        assert_eq!(is_embedded(&reader(fields)), *expected, "{fields:?}");
    }
}

#[test]
fn little_is_read() {
    let read = RefCell::new(Vec::new());
    let header = |name: &str| {
        read.borrow_mut().push(name.to_owned());
        (name == POLL).then(|| "1".to_owned())
    };
    assert_eq!(classify("GET", "/shop", &header), Intent::Poll);
    assert_eq!(
        classify("POST", "/shop/.anteroom/leave", &header),
        Intent::Leave
    );
    assert_eq!(*read.borrow(), [POLL]);
}
