//! What is written is read back by another program's parser.

use std::collections::BTreeMap;

use prometheus_parse::{Sample, Scrape, Value};

use super::*;
use crate::room::snapshot::Snapshot;
use crate::room::status::Status;
use crate::time::{Instant, Span};

fn told() -> Totals {
    let mut tally = Tally {
        granted: 12,
        revoked: 3,
        total_active_users: 100,
        ..Tally::default()
    };
    for millis in [500, 1_000, 3_999, 4_000, 100_000_000] {
        tally.waited.record(Span::from_millis(millis));
    }
    let settings = serde_json::json!({
        "name": "a", "host": "a.test", "total_active_users": 100, "new_users_per_minute": 100,
    });
    let site = crate::site::validate(
        &serde_json::json!({ "rooms": [settings] }),
        crate::site::Context {
            names: crate::site::host::Names {
                to_ascii: &|name| Some(name.to_owned()),
                is_public_suffix: &|_| false,
            },
            languages: &["en-US".to_owned()],
        },
    );
    let snapshot = Snapshot {
        active: 7,
        queueing: true,
        ..Snapshot::default()
    };
    Totals {
        status: Status::of(&site.unwrap().rooms[0], &snapshot),
        since: Instant::default(),
        tally,
    }
}

fn scrape(text: &str) -> Scrape {
    Scrape::parse(text.lines().map(|line| Ok(line.to_owned()))).unwrap()
}

fn of<'a>(scrape: &'a Scrape, metric: &str, room: &str) -> &'a Sample {
    let mut samples = scrape
        .samples
        .iter()
        .filter(|sample| sample.metric == metric && sample.labels.get("room") == Some(room));
    samples
        .next()
        .unwrap_or_else(|| panic!("no {metric} of {room}"))
}

#[test]
fn every_metric_of_every_room_is_read_back() {
    let text = write(&[("shop", Some(told())), ("gone", None)]);
    let scrape = scrape(&text);
    assert_eq!(of(&scrape, UP, "shop").value, Value::Gauge(1.0));
    assert_eq!(of(&scrape, UP, "gone").value, Value::Gauge(0.0));
    for metric in &METRICS {
        let sample = of(&scrape, metric.name, "shop");
        let expected = (metric.read)(&told()) as f64;
        match metric.kind {
            "gauge" => assert_eq!(sample.value, Value::Gauge(expected), "{}", metric.name),
            _ => assert_eq!(sample.value, Value::Counter(expected), "{}", metric.name),
        }
        assert!(scrape.docs.contains_key(metric.name), "{}", metric.name);
    }
    assert_eq!(
        of(&scrape, "anteroom_active_users", "shop").value,
        Value::Gauge(7.0)
    );
    let of_gone = scrape
        .samples
        .iter()
        .filter(|sample| sample.labels.get("room") == Some("gone"));
    assert_eq!(of_gone.count(), 1);
}

#[test]
fn buckets_are_cumulative_and_add_up() {
    let text = write(&[("shop", Some(told()))]);
    let scrape = scrape(&text);
    let Value::Histogram(buckets) = &of(&scrape, "anteroom_wait_seconds", "shop").value else {
        panic!("no histogram");
    };
    let counts: BTreeMap<String, f64> = buckets
        .iter()
        .map(|bucket| (bucket.less_than.to_string(), bucket.count))
        .collect();
    assert_eq!(buckets.len(), 18);
    assert_eq!((counts["1"], counts["2"], counts["4"]), (1.0, 2.0, 3.0));
    assert_eq!(
        (counts["8"], counts["65536"], counts["inf"]),
        (4.0, 4.0, 5.0)
    );
    assert!(
        buckets
            .windows(2)
            .all(|pair| pair[0].count <= pair[1].count)
    );
    assert!(text.contains("\nanteroom_wait_seconds_sum{room=\"shop\"} 100009.499\n"));
    assert!(text.contains("\nanteroom_wait_seconds_count{room=\"shop\"} 5\n"));
}

/// <https://prometheus.io/docs/practices/naming/>
#[test]
fn names_follow_the_conventions() {
    for metric in &METRICS {
        let is_counter = metric.kind == "counter";
        assert_eq!(
            metric.name.ends_with("_total"),
            is_counter,
            "{}",
            metric.name
        );
    }
    let names = METRICS.iter().map(|metric| metric.name);
    for name in names.chain(HISTOGRAMS.iter().map(|histogram| histogram.name)) {
        let rest = name.strip_prefix("anteroom_").unwrap();
        assert!(
            rest.bytes()
                .all(|byte| byte == b'_' || byte.is_ascii_lowercase())
        );
    }
}

#[test]
fn the_text_ends_with_a_line_feed_and_labels_are_escaped() {
    assert!(write(&[]).ends_with('\n'));
    assert_eq!(Label("a\\b\"c\nd").to_string(), "a\\\\b\\\"c\\nd");
}
