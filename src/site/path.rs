//! The canonical form of a path: the one form in which declared and requested paths are compared.
//!
//! Origins read odd spellings in different ways: one takes `/shop%2Fx` for two segments, another for
//! one; one drops `;v=1`, another does not. The canonical form is the reading in which a path is
//! taken apart the furthest, so whatever an origin finds under a covered path is found here too.
//! Being covered by mistake costs a visitor a wait; not being covered by mistake opens a way round
//! the room.
//!
//! One thing escapes that argument: where readers disagree on what a `..` removes, no single form
//! is the furthest. `/shop/..;/x` is `/x` to one origin and lies in `/shop` for another. Such a path
//! is called ambiguous, and [`Canonical::may_lie_under`] answers for all of its readings at once.

use std::borrow::Cow;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_encode};

/// What stays literal when a canonical path is spelled out: RFC 3986 `pchar`, but for `;`, which
/// starts what the canonical form drops.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~')
    .remove(b'!')
    .remove(b'$')
    .remove(b'&')
    .remove(b'\'')
    .remove(b'(')
    .remove(b')')
    .remove(b'*')
    .remove(b'+')
    .remove(b',')
    .remove(b'=')
    .remove(b':')
    .remove(b'@');

/// A path in canonical form.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Canonical<'a> {
    path: Cow<'a, [u8]>,
    /// Of an ambiguous path all segments, also those that a `..` removes; joined as in `path`.
    segments: Option<Vec<u8>>,
    odd: bool,
}

impl<'a> Canonical<'a> {
    /// Brings a path into canonical form. A query or fragment is cut off; a path that does not
    /// start with `/` is read as if it did. Borrows when there is nothing to change.
    pub fn new(raw: &'a [u8]) -> Self {
        let raw = raw.get(..end(raw)).unwrap_or(raw);
        if is_plain(raw) {
            Self {
                path: Cow::Borrowed(raw),
                segments: None,
                odd: false,
            }
        } else {
            resolve(raw)
        }
    }

    /// The path: decoded, without dot segments, empty segments and parameters. It starts with `/`,
    /// and ends with `/` if the request's does. Any bytes may occur in a segment but `/ \ ; ? #`
    /// and NUL.
    pub fn as_bytes(&self) -> &[u8] {
        &self.path
    }

    /// Whether readers may disagree on where this path leads, because it has a `..` together with
    /// something odd: an encoded slash, a backslash, a parameter, an empty segment and the like.
    /// No browser and no sensible client sends such a path.
    pub fn is_ambiguous(&self) -> bool {
        self.segments.is_some()
    }

    /// Whether the path is spelled with anything that readers disagree on.
    pub fn is_odd(&self) -> bool {
        self.odd
    }

    /// Whether the raw path is in canonical form already.
    pub fn is_plain(&self) -> bool {
        matches!(self.path, Cow::Borrowed(_))
    }

    /// Whether some reading of an ambiguous path lies under `route`, itself a canonical path.
    /// Whatever a reader makes of the path, it keeps some of the segments in their order; so a path
    /// may lie under all routes whose segments occur in it in order.
    pub fn may_lie_under(&self, route: &[u8]) -> bool {
        let Some(all) = &self.segments else {
            return false;
        };
        let mut all = segments(all);
        segments(route).all(|wanted| all.any(|segment| segment == wanted))
    }

    /// The same path without regard to case.
    pub fn folded(&self) -> Canonical<'static> {
        Canonical {
            path: Cow::Owned(fold(&self.path)),
            segments: self.segments.as_deref().map(fold),
            odd: self.odd,
        }
    }
}

/// The segments of a canonical path.
pub fn segments(path: &[u8]) -> impl Iterator<Item = &[u8]> {
    path.split(|&byte| byte == b'/')
        .filter(|segment| !segment.is_empty())
}

