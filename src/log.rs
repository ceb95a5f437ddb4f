//! What anteroom writes to the log: a line of JSON for each thing that an operator should know of.
//!
//! `docs/logs.md` lists every event and field; a test compares it with [`EVENTS`]. No line says who a
//! visitor is, what they asked for, or what they carry: the texts of errors, which others write, go
//! through [`clean`].

use std::fmt::Write;

use serde::Serialize;

/// The names of all events, [`Entry`]'s and those of `src/worker/entry.js`.
pub const EVENTS: [&str; 24] = [
    "api_failed",
    "atlas_failed",
    "batch_failed",
    "cache_failed",
    "checkpoints_silent",
    "configuration_failed",
    "control_failed",
    "copy_failed",
    "declaration_ignored",
    "figures_lost",
    "instance_replaced",
    "lease_failed",
    "not_set_up",
    "origin_failed",
    "policy_failed",
    "policy_not_told",
    "ranges_refused",
    "regions_lost",
    "relay_failed",
    "room_failed",
    "rule_left_out",
    "rules_too_costly",
    "tier_failed",
    "trap",
];

/// Something to log.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Entry<'a> {
    /// A request could not be answered because something is missing in the deployment.
    NotSetUp {
        /// What is missing.
        reason: String,
    },
    /// The origin has not answered a request.
    OriginFailed {
        /// The room's name.
        room: &'a str,
        /// The runtime's reason.
        reason: String,
    },
    /// A room has not answered a call.
    RoomFailed {
        /// The room's name.
        room: &'a str,
        /// What was wrong.
        reason: String,
    },
    /// A relay has not answered a call; the room itself is asked.
    RelayFailed {
        /// The id of the room, the data centre and the shard.
        relay: &'a str,
        /// What was wrong.
        reason: String,
    },
    /// A room's object could not decide or store a group of requests.
    BatchFailed {
        /// The room's id.
        room: &'a str,
        /// What was wrong.
        reason: String,
    },
    /// A room's object could not keep figures, or arrange to. Nothing else suffers.
    FiguresLost {
        /// The room's id.
        room: &'a str,
        /// What was wrong.
        reason: String,
    },
    /// A call of the API was not answered by the control object.
    ApiFailed {
        /// What was wrong.
        reason: String,
    },
    /// The control object could not do what it was asked.
    ControlFailed {
        /// What was wrong.
        reason: String,
    },
    /// The object of the atlas could not do what it was asked, or has given no answer.
    AtlasFailed {
        /// What was wrong.
        reason: String,
    },
    /// A provider's file of address ranges was not taken; the last good one stays.
    RangesRefused {
        /// What was wrong.
        reason: String,
    },
    /// Placed Workers that were to probe origins have not reported.
    CheckpointsSilent {
        /// The first of them.
        reason: String,
    },
    /// Nobody knows where these regions of a provider's file are.
    RegionsLost {
        /// The first of them.
        reason: String,
    },
    /// An isolate could not look for a newer configuration, and goes by the one that it has.
    ConfigurationFailed {
        /// What was wrong.
        reason: String,
    },
    /// The copy of the configuration could not be written or read.
    CopyFailed {
        /// What was wrong.
        reason: String,
    },
    /// An answer could not be stored in the data centre's cache, or renewed there.
    CacheFailed {
        /// What was wrong.
        reason: String,
    },
    /// An upper tier has failed; another one was asked, or the origin.
    TierFailed {
        /// Its name.
        tier: &'a str,
        /// What was wrong.
        reason: String,
    },
    /// An upper tier could not ask for the lease of a key; the request asked the origin for itself.
    LeaseFailed {
        /// What was wrong.
        reason: String,
    },
    /// `rooms.toml` has changed since the API has taken the rooms over; it is not in force.
    DeclarationIgnored,
    /// A room could not ask what to go by, and goes by what it knows.
    PolicyFailed {
        /// What was wrong.
        reason: String,
    },
    /// A rule cannot be read by this version and holds for nobody.
    RuleLeftOut {
        /// The room's name.
        room: &'a str,
        /// What is wrong with it.
        reason: String,
    },
    /// The rules would cost too much for a request, which met the room.
    RulesTooCostly,
    /// A room could not be told of a newer configuration. It will ask.
    PolicyNotTold {
        /// The room's id.
        room: &'a str,
        /// What was wrong.
        reason: String,
    },
}

