//! Which language a visitor is answered in.

use super::{Language, all};

/// Weights of `Accept-Language` are compared in thousandths (RFC 9110 section 12.4.2).
const FULL_WEIGHT: u16 = 1000;

/// Chooses the language of the page: the first that names one of ours, of
/// 1. the first segment of the path: `/es/`, `/ja-jp/`;
/// 2. the labels of the host in front of its last two, or of `localhost`: `es.example.com`,
///    `shop.de.example.com`, `es.localhost:8787`;
/// 3. `Accept-Language`, its best weight first;
/// 4. `default`, the room's.
///
/// A region that we do not have falls back to another of its language, `es-MX` to `es-ES`. Where not even
/// the default is one of ours, it is English.
pub fn choose(
    url_host: &str,
    url_path: &str,
    accept_language: Option<&str>,
    default: &str,
) -> &'static Language {
    let segment = url_path.split('/').nth(1).unwrap_or_default();
    segment_language(segment)
        .or_else(|| host_language(url_host))
        .or_else(|| accepted_language(accept_language?))
        .or_else(|| lookup(default))
        .or_else(|| lookup("en"))
        .unwrap_or(&super::super::packed::LANGUAGES[0])
}

/// A segment or label names a language only by its code, or by that and a region: `es`, `pt-br`,
/// `zh_TW`. Anything else that begins alike is a word.
fn segment_language(segment: &str) -> Option<&'static Language> {
    let mut subtags = segment.split(['-', '_']);
    let code = subtags.next()?;
    let region = subtags.next();
    let letters =
        |text: &str, length| text.len() == length && text.bytes().all(|b| b.is_ascii_alphabetic());
    let named = letters(code, 2) && region.is_none_or(|region| letters(region, 2));
    match subtags.next() {
        None if named => lookup(segment),
        _ => None,
    }
}

fn host_language(host: &str) -> Option<&'static Language> {
    let host = host.split(':').next()?.trim_end_matches('.');
    let labels = match host.strip_suffix(".localhost") {
        Some(labels) => labels,
        None => host.rsplit_once('.')?.0.rsplit_once('.')?.0,
    };
    labels.split('.').find_map(segment_language)
}

/// RFC 9110 section 12.5.4; of equal weights the first is preferred.
fn accepted_language(header: &str) -> Option<&'static Language> {
    let mut best: Option<(u16, &'static Language)> = None;
    for range in header.split(',') {
        let mut parts = range.split(';');
        let Some(tag) = parts.next().map(str::trim) else {
            continue;
        };
        let weight = match parts.next() {
            None => FULL_WEIGHT,
            Some(parameter) => weight(parameter).unwrap_or(0),
        };
        if weight <= best.map_or(0, |(weight, _)| weight) {
            continue;
        }
        if let Some(language) = lookup(tag) {
            best = Some((weight, language));
        }
    }
    best.map(|(_, language)| language)
}

/// `q=0.8` in thousandths; none where it is not a weight.
fn weight(parameter: &str) -> Option<u16> {
    let (name, value) = parameter.trim().split_once('=')?;
    let value: f32 = value.trim().parse().ok()?;
    let known = name.trim().eq_ignore_ascii_case("q") && (0.0..=1.0).contains(&value);
    known.then_some((value * f32::from(FULL_WEIGHT)) as u16)
}

/// The lookup of RFC 4647 section 3.4: the tag, then what is left as subtags are cut off its end. What is
/// left at last is a code, which any region of it fits.
fn lookup(tag: &str) -> Option<&'static Language> {
    let mut rest = tag;
    loop {
        if let Some(exact) = all().iter().find(|language| same(language.tag, rest)) {
            return Some(exact);
        }
        match rest.rsplit_once(['-', '_']) {
            Some((shorter, _)) => rest = shorter,
            None => break,
        }
    }
    all().iter().find(|language| {
        let code = language.tag.split('-').next().unwrap_or_default();
        same(code, rest)
    })
}

/// Whether two tags are the same: case does not matter, and paths often have `_` for `-`.
fn same(a: &str, b: &str) -> bool {
    let plain = |byte: u8| {
        if byte == b'_' {
            b'-'
        } else {
            byte.to_ascii_lowercase()
        }
    };
    a.len() == b.len() && a.bytes().map(plain).eq(b.bytes().map(plain))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_first_that_names_a_language_wins() {
        for (host, path, accept, default, expected) in [
            ("example.com", "/", None, "fr-FR", "fr-FR"),
            ("example.com", "/es/shop", Some("de"), "en-US", "es-ES"),
            ("example.com", "/es", None, "en-US", "es-ES"),
            ("example.com", "/ja-jp/", None, "en-US", "ja-JP"),
            ("example.com", "/JA_JP/", None, "en-US", "ja-JP"),
            ("example.com", "/es-mx/", None, "en-US", "es-ES"),
            ("es.example.com", "/de/", None, "en-US", "de-DE"),
            ("es.example.com", "/shop/de/", Some("fr"), "en-US", "es-ES"),
            ("www.es.example.com:8787", "/", None, "en-US", "es-ES"),
            ("es.localhost:8787", "/", None, "en-US", "es-ES"),
            ("es.example.com.", "/", None, "en-US", "es-ES"),
            ("example.com", "/esports/", None, "en-US", "en-US"),
            ("esports.example.com", "/", None, "en-US", "en-US"),
            ("example.com", "/es-shop/", None, "en-US", "en-US"),
            ("de.com", "/", None, "en-US", "en-US"),
            ("shop.example.de", "/", None, "en-US", "en-US"),
            ("localhost", "/", Some("ar"), "en-US", "ar-EG"),
            ("example.com", "/", Some("ar"), "xx-XX", "ar-EG"),
            ("example.com", "/", None, "xx-XX", "en-US"),
        ] {
            let language = choose(host, path, accept, default);
            assert_eq!(language.tag, expected, "{host}{path} {accept:?} {default}");
        }
    }

    #[test]
    fn accept_language_is_weighed() {
        for (header, expected) in [
            ("", "fr-FR"),
            ("*", "fr-FR"),
            ("ja", "ja-JP"),
            ("ja-JP-u-ca-japanese", "ja-JP"),
            ("es-419,es;q=0.9,en;q=0.8", "es-ES"),
            ("nl, de;q=0.7, en;q=0.8", "en-US"),
            ("de;q=0.5,en;q=0.5", "de-DE"),
            ("de ; q = 0.3 , en ; Q=0.4", "en-US"),
            ("de;q=0,ja;q=0.001", "ja-JP"),
            ("de;q=0", "fr-FR"),
            ("de;q=2,ja;q=0.1", "ja-JP"),
            ("de;q=x,ja;q=0.1", "ja-JP"),
            ("xx,,;;,=,en;q=0.1", "en-US"),
        ] {
            let language = choose("example.com", "/", Some(header), "fr-FR");
            assert_eq!(language.tag, expected, "{header:?}");
        }
    }

    proptest! {
        #[test]
        fn anything_gets_a_language(
            host in any::<String>(), path in any::<String>(), accept in any::<Option<String>>(),
        ) {
            let language = choose(&host, &path, accept.as_deref(), "de-DE");
            prop_assert!(all().iter().any(|ours| ours.tag == language.tag));
        }
    }
}
