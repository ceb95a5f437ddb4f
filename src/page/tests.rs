use std::fs;
use std::path::Path;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::json;
use sha2::{Digest, Sha256};

use super::facts::{Event, State};
use super::language::{all, choose, language};
use super::*;
use crate::site::room::QueueingMethod;
use crate::time::{Instant, Span};

/// The largest page in bytes, whatever the language and state.
const SIZE_LIMIT: usize = 20_000;

fn room(custom: Option<&str>) -> Room {
    let room = json!({
        "id": "0123456789abcdef0123456789abcdef",
        "name": "shop",
        "description": "",
        "routes": [{"host": "example.com", "path": "/"}],
        "path_case_sensitive": true,
        "cookie": {
            "name": "__cfwaitingroom", "domain": null, "path": "/",
            "samesite": "auto", "secure": "auto",
        },
        "total_active_users": 2,
        "new_users_per_minute": 2,
        "session_duration_seconds": 300,
        "disable_session_renewal": false,
        "drain_over_limit": false,
        "queue_all": false,
        "queueing_method": "fifo",
        "queue_full_after_minutes": 1440,
        "queueing_status_code": 200,
        "custom_page_html": custom,
        "default_template_language": "en-US",
        "json_response_enabled": true,
        "suspended": false,
        "revoke_enabled": false,
        "fail_mode": "closed",
        "allowed_origins": [],
        "bind_pass": "none",
        "first_pass": "auto",
        "origin_assertion": false,
        "strip_cookie": false,
        "poll_far_seconds": 20,
        "relay_above": 800,
        "relay_shards": 1,
        "poll_near_seconds": 2,
    });
    serde_json::from_value(room).unwrap()
}

fn default_page(facts: &Facts, tag: &str) -> String {
    Pages::new([]).render(&room(None), facts, language(tag).unwrap(), "/leave")
}

#[test]
fn a_shared_page_is_the_one_that_would_be_written() {
    // The last shows the time in a way that its source does not name.
    let customs = [
        "{{state}}{{notice}}",
        "{{lastUpdated}}",
        "{{lookup this (lookup this \"x\")}}{{#each this}}{{this}}{{/each}}",
    ];
    let pages = Pages::new([("a", customs[0]), ("b", customs[1]), ("c", customs[2])]);
    for room in [None, Some("a"), Some("b"), Some("c")].map(room) {
        for language in ["en-US", "ar-EG"].map(|tag| language(tag).unwrap()) {
            for (n, facts) in (0..).zip(samples::all().iter().cycle().take(40)) {
                let event = facts.event.clone();
                let facts = Facts {
                    last_updated: Instant::from_secs(1_600_000_000 + n),
                    event: event.map(|event| Event {
                        now: event.now + Span::from_millis(n * 333),
                        ..event
                    }),
                    ..facts.clone()
                };
                let page = pages.page(&room, &facts, language, "/leave");
                assert_eq!(*page, *pages.render(&room, &facts, language, "/leave"));
                let is_alike = facts.position.is_none()
                    && facts.number.is_none()
                    && facts.state != State::Prequeueing;
                let shares = matches!(room.custom_page_html.as_deref(), None | Some("a"));
                assert_eq!(matches!(page, Body::Shared(_)), is_alike && shares);
            }
        }
    }
}

/// What stands between two marks of the page.
fn between<'a>(page: &'a str, start: &str, end: &str) -> &'a str {
    let (_, rest) = page
        .split_once(start)
        .unwrap_or_else(|| panic!("no {start}"));
    rest.split_once(end).unwrap().0
}

#[test]
fn the_default_page_is_small_and_whole_in_every_language_and_state() {
    let pages = Pages::new([]);
    for language in all() {
        for facts in samples::all() {
            let page = pages.render(&room(None), &facts, language, "/leave");
            let name = format!("{} {:?}", language.tag, facts.state);
            assert!(page.len() < SIZE_LIMIT, "{name}: {} bytes", page.len());
            assert!(
                !page.contains("{{") && page.ends_with("</html>\n"),
                "{name}"
            );
            assert!(
                page.contains(&format!("<html lang=\"{}\"", language.tag)),
                "{name}"
            );
        }
    }
}

#[test]
fn the_default_page_loads_nothing() {
    let page = default_page(&samples::queueing(), "en-US");
    for reference in [
        "src=",
        "url(",
        "@import",
        "http-equiv",
        "http://",
        "https://",
    ] {
        let outside = page.replace("http://www.w3.org/2000/svg", "");
        assert!(!outside.contains(reference), "{reference}");
    }
    assert_eq!(page.matches("href=").count(), 1);
    assert!(page.contains("href=\"data:image/svg+xml,"));
}

