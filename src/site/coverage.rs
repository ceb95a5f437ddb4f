//! The hosts and paths of a room as they are declared.

use super::fault::Notes;
use super::fields;
use super::host::{Names, host};
use super::path::{Canonical, segments};
use super::room::Route;
use super::table::Table;

/// The segment under which anteroom's own endpoints lie.
const OWN_SEGMENT: &[u8] = b".anteroom";

/// The routes, each with its place; those that are faulty are left out.
pub(super) fn routes(
    table: &Table<'_>,
    names: Names<'_>,
    notes: &mut Notes,
) -> Vec<(String, Route)> {
    let main = table
        .text("host", notes)
        .and_then(|text| noted(host(text, names), table, "host", notes));
    let mut routes = Vec::new();
    if let (Some(path), Some(host)) = (route_path(table, notes), main.clone()) {
        routes.push((table.at("path"), Route { host, path }));
    }
    for (place, value) in table.list("additional_routes", notes) {
        let Some(table) = Table::open(value, place.clone(), &fields::ROUTE, notes) else {
            continue;
        };
        let host = if table.has("host") {
            let declared = table.text("host", notes);
            declared.and_then(|text| noted(host(text, names), &table, "host", notes))
        } else {
            main.clone()
        };
        if let (Some(path), Some(host)) = (route_path(&table, notes), host) {
            routes.push((place, Route { host, path }));
        }
    }
    routes
}

fn route_path(table: &Table<'_>, notes: &mut Notes) -> Option<String> {
    if !table.has("path") {
        return Some("/".to_owned());
    }
    let declared = table.text("path", notes)?;
    noted(covered_path(declared), table, "path", notes)
}

/// The canonical form of a declared path.
pub(super) fn covered_path(declared: &str) -> Result<String, String> {
    if !declared.starts_with('/') {
        return Err("must start with /".to_owned());
    }
    if declared.contains('?') {
        return Err("must not contain a query".to_owned());
    }
    if declared.contains('#') {
        return Err("must not contain a fragment".to_owned());
    }
    if declared.contains('*') {
        return Err(
            "must not contain a wildcard; a path covers everything below it as it is".to_owned(),
        );
    }
    let path = Canonical::new(declared.as_bytes());
    let Ok(text) = std::str::from_utf8(path.as_bytes()) else {
        return Err("must be UTF-8 once it is decoded".to_owned());
    };
    if text.chars().any(char::is_control) {
        return Err("must not contain control characters".to_owned());
    }
    let text = if text == "/" {
        text
    } else {
        text.strip_suffix('/').unwrap_or(text)
    };
    let dots = |segment: &str| segment == "." || segment == "..";
    if path.is_odd()
        || declared
            .to_lowercase()
            .replace("%2e", ".")
            .split('/')
            .any(dots)
    {
        return Err(format!("must be written plainly, as {text}"));
    }
    if segments(text.as_bytes()).any(|segment| segment == OWN_SEGMENT) {
        return Err("must not contain the segment .anteroom, which is anteroom's own".to_owned());
    }
    Ok(text.to_owned())
}

/// Notes an error as a fault of the field.
fn noted<T, E: Into<String>>(
    result: Result<T, E>,
    table: &Table<'_>,
    name: &str,
    notes: &mut Notes,
) -> Option<T> {
    result
        .map_err(|fault| notes.add(table.at(name), fault))
        .ok()
}
