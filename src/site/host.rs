//! Hosts as they are declared, and the domain that several of them share.

use std::net::{Ipv4Addr, Ipv6Addr};

use crate::atlas::origin_name::is_host_name;

/// What validation asks about names. The answers need large tables, which the Worker does without.
#[derive(Clone, Copy)]
pub struct Names<'a> {
    /// Turns an internationalised name into punycode (UTS 46); none where it cannot be.
    pub to_ascii: &'a dyn Fn(&str) -> Option<String>,
    /// Whether a name, lower-case and in punycode, is a public suffix, such as `co.uk`.
    pub is_public_suffix: &'a dyn Fn(&str) -> bool,
}

/// A declared host in the form in which it is compared: lower case, punycode, no trailing dot.
/// An IPv6 address stands in brackets, as in a URL.
///
/// # Errors
/// What is wrong with it.
pub(super) fn host(declared: &str, names: Names<'_>) -> Result<String, &'static str> {
    if declared.is_empty() {
        return Err("must not be empty");
    }
    if declared.contains("://") {
        return Err("must be a host alone, without a scheme");
    }
    if declared.contains('*') {
        return Err("must not contain a wildcard; list each host as a route");
    }
    if declared.contains(['/', '?', '#', '\\']) {
        return Err("must be a host alone; the path has a field of its own");
    }
    if declared.contains('@') {
        return Err("must be a host alone, without a user name");
    }
    let unbracketed = declared
        .strip_prefix('[')
        .and_then(|rest| rest.strip_suffix(']'));
    if let Ok(address) = unbracketed.unwrap_or(declared).parse::<Ipv6Addr>() {
        return Ok(format!("[{address}]"));
    }
    if declared.contains(':') {
        return Err("must not contain a port: a room covers all ports of its host");
    }
    let name = (names.to_ascii)(declared.strip_suffix('.').unwrap_or(declared));
    let name = name.ok_or("is no valid host name")?.to_ascii_lowercase();
    if name.parse::<Ipv4Addr>().is_ok() {
        return Ok(name);
    }
    if !is_host_name(&name) {
        return Err("is no valid host name");
    }
    Ok(name)
}

/// Whether a cookie for this host can have no Domain: localhost and what is below it, and
/// addresses.
pub(super) fn is_lone(host: &str) -> bool {
    host == "localhost"
        || host.ends_with(".localhost")
        || host.starts_with('[')
        || host.parse::<Ipv4Addr>().is_ok()
}

/// The deepest domain that two names share; empty if there is none.
pub(super) fn shared<'a>(one: &'a str, other: &str) -> &'a str {
    let labels = one
        .rsplit('.')
        .zip(other.rsplit('.'))
        .take_while(|(a, b)| a == b);
    // Each label and its dot, the last one without.
    let length = labels
        .map(|(label, _)| label.len() + 1)
        .sum::<usize>()
        .saturating_sub(1);
    one.get(one.len() - length..).unwrap_or_default()
}
