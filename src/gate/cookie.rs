//! The room's cookie in the `Cookie` and `Set-Cookie` header fields (RFC 6265).

use cookie::time::Duration;

use crate::site::room::{Cookie, SameSite, Secure};
use crate::time::Span;

/// How many cookies of the right name are tried.
const MOST_CANDIDATES: usize = 8;

/// How much of a `Cookie` header is read, in bytes: more than the platform lets through (128 KB in
/// all header fields together).
const MOST_BYTES: usize = 128 * 1024;

/// The values of the cookies called `name`, in the order in which they arrived, at most eight.
///
/// The header is read by our own lines and not by a parser of cookies: it may be junk or several
/// fields that the runtime joined with commas, and what a stranger put into it must never hide our
/// cookie. Values are not percent-decoded, since nothing that we sign is encoded.
pub fn candidates<'h>(header: &'h str, name: &str) -> impl Iterator<Item = &'h str> {
    let read = header
        .get(..header.floor_char_boundary(MOST_BYTES))
        .unwrap_or_default();
    read.split([';', ','])
        .filter_map(move |pair| {
            let (key, value) = pair.split_once('=')?;
            // RFC 6265 section 4.1.1 lets a value stand between double quotes.
            (key.trim() == name).then(|| value.trim().trim_matches('"'))
        })
        .filter(|value| !value.is_empty())
        .take(MOST_CANDIDATES)
}

/// The `Cookie` header without the cookies called `name`; none when nothing is left. What stays,
/// stays byte for byte.
pub fn strip(header: &str, name: &str) -> Option<String> {
    let mut left = String::with_capacity(header.len());
    let mut rest = header;
    let mut separator = "";
    loop {
        let end = rest.find([';', ',']).unwrap_or(rest.len());
        let (pair, after) = rest.split_at_checked(end).unwrap_or((rest, ""));
        let key = pair.split_once('=').map_or(pair, |(key, _)| key);
        if key.trim() != name {
            if left.is_empty() {
                left.push_str(pair.trim_start());
            } else {
                left.push_str(separator);
                left.push_str(pair);
            }
        }
        let Some((next, beyond)) = after.split_at_checked(1) else {
            break;
        };
        (separator, rest) = (next, beyond);
    }
    (!left.trim().is_empty()).then_some(left)
}

/// The value of a `Set-Cookie` header that gives the visitor a token for `max_age`.
///
/// `https` is the scheme of the request; `embedded` says that the cookie belongs to a frame of
/// another site and to that site's pages alone (`Partitioned`).
pub fn set_cookie(
    cookie: &Cookie,
    value: &str,
    max_age: Span,
    https: bool,
    embedded: bool,
) -> String {
    let secure = match cookie.secure {
        Secure::Auto => https,
        Secure::Always => true,
        Secure::Never => false,
    };
    let same_site = match (cookie.samesite, secure) {
        (SameSite::Auto, _) if https && secure => cookie::SameSite::None,
        (SameSite::None, true) => cookie::SameSite::None,
        // Browsers drop a cookie of `SameSite=None` without `Secure`, and its visitor would never
        // get in.
        (SameSite::Auto | SameSite::None | SameSite::Lax, _) => cookie::SameSite::Lax,
        (SameSite::Strict, _) => cookie::SameSite::Strict,
    };
    let max_age = i64::try_from(max_age.as_secs()).unwrap_or(i64::MAX);
    let mut built = cookie::Cookie::build((cookie.name.as_str(), value))
        .path(cookie.path.as_str())
        .max_age(Duration::seconds(max_age))
        .http_only(true)
        .same_site(same_site)
        .secure(secure)
        .partitioned(embedded && secure && same_site == cookie::SameSite::None);
    if let Some(domain) = &cookie.domain {
        built = built.domain(domain.as_str());
    }
    built.build().to_string()
}

