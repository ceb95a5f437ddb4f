//! Web origins as they are declared (RFC 6454).

use super::host::{Names, host};

/// Checks that `declared` is spelled exactly as browsers spell an `Origin`, because it is compared
/// with that byte by byte.
///
/// # Errors
/// What is wrong with it, and how it is spelled where that is plain.
pub(super) fn check(declared: &str, names: Names<'_>) -> Result<(), String> {
    if declared.eq_ignore_ascii_case("null") {
        return Err(
            "must not be null: every sandboxed page and local file has that origin".to_owned(),
        );
    }
    if declared.contains('*') {
        return Err("must not contain a wildcard; list each origin".to_owned());
    }
    let Some((scheme, rest)) = declared.split_once("://") else {
        return Err("must have a scheme, as in https://app.example.com".to_owned());
    };
    let lower = scheme.to_ascii_lowercase();
    let mut letters = lower.bytes();
    if !letters
        .next()
        .is_some_and(|byte| byte.is_ascii_alphabetic())
        || !letters.all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
    {
        return Err(format!("{scheme:?} is no scheme"));
    }
    let end = rest.find(['/', '?', '#', '\\']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at_checked(end).unwrap_or((rest, ""));
    if !path.is_empty() && path != "/" {
        return Err("must be an origin alone, without a path".to_owned());
    }
    // The colons of an IPv6 address stand in brackets.
    let (name, port) = match authority.rsplit_once(':') {
        Some((name, port)) if !port.contains(']') => (name, Some(port)),
        _ => (authority, None),
    };
    let name = host(name, names).map_err(|fault| format!("its host {fault}"))?;
    let port = match port.map(str::parse::<u16>) {
        None => None,
        Some(Ok(port)) => Some(port),
        Some(Err(_)) => return Err("its port must be a number up to 65535".to_owned()),
    };
    // Browsers leave the usual port out.
    let usual = [("https", 443), ("http", 80)]
        .into_iter()
        .find(|(usual, _)| *usual == lower);
    let port = port.filter(|port| usual.is_none_or(|(_, usual)| usual != *port));
    let port = port.map(|port| format!(":{port}")).unwrap_or_default();
    let exact = format!("{lower}://{name}{port}");
    if exact != declared {
        return Err(format!("must be spelled as browsers do: {exact}"));
    }
    Ok(())
}
