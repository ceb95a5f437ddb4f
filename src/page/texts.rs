//! What a language file holds.
//!
//! `build.rs` reads the files with these types and writes them out in their `Debug` form, which is
//! Rust source of the same values: at run time there is nothing to parse. So this file names no
//! other part of the crate, and its types hold nothing whose `Debug` form is not source.

use serde::Deserialize;

/// The texts of the page in one language. `S` is `&'static str` in the Worker.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Texts<S> {
    /// Which way the language is written.
    pub direction: Direction,
    /// The ten digits, from zero.
    pub digits: S,
    /// What stands between groups of three digits.
    pub separator: S,
    /// The least number that is written in groups.
    pub separator_from: u64,
    /// When which form of a counted text is used.
    pub plural: Rules<S>,
    /// The texts of `State::Joining`.
    pub joining: Wording<S>,
    /// The texts of `State::Queueing`.
    pub queueing: Wording<S>,
    /// The texts of `State::Queueing` where whoever is drawn comes in.
    pub drawing: Wording<S>,
    /// The texts of `State::Called`.
    pub called: Wording<S>,
    /// The texts of `State::QueueAll`.
    pub queue_all: Wording<S>,
    /// The texts of `State::Prequeueing`.
    pub prequeueing: Wording<S>,
    /// The texts of `State::Full`.
    pub full: Wording<S>,
    /// The texts of `State::Rejecting`.
    pub rejecting: Wording<S>,
    /// The texts of `State::Unavailable`.
    pub unavailable: Wording<S>,
    /// The texts of `State::Left`.
    pub left: Wording<S>,
    /// `Notice::NothingSent`.
    pub nothing_sent: S,
    /// `Notice::PlaceLapsed`.
    pub place_lapsed: S,
    /// `Notice::SessionOver`.
    pub session_over: S,
    /// Stands above the visitor's number.
    pub position: S,
    /// Nobody is ahead.
    pub next: S,
    /// So many people are ahead.
    pub ahead: Forms<S>,
    /// Stands beside the expected wait.
    pub wait: S,
    /// About `{time}`, in the form that `minutes` and `hours` have.
    pub about: S,
    /// `{from}` one wait `{to}` a longer one.
    pub between: S,
    /// Less than a minute.
    pub moment: S,
    /// So many minutes.
    pub minutes: Forms<S>,
    /// So many hours.
    pub hours: Forms<S>,
    /// `{hours}` and `{minutes}`.
    pub hours_and_minutes: S,
    /// More than 24 hours.
    pub longer_than_a_day: S,
    /// The wait cannot be told.
    pub unknown: S,
    /// Stands beside the time until an event starts.
    pub starts: S,
    /// The places of the pre-queue are drawn.
    pub by_lot: S,
    /// Opens what is needed to check the draw.
    pub draw: S,
    /// Names the progress bar.
    pub progress: S,
    /// What happens when the page is closed: the place is kept for so many minutes.
    pub keep_open: Forms<S>,
    /// The page updates by itself.
    pub refresh: S,
    /// When the page was last updated: `{time}`.
    pub updated: S,
    /// The connection is down.
    pub offline: S,
    /// The button that gives the place up.
    pub leave: S,
}

/// Which way a language is written.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// Left to right.
    Ltr,
    /// Right to left.
    Rtl,
}

/// What the page says in one state.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Wording<S> {
    /// The heading, and the title in the browser's tab.
    pub heading: S,
    /// One to three sentences.
    pub explanation: S,
}

/// A counted text: one form for each plural category of the language, with `{count}` in it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs, reason = "the names are CLDR's plural categories")]
pub struct Forms<S> {
    pub zero: Option<S>,
    pub one: Option<S>,
    pub two: Option<S>,
    pub few: Option<S>,
    pub many: Option<S>,
    pub other: S,
}

/// The plural rules of a language, as CLDR's `plurals.xml` has them, for the categories that whole
/// numbers fall into. What no rule fits is `other`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs, reason = "the names are CLDR's plural categories")]
pub struct Rules<S> {
    pub zero: Option<S>,
    pub one: Option<S>,
    pub two: Option<S>,
    pub few: Option<S>,
    pub many: Option<S>,
}