/// Spells a canonical path as a URL does. The canonical form of the result is `path` again.
pub fn spelling(path: &[u8]) -> String {
    path.split(|&byte| byte == b'/')
        .map(|segment| percent_encode(segment, ENCODED).to_string())
        .collect::<Vec<_>>()
        .join("/")
}

/// Lower case, by Unicode; upper case first, so that `ς` and `σ`, `ſ` and `s` are one. What is not
/// UTF-8 stays as it is. Agrees with ASCII lower case on ASCII.
pub fn fold(path: &[u8]) -> Vec<u8> {
    let mut folded = Vec::with_capacity(path.len());
    for chunk in path.utf8_chunks() {
        let text = chunk
            .valid()
            .chars()
            .flat_map(char::to_uppercase)
            .flat_map(char::to_lowercase);
        folded.extend_from_slice(text.collect::<String>().as_bytes());
        folded.extend_from_slice(chunk.invalid());
    }
    folded
}

/// Where the path ends and a query or a fragment begins.
pub fn end(url: &[u8]) -> usize {
    url.iter()
        .position(|&byte| matches!(byte, b'?' | b'#'))
        .unwrap_or(url.len())
}

/// Whether a path without query is canonical as it stands. Runs on every request to a host with a
/// room, so it looks at each byte once.
fn is_plain(path: &[u8]) -> bool {
    let mut after_slash = false;
    let mut dots_only = false;
    for &byte in path {
        match byte {
            b'/' if after_slash || dots_only => return false,
            b'/' => after_slash = true,
            b'.' => {
                dots_only |= after_slash;
                after_slash = false;
            }
            b'%' | b';' | b'\\' | 0..=b' ' | 0x7f.. => return false,
            _ => {
                after_slash = false;
                dots_only = false;
            }
        }
    }
    !dots_only && path.first() == Some(&b'/')
}

/// The canonical form of a path that is not plain.
fn resolve(raw: &[u8]) -> Canonical<'static> {
    let (decoded, mut odd) = decode(raw);
    let mut path = Vec::with_capacity(decoded.len() + 1);
    let mut all = Vec::with_capacity(decoded.len() + 1);
    let mut climbs = false;
    let mut open = true;
    let mut tokens = decoded
        .split(|byte| matches!(byte, b'/' | b'\\'))
        .peekable();
    // The slash at the start is no empty segment.
    tokens.next_if(|token| token.is_empty());
    while let Some(token) = tokens.next() {
        let name = token
            .split(|byte| matches!(byte, b';' | b'?' | b'#' | 0))
            .next();
        let name = name.unwrap_or_default();
        open = true;
        match name {
            b"" => odd |= tokens.peek().is_some(),
            b"." => {}
            b".." => {
                climbs = true;
                let parent = path.iter().rposition(|&byte| byte == b'/').unwrap_or(0);
                path.truncate(parent);
            }
            _ => {
                open = false;
                for form in [&mut path, &mut all] {
                    form.push(b'/');
                    form.extend_from_slice(name);
                }
            }
        }
    }
    if open || path.is_empty() {
        path.push(b'/');
    }
    Canonical {
        path: Cow::Owned(path),
        segments: (climbs && odd).then_some(all),
        odd,
    }
}

/// Decodes until nothing is left to decode; what is no percent-encoding stays. Also says whether
/// that did anything on which readers disagree.
///
/// One pass is enough, because a byte that was just decoded is looked at again together with its
/// neighbours, and two encodings never overlap (`%` is no hexadecimal digit).
fn decode(raw: &[u8]) -> (Vec<u8>, bool) {
    let mut decoded: Vec<u8> = Vec::with_capacity(raw.len());
    let mut odd = false;
    // The place of the last byte in `decoded` that was decoded.
    let mut last = None;
    for &byte in raw {
        // URL parsers drop these.
        if matches!(byte, b'\t' | b'\n' | b'\r') {
            odd = true;
            continue;
        }
        odd |= matches!(byte, b'\\' | b';' | 0);
        decoded.push(byte);
        while let Some(&[b'%', high, low]) = decoded.last_chunk()
            && let (Some(high), Some(low)) = (digit(high), digit(low))
        {
            let start = decoded.len() - 3;
            // Decoded twice.
            odd |= last.is_some_and(|last| last >= start);
            let byte = high << 4 | low;
            odd |= matches!(byte, b'/' | b'\\' | b';' | b'?' | b'#' | 0);
            decoded.truncate(start);
            decoded.push(byte);
            last = Some(start);
        }
    }
    (decoded, odd)
}

