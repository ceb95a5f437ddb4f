use std::time::{Duration, UNIX_EPOCH};

use http_cache_semantics::{CacheOptions, CachePolicy};
use proptest::prelude::*;

use super::*;
use crate::cache::asked::Use;
use crate::cache::purge::Purges;
use crate::gate::header;
use crate::site::cached_host::CacheSettings;

const NOW: Instant = Instant::from_secs(1_800_000_000);
const URL: &str = "https://a.test/";

fn on() -> CacheSettings {
    CacheSettings {
        cache: true,
        ..CacheSettings::default()
    }
}

fn stored(asked: Fields, status: u16, fields: Fields) -> Result<Entry, NotStored> {
    let settings = on();
    let asked = Asked::new("GET", URL, asked, &settings);
    Entry::of(&asked, status, &fields, NOW, NOW)
}

#[test]
fn the_command_of_a_room_is_known_by_its_name() {
    assert_eq!(COMMAND, header::COMMAND.to_ascii_lowercase());
}

#[test]
fn nothing_that_is_for_one_visitor_is_stored() {
    let fresh = ("cache-control", "max-age=60");
    let bearer = || Fields::from([("authorization", "Bearer x")]);
    let asserted = || Fields::from([("anteroom-assertion", "x")]);
    let none = Fields::default;
    for (asked, fields, why) in [
        (
            none(),
            Fields::from([fresh, ("set-cookie", "a=1")]),
            NotStored::SetCookie,
        ),
        (
            none(),
            Fields::from([fresh, ("set-cookie2", "a=1")]),
            NotStored::SetCookie,
        ),
        (
            none(),
            Fields::from([fresh, (COMMAND, "revoke")]),
            NotStored::SetCookie,
        ),
        (
            none(),
            Fields::from([fresh, ("vary", "Accept, Cookie")]),
            NotStored::Vary,
        ),
        (
            none(),
            Fields::from([fresh, ("vary", "*")]),
            NotStored::Vary,
        ),
        (
            none(),
            Fields::from([("cache-control", "max-age=9, Private")]),
            NotStored::Private,
        ),
        (
            none(),
            Fields::from([("cache-control", "private=\"x\", max-age=9")]),
            NotStored::Private,
        ),
        (
            none(),
            Fields::from([("cache-control", "max-age=9, No-Store")]),
            NotStored::NoStore,
        ),
        (
            none(),
            Fields::from([fresh, ("cdn-cache-control", "no-store")]),
            NotStored::NoStore,
        ),
        (bearer(), Fields::from([fresh]), NotStored::Authorization),
        (asserted(), Fields::from([fresh]), NotStored::Authorization),
        (none(), Fields::default(), NotStored::NoFreshness),
        (
            none(),
            Fields::from([("cache-control", "public")]),
            NotStored::NoFreshness,
        ),
        (
            none(),
            Fields::from([("cache-control", "max-age=0")]),
            NotStored::NoFreshness,
        ),
    ] {
        assert_eq!(stored(asked, 200, fields.clone()), Err(why), "{fields:?}");
    }
    for open in [
        "public, max-age=9",
        "s-maxage=9",
        "must-revalidate, max-age=9",
    ] {
        let fields = Fields::from([("cache-control", open)]);
        assert!(stored(bearer(), 200, fields).is_ok(), "{open}");
    }
    let understood = Fields::from([("cache-control", "max-age=9, must-understand")]);
    assert_eq!(
        stored(none(), 599, understood.clone()),
        Err(NotStored::Status)
    );
    assert!(stored(none(), 404, understood).is_ok());
    for status in [100, 101, 199, 206, 304, 600, 999] {
        let fields = Fields::from([fresh]);
        assert_eq!(
            stored(none(), status, fields),
            Err(NotStored::Status),
            "{status}"
        );
    }
}

#[test]
fn what_is_served_to_nobody_in_particular_is_not_served_to_who_says_who_they_are() {
    let entry = stored(
        Fields::default(),
        200,
        Fields::from([("cache-control", "max-age=60")]),
    );
    let settings = on();
    let asked = |fields| Asked::new("GET", URL, fields, &settings);
    let judge = |fields| asked(fields).judge(entry.as_ref().unwrap(), &Purges::default(), NOW);
    assert_eq!(judge(Fields::default()), Use::Serve);
    assert_eq!(judge(Fields::from([("authorization", "x")])), Use::Miss);
}

