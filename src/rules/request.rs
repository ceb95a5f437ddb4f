//! Parts of a request that have a form of their own: arguments, cookies, languages, the extension.

use percent_encoding::percent_decode_str;

/// The arguments of a query, in order: not decoded, and without `=` with an empty value.
pub(super) fn arguments(query: &str) -> impl Iterator<Item = (&str, &str)> {
    let pairs = query.split('&').filter(|pair| !pair.is_empty());
    pairs.map(|pair| pair.split_once('=').unwrap_or((pair, "")))
}

/// The values of a cookie. Names are decoded before they are compared, values are as they came.
pub(super) fn cookies<'a>(header: &'a str, name: &str) -> impl Iterator<Item = &'a str> {
    let pairs = header
        .split(';')
        .filter_map(|pair| pair.trim().split_once('='));
    pairs
        .filter(move |(cookie, _)| {
            *cookie == name || percent_decode_str(cookie).decode_utf8_lossy() == name
        })
        .map(|(_, value)| value)
}

/// The languages of an `Accept-Language`, the most wanted first; those with weight 0 are left out.
pub(super) fn languages(header: &str) -> Vec<&str> {
    let mut languages: Vec<(u16, &str)> = header
        .split(',')
        .filter_map(|part| {
            let mut parts = part.split(';').map(str::trim);
            let tag = parts.next().filter(|tag| !tag.is_empty())?;
            let weight = parts.find_map(|part| part.strip_prefix("q="));
            Some((weight.map_or(1_000, thousandths), tag))
        })
        .filter(|(weight, _)| *weight > 0)
        .collect();
    // Stable: equals stay in their order.
    languages.sort_by_key(|(weight, _)| std::cmp::Reverse(*weight));
    languages.into_iter().map(|(_, tag)| tag).collect()
}

/// A weight of RFC 9110, section 12.4.2: `0.8` is 800. What is none counts as 0.
fn thousandths(weight: &str) -> u16 {
    let (whole, part) = weight.split_once('.').unwrap_or((weight, ""));
    let digits = part.len() <= 3 && part.bytes().all(|byte| byte.is_ascii_digit());
    match (whole, digits) {
        ("1", true) => 1_000,
        ("0", true) => format!("{part:0<3}").parse().unwrap_or(0),
        _ => 0,
    }
}

/// The extension of a path in lower case, without the dot; empty if there is none.
pub(super) fn extension(path: &str) -> String {
    let name = path.rsplit('/').next().unwrap_or_default();
    match name.rsplit_once('.') {
        Some((stem, extension)) if !stem.is_empty() => extension.to_ascii_lowercase(),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extensions() {
        for (path, expected) in [
            ("/foo", ""),
            ("/foo.mp3", "mp3"),
            ("/.mp3", ""),
            ("/.foo.mp3", "mp3"),
            ("/foo.tar.bz2", "bz2"),
            ("/foo.", ""),
            ("/foo.MP3", "mp3"),
            ("/a.b/c", ""),
            ("/", ""),
        ] {
            assert_eq!(extension(path), expected, "{path}");
        }
    }

    #[test]
    fn languages_are_ordered_by_weight() {
        let header = "fr;q=0.5, de, en;q=0.8, *;q=0, es;q=0.81, it;q=x, ,";
        assert_eq!(languages(header), ["de", "es", "en", "fr"]);
    }

    #[test]
    fn arguments_are_split_and_not_decoded() {
        let all: Vec<_> = arguments("a=1&b&&c=%20=x&a=2&=y").collect();
        assert_eq!(
            all,
            [("a", "1"), ("b", ""), ("c", "%20=x"), ("a", "2"), ("", "y")]
        );
        assert_eq!(arguments("").count(), 0);
    }

    #[test]
    fn cookies_are_found_by_their_decoded_name() {
        let all: Vec<_> = cookies("a=1; b=2;a=3; %61=%34;c", "a").collect();
        assert_eq!(all, ["1", "3", "%34"]);
    }
}
