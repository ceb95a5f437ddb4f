//! Writes the OpenAPI document from the tables that the API itself goes by. A test writes it to
//! `docs/openapi.json` when `WRITE_OPENAPI` is set, and else compares.

mod cloud_regions;

use serde_json::{Map, Value, json};

use super::super::access::Access;
use super::super::fields::{EVENT, Field, ROOM, RULE, SETTINGS};
use super::route::Route;

/// The calls: path, method, name, schema of the body (none: no body) and of the result.
const CALLS: &[(&str, &str, &str, Option<&str>, &str)] = &[
    (
        "/zones/{zone}/waiting_rooms",
        "get",
        "list_rooms",
        None,
        "[Room]",
    ),
    (
        "/zones/{zone}/waiting_rooms",
        "post",
        "create_room",
        Some("RoomSettings"),
        "Room",
    ),
    (
        "/accounts/{account}/waiting_rooms",
        "get",
        "list_rooms_of_account",
        None,
        "[Room]",
    ),
    (
        "/zones/{zone}/waiting_rooms/{room}",
        "get",
        "get_room",
        None,
        "Room",
    ),
    (
        "/zones/{zone}/waiting_rooms/{room}",
        "put",
        "replace_room",
        Some("RoomSettings"),
        "Room",
    ),
    (
        "/zones/{zone}/waiting_rooms/{room}",
        "patch",
        "change_room",
        Some("RoomChange"),
        "Room",
    ),
    (
        "/zones/{zone}/waiting_rooms/{room}",
        "delete",
        "delete_room",
        None,
        "Deleted",
    ),
    (
        "/zones/{zone}/waiting_rooms/{room}/status",
        "get",
        "get_status",
        None,
        "Status",
    ),
    (
        "/zones/{zone}/waiting_rooms/{room}/series",
        "get",
        "get_series",
        None,
        "Series",
    ),
    (
        "/zones/{zone}/waiting_rooms/{room}/events",
        "get",
        "list_events",
        None,
        "[Event]",
    ),
    (
        "/zones/{zone}/waiting_rooms/{room}/events",
        "post",
        "create_event",
        Some("EventSettings"),
        "Event",
    ),
    (
        "/zones/{zone}/waiting_rooms/{room}/events/{event}",
        "get",
        "get_event",
        None,
        "Event",
    ),
    (
        "/zones/{zone}/waiting_rooms/{room}/events/{event}",
        "put",
        "replace_event",
        Some("EventSettings"),
        "Event",
    ),
    (
        "/zones/{zone}/waiting_rooms/{room}/events/{event}",
        "patch",
        "change_event",
        Some("EventChange"),
        "Event",
    ),
    (
        "/zones/{zone}/waiting_rooms/{room}/events/{event}",
        "delete",
        "delete_event",
        None,
        "Deleted",
    ),
    (
        "/zones/{zone}/waiting_rooms/{room}/events/{event}/details",
        "get",
        "get_event_details",
        None,
        "Event",
    ),
    (
        "/zones/{zone}/waiting_rooms/{room}/rules",
        "get",
        "list_rules",
        None,
        "[Rule]",
    ),
    (
        "/zones/{zone}/waiting_rooms/{room}/rules",
        "post",
        "append_rules",
        Some("RuleOrRules"),
        "[Rule]",
    ),
    (
        "/zones/{zone}/waiting_rooms/{room}/rules",
        "put",
        "replace_rules",
        Some("[RuleSettings]"),
        "[Rule]",
    ),
    (
        "/zones/{zone}/waiting_rooms/{room}/rules/{rule}",
        "patch",
        "change_rule",
        Some("RuleChange"),
        "[Rule]",
    ),
    (
        "/zones/{zone}/waiting_rooms/{room}/rules/{rule}",
        "delete",
        "delete_rule",
        None,
        "[Rule]",
    ),
    (
        "/zones/{zone}/waiting_rooms/{room}/sessions/{number}",
        "delete",
        "end_session",
        None,
        "Deleted",
    ),
    (
        "/zones/{zone}/waiting_rooms/{room}/places/{number}",
        "get",
        "get_place",
        None,
        "Place",
    ),
    (
        "/zones/{zone}/waiting_rooms/settings",
        "get",
        "get_settings",
        None,
        "Settings",
    ),
    (
        "/zones/{zone}/waiting_rooms/settings",
        "put",
        "replace_settings",
        Some("SettingsChange"),
        "Settings",
    ),
    (
        "/zones/{zone}/waiting_rooms/settings",
        "patch",
        "change_settings",
        Some("SettingsChange"),
        "Settings",
    ),
    (
        "/zones/{zone}/waiting_rooms/preview",
        "post",
        "preview_page",
        Some("PreviewPage"),
        "Preview",
    ),
    (
        "/zones/{zone}/anteroom/audit",
        "get",
        "list_changes",
        None,
        "[Change]",
    ),
    (
        "/zones/{zone}/anteroom/export",
        "get",
        "export",
        None,
        "Export",
    ),
    (
        "/zones/{zone}/purge_cache",
        "post",
        "purge_cache",
        Some("Purge"),
        "Deleted",
    ),
    (
        "/zones/{zone}/anteroom/keys",
        "get",
        "list_keys",
        None,
        "[Key]",
    ),
    (
        "/zones/{zone}/anteroom/metrics",
        "get",
        "get_metrics",
        None,
        "Text",
    ),
    (
        "/zones/{zone}/anteroom/tiers/counts",
        "get",
        "count_tiers",
        None,
        "Tally",
    ),
    (
        "/zones/{zone}/anteroom/tiers/explain",
        "get",
        "explain_tiers",
        None,
        "Explanation",
    ),
    (
        "/anteroom/openapi.json",
        "get",
        "get_openapi",
        None,
        "Document",
    ),
];

