//! Rules as they are declared, and `docs/rules.md`, which describes the language there is.
#![cfg(not(target_arch = "wasm32"))]
// clippy.toml allows these in tests, but does not know the functions that tests share.
#![allow(clippy::indexing_slicing, clippy::unwrap_used)]

mod common;

use std::collections::BTreeSet;

use anteroom::rules::{
    FIELDS, FUNCTIONS, Facts, Need, OLD_NAMES, REFUSED_FIELDS, REFUSED_FUNCTIONS, Target, Verdict,
};
use anteroom::site::room::Site;
use common::{faults, only, room, site};
use serde_json::{Value, json};

const PAGE: &str = include_str!("../docs/rules.md");

fn rule(expression: &str) -> Value {
    json!({ "action": "bypass_waiting_room", "expression": expression })
}

/// The faults of one room's rules, without their common prefix.
fn of_rules(rules: Value) -> String {
    let declared = room("a", "example.com", json!({ "rules": rules }));
    let lists = json!([{ "name": "office", "items": ["192.0.2.0/24"] }]);
    faults(&json!({ "rooms": [declared], "ip_lists": lists })).replace("rooms[0].rules", "")
}

/// The faults of these lists, without their common prefix.
fn of_lists(lists: Value) -> String {
    faults(&json!({ "rooms": [], "ip_lists": lists })).replace("ip_lists", "")
}

#[test]
fn rules_are_read() {
    let office = r#"ip.src in $office"#;
    let site = site(&json!({
        "search_engine_crawler_bypass": true,
        "ip_lists": [{ "name": "office", "description": "d", "items": ["192.0.2.1", "::/64"] }],
        "rooms": [room("a", "example.com", json!({ "rules": [
            rule(office),
            { "action": "bypass_waiting_room", "expression": "ssl", "enabled": false,
              "description": "draft", "id": "0123456789abcdef0123456789abcdef" },
            rule(office),
        ] }))],
    }))
    .unwrap();
    assert!(site.search_engine_crawler_bypass);
    assert_eq!(site.ip_lists[0].items, ["192.0.2.1", "::/64"]);
    let [first, draft, twice] = site.rooms[0].rules.as_slice() else {
        panic!("{:?}", site.rooms[0].rules);
    };
    assert_eq!((first.expression.as_str(), first.enabled), (office, true));
    assert_eq!(
        (draft.description.as_str(), draft.enabled),
        ("draft", false)
    );
    assert_eq!(draft.id, "0123456789abcdef0123456789abcdef");
    assert_ne!(first.id, twice.id);
    assert_eq!(first.id.len(), 32);
}

/// The id is how the API knows a rule: it must not depend on where the rule stands.
#[test]
fn a_rule_keeps_its_id_when_others_come_and_go() {
    let ids = |rules: Value| -> Vec<String> {
        let room = only(room("a", "example.com", json!({ "rules": rules })));
        room.rules.into_iter().map(|rule| rule.id).collect()
    };
    let alone = ids(json!([rule("ssl")]));
    let after = ids(json!([rule("not ssl"), rule("ssl")]));
    assert_eq!(alone[0], after[1]);
}

#[test]
fn faults_of_rules_have_a_place_and_a_column() {
    for (rules, wanted) in [
        (
            json!([rule("ssl and http.hots eq \"a\"")]),
            "[0].expression: column 9: unknown field http.hots; did you mean http.host?",
        ),
        (
            json!([rule("ssl"), rule("ip.src in $offices")]),
            "[1].expression: column 11: there is no list $offices; did you mean $office?",
        ),
        (
            json!([{ "action": "bypass_waiting_room" }]),
            "[0].expression: is required",
        ),
        (json!([{ "expression": "ssl" }]), "[0].action: is required"),
        (
            json!([{ "action": "block", "expression": "ssl" }]),
            "[0].action: must be one of bypass_waiting_room, not \"block\"",
        ),
        (
            json!([{ "action": "bypass_waiting_room", "expression": 5 }]),
            "[0].expression: must be text, not 5",
        ),
        (
            json!([{ "action": "bypass_waiting_room", "expression": "(", "enabled": false }]),
            "[0].expression: column 2: expected a field",
        ),
        (
            json!([{ "action": "bypass_waiting_room", "expression": "ssl", "version": "1" }]),
            "[0].version: is read-only",
        ),
        (
            json!([{ "action": "bypass_waiting_room", "expression": "ssl", "id": "x" }]),
            "[0].id: must be 32 lower-case hexadecimal digits",
        ),
        (json!(vec![rule("ssl"); 101]), ": must be 100 at most"),
    ] {
        let faults = of_rules(rules);
        assert!(faults.starts_with(wanted), "is  {faults}\nnot {wanted}");
        assert_eq!(faults.lines().count(), 1, "{faults}");
    }
}

#[test]
fn faults_of_lists_have_a_place() {
    let list = |name: &str, items: Value| json!({ "name": name, "items": items });
    for (lists, wanted) in [
        (
            json!([list("Office", json!([]))]),
            "[0].name: must be 1 to 50 lower-case",
        ),
        (
            json!([list("a", json!([])), list("a", json!([]))]),
            "[1].name: is also the name",
        ),
        (
            json!([list("a", json!(["192.0.2.1", "192.0.2.1/24"]))]),
            "[0].items[1]: 192.0.2.1 is no network of 24 bits; did you mean 192.0.2.0/24?",
        ),
        (
            json!([list("a", json!(["example.com"]))]),
            "[0].items[0]: expected an IP address",
        ),
        (json!([{ "name": "a" }]), "[0].items: is required"),
        (
            json!([list("a", json!(vec!["::1"; 10_001]))]),
            "[0].items: must be 10000 at most",
        ),
    ] {
        let faults = of_lists(lists);
        assert!(faults.starts_with(wanted), "is  {faults}\nnot {wanted}");
    }
}

