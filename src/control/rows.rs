//! The configuration as rows of a table: a change writes the rows of what it has changed, and no row
//! grows with the number of rooms.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::configuration::Configuration;

/// Rows by their key.
pub type Rows = BTreeMap<String, String>;

/// The row of what is in no other.
const REST: &str = "configuration";
/// Lists whose items have rows of their own, each with the field that tells the items apart.
const LISTS: [(&str, &str); 2] = [("rooms", "id"), ("trail", "version")];
/// The pages, which are no part of the serialised configuration.
const PAGES: &str = "pages/";

/// Why rows are no configuration.
#[derive(Debug, thiserror::Error)]
pub enum Unreadable {
    /// A row that another one names is not there.
    #[error("the row {0} is missing")]
    Missing(String),
    /// A row or the whole is not what it should be.
    #[error("{0}: {1}")]
    Row(String, serde_json::Error),
}

/// Cuts a configuration into rows.
///
/// # Errors
/// None that is known; the encoder's own are passed on.
pub fn split(configuration: &Configuration) -> Result<Rows, serde_json::Error> {
    let mut rows = Rows::new();
    let mut rest = serde_json::to_value(configuration)?;
    for (list, key) in LISTS {
        let Some(Value::Array(items)) = rest.get_mut(list) else {
            continue;
        };
        for item in items {
            let name = item.get(key).cloned().unwrap_or_default();
            let row = serde_json::to_string(item)?;
            rows.insert(row_of(list, &name), row);
            *item = name;
        }
    }
    for (name, source) in configuration.pages() {
        rows.insert(format!("{PAGES}{name}"), source.clone());
    }
    rows.insert(REST.to_owned(), rest.to_string());
    Ok(rows)
}

/// Puts a configuration together; none if there are no rows of one.
///
/// # Errors
/// What is wrong with the rows.
pub fn join(rows: &Rows) -> Result<Option<Configuration>, Unreadable> {
    let Some(rest) = rows.get(REST) else {
        return Ok(None);
    };
    let wrong = |key: &str| {
        let key = key.to_owned();
        move |error| Unreadable::Row(key, error)
    };
    let mut rest: Map<String, Value> = serde_json::from_str(rest).map_err(wrong(REST))?;
    for (list, _) in LISTS {
        let Some(Value::Array(items)) = rest.get_mut(list) else {
            continue;
        };
        for item in items {
            let key = row_of(list, item);
            let row = rows.get(&key).ok_or(Unreadable::Missing(key.clone()))?;
            *item = serde_json::from_str(row).map_err(wrong(&key))?;
        }
    }
    let configuration: Configuration =
        serde_json::from_value(Value::Object(rest)).map_err(wrong(REST))?;
    let pages = rows.iter().filter_map(|(key, source)| {
        let name = key.strip_prefix(PAGES)?;
        Some((name.to_owned(), source.clone()))
    });
    Ok(Some(configuration.with_pages(pages)))
}

fn row_of(list: &str, name: &Value) -> String {
    let name = name
        .as_str()
        .map_or_else(|| name.to_string(), str::to_owned);
    format!("{list}/{name}")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn configuration() -> Configuration {
        let room = |id: &str, page: &str| {
            json!({ "id": id, "created": 1, "modified": 2,
                "declared": { "name": id, "custom_page_html": page } })
        };
        let change = |version: u64| {
            json!({ "version": version, "at": 3, "by": "ci", "action": "create",
                "to": "rooms/b", "fields": [] })
        };
        let configuration: Configuration = serde_json::from_value(json!({
            "version": 9,
            "rooms": [room("b", "p"), room("a", "q"), room("c", "")],
            "trail": [change(8), change(9)],
        }))
        .unwrap();
        let pages = [("p", "<p>"), ("q", "<q>")];
        configuration.with_pages(pages.map(|(name, source)| (name.into(), source.into())))
    }

    #[test]
    fn rows_give_the_configuration_back() {
        let configuration = configuration();
        let rows = split(&configuration).unwrap();
        let keys: Vec<&str> = rows.keys().map(String::as_str).collect();
        assert_eq!(
            keys,
            [
                "configuration",
                "pages/p",
                "pages/q",
                "rooms/a",
                "rooms/b",
                "rooms/c",
                "trail/8",
                "trail/9"
            ]
        );
        assert_eq!(join(&rows).unwrap().as_ref(), Some(&configuration));
        assert!(!rows["configuration"].contains("declared"), "{rows:?}");
    }

    #[test]
    fn a_change_of_one_room_changes_its_row_alone() {
        let mut configuration = configuration();
        let before = split(&configuration).unwrap();
        configuration.rooms[1]
            .declared
            .insert("description".into(), "new".into());
        let after = split(&configuration).unwrap();
        let changed = after
            .iter()
            .filter(|(key, row)| before.get(*key) != Some(*row));
        assert_eq!(
            changed.map(|(key, _)| key.as_str()).collect::<Vec<_>>(),
            ["rooms/a"]
        );
    }

    #[test]
    fn no_rows_are_no_configuration_and_a_missing_one_is_told() {
        assert_eq!(join(&Rows::new()).unwrap(), None);
        let mut rows = split(&configuration()).unwrap();
        rows.remove("rooms/a");
        let told = join(&rows).unwrap_err().to_string();
        assert_eq!(told, "the row rooms/a is missing");
    }
}