/// Those, and the calls of cloud regions.
fn calls() -> impl Iterator<
    Item = &'static (
        &'static str,
        &'static str,
        &'static str,
        Option<&'static str>,
        &'static str,
    ),
> {
    CALLS.iter().chain(cloud_regions::CALLS)
}

fn document() -> Value {
    let mut paths = Map::new();
    for (path, method, name, body, result) in calls() {
        let call = call(path, name, *body, result);
        let at = paths
            .entry(*path)
            .or_insert_with(|| json!({ "parameters": parameters(path) }));
        at[*method] = call;
    }
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "anteroom",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "The waiting-room API of Cloudflare, and what anteroom has beyond. docs/api.md says what differs.",
            "license": { "name": "MIT OR Apache-2.0", "identifier": "MIT OR Apache-2.0" },
        },
        "servers": [{ "url": "/client/v4" }],
        "security": [{ "token": [] }],
        "paths": paths,
        "components": {
            "securitySchemes": { "token": { "type": "http", "scheme": "bearer" } },
            "responses": { "Refused": {
                "description": "Nothing was changed; the errors say why.",
                "content": { "application/json": { "schema": reference("Refusal") } },
            }},
            "schemas": schemas(),
        },
    })
}

fn call(path: &str, name: &str, body: Option<&str>, result: &str) -> Value {
    let refused = json!({ "$ref": "#/components/responses/Refused" });
    let schema = if result == "Document" {
        json!({ "type": "object" })
    } else {
        envelope(result)
    };
    let content = match result {
        "Text" => json!({ "text/plain": { "schema": { "type": "string" } } }),
        "Table" => json!({ "text/csv": { "schema": reference("Table") } }),
        _ => json!({ "application/json": { "schema": schema } }),
    };
    let mut call = json!({
        "operationId": name,
        "summary": name.replace('_', " "),
        "responses": {
            "200": { "description": "Done.", "content": content },
            "4XX": refused,
            "503": refused,
        },
    });
    if let Some(body) = body {
        // A table is text, and any text is one: what is wrong with a line, the answer says.
        let content = match body {
            "Table" => json!({ "text/csv": {} }),
            _ => json!({ "application/json": { "schema": list_or_one(body) } }),
        };
        call["requestBody"] = json!({ "required": true, "content": content });
    }
    let in_pages = result.starts_with('[') && !path.contains("/rules") && !path.ends_with("/keys");
    if in_pages {
        let of_regions = name == "list_cloud_regions";
        let (usual, step) = if of_regions { (20, 1) } else { (25, 5) };
        call["parameters"] = json!([
            { "name": "page", "in": "query", "schema": { "type": "integer", "minimum": 1, "default": 1, "maximum": 4_294_967_295_u32 } },
            { "name": "per_page", "in": "query", "schema": { "type": "integer", "minimum": step, "maximum": 1000, "multipleOf": step, "default": usual } },
        ]);
    }
    if result == "Explanation" {
        let text = json!({ "type": "string", "minLength": 1, "maxLength": 253 });
        call["parameters"] =
            json!([{ "name": "origin", "in": "query", "required": true, "schema": text }]);
    }
    if result == "Series" {
        let time = json!({ "type": "string", "format": "date-time" });
        call["parameters"] = json!([
            { "name": "since", "in": "query", "schema": time },
            { "name": "until", "in": "query", "schema": time },
            { "name": "step", "in": "query", "schema": { "type": "integer", "minimum": 60, "multipleOf": 60 } },
        ]);
    }
    call
}

