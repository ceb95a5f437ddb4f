use proptest::prelude::*;

use super::*;
use crate::page::language::language;
use crate::page::names::{Type, VARIABLES};
use crate::page::samples;

fn english(facts: &Facts) -> Map<String, Value> {
    variables(facts, "/leave", language("en-US").unwrap())
}

#[test]
fn variables_are_the_listed_ones() {
    let variables = english(&samples::queueing());
    let mut listed: Vec<&str> = VARIABLES.iter().map(|(name, _)| *name).collect();
    listed.sort_unstable();
    let mut written: Vec<&str> = variables.keys().map(String::as_str).collect();
    written.sort_unstable();
    assert_eq!(written, listed);
}

#[test]
fn variables_have_their_type_in_every_state() {
    for facts in samples::all() {
        for (name, value) in english(&facts) {
            let (_, expected) = VARIABLES
                .iter()
                .find(|(listed, _)| *listed == name)
                .unwrap();
            let fits = match expected {
                Type::Boolean => value.is_boolean(),
                Type::Integer => value.is_u64(),
                Type::Text => value.is_string(),
            };
            assert!(fits, "{name} is {value} in {:?}", facts.state);
        }
    }
}

#[test]
fn docs_have_every_variable_with_its_type() {
    let docs = include_str!("../../../docs/waiting-page.md");
    let rows: Vec<(&str, &str)> = docs
        .lines()
        .filter_map(|line| {
            let mut cells = line.strip_prefix("| `")?.split('|');
            let name = cells.next()?.trim().trim_end_matches('`');
            Some((name, cells.next()?.trim()))
        })
        .filter(|(_, kind)| ["boolean", "integer", "text"].contains(kind))
        .collect();
    let listed: Vec<(&str, &str)> = VARIABLES
        .iter()
        .map(|(name, kind)| match kind {
            Type::Boolean => (*name, "boolean"),
            Type::Integer => (*name, "integer"),
            Type::Text => (*name, "text"),
        })
        .collect();
    assert_eq!(rows, listed);
}

#[test]
fn an_uncertain_wait_is_told_as_a_range_and_a_certain_one_as_a_number() {
    let with = |likely, range| {
        let mut facts = samples::queueing();
        facts.wait_minutes = Some(likely);
        facts.wait_range = Some(range);
        let told = english(&facts);
        let text = told["waitTimeText"].as_str().unwrap().to_owned();
        (
            text,
            told["waitTimeLow"].clone(),
            told["waitTimeHigh"].clone(),
        )
    };
    let told = |text: &str, low: u32, high: u32| (text.to_owned(), low.into(), high.into());
    assert_eq!(with(10, [8, 14]), told("8 minutes to 14 minutes", 8, 14));
    assert_eq!(
        with(10, [9, 11]),
        told("about 10 minutes", 9, 11),
        "whole minutes"
    );
    assert_eq!(with(60, [55, 66]), told("about 1 hour", 55, 66), "a sixth");
    assert_eq!(
        with(60, [40, 90]),
        told("40 minutes to 1 hour 30 minutes", 40, 90)
    );
    assert_eq!(
        with(2, [3, 3]),
        told("about 2 minutes", 2, 3),
        "the likely one lies within"
    );
}

#[test]
fn waits_are_formatted_as_cloudflare_does() {
    let with = |minutes| {
        let mut facts = samples::queueing();
        facts.wait_minutes = minutes;
        facts.wait_range = None;
        english(&facts)
    };
    for (minutes, expected) in [
        (None, "unavailable"),
        (Some(1), "1 minute"),
        (Some(10), "10 minutes"),
        (Some(60), "1 hour"),
        (Some(125), "2 hours 5 minutes"),
        (Some(1440), "24 hours"),
        (Some(1441), "24 hours 1 minute"),
    ] {
        assert_eq!(with(minutes)["waitTimeFormatted"], expected);
    }
    assert_eq!(with(Some(125))["waitTimeHours"], 2);
    assert_eq!(with(Some(125))["waitTimeHourMinutes"], 5);
    assert_eq!(with(Some(1440))["waitTimeText"], "about 24 hours");
    assert_eq!(
        with(Some(1441))["queueIsFull"],
        false,
        "who is in line stays"
    );
    assert_eq!(with(Some(1441))["waitTimeText"], "more than a day");
}

#[test]
fn a_full_line_says_so_and_offers_no_place() {
    let full = samples::all()
        .into_iter()
        .find(|facts| facts.state == State::Full);
    let variables = english(&full.unwrap());
    assert_eq!(variables["queueIsFull"], true);
    assert_eq!(variables["waitTimeKnown"], false);
    assert_eq!(variables["waitTimeText"], "");
    assert_eq!(variables["refreshIntervalSeconds"], 20);
}

#[test]
fn random_order_tells_a_range_and_no_place() {
    let variables = english(&samples::drawing());
    assert_eq!(variables["isRandomQueue"], true);
    assert_eq!(variables["queueingMethod"], "random");
    assert_eq!(variables["waitTime"], 10);
    for (name, minutes) in [("25", 5), ("50", 10), ("75", 65)] {
        assert_eq!(variables[&format!("waitTime{name}Percentile")], minutes);
    }
    assert_eq!(
        variables["waitTimeFormatted"],
        "5 minutes to 1 hour 5 minutes"
    );
    assert_eq!(variables["waitTimeText"], "5 minutes to 1 hour 5 minutes");
    assert_eq!(variables["heading"], "You are waiting to be drawn");
    for name in ["positionKnown", "usersAheadKnown", "progressKnown"] {
        assert_eq!(variables[name], false, "{name}");
    }
    assert_eq!(variables["leaveUrl"], "/leave");
}

#[test]
fn queue_all_tells_no_wait() {
    let mut facts = samples::queueing();
    facts.state = State::QueueAll;
    let variables = english(&facts);
    assert_eq!(variables["waitTimeKnown"], false);
    assert_eq!(variables["waitTime"], 0);
    assert_eq!(variables["queueAll"], true);
}

#[test]
fn only_who_has_a_place_can_leave() {
    for facts in samples::all() {
        let expected = match facts.state {
            State::Joining | State::Full | State::Rejecting | State::Left => "",
            _ => "/leave",
        };
        assert_eq!(english(&facts)["leaveUrl"], expected, "{:?}", facts.state);
    }
}

#[test]
fn the_next_in_line_reads_so() {
    let mut facts = samples::queueing();
    facts.users_ahead = Some(0);
    assert_eq!(english(&facts)["usersAheadText"], "You are next.");
}

#[test]
fn paths_are_made_safe() {
    for (path, expected) in [
        ("/shop/_leave?a=b&c=%20", "/shop/_leave?a=b&c=%20"),
        ("/a\"b'c<d>`\\\n é", "/a%22b%27c%3Cd%3E%60%5C%0A%20%C3%A9"),
        ("//evil.example", ""),
        ("/\\evil.example", ""),
        ("javascript:alert(1)", ""),
        ("", ""),
    ] {
        assert_eq!(safe_path(path), expected);
    }
}

proptest! {
    #[test]
    fn no_path_leaves_a_string_or_tag(path in "/.{0,40}") {
        let safe = safe_path(&path);
        let harmful = ['"', '\'', '`', '<', '>', '\\', '{', '#', ' ', '\n', '\r'];
        prop_assert!(!safe.contains(harmful));
        prop_assert!(safe.is_ascii());
    }
}
