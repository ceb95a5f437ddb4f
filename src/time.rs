//! Points in time and spans, as plain numbers that are handed in.
//!
//! Nothing in the core reads a clock: the shell reads the runtime's clock once for each event and
//! passes the value down, so that every decision can be replayed.

use std::ops::{Add, Sub};

use serde::{Deserialize, Serialize};

/// A point in time: milliseconds since the Unix epoch, leap seconds not counted.
#[derive(
    Clone, Copy, Debug, Default, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize,
)]
#[serde(transparent)]
pub struct Instant(u64);

/// A span of time in milliseconds.
#[derive(
    Clone, Copy, Debug, Default, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize,
)]
#[serde(transparent)]
pub struct Span(u64);

impl Instant {
    /// The instant that lies `millis` milliseconds after the Unix epoch.
    pub const fn from_millis(millis: u64) -> Self {
        Self(millis)
    }

    /// The instant of a `NumericDate` (RFC 7519 section 2) of whole seconds.
    pub const fn from_secs(secs: u64) -> Self {
        Self(secs.saturating_mul(1000))
    }

    /// Milliseconds since the Unix epoch.
    pub const fn as_millis(self) -> u64 {
        self.0
    }

    /// Whole seconds since the Unix epoch, rounded down: a `NumericDate` (RFC 7519 section 2).
    pub const fn as_secs(self) -> u64 {
        self.0 / 1000
    }

    /// The time from `earlier` to this instant; zero when `earlier` is the later one.
    pub const fn since(self, earlier: Self) -> Span {
        Span(self.0.saturating_sub(earlier.0))
    }
}

impl Span {
    /// No time at all.
    pub const ZERO: Self = Self(0);

    /// A span of `millis` milliseconds.
    pub const fn from_millis(millis: u64) -> Self {
        Self(millis)
    }

    /// A span of `secs` seconds.
    pub const fn from_secs(secs: u64) -> Self {
        Self(secs.saturating_mul(1000))
    }

    /// The span in milliseconds.
    pub const fn as_millis(self) -> u64 {
        self.0
    }

    /// The span in whole seconds, rounded down.
    pub const fn as_secs(self) -> u64 {
        self.0 / 1000
    }
}

impl Add<Span> for Instant {
    type Output = Self;

    /// The instant `span` later; the far end of time when that cannot be told.
    fn add(self, span: Span) -> Self {
        Self(self.0.saturating_add(span.0))
    }
}

impl Sub<Span> for Instant {
    type Output = Self;

    /// The instant `span` earlier; the epoch when that would lie before it.
    fn sub(self, span: Span) -> Self {
        Self(self.0.saturating_sub(span.0))
    }
}

impl Add for Span {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}
