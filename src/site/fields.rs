//! The fields that a declaration may have, and those of Cloudflare's that it may not have yet.

use strsim::damerau_levenshtein;

/// The fields of one kind of table.
#[derive(Debug)]
pub struct Fields {
    /// The fields that can be set. `docs/settings.md` describes each of them.
    pub known: &'static [&'static str],
    /// Fields of Cloudflare's that are refused, each with the reason.
    pub refused: &'static [(&'static str, &'static str)],
}

const EVENTS: &str = "events belong to a room: [[rooms.events]]";
const NOT_OF_EVENTS: &str = "is the room's alone: an event cannot override it";
const RULES: &str = "bypass rules belong to a room: [[rooms.rules]]";
const OF_THE_SITE: &str = "is the whole site's: write it above the rooms";
const OF_THE_HOST: &str = "is the whole host's: write it above its routes";
const READ_ONLY: &str = "is read-only: anteroom sets it";

/// The whole declaration.
pub const SITE: Fields = Fields {
    known: &[
        "cookie_name",
        "search_engine_crawler_bypass",
        "ip_lists",
        "rooms",
    ],
    refused: &[("events", EVENTS), ("rules", RULES)],
};

/// One of `rooms`.
pub const ROOM: Fields = Fields {
    known: &[
        "id",
        "name",
        "description",
        "host",
        "path",
        "additional_routes",
        "path_case_sensitive",
        "cookie_suffix",
        "cookie_attributes",
        "total_active_users",
        "new_users_per_minute",
        "session_duration",
        "session_duration_seconds",
        "session_max_minutes",
        "disable_session_renewal",
        "drain_over_limit",
        "queue_all",
        "queue_all_message",
        "queueing_method",
        "queue_full_after_minutes",
        "queueing_status_code",
        "custom_page_html",
        "default_template_language",
        "json_response_enabled",
        "suspended",
        "enabled_origin_commands",
        "turnstile_mode",
        "turnstile_action",
        "fail_mode",
        "allowed_origins",
        "bind_pass",
        "first_pass",
        "origin_assertion",
        "strip_cookie",
        "poll_far_seconds",
        "poll_near_seconds",
        "relay_above",
        "relay_shards",
        "events",
        "rules",
    ],
    refused: &[
        ("ip_lists", OF_THE_SITE),
        ("search_engine_crawler_bypass", OF_THE_SITE),
        ("created_on", READ_ONLY),
        ("modified_on", READ_ONLY),
        ("next_event_start_time", READ_ONLY),
        ("next_event_prequeue_start_time", READ_ONLY),
    ],
};

/// One of `events`.
pub const EVENT: Fields = Fields {
    known: &[
        "id",
        "name",
        "description",
        "event_start_time",
        "event_end_time",
        "prequeue_start_time",
        "shuffle_at_event_start",
        "suspended",
        "total_active_users",
        "new_users_per_minute",
        "session_duration",
        "session_duration_seconds",
        "disable_session_renewal",
        "queueing_method",
        "custom_page_html",
        "turnstile_mode",
        "turnstile_action",
    ],
    refused: &[
        ("created_on", READ_ONLY),
        ("modified_on", READ_ONLY),
        ("queue_all", NOT_OF_EVENTS),
        ("queue_all_message", NOT_OF_EVENTS),
        ("json_response_enabled", NOT_OF_EVENTS),
        ("queueing_status_code", NOT_OF_EVENTS),
        ("default_template_language", NOT_OF_EVENTS),
        ("cookie_suffix", NOT_OF_EVENTS),
        ("cookie_attributes", NOT_OF_EVENTS),
        ("host", NOT_OF_EVENTS),
        ("path", NOT_OF_EVENTS),
        ("additional_routes", NOT_OF_EVENTS),
    ],
};

/// One of `rules`.
pub const RULE: Fields = Fields {
    known: &["id", "action", "expression", "description", "enabled"],
    refused: &[("version", READ_ONLY), ("last_updated", READ_ONLY)],
};

/// One of `ip_lists`.
pub const IP_LIST: Fields = Fields {
    known: &["name", "description", "items"],
    refused: &[],
};

/// One of `cached_hosts`.
pub const CACHED_HOST: Fields = Fields {
    known: &[
        "host",
        "origins",
        "tier",
        "cache",
        "default_ttl_seconds",
        "heuristic_freshness",
        "stale_while_revalidate_seconds",
        "stale_if_error_seconds",
        "bypass_cookies",
        "honor_request_cache_control",
        "routes",
    ],
    refused: &[("path", "paths are routes: [[cached_hosts.routes]]")],
};

/// One of the `routes` of a cached host.
pub const CACHED_ROUTE: Fields = Fields {
    known: &[
        "path",
        "cache",
        "default_ttl_seconds",
        "heuristic_freshness",
        "stale_while_revalidate_seconds",
        "stale_if_error_seconds",
        "bypass_cookies",
        "honor_request_cache_control",
    ],
    refused: &[
        ("origins", OF_THE_HOST),
        ("tier", OF_THE_HOST),
        ("host", OF_THE_HOST),
    ],
};

/// One of `tiers`.
pub const TIER: Fields = Fields {
    known: &[
        "name",
        "region",
        "binding",
        "location_hint",
        "shards",
        "place",
        "checkpoint_only",
    ],
    refused: &[],
};

/// One of `additional_routes`.
pub const ROUTE: Fields = Fields {
    known: &["host", "path"],
    refused: &[],
};

/// `cookie_attributes`.
pub const COOKIE_ATTRIBUTES: Fields = Fields {
    known: &["samesite", "secure"],
    refused: &[],
};

impl Fields {
    /// Why a field of this name cannot be set, or none if it can.
    pub fn refusal(&self, name: &str) -> Option<String> {
        if self.known.contains(&name) {
            return None;
        }
        if let Some((_, reason)) = self.refused.iter().find(|(refused, _)| *refused == name) {
            return Some((*reason).to_owned());
        }
        Some(match nearest(name, self.known) {
            Some(known) => format!("unknown field; did you mean {known}?"),
            None => "unknown field".to_owned(),
        })
    }
}

/// The candidate that `word` is probably a misspelling of: at most a third of it is different.
pub(super) fn nearest<'a>(word: &str, candidates: &[&'a str]) -> Option<&'a str> {
    let word = word.to_lowercase().replace('-', "_");
    candidates
        .iter()
        .map(|candidate| (damerau_levenshtein(&word, candidate), *candidate))
        .filter(|(distance, candidate)| distance * 3 <= candidate.len())
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}