#[test]
fn silence_is_read_as_the_operator_says_but_not_about_a_visitors_own_page() {
    let settings = CacheSettings {
        default_ttl_seconds: Some(60),
        ..on()
    };
    let lifetime = |asked: Fields, status, fields: Fields| {
        let asked = Asked::new("GET", URL, asked, &settings);
        Entry::of(&asked, status, &fields, NOW, NOW).map(|entry| entry.lifetime.as_secs())
    };
    let none = Fields::default;
    assert_eq!(lifetime(none(), 200, none()), Ok(60));
    assert_eq!(lifetime(none(), 404, none()), Ok(60));
    assert_eq!(lifetime(none(), 500, none()), Err(NotStored::NoFreshness));
    let cookie = Fields::from([("cookie", "a=1")]);
    assert_eq!(
        lifetime(cookie.clone(), 200, none()),
        Err(NotStored::NoFreshness)
    );
    let said = Fields::from([("cache-control", "max-age=5")]);
    assert_eq!(lifetime(cookie, 200, said), Ok(5));
}

#[test]
fn a_guess_is_a_tenth_of_the_time_since_the_last_change() {
    let settings = CacheSettings {
        heuristic_freshness: true,
        default_ttl_seconds: Some(7),
        ..on()
    };
    let asked = Asked::new("GET", URL, Fields::default(), &settings);
    let lifetime = |status, control: &str, modified: u64| {
        let modified = date::write(NOW - Span::from_secs(modified));
        let fields = [
            ("last-modified", modified.as_str()),
            ("cache-control", control),
        ];
        let entry = Entry::of(&asked, status, &Fields::from(fields), NOW, NOW);
        entry.map(|entry| entry.lifetime.as_secs())
    };
    assert_eq!(lifetime(200, "", 1_000), Ok(100));
    assert_eq!(lifetime(200, "", 100_000_000), Ok(LONGEST_GUESS.as_secs()));
    assert_eq!(lifetime(200, "max-age=3", 1_000), Ok(3));
    assert_eq!(lifetime(502, "", 1_000), Err(NotStored::NoFreshness));
    assert_eq!(lifetime(502, "public", 1_000), Ok(100));
    let silent = Entry::of(&asked, 200, &Fields::default(), NOW, NOW);
    assert_eq!(silent.map(|entry| entry.lifetime.as_secs()), Ok(7));
}

#[test]
fn lifetimes_by_their_precedence() {
    let date = "Fri, 15 Jan 2027 08:00:00 GMT";
    let later = "Fri, 15 Jan 2027 08:00:30 GMT";
    let earlier = "Fri, 15 Jan 2027 07:00:00 GMT";
    for (fields, expected) in [
        (vec![("cache-control", "max-age=5, s-maxage=9")], 9),
        (vec![("cache-control", "max-age=5"), ("expires", later)], 5),
        (vec![("date", date), ("expires", later)], 30),
        (
            vec![("date", date), ("expires", earlier), ("etag", "\"a\"")],
            0,
        ),
        (vec![("date", date), ("expires", "0"), ("etag", "\"a\"")], 0),
        (
            vec![
                ("cdn-cache-control", "max-age=7"),
                ("cache-control", "max-age=5"),
            ],
            7,
        ),
        (vec![("cache-control", "no-cache"), ("etag", "\"a\"")], 0),
        (vec![("cache-control", "max-age=x"), ("etag", "\"a\"")], 0),
    ] {
        let all: Fields = fields
            .iter()
            .map(|(n, v)| ((*n).into(), (*v).into()))
            .collect();
        let entry = stored(Fields::default(), 200, all).unwrap();
        assert_eq!(entry.lifetime.as_secs(), expected, "{fields:?}");
    }
}

#[test]
fn the_age_is_what_caches_and_clocks_say_and_unreadable_is_old() {
    let settings = on();
    let asked = Asked::new("GET", URL, Fields::default(), &settings);
    let age = |age: Option<&str>, date: Option<&str>| {
        let mut fields = Fields::from([("cache-control", "max-age=60"), ("etag", "\"a\"")]);
        age.map(|age| fields.set("age", age));
        date.map(|date| fields.set("date", date));
        let received = NOW + Span::from_secs(2);
        let entry = Entry::of(&asked, 200, &fields, NOW, received).unwrap();
        (entry.age(received).as_secs(), entry.told_age.as_secs())
    };
    assert_eq!(age(None, None), (2, 2), "the way took two seconds");
    assert_eq!(age(Some("10"), None), (12, 12));
    assert_eq!(age(Some("10, 99"), None), (12, 12));
    assert_eq!(age(Some("abc"), None).0, UNKNOWN_AGE.as_secs());
    // 2027-01-15T08:00:00Z is NOW.
    let before = "Fri, 15 Jan 2027 07:59:00 GMT";
    assert_eq!(
        age(None, Some(before)),
        (62, 2),
        "a purge goes by caches alone"
    );
    assert_eq!(age(None, Some("Fri, 15 Jan 2027 09:00:00 GMT")), (2, 2));
}