/// How bad something is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Level {
    /// Somebody has got a worse answer than they should.
    Error,
    /// It was made up for, or will be.
    Warning,
}

impl Entry<'_> {
    /// How bad it is.
    pub const fn level(&self) -> Level {
        match self {
            Self::NotSetUp { .. }
            | Self::OriginFailed { .. }
            | Self::BatchFailed { .. }
            | Self::ApiFailed { .. }
            | Self::ControlFailed { .. }
            | Self::AtlasFailed { .. }
            | Self::RuleLeftOut { .. } => Level::Error,
            Self::RoomFailed { .. }
            | Self::RelayFailed { .. }
            | Self::FiguresLost { .. }
            | Self::ConfigurationFailed { .. }
            | Self::CopyFailed { .. }
            | Self::RangesRefused { .. }
            | Self::CheckpointsSilent { .. }
            | Self::RegionsLost { .. }
            | Self::CacheFailed { .. }
            | Self::TierFailed { .. }
            | Self::LeaseFailed { .. }
            | Self::DeclarationIgnored
            | Self::PolicyFailed { .. }
            | Self::RulesTooCostly
            | Self::PolicyNotTold { .. } => Level::Warning,
        }
    }

    /// The line.
    pub fn line(&self) -> String {
        // Texts and no map: there is nothing in it that JSON could not hold.
        serde_json::to_string(self).unwrap_or_default()
    }
}

/// A reason is cut to so many characters.
const LONGEST: usize = 300;

/// A word of so many characters that a token is made of may be one.
const TOKEN: usize = 24;

/// The text of an error without what could be a visitor's: addresses, tokens, URLs, which may carry
/// either.
pub fn clean(text: &str) -> String {
    let mut cleaned = String::new();
    for word in text.split_whitespace() {
        let space = if cleaned.is_empty() { "" } else { " " };
        // Writing to a string does not fail.
        let _ = match hidden(word) {
            Some(kind) => write!(cleaned, "{space}[{kind}]"),
            None => write!(cleaned, "{space}{word}"),
        };
    }
    cleaned.chars().take(LONGEST).collect()
}

