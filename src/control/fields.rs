//! The fields of the API's objects, with their defaults. Answers are filled in from these tables, and
//! the OpenAPI document is written from them.

use serde_json::Value;

use super::configuration::Declared;

/// A field.
#[derive(Clone, Copy, Debug)]
pub(super) struct Field {
    pub(super) name: &'static str,
    /// The default, as JSON. A field without one is left out of answers until it is set.
    pub(super) default: Option<&'static str>,
    /// Its JSON schema.
    #[cfg_attr(
        not(test),
        expect(dead_code, reason = "the document is written by a test")
    )]
    pub(super) schema: &'static str,
    /// What it means, in a line.
    #[cfg_attr(
        not(test),
        expect(dead_code, reason = "the document is written by a test")
    )]
    pub(super) about: &'static str,
}

const fn field(
    name: &'static str,
    default: Option<&'static str>,
    schema: &'static str,
    about: &'static str,
) -> Field {
    Field {
        name,
        default,
        schema,
        about,
    }
}

const FLAG: &str = r#"{"type":"boolean"}"#;
const TEXT: &str = r#"{"type":"string"}"#;
const HOST: &str = r#"{"type":"string","examples":["shop.example.com"]}"#;
const PATH: &str = r#"{"type":"string","examples":["/sale"]}"#;
const START: &str = r#"{"type":"string","examples":["2035-11-26T09:00:00Z"]}"#;
const END: &str = r#"{"type":"string","examples":["2035-11-26T21:00:00Z"]}"#;
const EXPRESSION: &str = r#"{"type":"string","examples":["http.request.uri.path eq \"/status\""]}"#;
const NAME: &str = r#"{"type":"string","pattern":"^[A-Za-z0-9_-]{1,128}$"}"#;
const PAGE: &str = r#"{"type":"string","maxLength":1048576}"#;
const LIMIT: &str = r#"{"type":"integer","minimum":1,"maximum":2147483647}"#;
const MINUTES: &str = r#"{"type":"integer","minimum":1,"maximum":30}"#;
const SECONDS: &str = r#"{"type":"integer","minimum":1,"maximum":86400}"#;
const METHOD: &str = r#"{"type":"string","enum":["fifo","random","passthrough","reject"]}"#;
const TURNSTILE_MODE: &str = r#"{"type":"string","enum":["off"]}"#;
const TURNSTILE_ACTION: &str = r#"{"type":"string","enum":["log"]}"#;
const OFF: Option<&str> = Some("false");
const EMPTY: Option<&str> = Some("\"\"");
const NULL: Option<&str> = Some("null");