#[test]
fn fields_of_the_connection_and_those_that_need_validation_are_left_out() {
    let fields = Fields::from([
        ("Cache-Control", "max-age=60, no-cache=\"X-Own\""),
        ("Connection", "close, X-Hop"),
        ("X-Hop", "1"),
        ("X-Own", "1"),
        ("X-Kept", "1"),
        ("Age", "0"),
        ("Cache-Status", "upper; hit"),
        ("Transfer-Encoding", "chunked"),
        ("Keep-Alive", "timeout=5"),
    ]);
    let entry = stored(Fields::default(), 200, fields).unwrap();
    let names: Vec<&str> = entry.fields.iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["cache-control", "x-kept"]);
    assert!(entry.is_fresh(NOW), "the names alone need validation");
}

#[test]
fn stale_is_served_only_where_somebody_allows_it_and_nobody_forbids() {
    let settings = CacheSettings {
        stale_if_error_seconds: 5,
        ..on()
    };
    let spans = |control: &str| {
        let asked = Asked::new("GET", URL, Fields::default(), &settings);
        let fields = Fields::from([("cache-control", control)]);
        let entry = Entry::of(&asked, 200, &fields, NOW, NOW).unwrap();
        let spans = (entry.stale_while_revalidate, entry.stale_if_error);
        (spans.0.as_secs(), spans.1.as_secs())
    };
    assert_eq!(spans("max-age=9"), (0, 5), "as the operator says");
    assert_eq!(spans("max-age=9, stale-if-error=7"), (0, 7));
    assert_eq!(spans("max-age=9, stale-if-error=0"), (0, 0));
    assert_eq!(spans("max-age=9, stale-while-revalidate=3"), (3, 5));
    for strict in ["must-revalidate", "proxy-revalidate", "s-maxage=9"] {
        let control = format!("max-age=9, stale-while-revalidate=3, stale-if-error=3, {strict}");
        assert_eq!(spans(&control), (0, 0), "{strict}");
    }
}

fn control() -> impl Strategy<Value = String> {
    let directive = prop_oneof![
        (0..200_u32).prop_map(|n| format!("max-age={n}")),
        (0..200_u32).prop_map(|n| format!("s-maxage={n}")),
        Just("private".to_owned()),
        Just("public".to_owned()),
        Just("no-store".to_owned()),
        Just("no-cache".to_owned()),
        Just("must-revalidate".to_owned()),
    ];
    prop::collection::vec(directive, 0..4).prop_map(|list| {
        // Two of a kind are read in different ways, and both are right.
        let mut kinds: Vec<String> = Vec::new();
        let mut kept = list;
        kept.retain(|directive| {
            let kind = directive.split('=').next().unwrap_or_default().to_owned();
            let is_new = !kinds.contains(&kind);
            kinds.push(kind);
            is_new
        });
        kept.join(", ")
    })
}

proptest! {
    /// Another implementation, the crate http-cache-semantics, agrees: on plain spellings, where it and RFC
    /// 9111 do.
    #[test]
    fn an_independent_judge_agrees(
        control in control(),
        status in prop::sample::select(vec![200_u16, 203, 204, 301, 404, 410]),
        authorized in any::<bool>(),
        age in prop::option::of(0..200_u32),
        later in 0..300_u64,
    ) {
        let mut fields = Fields::default();
        let mut response = http::Response::builder().status(status);
        if !control.is_empty() {
            fields.set("cache-control", control.as_str());
            response = response.header("cache-control", &control);
        }
        if let Some(age) = age {
            fields.set("age", age.to_string());
            response = response.header("age", age);
        }
        let date = date::write(NOW);
        fields.set("date", date.as_str());
        fields.set("etag", "\"a\"");
        let response = response.header("date", date).header("etag", "\"a\"").body(()).unwrap();
        let mut request = http::Request::get(URL);
        let mut asked = Fields::default();
        if authorized {
            asked.set("authorization", "x");
            request = request.header("authorization", "x");
        }
        let request = request.body(()).unwrap();
        let options = CacheOptions { cache_heuristic: 0.0, ..CacheOptions::default() };
        let at = |instant: Instant| UNIX_EPOCH + Duration::from_millis(instant.as_millis());
        let judge = CachePolicy::new_options(&request, &response, at(NOW), options);
        match stored(asked, status, fields) {
            Err(NotStored::NoFreshness) => {
                // The judge stores what it can never use unasked.
                prop_assert!(!judge.is_storable() || judge.time_to_live(at(NOW)).is_zero());
            }
            Err(why) => prop_assert!(!judge.is_storable(), "{why}"),
            Ok(entry) => {
                prop_assert!(judge.is_storable());
                let then = NOW + Span::from_secs(later);
                prop_assert_eq!(entry.age(then).as_secs(), judge.age(at(then)).as_secs());
                prop_assert_eq!(entry.is_fresh(then), !judge.is_stale(at(then)));
            }
        }
    }
}