fn digit(byte: u8) -> Option<u8> {
    char::from(byte)
        .to_digit(16)
        .and_then(|digit| u8::try_from(digit).ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn canonical(raw: &str) -> String {
        String::from_utf8_lossy(Canonical::new(raw.as_bytes()).as_bytes()).into_owned()
    }

    #[test]
    fn plain_paths_are_borrowed() {
        for path in [
            "/",
            "/shop",
            "/shop/",
            "/a.b/.c/..d/e..",
            "/.well-known/x",
            "/a/.../b",
        ] {
            let plain = Canonical::new(path.as_bytes());
            assert_eq!(plain.is_plain(), path != "/a/.../b", "{path}");
            assert_eq!(plain.as_bytes(), path.as_bytes());
        }
        assert!(Canonical::new(b"/shop?a=/../%2e").is_plain());
    }

    #[test]
    fn spellings_of_one_path() {
        for raw in [
            "/shop/x",
            "//shop//x",
            "/./shop/./x",
            "/shop/y/../x",
            "/shop/y/%2e%2E/x",
            "\\shop\\x",
            "/shop%2Fx",
            "/shop%252fx",
            "/shop%25252525252fx",
            "/%73hop/x",
            "/shop;v=1/x;w",
            "/shop/x%00.html",
            "/shop/x%3Fq",
            "/shop/x#part",
            "/sh\top/x",
            "shop/x",
            "/../shop/x",
            "/shop/%2%37/../x",
            "/%%373hop/x",
            "/shop/;v/x",
            "/shop/x?/../..",
        ] {
            assert_eq!(canonical(raw), "/shop/x", "{raw}");
        }
        for raw in [
            "/shop/",
            "/shop//",
            "/shop/.",
            "/shop/x/..",
            "/shop/;v",
            "/shop%2f",
        ] {
            assert_eq!(canonical(raw), "/shop/", "{raw}");
        }
        for raw in [
            "", "/", "//", "/..", "/.", "/a/..", ".", "%2f", "/a/../..", "?q", ";",
        ] {
            assert_eq!(canonical(raw), "/", "{raw:?}");
        }
    }

    #[test]
    fn broken_encoding_stays_literal() {
        for raw in ["/%", "/a%z", "/%2", "/%zz%", "/%e"] {
            assert_eq!(canonical(raw), raw);
        }
        assert_eq!(Canonical::new(b"/%ff").as_bytes(), b"/\xff");
        assert_eq!(spelling(b"/\xff%zz/ \xc3\xa9"), "/%FF%25zz/%20%C3%A9");
    }

    #[test]
    fn ambiguous_is_a_climb_with_something_odd() {
        for raw in [
            "/shop/..;/x",
            "/shop%2f../x",
            "/shop/%252e%252e/x",
            "/shop\\..\\x",
            "/shop//../x",
            "/a%00/../shop",
            "/shop/%2%65./x",
            "/shop/..%3f/x",
        ] {
            let path = Canonical::new(raw.as_bytes());
            assert!(path.is_ambiguous(), "{raw}");
            assert!(path.may_lie_under(b"/shop"), "{raw}");
            assert!(path.may_lie_under(b"/"), "{raw}");
            assert!(!path.may_lie_under(b"/x/shop"), "{raw}");
        }
        for raw in [
            "/shop/../x",
            "/shop/%2e%2E/x",
            "/shop%2Fx",
            "/shop//x",
            "/..a;b",
            "/%41/../b",
        ] {
            assert!(!Canonical::new(raw.as_bytes()).is_ambiguous(), "{raw}");
        }
    }

    #[test]
    fn folding_joins_what_differs_in_case_alone() {
        for (a, b) in [
            ("/Shop", "/sHOP"),
            ("/ÉTÉ", "/été"),
            ("/ΟΔΟΣ", "/οδος"),
            ("/Straße", "/STRASSE"),
        ] {
            assert_eq!(fold(a.as_bytes()), fold(b.as_bytes()), "{a} {b}");
        }
        assert_eq!(fold(b"/A\xffB"), b"/a\xffb");
    }

    /// Paths made of what matters to the canonical form.
    fn odd_path() -> impl Strategy<Value = Vec<u8>> {
        let pieces = prop::sample::select(vec![
            "/", "//", "\\", ".", "..", "/../", "/./", "%2e", "%2F", "%252f", "%25", "%00", ";",
            ";a=1", "shop", "x", "%", "2", "e", "5", "f", "é", "%C3%A9", "%ff", "?", "#", "%3f",
            "\t", " ", ":",
        ]);
        prop::collection::vec(pieces, 0..12).prop_map(|pieces| pieces.concat().into_bytes())
    }

    /// A reader of paths that goes about it simply: decode again and again, split, climb.
    fn by_rounds(raw: &[u8]) -> Vec<u8> {
        let mut path: Vec<u8> = raw[..end(raw)].to_vec();
        path.retain(|byte| !matches!(byte, b'\t' | b'\n' | b'\r'));
        loop {
            let next: Vec<u8> = percent_encoding::percent_decode(&path).collect();
            if next == path {
                break;
            }
            path = next;
            // A decoded tab is an ordinary byte, so only the raw ones go.
        }
        let mut kept: Vec<&[u8]> = Vec::new();
        for token in path.split(|byte| b"/\\".contains(byte)) {
            let name = token.split(|byte| b";?#\0".contains(byte)).next().unwrap();
            match name {
                b"" | b"." => {}
                b".." => drop(kept.pop()),
                name => kept.push(name),
            }
        }
        let mut joined = b"/".to_vec();
        joined.extend(kept.join(&b'/'));
        joined
    }

    proptest! {
        #[test]
        fn any_bytes_have_a_canonical_form(raw in prop::collection::vec(any::<u8>(), 0..200)) {
            let path = Canonical::new(&raw);
            prop_assert!(path.as_bytes().starts_with(b"/"));
            prop_assert!(!path.as_bytes().windows(2).any(|two| two == b"//"));
        }

        #[test]
        fn agrees_with_a_simple_reader(raw in odd_path()) {
            let path = Canonical::new(&raw);
            let trimmed = match path.as_bytes() {
                b"/" => b"/",
                path => path.strip_suffix(b"/").unwrap_or(path),
            };
            let simple = by_rounds(&raw);
            prop_assert_eq!(trimmed, simple.as_slice());
        }

        #[test]
        fn the_spelling_has_the_same_canonical_form(raw in odd_path()) {
            let path = Canonical::new(&raw);
            let spelled = spelling(path.as_bytes());
            prop_assert!(spelled.is_ascii());
            let again = Canonical::new(spelled.as_bytes());
            prop_assert_eq!(again.as_bytes(), path.as_bytes());
            prop_assert!(!again.is_odd());
        }

        #[test]
        fn plain_is_what_resolving_would_not_change(raw in odd_path()) {
            let path = &raw[..end(&raw)];
            if is_plain(path) {
                let resolved = resolve(path);
                prop_assert_eq!(resolved.as_bytes(), path);
                prop_assert!(!resolved.is_odd());
            }
        }
    }
}
