//! `docs/numbers.md` and `docs/logs.md` describe what there is, and nothing else.
#![cfg(not(target_arch = "wasm32"))]
// clippy.toml allows these in tests, but does not know the functions that tests share.
#![allow(clippy::indexing_slicing, clippy::unwrap_used)]

mod common;

use std::collections::BTreeSet;
use std::fs;

use anteroom::log::EVENTS;
use anteroom::room::figures::exposition::{HISTOGRAMS, METRICS, UP};
use anteroom::room::figures::point::{BLOBS, DOUBLES};
use anteroom::room::figures::query::Point;
use anteroom::room::figures::tally::Tally;
use anteroom::room::snapshot::Snapshot;
use anteroom::room::status::Status;
use anteroom::time::Instant;
use serde::Serialize;
use serde_json::json;

const NUMBERS: &str = include_str!("../docs/numbers.md");
const LOGS: &str = include_str!("../docs/logs.md");

fn rows(page: &str, heading: &str) -> Vec<Vec<String>> {
    common::table(page, heading)
}

/// The first column.
fn names(page: &str, heading: &str) -> Vec<String> {
    let rows = rows(page, heading).into_iter();
    rows.map(|mut row| row.remove(0)).collect()
}

fn fields(value: &impl Serialize) -> BTreeSet<String> {
    let value = serde_json::to_value(value).unwrap();
    value.as_object().unwrap().keys().cloned().collect()
}

#[test]
fn every_field_of_the_status_is_described() {
    let room = common::only(common::room("a", "example.com", json!({})));
    let status = Status::of(&room, &Snapshot::default());
    let described: BTreeSet<_> = names(NUMBERS, "## Status").into_iter().collect();
    assert_eq!(described, fields(&status));
}

#[test]
fn every_field_of_a_series_is_described() {
    let point = Point::of(Instant::default(), &Tally::default());
    let described: BTreeSet<_> = names(NUMBERS, "## Series").into_iter().collect();
    assert_eq!(described, fields(&point));
}

#[test]
fn every_metric_is_described_with_its_type() {
    let described: BTreeSet<_> = rows(NUMBERS, "## Metrics")
        .into_iter()
        .map(|row| (row[0].clone(), row[1].clone()))
        .collect();
    let kinds = METRICS.iter().map(|metric| (metric.name, metric.kind));
    let histograms = HISTOGRAMS.iter().map(|metric| (metric.name, "histogram"));
    let known: BTreeSet<_> = kinds
        .chain(histograms)
        .chain([(UP, "gauge")])
        .map(|(name, kind)| (name.to_owned(), kind.to_owned()))
        .collect();
    assert_eq!(described, known);
}

/// Columns are told apart by their position alone.
#[test]
fn every_column_is_described_in_its_place() {
    let blobs = (1..).zip(BLOBS).map(|(n, name)| (format!("blob{n}"), name));
    let doubles = (1..).zip(DOUBLES.map(|(name, _)| name));
    let doubles = doubles.map(|(n, name)| (format!("double{n}"), name));
    let known: Vec<_> = blobs
        .chain(doubles)
        .map(|(column, name)| vec![column, name.to_owned()])
        .collect();
    assert_eq!(rows(NUMBERS, "## Analytics Engine"), known);
}

#[test]
fn every_event_of_the_log_is_described_with_its_fields() {
    let described: BTreeSet<_> = names(LOGS, "## Events").into_iter().collect();
    assert_eq!(described, EVENTS.map(String::from).into());
    let listed: BTreeSet<_> = names(LOGS, "## Fields").into_iter().collect();
    let mut used: BTreeSet<String> = rows(LOGS, "## Events")
        .iter()
        .flat_map(|row| row[2].split(", ").map(String::from))
        .filter(|name| name != "none")
        .collect();
    used.insert("event".to_owned());
    assert_eq!(listed, used);
}

/// What is written elsewhere is no line of the documented form.
#[test]
fn one_module_alone_writes_to_the_log() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/worker");
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let text = fs::read_to_string(&path).unwrap();
        let name = path.file_name().unwrap().to_str().unwrap();
        let writes = |call: &str| text.matches(call).count();
        if name != "log.rs" {
            assert_eq!(writes("console_"), 0, "{name}");
        }
        assert_eq!(
            writes("console."),
            writes("(JSON.stringify({ event: \""),
            "{name} writes lines of another form"
        );
    }
}