/// The value of a `Set-Cookie` header that takes the token back. `https` and `embedded` as for
/// [`set_cookie`]: a partitioned cookie and a plain one are two.
pub fn clear_cookie(cookie: &Cookie, https: bool, embedded: bool) -> String {
    set_cookie(cookie, "", Span::ZERO, https, embedded)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const NAME: &str = "__cfwaitingroom_a";

    fn found(header: &str) -> Vec<&str> {
        candidates(header, NAME).collect()
    }

    #[test]
    fn the_cookie_is_found_among_others() {
        for (header, expected) in [
            ("", vec![]),
            ("__cfwaitingroom_a=x", vec!["x"]),
            ("a=1; __cfwaitingroom_a=x; b=2", vec!["x"]),
            ("a=1;__cfwaitingroom_a=x;b=2", vec!["x"]),
            ("  __cfwaitingroom_a = x  ;", vec!["x"]),
            ("__cfwaitingroom_a=\"x\"", vec!["x"]),
            ("__cfwaitingroom_a=x=y==", vec!["x=y=="]),
            ("__cfwaitingroom_a=x; __cfwaitingroom_a=y", vec!["x", "y"]),
            (
                "a=1, __cfwaitingroom_a=x, b=2; __cfwaitingroom_a=y",
                vec!["x", "y"],
            ),
            (
                ";;,,=;=x;\u{fffd}\u{0};%zz=%; __cfwaitingroom_a=%zz",
                vec!["%zz"],
            ),
            (
                "__cfwaitingroom_a; __cfwaitingroom_a=; __cfwaitingroom_a=x",
                vec!["x"],
            ),
            ("ä=ö; \"__cfwaitingroom_a=x; __cfwaitingroom_a=y", vec!["y"]),
        ] {
            assert_eq!(found(header), expected, "{header}");
        }
    }

    #[test]
    fn a_like_name_is_another() {
        for header in [
            "__cfwaitingroom=x",
            "__cfwaitingroom_ab=x",
            "x__cfwaitingroom_a=x",
            "__CFWAITINGROOM_A=x",
            "__cfwaitingroom%5Fa=x",
            "a=__cfwaitingroom_a=x",
        ] {
            assert_eq!(found(header), Vec::<&str>::new(), "{header}");
        }
    }

    #[test]
    fn eight_are_tried() {
        let header: String = (0..20).map(|i| format!("{NAME}={i}; ")).collect();
        assert_eq!(found(&header), ["0", "1", "2", "3", "4", "5", "6", "7"]);
    }

    #[test]
    fn a_huge_header_is_read_to_a_limit() {
        let just_inside = format!("{}; {NAME}=x", "a".repeat(MOST_BYTES - NAME.len() - 4));
        assert_eq!(just_inside.len(), MOST_BYTES);
        assert_eq!(found(&just_inside), ["x"]);
        let beyond = format!("{}; {NAME}=x", "ä".repeat(1 << 20));
        assert_eq!(found(&beyond), Vec::<&str>::new());
    }

    #[test]
    fn stripping_leaves_the_others_as_they_were() {
        for (header, expected) in [
            ("__cfwaitingroom_a=x", None),
            ("__cfwaitingroom_a=x; __cfwaitingroom_a=y;", None),
            ("", None),
            ("a=1; b=\"2,3\"", Some("a=1; b=\"2,3\"")),
            ("a=1; __cfwaitingroom_a=x; b=2", Some("a=1; b=2")),
            ("__cfwaitingroom_a=x; b=2", Some("b=2")),
            ("a=1;__cfwaitingroom_a=x", Some("a=1")),
            ("a=1, __cfwaitingroom_a=x; b=2,c", Some("a=1; b=2,c")),
            ("a=1;; __cfwaitingroom_a ;b=%zz ", Some("a=1;;b=%zz ")),
            ("__cfwaitingroom_b=x", Some("__cfwaitingroom_b=x")),
        ] {
            assert_eq!(strip(header, NAME).as_deref(), expected, "{header}");
        }
    }

    proptest! {
        #[test]
        fn nothing_in_a_header_hides_or_breaks(before in "\\PC{0,40}", after in "\\PC{0,40}") {
            let header = format!("{before}; {NAME}=x;{after}");
            prop_assume!(!before.contains(NAME));
            prop_assert_eq!(candidates(&header, NAME).next(), Some("x"));
            let left = strip(&header, NAME).unwrap_or_default();
            prop_assert_eq!(candidates(&left, NAME).next(), None);
        }
    }

    fn cookie(samesite: SameSite, secure: Secure) -> Cookie {
        Cookie {
            name: NAME.into(),
            domain: Some("example.com".into()),
            path: "/shoes".into(),
            samesite,
            secure,
        }
    }

    fn attributes(samesite: SameSite, secure: Secure, https: bool, embedded: bool) -> String {
        let written = set_cookie(
            &cookie(samesite, secure),
            "x",
            Span::from_secs(300),
            https,
            embedded,
        );
        let start = "__cfwaitingroom_a=x; HttpOnly; ";
        let end = "; Path=/shoes; Domain=example.com; Max-Age=300";
        written
            .strip_prefix(start)
            .and_then(|rest| rest.strip_suffix(end))
            .unwrap()
            .to_owned()
    }

    #[test]
    fn the_attributes_follow_the_scheme_where_they_are_automatic() {
        use SameSite as S;
        for (samesite, secure, https, expected) in [
            (S::Auto, Secure::Auto, true, "SameSite=None; Secure"),
            (S::Auto, Secure::Auto, false, "SameSite=Lax"),
            (S::Auto, Secure::Always, true, "SameSite=None; Secure"),
            (S::Auto, Secure::Always, false, "SameSite=Lax; Secure"),
            (S::Auto, Secure::Never, true, "SameSite=Lax"),
            (S::None, Secure::Auto, true, "SameSite=None; Secure"),
            (S::None, Secure::Auto, false, "SameSite=Lax"),
            (S::None, Secure::Always, false, "SameSite=None; Secure"),
            (S::Lax, Secure::Auto, true, "SameSite=Lax; Secure"),
            (S::Strict, Secure::Auto, true, "SameSite=Strict; Secure"),
            (S::Strict, Secure::Never, true, "SameSite=Strict"),
        ] {
            let written = attributes(samesite, secure, https, false);
            assert_eq!(written, expected, "{samesite:?} {secure:?} https: {https}");
        }
    }

    #[test]
    fn a_cookie_is_partitioned_where_browsers_take_it() {
        use SameSite as S;
        for (samesite, secure, https, expected) in [
            (
                S::Auto,
                Secure::Auto,
                true,
                "SameSite=None; Partitioned; Secure",
            ),
            (S::Auto, Secure::Auto, false, "SameSite=Lax"),
            (S::Lax, Secure::Always, true, "SameSite=Lax; Secure"),
        ] {
            assert_eq!(
                attributes(samesite, secure, https, true),
                expected,
                "{samesite:?}"
            );
        }
    }

    #[test]
    fn without_a_domain_it_belongs_to_the_host() {
        let local = Cookie {
            domain: None,
            path: "/".into(),
            ..cookie(SameSite::Auto, Secure::Auto)
        };
        assert_eq!(
            set_cookie(&local, "x.y-z_", Span::from_millis(60_999), false, false),
            "__cfwaitingroom_a=x.y-z_; HttpOnly; SameSite=Lax; Path=/; Max-Age=60"
        );
    }

    #[test]
    fn clearing_names_the_same_cookie() {
        assert_eq!(
            clear_cookie(&cookie(SameSite::Auto, Secure::Auto), true, true),
            "__cfwaitingroom_a=; HttpOnly; SameSite=None; Partitioned; Secure; Path=/shoes; \
             Domain=example.com; Max-Age=0"
        );
    }
}