#[test]
fn the_policy_allows_exactly_what_the_page_has() {
    let page = default_page(&samples::queueing(), "ar-EG");
    let hash = |text: &str| format!("'sha256-{}'", BASE64_STANDARD.encode(Sha256::digest(text)));
    let style = hash(between(&page, "<style>", "</style>"));
    let script = hash(between(&page, "<script>", "</script>"));
    let policy = format!(
        "default-src 'none'; script-src {script}; style-src {style}; img-src data:; \
         connect-src 'self'; form-action 'self'; base-uri 'none'"
    );
    assert_eq!(content_security_policy(SameSite::None), policy);
    for samesite in [SameSite::Auto, SameSite::Lax, SameSite::Strict] {
        let expected = format!("{policy}; frame-ancestors 'self'");
        assert_eq!(content_security_policy(samesite), expected);
    }
    // What a policy by hash forbids.
    assert_eq!(page.matches("<style").count(), 1);
    assert_eq!(page.matches("<script").count(), 2);
    for inline in [" style=", " onclick", " onload", " onerror", "javascript:"] {
        assert!(!page.contains(inline), "{inline}");
    }
}

#[test]
fn states_show_what_goes_with_them() {
    let page = |state: State| {
        let facts = samples::all()
            .into_iter()
            .find(|facts| facts.state == state)
            .unwrap();
        default_page(&facts, "en-US")
    };
    let shown =
        |page: &str, id: &str| !between(page, &format!("id=\"{id}\""), ">").contains("hidden");
    for (state, heading, place, leave, refresh) in [
        (State::Joining, "Joining the line", false, false, true),
        (State::Queueing, "You are in line", true, true, true),
        (State::Called, "It is your turn", true, true, true),
        (State::QueueAll, "You are in line", true, true, true),
        (State::Prequeueing, "Starting soon", false, true, true),
        (State::Full, "The line is full", false, false, true),
        (State::Rejecting, "Closed right now", false, false, false),
        (State::Unavailable, "One moment, please", true, true, true),
        (State::Left, "You have left the line", false, false, false),
    ] {
        let page = page(state);
        assert_eq!(between(&page, "<h1 id=\"heading\">", "</h1>"), heading);
        for (id, expected) in [
            ("place", place),
            ("keep", leave),
            ("leave", leave),
            ("fresh", refresh),
        ] {
            assert_eq!(shown(&page, id), expected, "{id} in {state:?}");
        }
        let prequeueing = state == State::Prequeueing;
        for id in ["event", "lot", "draw"] {
            assert_eq!(shown(&page, id), prequeueing, "{id} in {state:?}");
        }
    }
    let prequeueing = page(State::Prequeueing);
    // Whole minutes, rounded up, for a page without script; the script counts the seconds.
    assert_eq!(
        between(&prequeueing, "id=\"countdown\" class=\"number\" ", "</p>"),
        "data-seconds=\"3901\">about 1 hour 6 minutes"
    );
    assert!(between(&prequeueing, "id=\"lot\">", "</p>").contains("by lot"));
    let drawn = default_page(&samples::drawn(), "en-US");
    for line in ["drawNumber: 1235\n", "drawCount: 900\n", "drawPlace: 1777<"] {
        assert!(
            between(&drawn, "id=\"proof\" dir=\"ltr\">", "/code>").contains(line),
            "{line}"
        );
    }
    let queueing = page(State::Queueing);
    assert_eq!(
        between(&queueing, "<title>", "</title>"),
        "1,235 · You are in line"
    );
    assert_eq!(
        between(&queueing, "id=\"position\" class=\"number\">", "<"),
        "1,235"
    );
    assert_eq!(between(&queueing, "id=\"wait\">", "<"), "about 10 minutes");
    assert_eq!(
        between(&queueing, "method=\"post\" action=\"", "\""),
        "/leave"
    );
    assert_eq!(
        between(&page(State::Called), "<title>", "</title>"),
        "It is your turn"
    );
}

#[test]
fn arabic_is_written_from_right_to_left() {
    let page = default_page(&samples::queueing(), "ar-EG");
    assert!(page.contains("<html lang=\"ar-EG\" dir=\"rtl\">"));
    assert_eq!(
        between(&page, "id=\"position\" class=\"number\">", "<"),
        "١٬٢٣٥"
    );
    assert_eq!(between(&page, "id=\"wait\">", "<"), "حوالي ١٠ دقائق");
}

#[test]
fn the_texts_of_the_script_are_json_and_cannot_end_it() {
    for language in all() {
        let page = default_page(&samples::queueing(), language.tag);
        let texts = between(&page, "id=\"texts\">", "</script>");
        assert!(!texts.contains(['<', '>', '&']));
        let texts: Value = serde_json::from_str(texts).unwrap();
        assert_eq!(texts["called"]["heading"], language.texts.called.heading);
        assert_eq!(texts["hoursAndMinutes"], language.texts.hours_and_minutes);
    }
}

/// Every text that the script names is there.
#[test]
fn the_script_asks_for_texts_that_exist() {
    let page = default_page(&samples::queueing(), "en-US");
    let texts: Value = serde_json::from_str(between(&page, "id=\"texts\">", "</script>")).unwrap();
    let script = between(&page, "<script>", "</script>");
    let asked: Vec<&str> = script
        .split("texts.")
        .skip(1)
        .filter_map(|rest| rest.split(|c: char| !c.is_ascii_alphanumeric()).next())
        .collect();
    assert!(asked.len() > 10);
    for name in asked {
        assert!(texts.get(name).is_some(), "{name}");
    }
}

