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
fn ambiguous_is_what_readers_drop_differently() {
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
        "/;a%2Fx/shop",
        "/y;a\\x/shop",
        "/%3ba%252fx/shop",
        "/%00%5cx/shop",
    ] {
        let path = Canonical::new(raw.as_bytes());
        assert!(path.is_ambiguous(), "{raw}");
        assert!(
            path.may_lie_under(b"/shop") && path.may_lie_under(b"/x/shop"),
            "{raw}"
        );
        assert!(!path.may_lie_under(b"/shop/x"), "{raw}");
    }
    for raw in [
        "/shop/../x",
        "/shop/%2e%2E/x",
        "/shop%2Fx",
        "/shop%2Fx;v=1/y",
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
        ";a=1", "shop", "x", "%", "2", "e", "5", "f", "é", "%C3%A9", "%ff", "?", "#", "%3f", "\t",
        " ", ":",
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
