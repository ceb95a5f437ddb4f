//! The pages that operators read: links lead somewhere, and no header is left out.
#![cfg(not(target_arch = "wasm32"))]
// clippy.toml allows these in tests, but does not know the functions that tests share.
#![allow(clippy::indexing_slicing, clippy::unwrap_used)]

mod common;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use anteroom::gate::answer::Asked;
use anteroom::gate::decision::{Answer, Change, Kind};
use anteroom::gate::header;
use anteroom::gate::intent::Intent;
use anteroom::page::Pages;
use anteroom::page::facts::State;
use anteroom::time::Instant;
use serde_json::json;

const HEADERS: &str = include_str!("../docs/headers.md");

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// The files of a folder with this extension.
fn files(folder: &str, extension: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(root().join(folder)).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    let mut files: Vec<_> = paths
        .filter(|path| path.extension().is_some_and(|has| has == extension))
        .collect();
    files.sort();
    assert!(!files.is_empty(), "no .{extension} in {folder}");
    files
}

/// The targets of a page's inline links that lead to files, fragments cut off.
fn links(page: &Path) -> Vec<String> {
    let text = fs::read_to_string(page).unwrap();
    let targets = text.split("](").skip(1);
    let targets = targets.filter_map(|rest| rest.split(')').next());
    let files = targets.filter(|target| !target.contains("://") && !target.starts_with('#'));
    files
        .map(|target| target.split('#').next().unwrap_or_default().to_owned())
        .collect()
}

#[test]
fn every_link_leads_to_a_file() {
    let mut pages = files("docs", "md");
    pages.extend(files("", "md"));
    let mut broken = Vec::new();
    for page in &pages {
        for target in links(page) {
            if !page.parent().unwrap().join(&target).exists() {
                broken.push(format!("{}: {target}", page.display()));
            }
        }
    }
    assert_eq!(broken, Vec::<String>::new());
}

#[test]
fn the_readme_names_every_page() {
    let linked = links(&root().join("README.md"));
    for page in files("docs", "md") {
        let name = format!("docs/{}", page.file_name().unwrap().to_str().unwrap());
        assert!(linked.contains(&name), "README.md does not link {name}");
    }
}

/// The constants are read from the source, so that a new one is not forgotten.
#[test]
fn every_header_of_ours_is_described() {
    let source = include_str!("../src/gate/header.rs");
    let declared: BTreeSet<String> = source
        .lines()
        .filter(|line| line.starts_with("pub const "))
        .map(|line| line.split('"').nth(1).unwrap().to_owned())
        .collect();
    assert!(declared.contains(header::STATUS));
    let described: BTreeSet<String> = common::table(HEADERS, "## Ours")
        .into_iter()
        .map(|row| row[0].clone())
        .collect();
    assert_eq!(described, declared);
}

/// The status that an answer of this kind carries.
fn status_of(kind: Kind) -> String {
    let room = common::only(common::room("a", "example.com", json!({})));
    let answer = Answer {
        kind,
        cookie: Change::Keep,
        holds: None,
        users_ahead: None,
        notice: None,
        refresh_seconds: 0,
        last_updated: Instant::from_secs(1_767_225_600),
        now: Instant::from_secs(1_767_225_600),
    };
    let asked = Asked {
        intent: Intent::Navigation,
        is_safe: true,
        host: "example.com",
        path: "/",
        leave_url: "/.anteroom/leave",
        accept: None,
        accept_language: None,
        origin: None,
    };
    let written = answer.write(&room, &Pages::new(std::iter::empty()), None, &asked);
    let mut values = written
        .fields
        .iter()
        .filter(|(name, _)| *name == header::STATUS);
    values.next().unwrap().1.to_string()
}

/// What the shell says by itself, as its sources have it.
fn statuses_of_the_shell() -> BTreeSet<String> {
    let mut statuses = BTreeSet::new();
    for file in files("src/worker", "rs") {
        let text = fs::read_to_string(file).unwrap();
        for rest in text.split("(header::STATUS, \"").skip(1) {
            statuses.insert(rest.split('"').next().unwrap().to_owned());
        }
    }
    statuses
}

#[test]
fn every_status_is_described_and_no_other() {
    let kinds = [
        Kind::Waits(State::Joining),
        Kind::Waits(State::Queueing),
        Kind::Waits(State::Called),
        Kind::Waits(State::QueueAll),
        Kind::Waits(State::Prequeueing),
        Kind::Waits(State::Full),
        Kind::Waits(State::Rejecting),
        Kind::Waits(State::Unavailable),
        Kind::Waits(State::Left),
        Kind::MayEnter,
        Kind::Speculative,
        Kind::NoSocket,
        Kind::PostOnly,
        Kind::Ambiguous,
        Kind::Forged,
    ];
    let mut said: BTreeSet<String> = kinds.into_iter().map(status_of).collect();
    let of_the_shell = statuses_of_the_shell();
    assert!(of_the_shell.contains("preflight"), "{of_the_shell:?}");
    said.extend(of_the_shell);
    let described: BTreeSet<String> = common::table(HEADERS, "### Values of `Anteroom-Status`")
        .into_iter()
        .map(|row| row[0].clone())
        .collect();
    assert_eq!(described, said);
}

/// Every call that `openapi.json` describes, and every field of what is sent and answered.
#[test]
fn every_call_and_field_of_the_api_is_described() {
    let page = fs::read_to_string(root().join("docs/api.md")).unwrap();
    let document = fs::read_to_string(root().join("docs/openapi.json")).unwrap();
    let document: serde_json::Value = serde_json::from_str(&document).unwrap();
    for (path, calls) in document["paths"].as_object().unwrap() {
        for method in calls.as_object().unwrap().keys() {
            let call = format!("| `{} {path}` |", method.to_uppercase());
            assert!(method == "parameters" || page.contains(&call), "{call}");
        }
    }
    let parts = [
        ("Room", "## Fields of a room"),
        ("Event", "## Fields of an event"),
        ("Rule", "## Fields of a rule"),
        ("Settings", "## Fields of a rule"),
        ("Status", "## Status"),
    ];
    for (schema, heading) in parts {
        let part = page.split(heading).nth(1).unwrap();
        let part = part.split("\n## ").next().unwrap();
        let fields = &document["components"]["schemas"][schema]["properties"];
        for field in fields.as_object().unwrap().keys() {
            assert!(part.contains(&format!("`{field}`")), "{schema}.{field}");
        }
    }
}
