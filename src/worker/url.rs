//! Parts of the absolute URL of a request, which the runtime has normalised.

/// Host and port of an absolute URL.
pub(super) fn authority(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    authority.rsplit('@').next().unwrap_or_default()
}

/// Path and query of an absolute URL, the query without its question mark.
pub(super) fn target(url: &str) -> (&str, &str) {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let target = rest.find(['/', '?', '#']).and_then(|at| rest.get(at..));
    let target = target.unwrap_or("/").split('#').next().unwrap_or_default();
    target.split_once('?').unwrap_or((target, ""))
}

/// The host of an absolute URL, without the port and a trailing dot.
pub(super) fn host_of(url: &str) -> &str {
    let authority = authority(url);
    let host = match authority.rfind(':') {
        Some(colon) if !authority.ends_with(']') => authority.get(..colon).unwrap_or_default(),
        _ => authority,
    };
    host.strip_suffix('.').unwrap_or(host)
}
