//! Name and scope of a room's cookie: one cookie that every route of the room sees.

use super::host::{Names, is_lone, shared};
use super::path::{segments, spelling};
use super::room::Route;

/// The Domain for the cookie of a room over `routes`: the deepest domain that their hosts share.
/// None where the cookie has to stay with the one host: localhost, an address, a public suffix.
///
/// # Errors
/// Why no cookie can reach all the hosts.
pub(super) fn domain(routes: &[Route], names: Names<'_>) -> Result<Option<String>, String> {
    let mut hosts: Vec<&str> = routes.iter().map(|route| route.host.as_str()).collect();
    hosts.sort_unstable();
    hosts.dedup();
    let [first, rest @ ..] = hosts.as_slice() else {
        return Ok(None);
    };
    if rest.is_empty() {
        let suffix = is_lone(first) || (names.is_public_suffix)(first);
        return Ok((!suffix).then(|| (*first).to_owned()));
    }
    if let Some(lone) = hosts.iter().find(|host| is_lone(host)) {
        return Err(format!(
            "covers several hosts, and {lone} cannot share a cookie with another host"
        ));
    }
    let domain = rest
        .iter()
        .fold(*first, |domain, host| shared(domain, host));
    if domain.is_empty() || (names.is_public_suffix)(domain) {
        let why = match domain {
            "" => String::new(),
            suffix => format!(": {suffix} is a public suffix"),
        };
        let hosts = hosts.join(", ");
        return Err(format!(
            "its hosts share no domain that a cookie can have ({hosts}){why}"
        ));
    }
    Ok(Some(domain.to_owned()))
}

/// The Path for the cookie of a room over `routes`: the longest prefix of whole segments that their
/// paths share, spelled as browsers spell it. Browsers compare paths byte by byte, so a room for
/// which case does not matter has `/`.
pub(super) fn path(routes: &[Route], case_sensitive: bool) -> String {
    let mut paths = routes
        .iter()
        .map(|route| segments(route.path.as_bytes()).collect::<Vec<_>>());
    let mut common = match paths.next() {
        Some(first) if case_sensitive => first,
        _ => return "/".to_owned(),
    };
    for other in paths {
        let same = common
            .iter()
            .zip(&other)
            .take_while(|(a, b)| a == b)
            .count();
        common.truncate(same);
    }
    if common.is_empty() {
        return "/".to_owned();
    }
    common
        .iter()
        .map(|segment| format!("/{}", spelling(segment)))
        .collect()
}
