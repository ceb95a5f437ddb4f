//! Attack: whoever may write a room's texts, but not its page, puts script into what visitors see.
//!
//! Defence: texts are escaped wherever a page has them in two braces: in the text, in an attribute, in
//! a string of a script. Names are words.

use anteroom::page::template::{Engine, Template};
use serde_json::json;

use crate::api::{Api, request};

const PAGE: &str = concat!(
    "<p title='{{message}}' class={{message}}>{{message}}</p>",
    "<script>var a = \"{{message}}\"; var b = '{{message}}' + '{{message}}';</script>",
);

#[test]
fn a_text_stays_a_text_wherever_it_stands() {
    let mut engine = Engine::new();
    engine.insert("page", Template::compile(PAGE).unwrap());
    for attack in [
        "</p><script>alert(1)</script>",
        "</script><script>alert(1)</script>",
        "'-alert(1)-'",
        "\";alert(1);//",
        "\\",
        "+alert(1)//\\",
        "a\u{2028}alert(1)",
        "x onmouseover=alert(1)",
        "`${alert(1)}`",
        "<!--<script>",
    ] {
        let page = engine.render("page", json!({ "message": attack })).unwrap();
        let around = PAGE.replace("{{message}}", "");
        // None of the characters with which a text ends is there more often than in the template.
        for end in ['<', '>', '"', '\'', '`', '\\', '\u{2028}', '\u{2029}'] {
            let count = |text: &str| text.matches(end).count();
            assert_eq!(count(&page), count(&around), "{attack:?} {end:?}: {page}");
        }
        assert_eq!(
            page.matches('=').count(),
            around.matches('=').count(),
            "{page}"
        );
    }
}

#[test]
fn a_name_is_a_word() {
    let mut api = Api::new();
    for name in ["<script>", "a b", "a\"b", "{{message}}", "a'b", ""] {
        let path = api.room();
        let status = api
            .send(&request("PATCH", &path, json!({ "name": name })))
            .status;
        assert_eq!(status, 400, "{name}");
        let event = json!({
            "name": name, "event_start_time": "2035-11-26T09:00:00Z",
            "event_end_time": "2035-11-26T12:00:00Z",
        });
        let path = format!("{path}/events");
        assert_eq!(
            api.send(&request("POST", &path, event)).status,
            400,
            "{name}"
        );
    }
}

#[test]
fn a_message_has_one_line() {
    let mut api = Api::new();
    let path = api.room();
    for message in ["a\nb", "a\u{0}b", "a\u{85}b"] {
        let body = json!({ "queue_all_message": message });
        assert_eq!(
            api.send(&request("PATCH", &path, body)).status,
            400,
            "{message:?}"
        );
    }
}

/// A template cannot read files or run helpers.
#[test]
fn a_template_is_a_template_and_no_more() {
    let mut api = Api::new();
    let path = api.room();
    for page in [
        "{{> /etc/passwd}}",
        "{{#each this}}{{@root}}",
        "{{lookup this \"a\"",
    ] {
        let body = json!({ "custom_page_html": page });
        assert_eq!(
            api.send(&request("PATCH", &path, body)).status,
            400,
            "{page}"
        );
    }
}
