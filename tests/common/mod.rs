//! What the tests of the configuration share.
#![allow(
    dead_code,
    unreachable_pub,
    clippy::indexing_slicing,
    clippy::unwrap_used
)]

use anteroom::site::fault::Faults;
use anteroom::site::host::Names;
use anteroom::site::room::{Room, Site};
use anteroom::site::{Context, validate};
use serde_json::{Value, json};

/// Validates with the tables that `build.rs` uses.
pub fn site(declaration: &Value) -> Result<Site, Faults> {
    let languages = ["de-DE", "en-US", "ja-JP"].map(String::from);
    let to_ascii = |name: &str| idna::domain_to_ascii(name).ok();
    let is_public_suffix = |name: &str| psl::suffix_str(name) == Some(name);
    let names = Names {
        to_ascii: &to_ascii,
        is_public_suffix: &is_public_suffix,
    };
    validate(
        declaration,
        Context {
            names,
            languages: &languages,
        },
    )
}

/// The faults of a declaration, one a line.
pub fn faults(declaration: &Value) -> String {
    site(declaration).map_or_else(|faults| faults.to_string(), |_| String::new())
}

/// A room of the given name and host, with the required fields and these ones.
pub fn room(name: &str, host: &str, more: Value) -> Value {
    let mut room = json!({
        "name": name, "host": host, "total_active_users": 10, "new_users_per_minute": 20,
    });
    let Value::Object(more) = more else {
        unreachable!()
    };
    room.as_object_mut().unwrap().extend(more);
    room
}

/// The only room of a valid declaration.
pub fn only(declared: Value) -> Room {
    site(&json!({ "rooms": [declared] }))
        .unwrap()
        .rooms
        .remove(0)
}

/// The rows of the first table under a heading of a Markdown page, without its head.
pub fn table(page: &str, heading: &str) -> Vec<Vec<String>> {
    let part = page.split(heading).nth(1).unwrap();
    let rows = part.lines().skip_while(|line| !line.starts_with('|'));
    let rows = rows.take_while(|line| line.starts_with('|')).skip(2);
    rows.map(|row| {
        row.trim_matches('|')
            .split(" | ")
            .map(|cell| cell.trim().replace('`', ""))
            .collect()
    })
    .collect()
}

/// A folder of measured inputs that lie beside a checkout, not in it. A clone that has none skips
/// what needs it and says so; the project's own checks always have it.
#[allow(dead_code)]
pub fn data(name: &str) -> Option<std::path::PathBuf> {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/data");
    let folder = folder.join(name);
    if folder.is_dir() {
        return Some(folder);
    }
    assert!(
        std::env::var_os("CI").is_none(),
        "{} is not there",
        folder.display()
    );
    println!("skipped: {} is not there", folder.display());
    None
}
