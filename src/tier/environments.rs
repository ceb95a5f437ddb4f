//! What `wrangler.toml` needs for the placed Workers among the upper tiers: an environment for each, and
//! the service bindings that lead there.

use toml::{Table, Value};

use crate::site::tier::{Tier, Transport};

/// The objects of the Worker in front that a tier calls.
const OBJECTS: [(&str, &str); 3] = [
    ("LEASE", "Lease"),
    ("TALLY", "Tally"),
    ("CONTROL", "Control"),
];

/// Those that this one calls: one that only measures calls nobody.
const fn objects(tier: &Tier) -> &'static [(&'static str, &'static str)] {
    if tier.checkpoint_only { &[] } else { &OBJECTS }
}

/// The placed tiers: each with its region and the service binding that leads to it.
pub fn placed(tiers: &[Tier]) -> impl Iterator<Item = (&Tier, &str, &str)> {
    tiers.iter().filter_map(|tier| match &tier.transport {
        Transport::Placed { region, binding } => Some((tier, region.as_str(), binding.as_str())),
        Transport::Object { .. } => None,
    })
}

/// The environments and bindings, as text for `wrangler.toml`. `worker` is the name of the Worker in front.
pub fn written(worker: &str, tiers: &[Tier]) -> String {
    let mut text = String::new();
    for (tier, _, binding) in placed(tiers) {
        let name = &tier.name;
        text += &format!(
            "[[services]]\nbinding = \"{binding}\"\nservice = \"{worker}-tier-{name}\"\n\n"
        );
    }
    for (tier, region, _) in placed(tiers) {
        let name = &tier.name;
        let what = match tier.checkpoint_only {
            true => "checkpoint",
            false => "upper tier",
        };
        text += &format!(
            "# The {what} {name}. Its one way in is the binding above.\n\
             [env.tier-{name}]\nname = \"{worker}-tier-{name}\"\nroutes = []\nservices = []\n\
             triggers = {{ crons = [] }}\n\
             workers_dev = false\npreview_urls = false\nmigrations = []\n\n\
             [env.tier-{name}.placement]\nregion = \"{region}\"\n\n\
             [env.tier-{name}.vars]\nANTEROOM_TIER = \"{name}\"\n\n"
        );
        for (binding, class) in objects(tier) {
            text += &format!(
                "[[env.tier-{name}.durable_objects.bindings]]\nname = \"{binding}\"\n\
                 class_name = \"{class}\"\nscript_name = \"{worker}\"\n\n"
            );
        }
    }
    text
}

/// What `wrangler.toml` lacks for the tiers, or has wrong: one text for each fault, none if all is right.
pub fn faults(wrangler: &Table, tiers: &[Tier]) -> Vec<String> {
    let mut faults = Vec::new();
    let worker = text(wrangler, &["name"]).unwrap_or_default();
    let mut expect = |table: &Table, path: &[&str], place: &str, wanted: &str| {
        let found = text(table, path);
        if found != Some(wanted) {
            let found = found.map_or("missing".to_owned(), |found| format!("{found:?}"));
            faults.push(format!("{place} must be {wanted:?} and is {found}"));
        }
    };
    for (tier, region, binding) in placed(tiers) {
        let environment = format!("tier-{}", tier.name);
        let service = format!("{worker}-{environment}");
        let nothing = Table::new();
        let bound = named(wrangler, &["services"], "binding", binding).unwrap_or(&nothing);
        expect(
            bound,
            &["service"],
            &format!("services: {binding}.service"),
            &service,
        );
        let at = |rest: &str| format!("env.{environment}.{rest}");
        let own = wrangler.get("env").and_then(|all| all.get(&environment));
        let own = own.and_then(Value::as_table).unwrap_or(&nothing);
        expect(own, &["name"], &at("name"), &service);
        expect(
            own,
            &["placement", "region"],
            &at("placement.region"),
            region,
        );
        expect(
            own,
            &["vars", "ANTEROOM_TIER"],
            &at("vars.ANTEROOM_TIER"),
            &tier.name,
        );
        if wrangler.contains_key("triggers") && !own.contains_key("triggers") {
            // wrangler hands them down to environments that have none, and an account has few.
            expect(own, &["triggers"], &at("triggers"), "{ crons = [] }");
        }
        for &(binding, class) in objects(tier) {
            let path = ["durable_objects", "bindings"];
            let object = named(own, &path, "name", binding).unwrap_or(&nothing);
            let place = at(&format!("durable_objects: {binding}"));
            expect(
                object,
                &["class_name"],
                &format!("{place}.class_name"),
                class,
            );
            expect(
                object,
                &["script_name"],
                &format!("{place}.script_name"),
                worker,
            );
        }
    }
    for name in wrangler
        .get("env")
        .and_then(Value::as_table)
        .into_iter()
        .flat_map(Table::keys)
    {
        if let Some(tier) = name.strip_prefix("tier-")
            && !placed(tiers).any(|(placed, ..)| placed.name == tier)
        {
            faults.push(format!("env.{name} is of no tier in rooms.toml"));
        }
    }
    faults
}

