//! A room's bypass rules, and the lists that they may name.

use serde::{Deserialize, Serialize};

use super::room::{Room, Site};
use crate::rules::address::Block;
use crate::rules::{CRAWLER, Fault, Lists, Ruleset};

/// One rule: requests for which its expression holds pass by the room.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Rule {
    /// 32 lower-case hexadecimal digits, unique in the room.
    pub id: String,
    /// What it asks, as it was written; see [`crate::rules`].
    pub expression: String,
    /// A free note.
    pub description: String,
    /// Whether it is asked at all.
    pub enabled: bool,
}

/// A list of addresses that rules name as `$name`.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct IpList {
    /// 1 to 50 of `[a-z0-9_]`.
    pub name: String,
    /// A free note.
    pub description: String,
    /// Addresses, prefixes and ranges, as they were written: 10,000 at most.
    pub items: Vec<String>,
}

impl Site {
    /// The site's lists, for its rules. Items that are none, which validation refuses, are left out.
    pub fn lists(&self) -> Lists {
        let mut lists = Lists::default();
        for list in &self.ip_lists {
            let blocks = list.items.iter().filter_map(|item| Block::parse(item).ok());
            lists.insert(&list.name, blocks);
        }
        lists
    }

    /// The rules of a room, compiled: those that are enabled, and the one for crawlers where the site
    /// lets them pass. Also what is wrong with those that cannot be read, which validation refuses:
    /// they let nobody pass.
    pub fn ruleset(&self, room: &Room, lists: &Lists) -> (Ruleset, Vec<Fault>) {
        let mut ruleset = Ruleset::new();
        let crawler = self.search_engine_crawler_bypass.then_some(CRAWLER);
        let enabled = room.rules.iter().filter(|rule| rule.enabled);
        let expressions = enabled.map(|rule| rule.expression.as_str()).chain(crawler);
        let faults = expressions.filter_map(|expression| ruleset.add(expression, lists).err());
        let faults = faults.collect();
        (ruleset, faults)
    }
}
