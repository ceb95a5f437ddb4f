//! What a whole site has to fulfil, beyond each of its rooms.

use std::collections::HashMap;

use super::fault::Notes;
use super::host::Names;
use super::path::fold;
use super::room::{Room, Route};
use super::scope;

/// A room that was read, with what is needed to say what is wrong with it.
pub(super) struct Draft {
    /// The room's place in the declaration.
    pub(super) place: String,
    /// The room; its cookie has no scope yet.
    pub(super) room: Room,
    pub(super) suffix: Option<String>,
    /// The routes that are right, each with its place.
    pub(super) routes: Vec<(String, Route)>,
    /// Whether these are all that were declared.
    pub(super) routes_hold: bool,
}

impl Draft {
    fn field(&self, name: &str) -> String {
        format!("{}.{name}", self.place)
    }

    /// The room as a message names it.
    fn label(&self) -> String {
        match self.room.name.as_str() {
            "" => self.place.clone(),
            name => format!("{} ({name})", self.place),
        }
    }
}

/// Computes the scope of the rooms' cookies and checks everything that concerns several rooms or
/// routes.
pub(super) fn check(drafts: &mut [Draft], names: Names<'_>, notes: &mut Notes) {
    names_and_ids(drafts, notes);
    pairs(drafts, notes);
    suffixes(drafts, notes);
    for draft in drafts.iter_mut().filter(|draft| draft.routes_hold) {
        scope(draft, names, notes);
    }
    scopes(drafts, notes);
}

fn names_and_ids(drafts: &[Draft], notes: &mut Notes) {
    let mut names: HashMap<String, &Draft> = HashMap::new();
    let mut ids: HashMap<&str, &Draft> = HashMap::new();
    for draft in drafts.iter().filter(|draft| !draft.room.name.is_empty()) {
        if let Some(first) = names.get(&draft.room.name.to_ascii_lowercase()) {
            let message = format!("is also the name of {}; case does not matter", first.place);
            notes.add(draft.field("name"), message);
            // Its id follows from the name, so there is nothing more to say about that.
            continue;
        }
        if let Some(first) = ids.get(draft.room.id.as_str()) {
            notes.add(
                draft.field("id"),
                format!("is also the id of {}", first.label()),
            );
        }
        names.insert(draft.room.name.to_ascii_lowercase(), draft);
        ids.insert(draft.room.id.as_str(), draft);
    }
}

/// A pair of host and path belongs to one room. To a room for which case does not matter belong all
/// spellings of its path.
fn pairs(drafts: &[Draft], notes: &mut Notes) {
    // By host and folded path: the rooms that declare it, each with its spelling.
    type Owners<'a> = Vec<(&'a Draft, &'a str)>;
    let mut seen: HashMap<(&str, Vec<u8>), Owners<'_>> = HashMap::new();
    for draft in drafts {
        for (place, route) in &draft.routes {
            let key = (route.host.as_str(), fold(route.path.as_bytes()));
            let others = seen.entry(key).or_default();
            let sensitive = draft.room.path_case_sensitive;
            let same = others.iter().find(|(other, path)| {
                *path == route.path || !sensitive || !other.room.path_case_sensitive
            });
            if let Some((other, _)) = same {
                let whose = if other.place == draft.place {
                    "this room already".to_owned()
                } else {
                    other.label()
                };
                notes.add(
                    place,
                    format!("{}{} belongs to {whose}", route.host, route.path),
                );
            }
            others.push((draft, &route.path));
        }
    }
}

fn suffixes(drafts: &[Draft], notes: &mut Notes) {
    let mut seen: HashMap<&str, &Draft> = HashMap::new();
    for draft in drafts {
        match &draft.suffix {
            None if draft.routes.len() > 1 => notes.add(
                draft.field("cookie_suffix"),
                "is required for a room with more than one route: its cookie reaches further than \
                 one path, and has to keep apart from those of other rooms",
            ),
            None => {}
            Some(suffix) => {
                if let Some(first) = seen.get(suffix.as_str()) {
                    let message = format!("is also the suffix of {}", first.label());
                    notes.add(draft.field("cookie_suffix"), message);
                } else {
                    seen.insert(suffix, draft);
                }
            }
        }
    }
}

fn scope(draft: &mut Draft, names: Names<'_>, notes: &mut Notes) {
    match scope::domain(&draft.room.routes, names) {
        Ok(domain) => draft.room.cookie.domain = domain,
        Err(fault) => {
            draft.routes_hold = false;
            notes.add(draft.field("additional_routes"), fault);
        }
    }
    draft.room.cookie.path = scope::path(&draft.room.routes, draft.room.path_case_sensitive);
}

/// Of two cookies with one name, domain and path a browser keeps the last, so the rooms would take
/// each other's visitors. Different paths are fine: both cookies arrive, and each room knows its
/// own.
fn scopes(drafts: &[Draft], notes: &mut Notes) {
    let mut seen: HashMap<(&str, &str, &str), &Draft> = HashMap::new();
    for draft in drafts.iter().filter(|draft| draft.routes_hold) {
        let cookie = &draft.room.cookie;
        let Some(route) = draft.room.routes.first() else {
            continue;
        };
        let domain = cookie.domain.as_deref().unwrap_or(&route.host);
        let key = (cookie.name.as_str(), domain, cookie.path.as_str());
        match seen.get(&key) {
            // Equal suffixes and routes that belong to another room have been noted.
            Some(first) if draft.suffix.is_none() && !same_route(first, draft) => notes.add(
                draft.field("cookie_suffix"),
                format!(
                    "is required: without one, {} has the same cookie ({}; Domain={domain}; \
                     Path={})",
                    first.label(),
                    cookie.name,
                    cookie.path
                ),
            ),
            Some(_) => {}
            None => drop(seen.insert(key, draft)),
        }
    }
}

fn same_route(one: &Draft, other: &Draft) -> bool {
    one.room
        .routes
        .iter()
        .any(|route| other.room.routes.contains(route))
}
