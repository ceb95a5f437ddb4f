use super::*;
use crate::cache::purge::What;

const NOW: Instant = Instant::from_secs(1_800_000_000);
const URL: &str = "https://a.test/";

fn entry() -> Entry {
    Entry {
        url: URL.into(),
        status: 200,
        fields: Fields::default(),
        received: NOW,
        initial_age: Span::from_secs(10),
        told_age: Span::from_secs(10),
        lifetime: Span::from_secs(60),
        stale_while_revalidate: Span::from_secs(20),
        stale_if_error: Span::from_secs(40),
        strict: false,
        always_validate: false,
        open: false,
    }
}

fn listening() -> CacheSettings {
    CacheSettings {
        cache: true,
        honor_request_cache_control: true,
        ..CacheSettings::default()
    }
}

#[test]
fn only_what_a_cache_can_answer_comes_to_it() {
    let mut settings = CacheSettings {
        cache: true,
        bypass_cookies: vec!["session".into()],
        ..CacheSettings::default()
    };
    let goes_by = |method: &str, fields, settings: &CacheSettings| {
        Asked::new(method, URL, fields, settings).goes_by()
    };
    for method in ["POST", "PUT", "OPTIONS", "get", "PURGE"] {
        let fields = Fields::default();
        assert_eq!(
            goes_by(method, fields, &settings),
            Some(GoesBy::Method),
            "{method}"
        );
    }
    for (name, value, expected) in [
        ("cookie", "a=1; session=x", Some(GoesBy::Bypass)),
        ("cookie", "sessions=x; a=session", None),
        ("upgrade", "websocket", Some(GoesBy::Bypass)),
        ("if-match", "\"a\"", Some(GoesBy::Bypass)),
        ("if-none-match", "\"a\"", None),
        ("range", "bytes=0-1", None),
    ] {
        let fields = Fields::from([(name, value)]);
        assert_eq!(
            goes_by("GET", fields, &settings),
            expected,
            "{name}: {value}"
        );
    }
    settings.cache = false;
    assert_eq!(
        goes_by("GET", Fields::default(), &settings),
        Some(GoesBy::Bypass)
    );
}

#[test]
fn a_stored_answer_is_fresh_then_stale_then_of_no_use() {
    let settings = CacheSettings::default();
    let asked = Asked::new("GET", URL, Fields::default(), &settings);
    let entry = entry();
    let strict = Entry {
        strict: true,
        ..entry.clone()
    };
    let purges = Purges::default();
    for (later, of_entry, of_strict, on_error) in [
        (49, Use::Serve, Use::Serve, true),
        (50, Use::ServeAndRenew, Use::Stale, true),
        (69, Use::ServeAndRenew, Use::Stale, true),
        (70, Use::Stale, Use::Stale, true),
        (90, Use::Stale, Use::Stale, false),
    ] {
        let now = NOW + Span::from_secs(later);
        assert_eq!(asked.judge(&entry, &purges, now), of_entry, "{later}");
        assert_eq!(asked.judge(&strict, &purges, now), of_strict, "{later}");
        assert_eq!(
            asked.may_serve_on_error(&entry, &purges, now),
            on_error,
            "{later}"
        );
        assert!(!asked.may_serve_on_error(&strict, &purges, now));
    }
    let mut purges = Purges::default();
    purges.add([What::File(URL.into())], NOW);
    assert_eq!(asked.judge(&entry, &purges, NOW), Use::Miss);
    assert!(
        !asked.may_serve_on_error(&entry, &purges, NOW),
        "purged is gone"
    );
    let other = Asked::new("GET", "https://b.test/", Fields::default(), &settings);
    assert_eq!(other.judge(&entry, &Purges::default(), NOW), Use::Miss);
}

#[test]
fn what_a_request_wants_of_caches_counts_where_it_is_listened_to() {
    let deaf = CacheSettings::default();
    let listening = listening();
    for (control, later, expected) in [
        ("no-cache", 0, Use::Request),
        ("max-age=0", 0, Use::Request),
        ("max-age=9", 0, Use::Request),
        ("max-age=10", 0, Use::Serve),
        ("min-fresh=50", 0, Use::Serve),
        ("min-fresh=51", 0, Use::Request),
        ("no-store", 0, Use::Miss),
        ("max-stale", 10_000, Use::Serve),
        ("max-stale=100", 150, Use::Serve),
        ("max-stale=100", 151, Use::Stale),
        ("max-stale=x", 151, Use::Stale),
    ] {
        let fields = Fields::from([("cache-control", control)]);
        let now = NOW + Span::from_secs(later);
        let judge = |settings| {
            Asked::new("GET", URL, fields.clone(), settings).judge(
                &entry(),
                &Purges::default(),
                now,
            )
        };
        assert_eq!(judge(&listening), expected, "{control}");
        let as_ever = if later == 0 { Use::Serve } else { Use::Stale };
        assert_eq!(judge(&deaf), as_ever, "{control}");
    }
    let pragma = Fields::from([("pragma", "no-cache")]);
    let asked = Asked::new("GET", URL, pragma, &listening);
    assert_eq!(asked.judge(&entry(), &Purges::default(), NOW), Use::Request);
    let strict = Entry {
        strict: true,
        ..entry()
    };
    let stale = Asked::new(
        "GET",
        URL,
        Fields::from([("cache-control", "max-stale")]),
        &listening,
    );
    let now = NOW + Span::from_secs(60);
    assert_eq!(stale.judge(&strict, &Purges::default(), now), Use::Stale);
}

#[test]
fn a_range_is_cut_where_it_is_one() {
    let settings = CacheSettings::default();
    for (range, is_one) in [
        ("bytes=0-1", true),
        ("bytes=5-", true),
        ("bytes=-5", true),
        ("bytes=-", false),
        ("bytes=0-1,3-4", false),
        ("lines=0-1", false),
        ("bytes=a-b", false),
        ("bytes 0-1", false),
    ] {
        let fields = Fields::from([("range", range)]);
        let asked = Asked::new("GET", URL, fields.clone(), &settings);
        assert_eq!(asked.range().is_some(), is_one, "{range}");
        assert_eq!(Asked::new("HEAD", URL, fields, &settings).range(), None);
    }
}