fn text<'a>(table: &'a Table, path: &[&str]) -> Option<&'a str> {
    let (first, rest) = path.split_first()?;
    let value = table.get(*first)?;
    if rest.is_empty() {
        return value.as_str();
    }
    text(value.as_table()?, rest)
}

/// The table of a list whose `key` has this value.
fn named<'a>(table: &'a Table, path: &[&str], key: &str, value: &str) -> Option<&'a Table> {
    let (last, way) = path.split_last()?;
    let mut table = table;
    for part in way {
        table = table.get(*part)?.as_table()?;
    }
    let tables = table
        .get(*last)?
        .as_array()?
        .iter()
        .filter_map(Value::as_table);
    let mut tables = tables.filter(|table| text(table, &[key]) == Some(value));
    tables.next()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::site::tier::LocationHint;

    fn tiers() -> Vec<Tier> {
        let tier = |name: &str, transport| Tier {
            name: name.into(),
            place: name.into(),
            transport,
            checkpoint_only: name == "jnb",
        };
        let placed = |region: &str, binding: &str| Transport::Placed {
            region: region.into(),
            binding: binding.into(),
        };
        let object = Transport::Object {
            location_hint: LocationHint::Weur,
            shards: 1,
        };
        vec![
            tier("fra", placed("aws:eu-central-1", "TIER_FRA")),
            tier("near", object),
            tier("gru", placed("aws:sa-east-1", "SAO_PAULO")),
            tier("jnb", placed("azure:southafricanorth", "TIER_JNB")),
        ]
    }

    fn wrangler() -> String {
        format!("name = \"shop\"\n{}", written("shop", &tiers()))
    }

    #[test]
    fn what_is_printed_is_right() {
        let table: Table = wrangler().parse().unwrap();
        assert_eq!(faults(&table, &tiers()), Vec::<String>::new());
        assert_eq!(table["services"].as_array().unwrap().len(), 3);
        let objects = |tier: &str| table["env"][tier].get("durable_objects").is_some();
        assert!(objects("tier-gru") && !objects("tier-jnb"));
    }

    #[test]
    fn each_fault_is_found() {
        let found = |from: &str, to: &str| {
            let text = wrangler();
            assert!(text.contains(from), "{from}");
            faults(&text.replacen(from, to, 1).parse().unwrap(), &tiers()).join("; ")
        };
        for (from, to, fault) in [
            (
                "aws:sa-east-1",
                "aws:us-east-1",
                "env.tier-gru.placement.region must be \"aws:sa-east-1\"",
            ),
            (
                "ANTEROOM_TIER = \"fra\"",
                "",
                "env.tier-fra.vars.ANTEROOM_TIER must be \"fra\" and is missing",
            ),
            (
                "binding = \"SAO_PAULO\"",
                "binding = \"GRU\"",
                "services: SAO_PAULO.service must be",
            ),
            (
                "service = \"shop-tier-fra\"",
                "service = \"other\"",
                "and is \"other\"",
            ),
            (
                "script_name = \"shop\"",
                "script_name = \"mall\"",
                "LEASE.script_name must be \"shop\"",
            ),
            (
                "class_name = \"Control\"",
                "class_name = \"Room\"",
                "CONTROL.class_name must be \"Control\"",
            ),
        ] {
            let found = found(from, to);
            assert!(found.contains(fault) && !found.contains(';'), "{found}");
        }
        let inherited = format!("{}\n[triggers]\ncrons = [\"*/15 * * * *\"]\n", wrangler());
        assert!(faults(&inherited.parse().unwrap(), &tiers()).is_empty());
        let inherited = inherited.replacen("triggers = { crons = [] }\n", "", 1);
        let found = faults(&inherited.parse().unwrap(), &tiers());
        assert_eq!(
            found,
            ["env.tier-fra.triggers must be \"{ crons = [] }\" and is missing"]
        );
        let one = &tiers()[..1];
        let left = faults(&wrangler().parse().unwrap(), one);
        assert_eq!(
            left,
            ["gru", "jnb"].map(|name| format!("env.tier-{name} is of no tier in rooms.toml"))
        );
        assert_eq!(faults(&Table::new(), one).len(), 10);
    }
}
