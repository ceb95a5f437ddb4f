use proptest::prelude::*;

use super::*;

fn wildcard(pattern: &str) -> Wildcard {
    Wildcard::parse(pattern, false).unwrap()
}

#[test]
fn wildcards_fit_the_whole_text() {
    for (pattern, text, fits) in [
        ("", "", true),
        ("", "a", false),
        ("*", "", true),
        ("*", "anything", true),
        ("abc", "ABC", true),
        ("abc", "abcd", false),
        ("a*", "Abc", true),
        ("*c", "abc", true),
        ("a*c", "ac", true),
        ("a*c", "abcd", false),
        ("a*a", "a", false),
        ("a*b*c", "aXbYc", true),
        ("a*b*c", "acb", false),
        (r"\*", "*", true),
        (r"\*", "a", false),
        (r"a\\*", r"a\b", true),
        (
            "*.example.com/*/page.html",
            "sub.example.com/a/b/page.html",
            true,
        ),
        (
            "*.example.com/*/page.html",
            "example.com/a/page.html",
            false,
        ),
    ] {
        assert_eq!(wildcard(pattern).fits(text), fits, "{pattern} {text}");
    }
    assert!(!Wildcard::parse("a*", true).unwrap().fits("Abc"));
    assert!(Wildcard::parse("A*", true).unwrap().fits("Abc"));
}

#[test]
fn bad_wildcards_are_refused() {
    for pattern in ["**", "a**b", r"a\b", "a\\"] {
        assert!(Wildcard::parse(pattern, true).is_err(), "{pattern}");
    }
    assert!(Wildcard::parse(r"*\**", true).is_ok());
}

#[test]
fn a_regular_expression_that_would_grow_too_large_is_refused() {
    for source in [
        "(a{1000}){1000}",
        "a{100000}",
        "(",
        r"\p{Greek}",
        "(?<=a)b",
        r"(a)\1",
    ] {
        assert!(Pattern::parse(source).is_err(), "{source}");
    }
}

/// Where backtracking takes 2^n steps.
#[test]
fn no_regular_expression_explodes() {
    let pattern = Pattern::parse("^(a+)+$").unwrap();
    assert!(!pattern.fits(&format!("{}b", "a".repeat(10_000))));
}

#[test]
fn heavier_programs_cost_more() {
    let [light, heavy] = ["^abc$", "[a-z]{200}"].map(|source| Pattern::parse(source).unwrap());
    assert!(light.cost(100) < heavy.cost(100));
    assert!(light.cost(100) < light.cost(1_000));
}

#[test]
fn the_first_fit_is_replaced() {
    for (text, pattern, replacement, result) in [
        ("/foo/bar", "/bar$", "/baz", "/foo/baz"),
        ("/x", "^/y$", "/mumble", "/x"),
        ("/a/a", "/a", "/b", "/b/a"),
        ("/b", "^/b$", "/b$$", "/b$"),
        ("/b", "^/b$", "$$$$x", "$$x"),
        (
            "/foo/a/path",
            "^/foo/([^/]*)/(.*)$",
            "/bar/${2}/${1}",
            "/bar/path/a",
        ),
        ("ab", "(x)?b", "[${1}]", "a[]"),
    ] {
        let pattern = Pattern::parse(pattern).unwrap();
        let replacement = Replacement::parse(replacement).unwrap();
        assert_eq!(pattern.replace(text, &replacement), result);
    }
    for replacement in ["$", "$1", "${9}", "${0}", "${x}", "a$b"] {
        assert!(Replacement::parse(replacement).is_err(), "{replacement}");
    }
    assert!(Replacement::parse(&"${1}".repeat(9)).is_err());
}

proptest! {
    /// A wildcard is the regular expression that has `.*` where it has stars.
    #[test]
    fn wildcards_agree_with_regular_expressions(pattern in "[ab*.]{0,8}", text in "[ab.]{0,12}") {
        prop_assume!(!pattern.contains("**"));
        let regex: Vec<String> = pattern.split('*').map(regex_lite::escape).collect();
        let regex = Regex::new(&format!("^{}$", regex.join(".*"))).unwrap();
        prop_assert_eq!(wildcard(&pattern).fits(&text), regex.is_match(&text));
    }
}
