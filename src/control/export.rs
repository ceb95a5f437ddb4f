//! The running configuration as `rooms.toml` would declare it.

use std::collections::BTreeMap;

use serde_json::Value;

use super::configuration::Configuration;

/// The text of `rooms.toml`, and the pages that it names: the files of `templates/`, by name.
///
/// Built from them a Worker has the same rooms, with the same visitors.
pub(super) fn export(configuration: &Configuration) -> (String, BTreeMap<String, String>) {
    let mut declaration = configuration.declaration();
    let mut files = BTreeMap::new();
    let mut named = |object: &mut Value, name: &str| {
        if let Some(Value::String(page)) = object.get_mut("custom_page_html")
            && let Some(source) = configuration.pages().get(page.as_str())
        {
            *page = format!("{name}.html");
            files.insert(page.clone(), source.clone());
        }
    };
    let rooms = declaration.get_mut("rooms").and_then(Value::as_array_mut);
    for room in rooms.into_iter().flatten() {
        let name = name(room);
        // No room is called as the default page is, which is another file.
        named(room, &format!("room-{name}"));
        let events = room.get_mut("events").and_then(Value::as_array_mut);
        for event in events.into_iter().flatten() {
            let of_event = self::name(event);
            named(event, &format!("room-{name}.{of_event}"));
        }
    }
    // A declaration is a table, which can be written as TOML.
    (toml::to_string(&declaration).unwrap_or_default(), files)
}

fn name(object: &Value) -> String {
    let name = object.get("name").and_then(Value::as_str);
    name.unwrap_or_default().to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::control::configuration::{EventEntry, RoomEntry};

    #[test]
    fn what_is_exported_declares_the_same() {
        let mut configuration = Configuration {
            cookie_name: Some("wait".into()),
            ..Configuration::default()
        };
        let page = configuration.keep_page("<p>{{position}}\n\"\"\"</p>");
        let declared = |value: Value| value.as_object().unwrap().clone();
        configuration.rooms.push(RoomEntry {
            id: "0".repeat(32),
            created: Default::default(),
            modified: Default::default(),
            declared: declared(json!({
                "name": "Sale", "host": "a.example.com", "cookie_suffix": "s",
                "additional_routes": [{ "host": "b.example.com", "path": "/x" }],
                "cookie_attributes": { "samesite": "lax" },
                "total_active_users": 10, "new_users_per_minute": 20,
                "custom_page_html": page,
            })),
            events: vec![EventEntry {
                id: "1".repeat(32),
                created: Default::default(),
                modified: Default::default(),
                declared: declared(json!({
                    "name": "opening", "custom_page_html": page,
                    "event_start_time": "2027-11-26T09:00:00Z",
                    "event_end_time": "2027-11-26T10:00:00Z",
                })),
            }],
            rules: Vec::new(),
        });
        let (text, files) = export(&configuration);
        let read: Value = toml::from_str(&text).unwrap();
        let mut expected = configuration.declaration();
        expected["rooms"][0]["custom_page_html"] = "room-sale.html".into();
        expected["rooms"][0]["events"][0]["custom_page_html"] = "room-sale.opening.html".into();
        assert_eq!(read, expected, "{text}");
        assert_eq!(files.len(), 2);
        assert!(files.values().all(|source| source.contains("{{position}}")));
    }
}