fn parameters(path: &str) -> Value {
    let names = path
        .split('/')
        .filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'));
    names
        .map(|name| {
            let schema = match name {
                "number" => {
                    json!({ "type": "integer", "minimum": 1, "maximum": 9_007_199_254_740_991_u64 })
                }
                "origin_ip" => json!({ "type": "string" }),
                _ => json!({ "type": "string", "pattern": "^[0-9a-f]{32}$" }),
            };
            json!({ "name": name, "in": "path", "required": true, "schema": schema })
        })
        .collect()
}

fn reference(name: &str) -> Value {
    json!({ "$ref": format!("#/components/schemas/{name}") })
}

/// `[Name]` is a list.
fn list_or_one(name: &str) -> Value {
    match name
        .strip_prefix('[')
        .and_then(|name| name.strip_suffix(']'))
    {
        Some(name) => json!({ "type": "array", "items": reference(name) }),
        None => reference(name),
    }
}

fn envelope(result: &str) -> Value {
    json!({
        "type": "object",
        "required": ["success", "errors", "messages", "result"],
        "properties": {
            "success": { "const": true },
            "errors": { "type": "array", "maxItems": 0 },
            "messages": { "type": "array", "items": reference("Message") },
            "result": list_or_one(result),
            "result_info": { "type": "object" },
        },
    })
}

/// The object as it is sent, and as it is answered.
fn object(fields: &[Field], required: &[&str], answered: bool, inherits: bool) -> Value {
    let mut properties = Map::new();
    for field in fields {
        let mut schema: Value = serde_json::from_str(field.schema).unwrap();
        if inherits && field.default == Some("null") {
            schema = json!({ "anyOf": [schema, { "type": "null" }] });
        }
        schema["description"] = field.about.into();
        if let Some(default) = field.default {
            schema["default"] = serde_json::from_str(default).unwrap();
        }
        properties.insert(field.name.into(), schema);
    }
    let mut required = required.to_vec();
    if answered {
        required.extend(
            fields
                .iter()
                .filter(|field| field.default.is_some())
                .map(|field| field.name),
        );
        // Left out where session_duration_seconds says the same.
        required.retain(|name| *name != "session_duration");
    }
    json!({
        "type": "object", "required": required, "properties": properties,
        "additionalProperties": false,
    })
}

/// What an answer has beside what can be set.
fn answered(mut object: Value, read_only: Value) -> Value {
    for (name, schema) in read_only.as_object().unwrap() {
        object["properties"][name] = schema.clone();
        object["properties"][name]["readOnly"] = true.into();
        object["required"]
            .as_array_mut()
            .unwrap()
            .push(name.as_str().into());
    }
    object
}