#[test]
fn a_leave_url_cannot_break_out_of_any_page() {
    let evil = "/x\"'><script>alert(1)</script>`\\\n{{heading}}";
    let custom = "<a href='{{{leaveUrl}}}'><script>var u = '{{{leaveUrl}}}';</script>";
    let pages = Pages::new([("raw.html", custom)]);
    for room in [room(None), room(Some("raw.html"))] {
        let page = pages.render(
            &room,
            &samples::queueing(),
            language("en-US").unwrap(),
            evil,
        );
        assert!(!page.contains("<script>alert"));
        assert!(
            page.contains(
                "/x%22%27%3E%3Cscript%3Ealert(1)%3C/script%3E%60%5C%0A%7B%7Bheading%7D%7D"
            )
        );
    }
}

#[test]
fn starter_templates_render_in_every_state() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("templates");
    for name in [
        "languages-by-path.html",
        "languages-by-subdomain.html",
        "minimal.html",
    ] {
        let source = fs::read_to_string(folder.join(name)).unwrap();
        let pages = Pages::new([(name, source.as_str())]);
        assert!(!pages.is_default(&room(Some(name))), "{name}");
        for facts in samples::all() {
            let language = choose("example.com", "/de/", None, "en-US");
            let page = pages.render(&room(Some(name)), &facts, language, "/leave");
            let title = between(&source, "<title>", "</title>").replace(
                "{{heading}}",
                match facts.state {
                    State::Joining => "Sie werden eingereiht",
                    State::Queueing if facts.queueing_method == QueueingMethod::Random => {
                        "Sie warten auf die Auslosung"
                    }
                    State::Queueing | State::QueueAll => "Sie sind in der Warteschlange",
                    State::Called => "Sie sind an der Reihe",
                    State::Prequeueing => "Es geht bald los",
                    State::Full => "Die Warteschlange ist voll",
                    State::Rejecting => "Zurzeit geschlossen",
                    State::Unavailable => "Einen Moment bitte",
                    State::Left => "Sie haben die Warteschlange verlassen",
                },
            );
            assert_eq!(between(&page, "<title>", "</title>"), title, "{name}");
            assert!(!page.contains("{{"), "{name}");
        }
    }
}

#[test]
fn a_custom_page_has_variables_in_its_script() {
    let source = "<script>var k = {{waitTimeKnown}}, w = {{waitTime}}, p = {{position}};</script>";
    let pages = Pages::new([("own.html", source)]);
    let render = |facts: &Facts| {
        pages.render(
            &room(Some("own.html")),
            facts,
            language("en-US").unwrap(),
            "/leave",
        )
    };
    assert_eq!(
        render(&samples::queueing()),
        "<script>var k = true, w = 10, p = 1235;</script>"
    );
    assert_eq!(
        render(&samples::all()[0]),
        "<script>var k = false, w = 0, p = 0;</script>"
    );
}

#[test]
fn a_custom_page_that_fails_is_replaced_by_the_default_one() {
    let fails_late = "{{#positionKnown}}{{eq position}}{{/positionKnown}}";
    let pages = Pages::new([("late.html", fails_late), ("never.html", "{{#x}}")]);
    let default = default_page(&samples::queueing(), "en-US");
    for name in ["late.html", "never.html", "missing.html"] {
        let room = room(Some(name));
        let page = pages.render(
            &room,
            &samples::queueing(),
            language("en-US").unwrap(),
            "/leave",
        );
        assert_eq!(page, default, "{name}");
    }
    assert!(pages.is_default(&room(Some("never.html"))));
    assert!(pages.is_default(&room(None)));
}

/// Writes pages to look at into the folder that `ANTEROOM_PAGES` names, and tells what one costs.
#[test]
#[ignore = "writes files; run by hand"]
fn write_pages_to_look_at() {
    let folder = std::env::var("ANTEROOM_PAGES").unwrap();
    let started = std::time::Instant::now();
    let pages = Pages::new([]);
    println!("compiled in {:?}", started.elapsed());
    for language in all() {
        for (n, facts) in samples::all().iter().enumerate() {
            let page = pages.render(&room(None), facts, language, "/leave");
            let state = format!("{:?}", facts.state).to_lowercase();
            fs::write(format!("{folder}/{}-{n}-{state}.html", language.tag), page).unwrap();
        }
    }
    let (room, facts, language) = (room(None), samples::queueing(), language("en-US").unwrap());
    let started = std::time::Instant::now();
    let rounds = 20_000;
    let bytes: usize = (0..rounds)
        .map(|_| pages.render(&room, &facts, language, "/leave").len())
        .sum();
    let each = started.elapsed() / rounds;
    let started = std::time::Instant::now();
    let polled: usize = (0..rounds)
        .map(|_| json::poll(&facts, "/leave", false).len())
        .sum();
    let poll = started.elapsed() / rounds;
    let (rounds, page_bytes) = (rounds as usize, bytes / rounds as usize);
    println!(
        "page: {each:?}, {page_bytes} bytes; poll: {poll:?}, {} bytes",
        polled / rounds
    );
}
