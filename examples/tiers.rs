//! `make tiers`: checks `wrangler.toml` for the upper tiers that `rooms.toml` declares, and prints what it
//! lacks.

use std::process::ExitCode;
use std::{error, fs};

use anteroom::packed;
use anteroom::tier::environments::{faults, written};

fn main() -> Result<ExitCode, Box<dyn error::Error>> {
    let tiers = packed::tiers()?;
    if tiers.is_empty() {
        println!("rooms.toml declares no upper tiers (docs/tiers.md).");
        return Ok(ExitCode::SUCCESS);
    }
    for tier in &tiers {
        let only = if tier.checkpoint_only {
            ", only measures"
        } else {
            ""
        };
        println!("# {}: near {}{only}", tier.name, tier.place);
    }
    let wrangler: toml::Table = fs::read_to_string("wrangler.toml")?.parse()?;
    let faults = faults(&wrangler, &tiers);
    if faults.is_empty() {
        println!("wrangler.toml has all that they need.");
        return Ok(ExitCode::SUCCESS);
    }
    for fault in faults {
        eprintln!("wrangler.toml: {fault}");
    }
    let name = wrangler.get("name").and_then(toml::Value::as_str);
    println!("\n{}", written(name.unwrap_or("anteroom"), &tiers));
    Ok(ExitCode::FAILURE)
}
