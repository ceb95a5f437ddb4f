//! How many of a line will have been reached after how long, as the room tells its edges.

use serde::{Deserialize, Serialize};

use crate::time::Span;

/// A point of the forecast, which is a rising line that begins at nobody and now.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Reach(
    /// Seconds from when the snapshot was taken.
    pub u32,
    /// So many of those who now stand in line will have been called by then, or have left.
    pub u32,
);

/// When the first `people` of a line will have been reached; none if the forecast says nothing.
pub fn reaches(forecast: &[Reach], people: u64) -> Option<Span> {
    let people = people as f64;
    let index = forecast.partition_point(|point| f64::from(point.1) < people);
    let point = |index: usize| {
        let point = forecast.get(index);
        point.map(|point| (f64::from(point.0), f64::from(point.1)))
    };
    // Beyond the last point the line goes on.
    let index = index.min(forecast.len().checked_sub(1)?);
    let (to, reached) = point(index)?;
    let (from, before) = index.checked_sub(1).map_or(Some((0.0, 0.0)), point)?;
    let seconds = from + (to - from) * (people - before) / (reached - before);
    (seconds.is_finite() && seconds >= 0.0).then(|| Span::from_millis((seconds * 1000.0) as u64))
}
