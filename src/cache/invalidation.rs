//! What an unsafe request makes invalid (RFC 9111 section 4.4).

use super::fields::Fields;

/// The URLs whose stored answers a request makes invalid that was answered so: its own, and what
/// `Location` and `Content-Location` name on the same origin. None for a method that changes nothing, and
/// after an error.
pub fn invalidated(method: &str, url: &str, status: u16, fields: &Fields) -> Vec<String> {
    let is_safe = matches!(
        method,
        "GET" | "HEAD" | "OPTIONS" | "TRACE" | "PROPFIND" | "REPORT"
    );
    if is_safe || !(200..400).contains(&status) {
        return Vec::new();
    }
    let mut urls = vec![url.to_owned()];
    for name in ["location", "content-location"] {
        let named = fields
            .first(name)
            .and_then(|reference| resolved(url, reference));
        urls.extend(named.filter(|named| !urls.contains(named)));
    }
    urls
}

/// A reference in the light of a URL; none if it leads to another origin, or is none that servers send.
fn resolved(url: &str, reference: &str) -> Option<String> {
    let path = url
        .find("://")
        .and_then(|at| Some(at + 3 + url.get(at + 3..)?.find('/')?));
    let (origin, path) = url.split_at_checked(path?)?;
    let reference = reference.split('#').next().unwrap_or_default();
    if let Some(rest) = reference.strip_prefix(origin) {
        return rest.starts_with('/').then(|| reference.to_owned());
    }
    if reference.contains("://") || reference.starts_with("//") || reference.contains("/.") {
        return None;
    }
    if reference.starts_with('/') {
        return Some(format!("{origin}{reference}"));
    }
    let path = path.split('?').next().unwrap_or_default();
    let folder = path.get(..=path.rfind('/')?)?;
    (!reference.is_empty() && !reference.starts_with(['?', '.']))
        .then(|| format!("{origin}{folder}{reference}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const URL: &str = "https://a.test/x/y?z=1";

    #[test]
    fn only_what_may_have_changed_something_invalidates() {
        for (method, status, count) in [
            ("POST", 200, 1),
            ("PUT", 303, 1),
            ("M-SEARCH", 204, 1),
            ("DELETE", 404, 0),
            ("POST", 500, 0),
            ("GET", 200, 0),
            ("HEAD", 200, 0),
            ("OPTIONS", 200, 0),
        ] {
            let urls = invalidated(method, URL, status, &Fields::default());
            assert_eq!(urls.len(), count, "{method} {status}");
        }
    }

    #[test]
    fn a_location_counts_on_its_own_origin() {
        for (location, expected) in [
            ("/new", Some("https://a.test/new")),
            ("https://a.test/new?q#f", Some("https://a.test/new?q")),
            ("new", Some("https://a.test/x/new")),
            ("https://a.test.evil/new", None),
            ("http://a.test/new", None),
            ("//b.test/new", None),
            ("../new", None),
            ("", None),
        ] {
            let fields = Fields::from([("Location", location)]);
            let urls = invalidated("POST", URL, 201, &fields);
            assert_eq!(urls.get(1).map(String::as_str), expected, "{location}");
        }
    }
}
