//! Queries of URLs.

use percent_encoding::percent_decode_str;
use serde_json::{Value, json};

use super::envelope::{Refusal, Success};
use crate::room::figures::query::Window;
use crate::site::moment::Moment;
use crate::time::{Instant, Span};

/// The pairs of a query, decoded as a form's.
pub(super) fn pairs(query: &str) -> impl Iterator<Item = (String, String)> {
    let decoded = |text: &str| {
        let spaced = text.replace('+', " ");
        percent_decode_str(&spaced).decode_utf8_lossy().into_owned()
    };
    let parts = query.split('&').filter(|part| !part.is_empty());
    parts.map(move |part| {
        let (name, value) = part.split_once('=').unwrap_or((part, ""));
        (decoded(name), decoded(value))
    })
}

/// One page of a list.
pub(super) fn page(all: Vec<Value>, query: &str) -> Result<Success, Refusal> {
    page_of(all, query, 25, 5)
}

/// The same, of `usual` items unless the query says otherwise, which must be a multiple of `step`.
pub(super) fn page_of(
    all: Vec<Value>,
    query: &str,
    usual: usize,
    step: usize,
) -> Result<Success, Refusal> {
    let page = number(query, "page", 1)?;
    let per_page = number(query, "per_page", usual)?;
    if page == 0 {
        return Err(wrong("page must be 1 or more"));
    }
    if !per_page.is_multiple_of(step) || !(step..=1000).contains(&per_page) {
        let message = format!("per_page must be a multiple of {step}, from {step} to 1000");
        return Err(wrong(&message));
    }
    let total = all.len();
    let skipped = (page - 1).saturating_mul(per_page);
    let shown: Vec<Value> = all.into_iter().skip(skipped).take(per_page).collect();
    let info = json!({
        "page": page, "per_page": per_page, "count": shown.len(), "total_count": total,
        "total_pages": total.div_ceil(per_page),
    });
    Ok(Success {
        info: Some(info),
        ..Success::of(Value::Array(shown))
    })
}

/// The window of a series: `since` and `until` in ISO 8601, `step` in seconds.
pub(super) fn window(query: &str, now: Instant) -> Result<Window, Refusal> {
    let given = |name: &str| {
        let found = pairs(query).find(|(found, _)| found == name);
        found.map(|(_, text)| text)
    };
    let moment = |name: &str| {
        let text = given(name);
        let read =
            |text: String| Moment::parse(&text).map(|at| Instant::from_millis(at.as_millis()));
        let message = format!("{name} must be a point in time, as 2027-11-26T09:00:00Z");
        text.map(|text| read(text).ok_or_else(|| wrong(&message)))
            .transpose()
    };
    let step = given("step").map(|text| {
        let seconds = text.parse::<u32>().ok();
        let step = seconds.map(|seconds| Span::from_secs(seconds.into()));
        step.ok_or_else(|| wrong("step must be a number of seconds"))
    });
    Window::new(moment("since")?, moment("until")?, step.transpose()?, now)
        .map_err(|fault| wrong(&fault.to_string()))
}

fn number(query: &str, name: &str, default: usize) -> Result<usize, Refusal> {
    match pairs(query).find(|(found, _)| found == name) {
        None => Ok(default),
        Some((_, text)) => text
            .parse::<u32>()
            .ok()
            .and_then(|number| usize::try_from(number).ok())
            .ok_or_else(|| wrong(&format!("{name} must be a whole number"))),
    }
}

fn wrong(message: &str) -> Refusal {
    Refusal::new(400, 1002, message)
}
