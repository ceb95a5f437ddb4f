use super::*;
use crate::site::cached_host::CacheSettings;

const NOW: Instant = Instant::from_secs(1_800_000_000);
const URL: &str = "https://a.test/";

fn settings() -> CacheSettings {
    CacheSettings {
        cache: true,
        ..CacheSettings::default()
    }
}

fn stored(fields: Fields) -> Entry {
    let settings = settings();
    let asked = Asked::new("GET", URL, Fields::default(), &settings);
    Entry::of(&asked, 200, &fields, NOW, NOW).unwrap()
}

fn tagged() -> Entry {
    stored(Fields::from([
        ("Cache-Control", "max-age=60"),
        ("Date", "Fri, 15 Jan 2027 08:00:00 GMT"),
        ("ETag", "\"a\""),
        ("Last-Modified", "Wed, 01 Jan 2020 00:00:00 GMT"),
        ("Content-Encoding", "gzip"),
        ("X-Old", "1"),
        ("X-Both", "1"),
    ]))
}

#[test]
fn the_origin_is_asked_by_what_is_stored_and_not_by_what_the_visitor_has() {
    let settings = settings();
    let own = Fields::from([("if-none-match", "\"own\""), ("range", "bytes=0-1")]);
    let asked = |method: &str| Asked::new(method, URL, own.clone(), &settings);
    assert_eq!(
        asked("GET").conditions(&tagged()),
        [
            ("if-none-match", Some("\"a\"".to_owned())),
            (
                "if-modified-since",
                Some("Wed, 01 Jan 2020 00:00:00 GMT".to_owned())
            ),
            ("range", None),
            ("if-range", None),
        ]
    );
    assert_eq!(asked("HEAD").conditions(&tagged()), []);
    let plain = stored(Fields::from([("cache-control", "max-age=60")]));
    assert_eq!(asked("GET").conditions(&plain), [], "nothing to ask by");
}

#[test]
fn a_confirmation_replaces_fields_but_not_those_of_the_body() {
    let settings = settings();
    let asked = Asked::new("GET", URL, Fields::default(), &settings);
    let later = NOW + Span::from_secs(100);
    let told = Fields::from([
        ("Cache-Control", "max-age=7"),
        ("Content-Encoding", "br"),
        ("ETag", "W/\"a\""),
        ("X-Both", "2"),
        ("X-New", "2"),
        ("Set-Cookie", "a=1"),
        ("Connection", "X-Hop"),
        ("X-Hop", "1"),
    ]);
    let (entry, why_not) = tagged().confirmed(&asked, &told, later, later);
    assert_eq!(why_not, None);
    let first = |name| entry.fields.first(name);
    assert_eq!(first("cache-control"), Some("max-age=7"));
    assert_eq!(first("content-encoding"), Some("gzip"));
    assert_eq!(first("etag"), Some("\"a\""));
    assert_eq!(
        (first("x-old"), first("x-both"), first("x-new")),
        (Some("1"), Some("2"), Some("2"))
    );
    assert_eq!((first("set-cookie"), first("x-hop")), (None, None));
    assert!(
        entry.is_fresh(later),
        "the old Date does not count any more"
    );
    assert!(!entry.is_fresh(later + Span::from_secs(7)));
}

#[test]
fn a_confirmation_that_takes_the_permission_away_is_served_once() {
    let settings = settings();
    let asked = Asked::new("GET", URL, Fields::default(), &settings);
    let told = Fields::from([("Cache-Control", "private")]);
    let (entry, why_not) = tagged().confirmed(&asked, &told, NOW, NOW);
    assert_eq!(why_not, Some(NotStored::Private));
    assert_eq!(entry.fields.first("cache-control"), Some("private"));
    assert_eq!(entry.fields.first("x-old"), Some("1"));
}

#[test]
fn a_confirmation_of_another_answer_is_none() {
    for (etag, confirms) in [("\"a\"", true), ("W/\"a\"", true), ("\"b\"", false)] {
        let told = Fields::from([("etag", etag)]);
        assert_eq!(tagged().is_confirmed_by(&told), confirms, "{etag}");
    }
    assert!(tagged().is_confirmed_by(&Fields::default()));
}
