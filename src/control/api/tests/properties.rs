//! Whatever is sent: what is stored can be published, and what is answered can be sent back.

use proptest::prelude::*;
use proptest::sample::{Index, select, subsequence};

use super::*;

/// Fields with values that are right, that are wrong, and that do not go with others.
fn fields() -> Vec<(&'static str, Vec<Value>)> {
    let page = "<p>{{waitTime}}</p>";
    vec![
        (
            "description",
            vec![json!("x"), json!(""), json!(1), Value::Null],
        ),
        (
            "host",
            vec![
                json!("b.example.com"),
                json!("B.example.com."),
                json!("a b"),
            ],
        ),
        (
            "path",
            vec![json!("/x"), json!("/X/"), json!("x"), json!("/a?b")],
        ),
        (
            "cookie_suffix",
            vec![json!(""), json!("s"), json!("other"), json!(" ")],
        ),
        (
            "cookie_attributes",
            vec![
                json!({}),
                json!({ "samesite": "none", "secure": "never" }),
                json!({ "samesite": "lax" }),
            ],
        ),
        (
            "additional_routes",
            vec![
                json!([]),
                json!([{ "host": "c.example.com" }]),
                json!([{ "path": "/y" }, {}]),
            ],
        ),
        (
            "session_duration",
            vec![json!(1), json!(5), json!(31), json!("5")],
        ),
        ("session_duration_seconds", vec![json!(90), json!(0)]),
        ("session_max_minutes", vec![json!(1), json!(60)]),
        (
            "custom_page_html",
            vec![json!(page), json!(""), json!("{{#x}}")],
        ),
        ("queueing_method", vec![json!("random"), json!("FIFO")]),
        (
            "queue_all_message",
            vec![json!("Back at 3."), json!("a\nb")],
        ),
        ("turnstile_mode", vec![json!("off"), json!("invisible")]),
        ("poll_near_seconds", vec![json!(5), json!(60)]),
        (
            "enabled_origin_commands",
            vec![json!(["revoke"]), json!(["x"])],
        ),
        ("name", vec![json!("sale"), json!("other"), json!("Third")]),
        ("unknown", vec![json!(1)]),
    ]
}

fn body() -> impl Strategy<Value = Value> {
    let chosen = subsequence(fields(), 0..4);
    (chosen, any::<[Index; 4]>()).prop_map(|(chosen, indices)| {
        let chosen = chosen.into_iter().zip(indices);
        let values =
            chosen.map(|((name, values), index)| (name.to_owned(), index.get(&values).clone()));
        Value::Object(values.collect())
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn what_is_answered_can_be_sent_back(
        calls in prop::collection::vec((select(vec!["PUT", "PATCH"]), body()), 1..8),
    ) {
        let mut api = Api::new();
        let path = created(&mut api);
        api.ok("POST", &rooms(), Some(with(sale(), json!({ "name": "other", "path": "/other", "cookie_suffix": "other" }))));
        for (method, more) in calls {
            let body = if method == "PUT" { with(sale(), more) } else { more };
            let before = api.configuration.clone();
            let (status, answer) = api.call(method, &path, Some(body));
            prop_assert!([200, 400].contains(&status), "{answer}");
            if status == 400 {
                prop_assert_eq!(&api.configuration, &before);
            }
            let read = api.ok("GET", &path, None);
            let version = api.configuration.version;
            prop_assert_eq!(&api.ok("PUT", &path, Some(read.clone())), &read);
            prop_assert_eq!(&api.ok("PATCH", &path, Some(read.clone())), &read);
            prop_assert_eq!(api.configuration.version, version);
            let languages = ["en-US".to_owned()];
            let zones = ["example.com".to_owned()];
            let around = Surroundings { zones: &zones, languages: &languages };
            prop_assert!(api.configuration.compile(around).is_ok());
        }
    }
}
