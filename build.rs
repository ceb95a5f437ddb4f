//! Checks what the operator declared and packs it for the Worker. Every fault fails the build.

use std::path::{Path, PathBuf};
use std::{env, error, fs, process};

#[allow(dead_code, unreachable_pub, unused_imports)]
#[path = "src/atlas"]
mod atlas {
    pub mod cloud;
    pub mod origin_name;
    pub mod place;
    pub mod region_places;
}

#[allow(dead_code, unreachable_pub)]
#[path = "src/page"]
mod page {
    pub mod names;
    pub mod pack;
    pub mod plural;
    pub mod template;
    pub mod texts;
}

#[allow(dead_code, unreachable_pub, unused_imports)]
#[path = "src/rules/mod.rs"]
mod rules;

#[allow(dead_code, unreachable_pub)]
#[path = "src/site/mod.rs"]
mod site;

use atlas::cloud::{Misnamed, Region};
use atlas::region_places::RegionPlaces;
use serde_json::Value;
use site::cached_host::CachedHost;
use site::fault::Faults;
use site::room::Site;
use site::tier::Tier;

/// A fault, for the operator to read.
type Failure = Box<dyn error::Error>;

fn main() {
    if let Err(failure) = pack() {
        for line in failure.to_string().lines() {
            println!("cargo::error={line}");
        }
        process::exit(1);
    }
}

fn pack() -> Result<(), Failure> {
    println!("cargo::rerun-if-changed=src/atlas");
    println!("cargo::rerun-if-changed=atlas");
    println!("cargo::rerun-if-changed=src/page");
    println!("cargo::rerun-if-changed=src/rules");
    println!("cargo::rerun-if-changed=src/site");
    println!("cargo::rerun-if-changed=templates");
    let root = PathBuf::from(env::var("CARGO_MANIFEST_DIR")?);
    let out = PathBuf::from(env::var("OUT_DIR")?);
    let Declared {
        declaration,
        site,
        cached_hosts,
        tiers,
    } = read_declaration(&root)?;
    check_templates(&root, &site)?;
    fs::write(out.join("page.rs"), pack_page(&root)?)?;
    fs::write(out.join("declaration.json"), declaration.to_string())?;
    println!("cargo::rerun-if-changed=docs/openapi.json");
    let openapi: Value =
        serde_json::from_str(&fs::read_to_string(root.join("docs/openapi.json"))?)?;
    fs::write(out.join("openapi.json"), openapi.to_string())?;
    fs::write(out.join("site.json"), serde_json::to_string(&site)?)?;
    let cached_hosts = serde_json::to_string(&cached_hosts)?;
    fs::write(out.join("cached_hosts.json"), cached_hosts)?;
    fs::write(out.join("tiers.json"), serde_json::to_string(&tiers)?)?;
    fs::write(out.join("templates.rs"), page_sources(&root, &site)?)?;
    Ok(())
}

/// What the operator declared.
struct Declared {
    /// The rooms as they are declared, with international names in punycode: the Worker has no tables for
    /// those.
    declaration: Value,
    /// The rooms, checked.
    site: Site,
    /// The cached hosts, checked. The API does not change them, so they are not part of the declaration
    /// that it compares.
    cached_hosts: Vec<CachedHost>,
    /// The upper tiers, checked. The same is true of them.
    tiers: Vec<Tier>,
}