/// A request for `/` that has these properties of `request.cf` and this user agent.
struct Asked(&'static [(&'static str, &'static str)], &'static str);

impl Facts for Asked {
    fn target(&self) -> Target<'_> {
        Target {
            https: true,
            host: "example.com",
            authority: "example.com",
            path: "/",
            raw_path: "/",
            query: "",
        }
    }

    fn fields(&self, needs: &[Need]) -> Vec<Option<&str>> {
        let needs = needs.iter().map(|need| match need {
            Need::Platform(_) => None,
            Need::Header(_) => Some(self.1),
            Need::Method => Some("GET"),
        });
        needs.collect()
    }

    fn platform(&self, needs: &[Need]) -> Vec<Option<&str>> {
        let needs = needs.iter().map(|need| match need {
            Need::Platform(path) => {
                let found = self.0.iter().find(|(known, _)| known == path);
                found.map(|(_, value)| *value)
            }
            _ => None,
        });
        needs.collect()
    }

    fn headers(&self) -> Vec<(String, String)> {
        vec![("user-agent".to_owned(), self.1.to_owned())]
    }

    fn now(&self) -> u64 {
        0
    }
}

fn verdict(site: &Site, asked: &Asked) -> Verdict {
    let (ruleset, faults) = site.ruleset(&site.rooms[0], &site.lists());
    assert_eq!(faults, []);
    ruleset.ask(asked)
}

/// By what the platform has verified; whoever calls itself so is not let in.
#[test]
fn crawlers_pass_by_where_the_site_says_so() {
    const AGENT: &str = "Mozilla/5.0 (compatible; Googlebot/2.1; Search Engine Crawler)";
    let crawler = Asked(&[("verifiedBotCategory", "Search Engine Crawler")], AGENT);
    let preview = Asked(&[("verifiedBotCategory", "Page Preview")], AGENT);
    let claims = Asked(&[], AGENT);
    for (setting, expected) in [
        (json!(true), Verdict::Bypass),
        (json!(false), Verdict::Room),
    ] {
        let site = site(&json!({
            "search_engine_crawler_bypass": setting,
            "rooms": [room("a", "example.com", json!({}))],
        }))
        .unwrap();
        assert_eq!(verdict(&site, &crawler), expected);
        assert_eq!(verdict(&site, &preview), Verdict::Room);
        assert_eq!(verdict(&site, &claims), Verdict::Room);
    }
}

#[test]
fn a_disabled_rule_is_not_asked() {
    for (enabled, expected) in [(true, Verdict::Bypass), (false, Verdict::Room)] {
        let mut rule = rule("ssl");
        rule["enabled"] = json!(enabled);
        let rules = json!({ "rules": [rule] });
        let site = site(&json!({ "rooms": [room("a", "example.com", rules)] })).unwrap();
        assert_eq!(verdict(&site, &Asked(&[], "")), expected);
    }
}

/// What was packed before there were rules has none.
#[test]
fn a_site_from_before_rules_is_read() {
    let site = site(&json!({ "rooms": [room("a", "example.com", json!({}))] })).unwrap();
    let mut packed = serde_json::to_value(&site).unwrap();
    let whole = packed.as_object_mut().unwrap();
    whole.remove("ip_lists");
    whole.remove("search_engine_crawler_bypass");
    packed["rooms"][0].as_object_mut().unwrap().remove("rules");
    assert_eq!(serde_json::from_value::<Site>(packed).unwrap(), site);
}

fn column(heading: &str, column: usize) -> Vec<String> {
    let rows = common::table(PAGE, heading).into_iter();
    rows.map(|row| row[column].clone()).collect()
}

#[test]
fn every_field_is_described_with_its_type_and_no_other() {
    let described: BTreeSet<(String, String)> = column("## Fields", 0)
        .into_iter()
        .zip(column("## Fields", 1))
        .collect();
    let known = FIELDS
        .iter()
        .map(|field| (field.name.to_owned(), field.kind.to_string()));
    assert_eq!(described, known.collect());
    for (old, _) in OLD_NAMES {
        assert!(PAGE.contains(&format!("`{old}`")), "{old}");
    }
}

#[test]
fn every_function_is_described_and_no_other() {
    let described: BTreeSet<String> = column("## Functions", 0)
        .iter()
        .filter_map(|call| Some(call.split_once('(')?.0.to_owned()))
        .collect();
    let mut known: BTreeSet<String> = FUNCTIONS.iter().map(|(name, _)| (*name).into()).collect();
    known.extend(["any".to_owned(), "all".to_owned()]);
    assert_eq!(described, known);
}

#[test]
fn everything_that_is_refused_is_described() {
    let (_, part) = PAGE
        .split_once("## What Cloudflare has and this has not")
        .unwrap();
    for (name, _) in REFUSED_FIELDS.iter().chain(REFUSED_FUNCTIONS) {
        assert!(part.contains(&format!("`{name}`")), "{name}");
    }
}

/// The example of the page is a right one.
#[test]
fn the_example_is_valid() {
    let example = PAGE.split("```").nth(1).unwrap().trim_start_matches("toml");
    let example = example.replace("[[rooms.rules]]", "[[rules]]");
    let example: Value = toml::from_str(&example).unwrap();
    let declared = room("a", "example.com", json!({ "rules": example["rules"] }));
    let site = site(&json!({ "rooms": [declared], "ip_lists": example["ip_lists"] })).unwrap();
    assert_eq!(site.rooms[0].rules.len(), 1);
}
