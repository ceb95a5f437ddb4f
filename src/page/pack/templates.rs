//! Checks the templates that operators write.

use std::fs;
use std::path::Path;

pub(super) use super::super::template::check::check as check_one;

/// Checks every page in the folder but the default one, and gives back the warnings.
pub(super) fn check(folder: &Path, faults: &mut Vec<String>) -> Vec<String> {
    let mut warnings = Vec::new();
    let mut names: Vec<String> = fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .filter(|name| name.ends_with(".html") && name != "default.html")
        .collect();
    names.sort();
    for name in names {
        let source = super::read(&folder.join(&name), faults);
        match check_one(&source) {
            Ok(odd) => warnings.extend(odd.iter().map(|odd| format!("templates/{name}: {odd}"))),
            Err(fault) => faults.push(format!("templates/{name}: {fault}")),
        }
    }
    warnings
}
