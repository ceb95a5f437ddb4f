//! Attack: a foreign page posts to the room's leave endpoint and so takes the visitor's place away
//! (cross-site request forgery).
//!
//! Defence: leaving is a POST from a page of the same origin.

use anteroom::gate::intent::{Intent, classify, is_same_origin};

#[test]
fn another_site_cannot_leave_for_the_visitor() {
    for fields in [
        &[
            ("Sec-Fetch-Site", "cross-site"),
            ("Origin", "https://evil.example"),
        ][..],
        &[
            ("Sec-Fetch-Site", "same-site"),
            ("Origin", "https://blog.shop.example"),
        ],
        &[("Origin", "https://evil.example")],
        &[("Origin", "https://shop.example.evil.example")],
        &[("Origin", "null")],
    ] {
        let header = |name: &str| {
            fields
                .iter()
                .find(|(field, _)| *field == name)
                .map(|(_, value)| (*value).to_owned())
        };
        assert_eq!(classify("POST", "/.anteroom/leave", &header), Intent::Leave);
        assert!(
            !is_same_origin("https://shop.example", &header),
            "{fields:?}"
        );
    }
}

#[test]
fn a_link_or_an_image_does_not_leave() {
    for method in ["GET", "HEAD"] {
        assert_ne!(
            classify(method, "/.anteroom/leave", &|_| None),
            Intent::Leave,
            "{method}"
        );
    }
}