fn schemas() -> Value {
    let id = json!({ "type": "string", "pattern": "^[0-9a-f]{32}$" });
    let time = json!({ "type": "string", "format": "date-time" });
    let time_or_null = json!({ "type": ["string", "null"] });
    let count = json!({ "type": "integer", "minimum": 0 });
    let number_or_null = json!({ "type": ["number", "null"] });
    let count_or_null = json!({ "type": ["integer", "null"], "minimum": 0 });
    let text = json!({ "type": "string" });
    let flag = json!({ "type": "boolean" });
    let number = json!({ "type": "integer", "minimum": 1 });
    let room = ["name", "host", "total_active_users", "new_users_per_minute"];
    let event = ["name", "event_start_time", "event_end_time"];
    let rule = ["action", "expression"];
    let all = |properties: Value| {
        let names: Vec<&String> = properties.as_object().unwrap().keys().collect();
        json!({ "type": "object", "required": names, "properties": properties })
    };
    let mut change = object(RULE, &[], false, false);
    change["properties"]["position"] = json!({
        "type": "object", "minProperties": 1, "maxProperties": 1, "additionalProperties": false,
        "properties": { "index": number, "before": text, "after": text },
    });
    let schemas = [
        ("RoomSettings", object(ROOM, &room, false, false)),
        ("RoomChange", object(ROOM, &[], false, false)),
        (
            "Room",
            answered(
                object(ROOM, &room, true, false),
                json!({
                    "id": id, "created_on": time, "modified_on": time,
                    "next_event_prequeue_start_time": time_or_null, "next_event_start_time": time_or_null,
                }),
            ),
        ),
        ("EventSettings", object(EVENT, &event, false, true)),
        ("EventChange", object(EVENT, &[], false, true)),
        (
            "Event",
            answered(
                object(EVENT, &event, true, true),
                json!({
                    "id": id, "created_on": time, "modified_on": time,
                }),
            ),
        ),
        ("RuleSettings", object(RULE, &rule, false, false)),
        (
            "RuleOrRules",
            json!({ "anyOf": [reference("RuleSettings"), list_or_one("[RuleSettings]")] }),
        ),
        ("RuleChange", change),
        (
            "Rule",
            answered(
                object(RULE, &rule, true, false),
                json!({
                    "id": id, "version": text, "last_updated": time,
                }),
            ),
        ),
        ("SettingsChange", object(SETTINGS, &[], false, false)),
        ("Settings", object(SETTINGS, &[], true, false)),
        (
            "Route",
            json!({
                "type": "object", "additionalProperties": false,
                "properties": { "host": text, "path": { "type": "string", "default": "/" } },
            }),
        ),
        (
            "CookieAttributes",
            json!({
                "type": "object", "additionalProperties": false,
                "properties": {
                    "samesite": { "type": "string", "enum": ["auto", "lax", "none", "strict"], "default": "auto" },
                    "secure": { "type": "string", "enum": ["auto", "always", "never"], "default": "auto" },
                },
            }),
        ),
        ("Deleted", all(json!({ "id": text }))),
        ("Purge", purge(&text)),
        (
            "Tally",
            all(json!({
                "since": { "type": ["string", "null"], "format": "date-time" },
                "hosts": { "type": "array", "items": all(json!({
                    "host": text, "origins": { "type": "array", "items": text },
                    "counts": all(json!({
                        "requests": count, "hits": count, "fallbacks": count, "origin": count,
                        "tiers": { "type": "object", "additionalProperties": all(json!({
                            "requests": count, "hits": count, "collapsed": count, "failed": count,
                        })) },
                    })),
                })) },
            })),
        ),
        (
            "Explanation",
            all(json!({
                "origin": text, "verdict": text, "text": text,
                "evidence": { "type": "array", "items": text },
                "advice": { "type": "array", "items": text },
                "choices": { "type": "array", "items": all(json!({
                    "host": text, "text": text,
                    "primary": { "type": ["string", "null"] },
                    "fallback": { "type": ["string", "null"] },
                })) },
            })),
        ),
        (
            "Status",
            all(json!({
                "status": { "type": "string", "enum": ["event_prequeueing", "not_queueing", "queueing", "suspended"] },
                "event_id": text, "estimated_queued_users": count,
                "estimated_total_active_users": count, "max_estimated_time_minutes": count,
                "active_users": count, "admitted_last_minute": count, "called_users": count,
                "queue_is_full": flag, "as_of": time,
            })),
        ),
        (
            "Levels",
            all(json!({ "mean": number_or_null, "max": count, "last": count })),
        ),
        (
            "Durations",
            all(json!({
                "count": count, "mean": number_or_null, "p50": number_or_null,
                "p90": number_or_null, "p95": number_or_null, "p99": number_or_null,
            })),
        ),
        (
            "Series",
            all(json!({
                "since": time, "until": time, "step_seconds": count,
                "points": { "type": "array", "items": all(json!({
                    "start": time, "watched_seconds": count,
                    "active_users": reference("Levels"), "queued_users": reference("Levels"),
                    "total_active_users": count, "new_users_per_minute": count, "admitted": count,
                    "admitted_per_minute": number_or_null, "joined": count, "gave_up": count,
                    "sessions_left": count, "sessions_revoked": count, "requests_passed": count,
                    "requests_bypassed": count, "requests_answered": count, "room_errors": count,
                    "origin_errors": count, "room_calls": count,
                    "wait_seconds": reference("Durations"),
                    "foretold_wait_seconds": reference("Durations"),
                    "session_seconds": reference("Durations"),
                })) },
            })),
        ),
        (
            "Place",
            all(json!({
                "number": number,
                "state": { "type": "string", "enum": ["active", "called", "ending", "over", "waiting"] },
                "users_ahead": count_or_null, "estimated_time_minutes": count_or_null,
                "at_door": { "type": ["boolean", "null"] }, "admitted_on": time_or_null,
                "expires_on": time_or_null, "as_of": time,
            })),
        ),
        (
            "PreviewPage",
            json!({
                "type": "object", "required": ["custom_html"], "additionalProperties": false,
                "properties": { "custom_html": { "type": "string", "maxLength": 1_048_576 } },
            }),
        ),
        (
            "Preview",
            all(json!({ "preview_url": { "type": "string", "format": "uri" } })),
        ),
        (
            "Change",
            all(json!({
                "version": number, "at": time, "by": text, "action": text, "to": text,
                "fields": { "type": "array", "items": {
                    "type": "object", "required": ["field"],
                    "properties": { "field": text, "from": text, "to": text },
                }},
            })),
        ),
        (
            "Export",
            all(json!({
                "version": count, "rooms_toml": text,
                "templates": { "type": "object", "additionalProperties": text },
            })),
        ),
        ("Key", all(json!({ "id": text, "signs": flag }))),
        (
            "Message",
            all(json!({ "code": { "type": "integer", "minimum": 1000 }, "message": text })),
        ),
        (
            "Refusal",
            json!({
                "type": "object",
                "required": ["success", "errors", "messages", "result"],
                "properties": {
                    "success": { "const": false },
                    "errors": { "type": "array", "minItems": 1, "items": {
                        "type": "object", "required": ["code", "message"],
                        "properties": {
                            "code": { "type": "integer", "minimum": 1000 }, "message": text,
                            "source": { "type": "object", "properties": { "pointer": text } },
                        },
                    }},
                    "messages": { "type": "array" },
                    "result": { "type": "null" },
                },
            }),
        ),
    ];
    schemas
        .into_iter()
        .chain(cloud_regions::schemas())
        .map(|(name, schema)| (name.to_owned(), schema))
        .collect()
}