/// What a word may be that is not to be logged. It may hide more than it has to.
fn hidden(word: &str) -> Option<&'static str> {
    // The longest runs of characters of which some kind of thing is made.
    let runs = |belongs: fn(char) -> bool| word.split(move |c| !belongs(c));
    let mut v4 = runs(|c| c.is_ascii_digit() || c == '.');
    let mut v6 = runs(|c| c.is_ascii_hexdigit() || matches!(c, ':' | '.'));
    let mut token = runs(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '+' | '='));
    let has_digit = |run: &str| run.contains(|c: char| c.is_ascii_digit());
    if word.contains("://") || word.starts_with('/') || word.contains('?') {
        Some("url")
    } else if word.contains('@')
        || v4.any(|run| run.matches('.').count() >= 3 && has_digit(run))
        || v6.any(|run| run.matches(':').count() >= 2 && has_digit(run))
    {
        Some("address")
    } else if token.any(|run| run.len() >= TOKEN) {
        Some("token")
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::net::IpAddr;

    use proptest::prelude::*;
    use serde_json::Value;

    use super::*;

    fn all() -> [Entry<'static>; 22] {
        let reason = || "it broke".to_owned();
        [
            Entry::NotSetUp { reason: reason() },
            Entry::OriginFailed {
                room: "shop",
                reason: reason(),
            },
            Entry::RoomFailed {
                room: "shop",
                reason: reason(),
            },
            Entry::RelayFailed {
                relay: "0a/FRA/0",
                reason: reason(),
            },
            Entry::BatchFailed {
                room: "0a",
                reason: reason(),
            },
            Entry::FiguresLost {
                room: "0a",
                reason: reason(),
            },
            Entry::ApiFailed { reason: reason() },
            Entry::ControlFailed { reason: reason() },
            Entry::AtlasFailed { reason: reason() },
            Entry::RangesRefused { reason: reason() },
            Entry::CheckpointsSilent { reason: reason() },
            Entry::RegionsLost { reason: reason() },
            Entry::ConfigurationFailed { reason: reason() },
            Entry::CopyFailed { reason: reason() },
            Entry::CacheFailed { reason: reason() },
            Entry::TierFailed {
                tier: "fra",
                reason: reason(),
            },
            Entry::LeaseFailed { reason: reason() },
            Entry::DeclarationIgnored,
            Entry::RulesTooCostly,
            Entry::RuleLeftOut {
                room: "shop",
                reason: reason(),
            },
            Entry::PolicyFailed { reason: reason() },
            Entry::PolicyNotTold {
                room: "0a",
                reason: reason(),
            },
        ]
    }

    #[test]
    fn every_line_is_json_with_a_listed_event() {
        let mut events: BTreeSet<_> = all()
            .iter()
            .map(|entry| {
                let line: Value = serde_json::from_str(&entry.line()).unwrap();
                let reason = line.get("reason").and_then(Value::as_str);
                assert!(reason.is_none_or(|reason| reason == "it broke"));
                line["event"].as_str().unwrap().to_owned()
            })
            .collect();
        // Of the module that the runtime loads.
        let script = include_str!("worker/entry.js");
        for rest in script.split("event: \"").skip(1) {
            events.insert(rest.split('"').next().unwrap().to_owned());
        }
        assert!(events.iter().eq(EVENTS.iter()), "{events:?}");
    }

    #[test]
    fn an_ordinary_reason_stays_as_it_is() {
        for reason in [
            "no answer within 3s",
            "Network connection lost.",
            "Durable Object is overloaded. Requests queued for too long.",
            "answer not understood: missing field `replies` at line 1 column 8",
            "journal row 4 where 3 belongs: stored in format 9",
        ] {
            assert_eq!(clean(reason), reason);
        }
    }

    #[test]
    fn what_could_be_a_visitors_is_hidden() {
        for (reason, cleaned) in [
            (
                "fetch of https://a.test/b?t=1 failed",
                "fetch of [url] failed",
            ),
            ("GET /a?code=12 failed", "GET [url] failed"),
            ("connect 192.0.2.1:443 refused", "connect [address] refused"),
            (
                "connect [2001:db8::1]:443 refused",
                "connect [address] refused",
            ),
            ("peer=192.0.2.1, gone", "[address] gone"),
            ("for jane@example.com", "for [address]"),
            (
                "cookie=eyJhbGciOiJIUzI1NiJ9.eyJhIjoxfQ.c2ln bad",
                "[token] bad",
            ),
        ] {
            assert_eq!(clean(reason), cleaned);
        }
        assert_eq!(clean(&"word ".repeat(1_000)).chars().count(), LONGEST);
    }

    proptest! {
        #[test]
        fn no_address_and_no_token_gets_through(
            before in "[a-z ]{0,20}", v4: [u8; 4], v6 in prop::array::uniform8(1_u16..0x1000),
            token in "[A-Za-z0-9_-]{24,60}", between in "[ =:,;(\"]",
        ) {
            let [v4, v6] = [IpAddr::from(v4).to_string(), IpAddr::from(v6).to_string()];
            for secret in [&v4, &v6, &token] {
                let cleaned = clean(&format!("{before}{between}{secret} and so on"));
                prop_assert!(!cleaned.contains(secret.as_str()), "{cleaned}");
            }
        }
    }
}
