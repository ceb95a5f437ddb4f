//! Reads and checks the rules of a room and the lists of a site.

use std::collections::HashMap;

use sha2::{Digest, Sha256};

use super::declaration::declared_id;
use super::fault::Notes;
use super::fields;
use super::room::RoomId;
use super::rule::{IpList, Rule};
use super::table::Table;
use crate::rules::address::Block;
use crate::rules::{Lists, check};

/// A room has no more rules: each is asked of every request.
const MOST_RULES: usize = 100;
/// A site has no more lists, and a list no more items, so that a configuration stays small.
const MOST_LISTS: usize = 100;
const MOST_ITEMS: usize = 10_000;
/// Cloudflare's limit for the name of a list, in bytes.
const LONGEST_NAME: usize = 50;
/// The one action there is, Cloudflare's.
const ACTION: &str = "bypass_waiting_room";

/// The lists of a site, as they were written and as rules want them.
pub(super) fn ip_lists(table: &Table<'_>, notes: &mut Notes) -> (Vec<IpList>, Lists) {
    let declared = table.list("ip_lists", notes);
    if declared.len() > MOST_LISTS {
        notes.add(
            table.at("ip_lists"),
            format!("must be {MOST_LISTS} at most"),
        );
    }
    let mut lists = Lists::default();
    let mut all: Vec<IpList> = Vec::new();
    for (place, value) in declared {
        let Some(table) = Table::open(value, place, &fields::IP_LIST, notes) else {
            continue;
        };
        table.require("name", notes);
        table.require("items", notes);
        let name = table.text("name", notes).unwrap_or_default().to_owned();
        let word = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
        if table.has("name")
            && !((1..=LONGEST_NAME).contains(&name.len()) && name.bytes().all(word))
        {
            let message = format!(
                "must be 1 to {LONGEST_NAME} lower-case letters, digits or _, not {name:?}"
            );
            notes.add(table.at("name"), message);
        }
        if all.iter().any(|list| list.name == name) {
            notes.add(table.at("name"), "is also the name of another list");
        }
        let items = table.texts("items", notes);
        if items.len() > MOST_ITEMS {
            notes.add(table.at("items"), format!("must be {MOST_ITEMS} at most"));
        }
        let mut blocks = Vec::with_capacity(items.len());
        for (place, item) in &items {
            match Block::parse(item) {
                Ok(block) => blocks.push(block),
                Err(fault) => notes.add(place, fault),
            }
        }
        lists.insert(&name, blocks);
        all.push(IpList {
            name,
            description: table
                .text("description", notes)
                .unwrap_or_default()
                .to_owned(),
            items: items.into_iter().map(|(_, item)| item.to_owned()).collect(),
        });
    }
    (all, lists)
}

/// The rules of a room, or what is wrong with them.
pub(super) fn rules(
    table: &Table<'_>,
    room: &RoomId,
    lists: &Lists,
    notes: &mut Notes,
) -> Vec<Rule> {
    let declared = table.list("rules", notes);
    if declared.len() > MOST_RULES {
        notes.add(table.at("rules"), format!("must be {MOST_RULES} at most"));
    }
    let mut rules: Vec<Rule> = Vec::new();
    // How often an expression has occurred.
    let mut seen: HashMap<String, u32> = HashMap::new();
    for (place, value) in declared {
        let Some(table) = Table::open(value, place, &fields::RULE, notes) else {
            continue;
        };
        table.require("action", notes);
        table.require("expression", notes);
        table.choice("action", &[(ACTION, ())], notes);
        let expression = table.text("expression", notes).unwrap_or_default();
        if table
            .get("expression")
            .is_some_and(|value| value.is_string())
            && let Err(fault) = check(expression, lists)
        {
            notes.add(table.at("expression"), fault.to_string());
        }
        let times = seen.entry(expression.to_owned()).or_default();
        *times += 1;
        let id = id(&table, room, expression, *times, notes);
        if rules.iter().any(|rule| rule.id == id) {
            notes.add(table.at("id"), "is also the id of another rule of the room");
        }
        rules.push(Rule {
            id,
            expression: expression.to_owned(),
            description: table
                .text("description", notes)
                .unwrap_or_default()
                .to_owned(),
            enabled: table.flag("enabled", true, notes),
        });
    }
    rules
}

/// The declared id; else one that follows from the expression, so that a rule keeps it wherever it
/// stands.
fn id(table: &Table<'_>, room: &RoomId, expression: &str, times: u32, notes: &mut Notes) -> String {
    if let Some(id) = declared_id(table, notes) {
        return id.to_owned();
    }
    let digest = Sha256::digest(format!("anteroom rule id\0{room}\0{times}\0{expression}"));
    let bits = digest.iter().take(16);
    bits.map(|byte| format!("{byte:02x}")).collect()
}