/// Reads and checks what is declared: `rooms.toml`, or the file that `ANTEROOM_ROOMS` names.
fn read_declaration(root: &Path) -> Result<Declared, Failure> {
    println!("cargo::rerun-if-env-changed=ANTEROOM_ROOMS");
    let file = root.join(env::var_os("ANTEROOM_ROOMS").unwrap_or_else(|| "rooms.toml".into()));
    println!("cargo::rerun-if-changed={}", file.display());
    let named = |fault: &dyn error::Error| format!("{}: {fault}", file.display());
    let text = fs::read_to_string(&file).map_err(|fault| named(&fault))?;
    let mut declaration: Value = toml::from_str(&text).map_err(|fault| named(&fault))?;
    let mut remove = |name| {
        declaration
            .as_object_mut()
            .and_then(|whole| whole.remove(name))
    };
    let (cached_hosts, tiers) = (remove("cached_hosts"), remove("tiers"));
    let languages = languages(root);
    let to_ascii = |name: &str| idna::domain_to_ascii(name).ok();
    let is_public_suffix = |name: &str| psl::suffix_str(name) == Some(name);
    let names = site::host::Names {
        to_ascii: &to_ascii,
        is_public_suffix: &is_public_suffix,
    };
    let context = site::Context {
        names,
        languages: &languages,
    };
    let faulty = |faults: Faults| format!("{} has faults:\n{faults}", file.display());
    let site = site::validate(&declaration, context).map_err(faulty)?;
    let cached_hosts = site::cached_hosts(cached_hosts.as_ref(), names).map_err(faulty)?;
    let places = RegionPlaces::packed()?;
    if !places.unplaced().is_empty() {
        let names = places.unplaced().iter().map(ToString::to_string);
        let names = names.collect::<Vec<String>>().join(", ");
        println!("cargo::warning=atlas/regions.csv: nobody knows where these are: {names}");
    }
    let world = site::World {
        region: &|text| region(&places, text),
        is_place: &|code| places.place(code).is_some(),
    };
    let tiers = site::tiers(tiers.as_ref(), &cached_hosts, world).map_err(faulty)?;
    names_in_punycode(&mut declaration);
    Ok(Declared {
        declaration,
        site,
        cached_hosts,
        tiers,
    })
}

/// Where a region is, and which one Cloudflare's placement has for it.
fn region(places: &RegionPlaces, text: &str) -> Result<site::Located, String> {
    let region: Region = text.parse().map_err(|fault: Misnamed| fault.to_string())?;
    let placement = places.placement(&region).ok_or_else(|| {
        let like = places.did_you_mean(&region);
        format!("there is no region {region} in atlas/regions.csv{like}")
    })?;
    Ok(site::Located {
        place: placement.place.code.clone(),
        placement: placement.region.to_string(),
    })
}

/// Writes every `host` and every origin with ASCII letters alone.
fn names_in_punycode(value: &mut Value) {
    let Value::Object(map) = value else {
        if let Value::Array(list) = value {
            list.iter_mut().for_each(names_in_punycode);
        }
        return;
    };
    for (name, value) in map {
        match (name.as_str(), value) {
            ("host", Value::String(host)) if !host.is_ascii() => {
                if let Ok(ascii) = idna::domain_to_ascii(host) {
                    *host = ascii;
                }
            }
            (_, value) => names_in_punycode(value),
        }
    }
}

/// The languages of the page: the names of the files in `templates/languages`.
fn languages(root: &Path) -> Vec<String> {
    let entries = fs::read_dir(root.join("templates/languages"))
        .into_iter()
        .flatten()
        .flatten();
    let files = entries.map(|entry| entry.path());
    let files = files.filter(|file| {
        file.extension()
            .is_some_and(|extension| extension == "json")
    });
    let stems = files.filter_map(|file| Some(file.file_stem()?.to_str()?.to_owned()));
    let mut languages: Vec<String> = stems.collect();
    languages.sort();
    languages
}

/// Checks the templates and languages, and packs the default page.
fn pack_page(root: &Path) -> Result<String, Failure> {
    let packed = page::pack::pack(&root.join("templates")).map_err(|faults| faults.join("\n"))?;
    for warning in packed.warnings {
        println!("cargo::warning={warning}");
    }
    Ok(packed.source)
}

/// Checks that the rooms' own pages are there.
fn check_templates(root: &Path, site: &Site) -> Result<(), Failure> {
    let mut faults = Vec::new();
    for (n, room) in site.rooms.iter().enumerate() {
        for name in room.pages() {
            if !root.join("templates").join(name).is_file() {
                faults.push(format!(
                    "rooms[{n}].custom_page_html, or one of its events': no such file: \
                     templates/{name}"
                ));
            }
        }
    }
    if faults.is_empty() {
        Ok(())
    } else {
        Err(faults.join("\n").into())
    }
}

/// Rust source of a list of the rooms' own pages, each as its name and text.
fn page_sources(root: &Path, site: &Site) -> Result<String, Failure> {
    let mut names: Vec<&str> = site.rooms.iter().flat_map(|room| room.pages()).collect();
    names.sort();
    names.dedup();
    let mut source = String::from("&[");
    for name in names {
        let file = root.join("templates").join(name);
        let file = file
            .to_str()
            .ok_or("the path of the project must be UTF-8")?;
        source += &format!("({name:?}, include_str!({file:?})),");
    }
    source.push(']');
    Ok(source)
}
