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

fn fits(pattern: &Pattern, text: &str) -> bool {
    pattern.fits(text, |_| Ok::<_, ()>(())).unwrap()
}

/// Where backtracking takes 2^n steps.
#[test]
fn no_regular_expression_explodes() {
    let pattern = Pattern::parse("^(a+)+$").unwrap();
    assert!(!fits(&pattern, &format!("{}b", "a".repeat(100_000))));
}

/// Where an automaton has 2^n states.
#[test]
fn too_many_states_are_simulated_and_paid_for() {
    let pattern = Pattern::parse("(a|b)*a(a|b){40}c").unwrap();
    // De Bruijn-like: most windows of it are new.
    let mut text = String::new();
    let mut state = 1_u32;
    for _ in 0..20_000 {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        text.push(if state >> 31 == 0 { 'a' } else { 'b' });
    }
    let work = std::cell::Cell::new(0);
    let spend = |units| {
        work.set(work.get() + units);
        Ok::<_, ()>(())
    };
    assert!(!pattern.fits(&text, spend).unwrap());
    assert!(work.get() > 1 << 20, "{}", work.get());
    assert!(
        pattern
            .fits(&text, |units| if units > 1 << 20 {
                Err(())
            } else {
                Ok(())
            })
            .is_err()
    );
    text.push_str(&format!("a{}c", "b".repeat(40)));
    assert!(fits(&pattern, &text));
    // The second time, too.
    assert!(fits(&pattern, &text));
}

#[test]
fn known_states_cost_nothing_anew() {
    let pattern = Pattern::parse(r"(?i)\b(bot|crawl)\b").unwrap();
    let cost = || {
        let work = std::cell::Cell::new(0);
        let spend = |units| {
            work.set(work.get() + units);
            Ok::<_, ()>(())
        };
        pattern.fits("some crawler", spend).unwrap();
        work.get()
    };
    assert!(cost() > 12);
    assert_eq!(cost(), 12);
}

#[test]
fn classes_are_ascii() {
    for (source, text, expected) in [
        (r"^\w$", "ä", false),
        ("(?i)^Ä$", "ä", false),
        ("^ä$", "ä", true),
        ("^..$", "ä", true),
        ("(?u)^.$", "ä", true),
        (r"\bx\b", "äxä", true),
    ] {
        assert_eq!(
            fits(&Pattern::parse(source).unwrap(), text),
            expected,
            "{source}"
        );
    }
}

#[test]
fn refusals_have_a_place() {
    for (source, at) in [
        ("ab(", 2),
        ("a**[", 3),
        (r"ab\p{Greek}", 2),
        ("x(?<=a)b", 1),
        ("(a{999}){999}", 0),
    ] {
        assert_eq!(Pattern::parse(source).unwrap_err().at, at, "{source}");
    }
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
        assert_eq!(pattern.replace(text, &replacement), result, "{text}");
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
        let regex: Vec<String> = pattern.split('*').map(regex_syntax::escape).collect();
        let regex = Pattern::parse(&format!("^{}$", regex.join(".*"))).unwrap();
        prop_assert_eq!(wildcard(&pattern).fits(&text), fits(&regex, &text));
    }
}
