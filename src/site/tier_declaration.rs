//! Reads and checks `[[tiers]]`.

use std::fmt;

use serde_json::Value;

use super::cached_host::CachedHost;
use super::fault::{Faults, Notes};
use super::fields;
use super::table::Table;
use super::tier::{LocationHint, Tier, Transport};

/// More are more than the metropolitan areas in which clouds have regions.
const MOST_TIERS: usize = 64;
const LONGEST_NAME: usize = 32;
/// One object takes about 1,000 requests a second.
const SHARDS: (u32, u32) = (1, 64);
const USUAL_SHARDS: u32 = 8;

/// What has to be known of the world.
#[derive(Clone, Copy)]
pub struct World<'a> {
    /// Where a cloud region is, and what it is called.
    pub region: &'a dyn Fn(&str) -> Result<Located, String>,
    /// Whether there is a place of this code.
    pub is_place: &'a dyn Fn(&str) -> bool,
}

impl fmt::Debug for World<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("World")
    }
}

/// A cloud region for a placed Worker.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Located {
    /// The code of its place.
    pub place: String,
    /// The region as wrangler's `placement.region` has it: of a cloud that wrangler does not know, the
    /// nearest one that it does.
    pub placement: String,
}

/// Checks the value of `tiers`, and that `hosts` choose none but these; none declared is none.
///
/// # Errors
/// Everything that is wrong with it.
pub fn tiers(
    value: Option<&Value>,
    hosts: &[CachedHost],
    world: World<'_>,
) -> Result<Vec<Tier>, Faults> {
    let mut notes = Notes::default();
    let mut tiers: Vec<Tier> = Vec::new();
    let nothing = Value::Array(Vec::new());
    let list = value.unwrap_or(&nothing).as_array();
    if list.is_none_or(|list| list.len() > MOST_TIERS) {
        notes.add(
            "tiers",
            format!("must be a list of {MOST_TIERS} tables at most"),
        );
    }
    for (n, value) in list.into_iter().flatten().enumerate() {
        let place = format!("tiers[{n}]");
        let Some(table) = Table::open(value, place, &fields::TIER, &mut notes) else {
            continue;
        };
        let Some(tier) = tier(&table, world, &mut notes) else {
            continue;
        };
        if tiers.iter().any(|other| other.name == tier.name) {
            notes.add(table.at("name"), "is also the name of another tier");
        }
        tiers.push(tier);
    }
    let asked = tiers.iter().filter(|tier| !tier.checkpoint_only);
    for (n, host) in hosts.iter().enumerate() {
        if let Some(name) = &host.tier
            && !asked.clone().any(|tier| tier.name == *name)
        {
            let message = format!("must be the name of one of tiers, not {name:?}");
            notes.add(format!("cached_hosts[{n}].tier"), message);
        }
    }
    notes.finish(tiers)
}

fn tier(table: &Table<'_>, world: World<'_>, notes: &mut Notes) -> Option<Tier> {
    table.require("name", notes);
    let name = table.text("name", notes)?;
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    if !(1..=LONGEST_NAME).contains(&name.len()) || !name.bytes().all(plain) {
        let message =
            format!("must be 1 to {LONGEST_NAME} lower-case letters, digits or -, not {name:?}");
        notes.add(table.at("name"), message);
    }
    let (transport, place) = match (table.has("region"), table.has("location_hint")) {
        (true, false) => placed(table, name, world, notes)?,
        (false, true) => object(table, notes)?,
        (true, true) => {
            let message = "cannot stand beside region: a tier is a placed Worker or objects";
            notes.add(table.at("location_hint"), message);
            return None;
        }
        (false, false) => {
            let message = "is required (a placed Worker), or location_hint (Durable Objects)";
            notes.add(table.at("region"), message);
            return None;
        }
    };
    let place = match table.text("place", notes) {
        Some(code) if (world.is_place)(code) => code.to_owned(),
        Some(code) => {
            let message = format!("must be a code of atlas/places.csv, not {code:?}");
            notes.add(table.at("place"), message);
            place
        }
        None => place,
    };
    let checkpoint_only = table.flag("checkpoint_only", false, notes);
    if checkpoint_only && matches!(transport, Transport::Object { .. }) {
        let message = "is for tiers with a region: objects of all location hints measure anyway";
        notes.add(table.at("checkpoint_only"), message);
    }
    Some(Tier {
        name: name.to_owned(),
        place,
        transport,
        checkpoint_only,
    })
}

fn placed(
    table: &Table<'_>,
    name: &str,
    world: World<'_>,
    notes: &mut Notes,
) -> Option<(Transport, String)> {
    if table.has("shards") {
        notes.add(table.at("shards"), "is for tiers with a location_hint");
    }
    let usual = format!("TIER_{}", name.to_ascii_uppercase().replace('-', "_"));
    let binding = table.text("binding", notes).map_or(usual, str::to_owned);
    let word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let begins = |byte: &u8| !byte.is_ascii_digit();
    if !binding.bytes().all(word) || !binding.bytes().next().as_ref().is_some_and(begins) {
        let message = format!("must be the name of a binding, such as TIER_FRA, not {binding:?}");
        notes.add(table.at("binding"), message);
    }
    match (world.region)(table.text("region", notes)?) {
        Ok(Located { place, placement }) => {
            let transport = Transport::Placed {
                region: placement,
                binding,
            };
            Some((transport, place))
        }
        Err(message) => {
            notes.add(table.at("region"), message);
            None
        }
    }
}

fn object(table: &Table<'_>, notes: &mut Notes) -> Option<(Transport, String)> {
    if table.has("binding") {
        notes.add(table.at("binding"), "is for tiers with a region");
    }
    let shards = table.number("shards", SHARDS, notes);
    let known = LocationHint::ALL.map(|hint| (hint.as_str(), hint));
    if let Some(hint @ ("sam" | "afr" | "me")) = table.get("location_hint").and_then(Value::as_str)
    {
        let message = format!(
            "{hint}: Cloudflare runs no Durable Objects there and would make them on another \
             continent; use a placed Worker (region)"
        );
        notes.add(table.at("location_hint"), message);
        return None;
    }
    let location_hint = table.choice("location_hint", &known, notes)?;
    let transport = Transport::Object {
        location_hint,
        shards: shards.unwrap_or(USUAL_SHARDS),
    };
    Some((transport, location_hint.usual_place().to_owned()))
}