/// What a purge may name: one of five.
fn purge(text: &Value) -> Value {
    let one = |name: &str, schema: Value| json!({ "type": "object", "required": [name], "additionalProperties": false, "properties": { name: schema } });
    let list =
        |item: &Value| json!({ "type": "array", "minItems": 1, "maxItems": 100, "items": item });
    let file = json!({ "type": "object", "required": ["url"], "properties": { "url": text } });
    json!({ "oneOf": [
        one("purge_everything", json!({ "const": true })),
        one("files", list(&json!({ "oneOf": [text, file] }))),
        one("tags", list(text)),
        one("hosts", list(text)),
        one("prefixes", list(text)),
    ] })
}

const ID: &str = "0000000000000000000000000000000a";

#[test]
fn the_document_in_docs_is_up_to_date() {
    let written = serde_json::to_string_pretty(&document()).unwrap() + "\n";
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/openapi.json");
    if std::env::var_os("WRITE_OPENAPI").is_some() {
        std::fs::write(file, &written).unwrap();
    }
    let found = std::fs::read_to_string(file).unwrap();
    assert!(
        found == written,
        "WRITE_OPENAPI=1 cargo test openapi writes docs/openapi.json anew"
    );
}

/// Every call that is described is there, with its methods and no others.
#[test]
fn the_calls_are_those_of_the_routes() {
    let access = Access::parse(
        &json!({ "zone_id": ID, "account_id": ID, "zone_names": ["example.com"], "tokens": [] })
            .to_string(),
    )
    .unwrap();
    for (path, ..) in calls() {
        let mut filled = path
            .replace("{number}", "7")
            .replace("{origin_ip}", "192.0.2.1");
        for name in ["zone", "account", "room", "event", "rule"] {
            filled = filled.replace(&format!("{{{name}}}"), ID);
        }
        let route = Route::find(&filled, &access).unwrap();
        let described = calls().filter(|(other, ..)| other == path);
        let mut described: Vec<String> = described
            .map(|(_, method, ..)| method.to_uppercase())
            .collect();
        let mut there = route.methods().to_vec();
        described.sort_unstable();
        there.sort_unstable();
        assert_eq!(described, there, "{path}");
    }
}
