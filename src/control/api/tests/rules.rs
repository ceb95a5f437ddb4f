use super::*;

fn rule(path: &str) -> Value {
    json!({
        "action": "bypass_waiting_room",
        "expression": format!("http.request.uri.path eq \"{path}\""),
    })
}

fn order(rules: &Value) -> Vec<String> {
    let rules = rules.as_array().unwrap().iter();
    let expressions = rules.map(|rule| rule["expression"].as_str().unwrap());
    expressions
        .map(|text| text.split('"').nth(1).unwrap().to_owned())
        .collect()
}

fn id(rules: &Value, n: usize) -> String {
    rules[n]["id"].as_str().unwrap().to_owned()
}

#[test]
fn rules_are_appended_moved_changed_and_removed() {
    let mut api = Api::new();
    let path = format!("{}/rules", created(&mut api));
    assert_eq!(api.ok("GET", &path, None), json!([]));
    api.ok("POST", &path, Some(rule("/a")));
    let three = api.ok("POST", &path, Some(json!([rule("/b"), rule("/c")])));
    assert_eq!(order(&three), ["/a", "/b", "/c"]);
    assert_eq!(
        (&three[0]["version"], &three[0]["enabled"]),
        (&json!("1"), &json!(true))
    );
    let c = format!("{path}/{}", id(&three, 2));
    let a = id(&three, 0);
    for (position, expected) in [
        (json!({ "index": 1 }), ["/c", "/a", "/b"]),
        (json!({ "after": a }), ["/a", "/c", "/b"]),
        (json!({ "before": a }), ["/c", "/a", "/b"]),
        (json!({ "after": "" }), ["/a", "/b", "/c"]),
        (json!({ "before": "" }), ["/c", "/a", "/b"]),
    ] {
        let moved = api.ok("PATCH", &c, Some(json!({ "position": position })));
        assert_eq!(order(&moved), expected);
        assert_eq!(moved[0]["version"], "1", "moving a rule does not change it");
    }
    let changed = api.ok("PATCH", &c, Some(json!({ "enabled": false })));
    assert_eq!(
        (&changed[0]["version"], &changed[0]["enabled"]),
        (&json!("2"), &json!(false))
    );
    for wrong in [
        json!({ "index": 0 }),
        json!({ "index": 9 }),
        json!({ "after": "x" }),
        json!(1),
    ] {
        let (_, pointer, _) = api.fails("PATCH", &c, Some(json!({ "position": wrong })));
        assert_eq!(pointer, "/position");
    }
    assert_eq!(order(&api.ok("DELETE", &c, None)), ["/a", "/b"]);
    assert_eq!(api.fails("DELETE", &c, None).0, 404);
}

#[test]
fn a_list_that_is_put_again_is_no_change() {
    let mut api = Api::new();
    let path = format!("{}/rules", created(&mut api));
    let list = json!([rule("/a"), rule("/b"), rule("/a")]);
    let put = api.ok("PUT", &path, Some(list.clone()));
    let version = api.configuration.version;
    assert_eq!(api.ok("PUT", &path, Some(list)), put);
    assert_eq!(api.ok("PUT", &path, Some(put.clone())), put);
    assert_eq!(api.configuration.version, version);
    let fewer = api.ok("PUT", &path, Some(json!([rule("/c"), rule("/b")])));
    assert_eq!(order(&fewer), ["/c", "/b"]);
    assert_eq!(fewer[1], put[1], "what stays keeps its id");
    assert_eq!(api.ok("PUT", &path, Some(json!([]))), json!([]));
}

#[test]
fn faults_of_rules_are_told_where_they_are() {
    let mut api = Api::new();
    let path = format!("{}/rules", created(&mut api));
    let mut wrong = rule("/a");
    wrong["action"] = json!("block");
    let (_, pointer, message) = api.fails("POST", &path, Some(wrong.clone()));
    assert_eq!(pointer, "/action", "{message}");
    let (_, pointer, _) = api.fails("PUT", &path, Some(json!([rule("/a"), wrong.clone()])));
    assert_eq!(pointer, "/1/action");
    api.ok("POST", &path, Some(rule("/a")));
    let (_, pointer, _) = api.fails("POST", &path, Some(json!([rule("/b"), wrong])));
    assert_eq!(pointer, "/1/action");
    let (_, pointer, _) = api.fails("POST", &path, Some(json!([1])));
    assert_eq!(pointer, "/0");
}
