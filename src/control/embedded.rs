//! The configuration that a Worker starts from: the rooms that it was built with.

use serde_json::Value;

use super::configuration::{Configuration, Declared, EventEntry, RoomEntry, RuleEntry};
use crate::packed;
use crate::time::Instant;

impl Configuration {
    /// What `rooms.toml` declared when the Worker was built, as if it had been sent `now`.
    ///
    /// # Errors
    /// None of a build that ran through.
    pub fn embedded(now: Instant) -> Result<Self, serde_json::Error> {
        let site = packed::site()?;
        let Value::Object(mut declared) = packed::declaration()? else {
            return Ok(Self::default());
        };
        let mut configuration = Self::default();
        if let Some(Value::String(name)) = declared.get("cookie_name") {
            configuration.cookie_name = Some(name.clone());
        }
        let bypass = declared.get("search_engine_crawler_bypass");
        configuration.settings.search_engine_crawler_bypass = bypass == Some(&true.into());
        configuration.ip_lists = objects(declared.remove("ip_lists"));
        // What was checked stands in the order of its declaration.
        for (declared, room) in objects(declared.remove("rooms"))
            .into_iter()
            .zip(&site.rooms)
        {
            let mut declared = declared;
            let events = objects(declared.remove("events"));
            let rules = objects(declared.remove("rules"));
            let events = events
                .into_iter()
                .zip(&room.events)
                .map(|(declared, event)| EventEntry {
                    id: event.id.to_string(),
                    created: now,
                    modified: now,
                    declared: configuration.taken(declared),
                });
            let events = events.collect();
            let rules = rules.into_iter().zip(&room.rules);
            let rules = rules.map(|(mut declared, rule)| {
                declared.remove("id");
                RuleEntry {
                    id: rule.id.clone(),
                    version: 1,
                    modified: now,
                    declared,
                }
            });
            let rules = rules.collect();
            let declared = configuration.taken(declared);
            configuration.rooms.push(RoomEntry {
                id: room.id.to_string(),
                created: now,
                modified: now,
                declared,
                events,
                rules,
            });
        }
        Ok(configuration)
    }

    /// The fields without those that have a place of their own; the page by the name of its text.
    fn taken(&mut self, mut declared: Declared) -> Declared {
        declared.remove("id");
        declared.retain(|_, value| !value.is_null());
        if let Some(Value::String(name)) = declared.get_mut("custom_page_html") {
            let source = packed::pages().find(|(file, _)| file == name);
            *name = self.keep_page(source.map_or("", |(_, source)| source));
        }
        declared
    }
}

fn objects(list: Option<Value>) -> Vec<Declared> {
    let Some(Value::Array(list)) = list else {
        return Vec::new();
    };
    let object = |value| match value {
        Value::Object(object) => object,
        _ => Declared::new(),
    };
    list.into_iter().map(object).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::Surroundings;
    use crate::page::language;

    /// A Worker with the API serves the same rooms as one without, until somebody changes them.
    #[test]
    fn what_is_embedded_compiles_to_what_was_packed() {
        let configuration = Configuration::embedded(Instant::from_secs(1)).unwrap();
        let languages: Vec<String> = language::all().iter().map(|l| l.tag.to_owned()).collect();
        let around = Surroundings {
            zones: &["localhost".to_owned()],
            languages: &languages,
        };
        let published = configuration.compile(around).unwrap();
        assert_eq!(published.version, 0);
        let mut packed = packed::site().unwrap();
        // Pages have the names of their texts now.
        for room in packed
            .rooms
            .iter_mut()
            .chain(&mut published.site.clone().rooms)
        {
            room.custom_page_html = None;
        }
        assert_eq!(published.site, packed);
    }
}
