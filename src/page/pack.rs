//! Checks the default page, the languages and the templates, and packs them as Rust source. Only
//! `build.rs` and tests compile this file.

mod languages;
mod templates;

use std::fs;
use std::path::Path;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use sha2::{Digest, Sha256};

/// What the build goes on with.
#[derive(Debug)]
pub(crate) struct Packed {
    /// The source of `page::packed`.
    #[cfg_attr(test, allow(dead_code, reason = "only the build writes it"))]
    pub(crate) source: String,
    /// What is odd, but no fault.
    pub(crate) warnings: Vec<String>,
}

/// Packs the folder `templates`; or tells every fault in it, each with its file.
pub(crate) fn pack(templates: &Path) -> Result<Packed, Vec<String>> {
    let mut faults = Vec::new();
    let languages = languages::pack(&templates.join("languages"), &mut faults);
    let warnings = templates::check(templates, &mut faults);
    let page = default_page(templates, &mut faults);
    match faults.is_empty() {
        true => Ok(Packed {
            source: languages + &page,
            warnings,
        }),
        false => Err(faults),
    }
}

/// Reads a file; a fault where that fails.
fn read(file: &Path, faults: &mut Vec<String>) -> String {
    fs::read_to_string(file).unwrap_or_else(|error| {
        faults.push(format!("{}: {error}", file.display()));
        String::new()
    })
}

/// The default page with its style and script in it, and the policies that allow the two.
fn default_page(templates: &Path, faults: &mut Vec<String>) -> String {
    let mut part = |name: &str| compact(&read(&templates.join(name), faults));
    let (page, style, script) = (
        part("default.html"),
        part("default.css"),
        part("default.js"),
    );
    let parts = [
        ("default.css", &style, "</style"),
        ("default.js", &script, "</script"),
    ];
    for (name, part, end) in parts {
        for refused in ["{{", end, "<!--", "`"] {
            if part.contains(refused) {
                faults.push(format!("templates/{name}: must not contain {refused}"));
            }
        }
    }
    for mark in [
        "<style>{{{style}}}</style>",
        "<script>{{{script}}}</script>",
    ] {
        if page.matches(mark).count() != 1 {
            faults.push(format!("templates/default.html: must contain {mark} once"));
        }
    }
    let page = page
        .replace("{{{style}}}", &style)
        .replace("{{{script}}}", &script);
    match templates::check_one(&page) {
        Ok(odd) => faults.extend(odd),
        Err(fault) => faults.push(format!("templates/default.html: {fault}")),
    }
    let framed = format!(
        "default-src 'none'; script-src {}; style-src {}; img-src data:; connect-src 'self'; \
         form-action 'self'; base-uri 'none'",
        source_hash(&script),
        source_hash(&style),
    );
    let policy = format!("{framed}; frame-ancestors 'self'");
    format!(
        "pub(super) static PAGE: &str = {page:?};\n\
         pub(super) static POLICY: &str = {policy:?};\n\
         pub(super) static POLICY_FRAMED: &str = {framed:?};\n"
    )
}

/// A hash source of CSP level 3 for the text of a `<script>` or `<style>`.
fn source_hash(text: &str) -> String {
    format!("'sha256-{}'", BASE64_STANDARD.encode(Sha256::digest(text)))
}

/// Drops what nobody reads: the indentation, empty lines and lines that are comments.
fn compact(text: &str) -> String {
    let mut compact = String::with_capacity(text.len());
    for line in text.lines().map(str::trim) {
        let comment = line.starts_with("//") || (line.starts_with("/*") && line.ends_with("*/"));
        if !line.is_empty() && !comment {
            compact += line;
            compact.push('\n');
        }
    }
    compact
}

#[cfg(test)]
mod tests;