/// What a room is set to, but for its events and rules.
pub(super) const ROOM: &[Field] = &[
    field(
        "name",
        None,
        NAME,
        "Unique in the zone without regard to case.",
    ),
    field("description", EMPTY, TEXT, "A free note."),
    field(
        "host",
        None,
        HOST,
        "The host that the room covers, without scheme and port.",
    ),
    field(
        "path",
        Some("\"/\""),
        PATH,
        "The path that it covers, with everything below it.",
    ),
    field(
        "additional_routes",
        Some("[]"),
        r##"{"type":"array","items":{"$ref":"#/components/schemas/Route"}}"##,
        "More pairs of host and path. Needs cookie_suffix.",
    ),
    field(
        "path_case_sensitive",
        Some("true"),
        FLAG,
        "Whether /Shop is another path than /shop.",
    ),
    field(
        "cookie_suffix",
        None,
        r#"{"type":"string","pattern":"^[A-Za-z0-9_-]{0,64}$"}"#,
        "Follows the cookie's name after an underscore.",
    ),
    field(
        "cookie_attributes",
        Some(r#"{"samesite":"auto","secure":"auto"}"#),
        r##"{"$ref":"#/components/schemas/CookieAttributes"}"##,
        "Attributes of the cookie.",
    ),
    field(
        "total_active_users",
        None,
        LIMIT,
        "How many sessions there may be at a time.",
    ),
    field(
        "new_users_per_minute",
        None,
        LIMIT,
        "How many may enter in any 60 seconds.",
    ),
    field(
        "session_duration",
        Some("5"),
        MINUTES,
        "Minutes that an admitted visitor may stay away.",
    ),
    field(
        "session_duration_seconds",
        None,
        SECONDS,
        "The same in seconds, instead of session_duration.",
    ),
    field(
        "session_max_minutes",
        None,
        r#"{"type":"integer","minimum":1,"maximum":525600}"#,
        "After so long a session ends however often it was renewed.",
    ),
    field(
        "disable_session_renewal",
        OFF,
        FLAG,
        "A visitor gets one session and then queues again.",
    ),
    field(
        "drain_over_limit",
        OFF,
        FLAG,
        "Do not renew sessions while there are more than the limit.",
    ),
    field("queue_all", OFF, FLAG, "Hold every newcomer."),
    field(
        "queue_all_message",
        EMPTY,
        r#"{"type":"string","maxLength":500}"#,
        "What the page says while queue_all holds everybody.",
    ),
    field(
        "queueing_method",
        Some("\"fifo\""),
        METHOD,
        "The order of admission.",
    ),
    field(
        "queue_full_after_minutes",
        Some("1440"),
        r#"{"type":"integer","minimum":0,"maximum":525600}"#,
        "From this wait on nobody new gets a place; 0: never.",
    ),
    field(
        "queueing_status_code",
        Some("200"),
        r#"{"type":"integer","enum":[200,202,429]}"#,
        "The status of the waiting page.",
    ),
    field(
        "custom_page_html",
        EMPTY,
        PAGE,
        "The room's own waiting page, a Mustache template.",
    ),
    field(
        "default_template_language",
        Some("\"en-US\""),
        TEXT,
        "The page's language where the request does not say.",
    ),
    field(
        "json_response_enabled",
        OFF,
        FLAG,
        "Clients that prefer JSON get it.",
    ),
    field("suspended", OFF, FLAG, "The room is off."),
    field(
        "enabled_origin_commands",
        Some("[]"),
        r#"{"type":"array","items":{"type":"string","enum":["revoke"]}}"#,
        "What the origin may order.",
    ),
    field(
        "turnstile_mode",
        Some("\"off\""),
        TURNSTILE_MODE,
        "Turnstile is not built yet.",
    ),
    field(
        "turnstile_action",
        Some("\"log\""),
        TURNSTILE_ACTION,
        "Turnstile is not built yet.",
    ),
    field(
        "fail_mode",
        Some("\"closed\""),
        r#"{"type":"string","enum":["closed","open"]}"#,
        "Whether newcomers wait or pass while the room cannot be reached.",
    ),
    field(
        "allowed_origins",
        Some("[]"),
        r#"{"type":"array","items":{"type":"string"}}"#,
        "Origins whose scripts may read what the room answers.",
    ),
    field(
        "bind_pass",
        Some("\"none\""),
        r#"{"type":"string","enum":["none","ua","ip_prefix"]}"#,
        "What a pass is bound to.",
    ),
    field(
        "first_pass",
        Some("\"auto\""),
        r#"{"type":"string","enum":["auto","full","provisional"]}"#,
        "How long a first pass lives before its first return.",
    ),
    field(
        "origin_assertion",
        OFF,
        FLAG,
        "Tell the origin in a signed header who was admitted.",
    ),
    field(
        "strip_cookie",
        OFF,
        FLAG,
        "Take the room's cookie out of what the origin gets.",
    ),
    field(
        "poll_far_seconds",
        Some("20"),
        r#"{"type":"integer","minimum":2,"maximum":120}"#,
        "How often a visitor asks whose turn is far.",
    ),
    field(
        "poll_near_seconds",
        Some("5"),
        r#"{"type":"integer","minimum":1,"maximum":60}"#,
        "How often a visitor asks whose turn is near.",
    ),
    field(
        "relay_above",
        Some("800"),
        r#"{"type":"integer","minimum":1,"maximum":100000}"#,
        "Calls a second from which on they come through relays.",
    ),
    field(
        "relay_shards",
        Some("1"),
        r#"{"type":"integer","minimum":1,"maximum":64}"#,
        "Relays of the room in each data centre.",
    ),
];

/// What an event is set to. What is null is inherited from the room.
pub(super) const EVENT: &[Field] = &[
    field(
        "name",
        None,
        NAME,
        "Unique in the room without regard to case.",
    ),
    field("description", EMPTY, TEXT, "A free note."),
    field(
        "event_start_time",
        None,
        START,
        "When the event starts: ISO 8601 with an offset.",
    ),
    field(
        "event_end_time",
        None,
        END,
        "When it ends: a minute later at least.",
    ),
    field(
        "prequeue_start_time",
        NULL,
        TEXT,
        "From then on all newcomers are held: five minutes before the start at least.",
    ),
    field(
        "shuffle_at_event_start",
        OFF,
        FLAG,
        "Draw the places of the pre-queue at the start.",
    ),
    field("suspended", OFF, FLAG, "The event does not take place."),
    field(
        "total_active_users",
        NULL,
        LIMIT,
        "As the room's; together with new_users_per_minute.",
    ),
    field(
        "new_users_per_minute",
        NULL,
        LIMIT,
        "As the room's; together with total_active_users.",
    ),
    field("session_duration", NULL, MINUTES, "As the room's."),
    field("session_duration_seconds", None, SECONDS, "As the room's."),
    field("disable_session_renewal", NULL, FLAG, "As the room's."),
    field("queueing_method", NULL, METHOD, "As the room's."),
    field("custom_page_html", NULL, PAGE, "As the room's."),
    field(
        "turnstile_mode",
        NULL,
        TURNSTILE_MODE,
        "Turnstile is not built yet.",
    ),
    field(
        "turnstile_action",
        NULL,
        TURNSTILE_ACTION,
        "Turnstile is not built yet.",
    ),
];

/// What a rule is set to.
pub(super) const RULE: &[Field] = &[
    field(
        "action",
        None,
        r#"{"type":"string","enum":["bypass_waiting_room"]}"#,
        "What a request gets for which the rule holds.",
    ),
    field("expression", None, EXPRESSION, "When the rule holds."),
    field("description", EMPTY, TEXT, "A free note."),
    field(
        "enabled",
        Some("true"),
        FLAG,
        "Whether the rule is looked at.",
    ),
];

/// The settings of the zone.
pub(super) const SETTINGS: &[Field] = &[field(
    "search_engine_crawler_bypass",
    OFF,
    FLAG,
    "Whether verified search engines pass all rooms.",
)];

/// What was declared, with the defaults of what was not.
pub(super) fn filled(fields: &[Field], declared: &Declared) -> Declared {
    let mut filled = declared.clone();
    for field in fields {
        let default = field
            .default
            .and_then(|json| serde_json::from_str(json).ok());
        if let Some(default) = default {
            filled.entry(field.name).or_insert(default);
        }
    }
    // They say the same, and only one of them can be set.
    if filled.contains_key("session_duration_seconds") {
        filled.remove("session_duration");
    }
    for part in ["cookie_attributes"] {
        if let Some(Value::Object(attributes)) = filled.get_mut(part) {
            for name in ["samesite", "secure"] {
                attributes.entry(name).or_insert_with(|| "auto".into());
            }
        }
    }
    let host = filled.get("host").cloned();
    if let Some(Value::Array(routes)) = filled.get_mut("additional_routes") {
        for route in routes.iter_mut().filter_map(Value::as_object_mut) {
            route.entry("path").or_insert_with(|| "/".into());
            if let Some(host) = &host {
                route.entry("host").or_insert_with(|| host.clone());
            }
        }
    }
    filled
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::site::fields;

    fn names(fields: &[Field]) -> Vec<&str> {
        let mut names: Vec<&str> = fields.iter().map(|field| field.name).collect();
        names.sort_unstable();
        names
    }

    /// What `rooms.toml` can declare the API can set, and the other way round.
    #[test]
    fn the_fields_are_those_of_a_declaration() {
        let parts = [
            (ROOM, &fields::ROOM),
            (EVENT, &fields::EVENT),
            (RULE, &fields::RULE),
        ];
        for (fields, declared) in parts {
            let apart = ["id", "events", "rules"];
            let mut known: Vec<&str> = declared.known.to_vec();
            known.retain(|name| !apart.contains(name));
            known.sort_unstable();
            assert_eq!(names(fields), known);
        }
    }

    #[test]
    fn defaults_and_schemas_are_json() {
        for field in [ROOM, EVENT, RULE, SETTINGS].concat() {
            let schema: Value = serde_json::from_str(field.schema).unwrap();
            assert!(schema.is_object(), "{}", field.name);
            if let Some(default) = field.default {
                serde_json::from_str::<Value>(default).unwrap();
            }
        }
    }
}
