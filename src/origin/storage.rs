//! What caches may do with an answer that carries a visitor's cookie.

use crate::cache::fields::members;

/// The value of `Cache-Control` that keeps an answer out of shared caches (RFC 9111 section 5.2.2.7)
/// and leaves the rest as the origin said it.
///
/// A cache may store an answer in spite of `Set-Cookie`, and would then hand one visitor's pass to
/// others.
pub fn private(cache_control: Option<&str>) -> String {
    let mut directives = vec!["private"];
    directives.extend(
        members(cache_control.unwrap_or_default()).filter(|directive| {
            let name = directive.split('=').next().unwrap_or_default().trim();
            !["public", "private", "s-maxage", "proxy-revalidate", ""]
                .iter()
                .any(|shared| name.eq_ignore_ascii_case(shared))
        }),
    );
    directives.join(", ")
}

#[cfg(test)]
mod tests {
    use super::private;

    #[test]
    fn an_answer_with_a_cookie_is_for_one_visitor_alone() {
        let table = [
            (None, "private"),
            (Some(""), "private"),
            (Some("public, max-age=60"), "private, max-age=60"),
            (
                Some("S-MaxAge=60,PUBLIC, no-transform"),
                "private, no-transform",
            ),
            (
                Some("private=\"x-a, x-b\", max-age=1"),
                "private, max-age=1",
            ),
            (
                Some("no-cache=\"a, public\", must-revalidate"),
                "private, no-cache=\"a, public\", must-revalidate",
            ),
            (Some("no-store"), "private, no-store"),
        ];
        for (given, expected) in table {
            assert_eq!(private(given), expected, "{given:?}");
        }
    }
}
