//! The variables of a template, by name and type. docs/waiting-page.md says what each of them means.
//!
//! `build.rs` compiles this file too, to check templates.

/// The type of a variable.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Type {
    /// Prints as `true` or `false`.
    Boolean,
    /// Prints as digits.
    Integer,
    /// Prints as text.
    Text,
}

use Type::{Boolean, Integer, Text};

/// All variables. The first 25 and the helpers behind them have Cloudflare's names and meanings.
pub const VARIABLES: [(&str, Type); 63] = [
    ("inWaitingRoom", Boolean),
    ("waitTimeKnown", Boolean),
    ("waitTime", Integer),
    ("waitTime25Percentile", Integer),
    ("waitTime50Percentile", Integer),
    ("waitTime75Percentile", Integer),
    ("waitTimeFormatted", Text),
    ("queueIsFull", Boolean),
    ("queueAll", Boolean),
    ("lastUpdated", Text),
    ("refreshIntervalSeconds", Integer),
    ("queueingMethod", Text),
    ("isFIFOQueue", Boolean),
    ("isRandomQueue", Boolean),
    ("isPassthroughQueue", Boolean),
    ("isRejectQueue", Boolean),
    ("isEventActive", Boolean),
    ("isEventPrequeueing", Boolean),
    ("timeUntilEventStart", Integer),
    ("timeUntilEventStartFormatted", Text),
    ("timeUntilEventEnd", Integer),
    ("timeUntilEventEndFormatted", Text),
    ("shuffleAtEventStart", Boolean),
    ("turnstile", Text),
    ("infiniteQueue", Boolean),
    ("waitTimeHours", Integer),
    ("waitTimeHourMinutes", Integer),
    ("timeUntilEventStartHours", Integer),
    ("timeUntilEventStartHourMinutes", Integer),
    ("timeUntilEventEndHours", Integer),
    ("timeUntilEventEndHourMinutes", Integer),
    ("state", Text),
    ("positionKnown", Boolean),
    ("position", Integer),
    ("usersAheadKnown", Boolean),
    ("usersAhead", Integer),
    ("progressKnown", Boolean),
    ("progress", Integer),
    ("nothingSent", Boolean),
    ("placeLapsed", Boolean),
    ("sessionOver", Boolean),
    ("leaveUrl", Text),
    ("isJoining", Boolean),
    ("isQueueing", Boolean),
    ("isCalled", Boolean),
    ("isRejecting", Boolean),
    ("isUnavailable", Boolean),
    ("hasLeft", Boolean),
    ("language", Text),
    ("direction", Text),
    ("heading", Text),
    ("explanation", Text),
    ("noticeText", Text),
    ("positionLabel", Text),
    ("positionText", Text),
    ("usersAheadText", Text),
    ("waitTimeLabel", Text),
    ("waitTimeText", Text),
    ("progressLabel", Text),
    ("keepOpenText", Text),
    ("refreshText", Text),
    ("leaveLabel", Text),
    ("texts", Text),
];
