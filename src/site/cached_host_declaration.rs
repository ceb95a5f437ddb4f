//! From the declaration of cached hosts to checked ones.

use serde_json::Value;

use super::cached_host::{CacheSettings, CachedHost, CachedRoute};
use super::coverage::covered_path;
use super::declaration::is_word;
use super::fault::{Faults, Notes};
use super::fields;
use super::host::{Names, host};
use super::path::segments;
use super::table::Table;
use crate::atlas::origin_name::OriginName;

/// A year, in seconds. Nothing that a cache does lasts longer.
const LONGEST: u32 = 31_536_000;
/// Names of cookies and tiers, in bytes.
const LONGEST_NAME: usize = 128;
/// So many origins a host may have: those of one pool.
const MOST_ORIGINS: usize = 64;

/// Checks the value of `cached_hosts`; none declared is none.
///
/// # Errors
/// Everything that is wrong with it.
pub fn cached_hosts(value: Option<&Value>, names: Names<'_>) -> Result<Vec<CachedHost>, Faults> {
    let mut notes = Notes::default();
    let mut hosts: Vec<CachedHost> = Vec::new();
    let nothing = Value::Array(Vec::new());
    let list = value.unwrap_or(&nothing).as_array();
    if list.is_none() {
        notes.add("cached_hosts", "must be a list of tables");
    }
    for (n, value) in list.into_iter().flatten().enumerate() {
        let place = format!("cached_hosts[{n}]");
        let Some(table) = Table::open(value, place, &fields::CACHED_HOST, &mut notes) else {
            continue;
        };
        let Some(declared) = cached_host(&table, names, &mut notes) else {
            continue;
        };
        if hosts.iter().any(|other| other.host == declared.host) {
            notes.add(table.at("host"), "is declared twice");
        }
        hosts.push(declared);
    }
    notes.finish(hosts)
}

fn cached_host(table: &Table<'_>, names: Names<'_>, notes: &mut Notes) -> Option<CachedHost> {
    table.require("host", notes);
    let own = settings(table, None, notes);
    let mut routes = vec![CachedRoute {
        path: "/".to_owned(),
        settings: own.clone(),
    }];
    for (place, value) in table.list("routes", notes) {
        let Some(table) = Table::open(value, place, &fields::CACHED_ROUTE, notes) else {
            continue;
        };
        table.require("path", notes);
        let settings = settings(&table, Some(&own), notes);
        let Some(path) = table.text("path", notes) else {
            continue;
        };
        match covered_path(path) {
            Err(fault) => notes.add(table.at("path"), fault),
            Ok(path) if path == "/" => {
                let message = "is the whole host, whose settings stand above its routes";
                notes.add(table.at("path"), message);
            }
            Ok(path) if routes.iter().any(|route| route.path == path) => {
                notes.add(table.at("path"), "is declared twice");
            }
            Ok(path) => routes.push(CachedRoute { path, settings }),
        }
    }
    routes.sort_by_key(|route| std::cmp::Reverse(segments(route.path.as_bytes()).count()));
    let name = table.text("host", notes)?;
    let host = host(name, names)
        .map_err(|fault| notes.add(table.at("host"), fault))
        .ok()?;
    Some(CachedHost {
        host,
        origins: origins(table, names, notes),
        tier: tier(table, notes),
        routes,
    })
}

fn origins(table: &Table<'_>, names: Names<'_>, notes: &mut Notes) -> Vec<OriginName> {
    let declared = table.texts("origins", notes);
    if declared.len() > MOST_ORIGINS {
        let message = format!("must be at most {MOST_ORIGINS}");
        notes.add(table.at("origins"), message);
    }
    let mut origins: Vec<OriginName> = Vec::new();
    for (place, text) in declared {
        let ascii = (names.to_ascii)(text).unwrap_or_else(|| text.to_owned());
        match ascii.parse::<OriginName>() {
            Ok(origin) if origins.contains(&origin) => notes.add(place, "is declared twice"),
            Ok(origin) => origins.push(origin),
            Err(fault) => notes.add(place, fault.to_string()),
        }
    }
    origins
}

fn tier(table: &Table<'_>, notes: &mut Notes) -> Option<String> {
    let tier = table.text("tier", notes)?;
    if !is_word(tier, LONGEST_NAME) {
        let message = format!("must be 1 to {LONGEST_NAME} letters, digits, - or _");
        notes.add(table.at("tier"), message);
    }
    Some(tier.to_owned())
}

/// The settings of a table. What it does not say is as the host says it.
fn settings(table: &Table<'_>, host: Option<&CacheSettings>, notes: &mut Notes) -> CacheSettings {
    let default = CacheSettings {
        cache: true,
        ..CacheSettings::default()
    };
    let above = host.unwrap_or(&default);
    let mut seconds = |name| table.number(name, (0, LONGEST), notes);
    let default_ttl_seconds = seconds("default_ttl_seconds").or(above.default_ttl_seconds);
    let stale_while_revalidate_seconds =
        seconds("stale_while_revalidate_seconds").unwrap_or(above.stale_while_revalidate_seconds);
    let stale_if_error_seconds =
        seconds("stale_if_error_seconds").unwrap_or(above.stale_if_error_seconds);
    CacheSettings {
        cache: table.flag("cache", above.cache, notes),
        default_ttl_seconds,
        heuristic_freshness: table.flag("heuristic_freshness", above.heuristic_freshness, notes),
        stale_while_revalidate_seconds,
        stale_if_error_seconds,
        bypass_cookies: bypass_cookies(table, notes)
            .unwrap_or_else(|| above.bypass_cookies.clone()),
        honor_request_cache_control: table.flag(
            "honor_request_cache_control",
            above.honor_request_cache_control,
            notes,
        ),
    }
}

fn bypass_cookies(table: &Table<'_>, notes: &mut Notes) -> Option<Vec<String>> {
    if !table.has("bypass_cookies") {
        return None;
    }
    let mut names = Vec::new();
    for (place, name) in table.texts("bypass_cookies", notes) {
        // RFC 6265, section 4.1.1: a token of RFC 9110.
        let token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
        if name.is_empty() || name.len() > LONGEST_NAME || !name.bytes().all(token) {
            notes.add(place, format!("must be a cookie name, not {name:?}"));
        }
        names.push(name.to_owned());
    }
    Some(names)
}
