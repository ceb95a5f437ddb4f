//! Cross-origin answers (the CORS protocol of the Fetch standard), for what anteroom itself answers.

use std::borrow::Cow;

use super::header;

/// A header field to add to an answer.
pub type Field<'a> = (&'static str, Cow<'a, str>);

/// For how many seconds a browser may keep our answer to a preflight. It speaks for the origin while
/// the room queues, so it is soon forgotten.
const PREFLIGHT_SECONDS: &str = "60";

/// The longest list of header names that a preflight is granted, in bytes.
const LONGEST_LIST: usize = 1024;

/// What a room lets the scripts of another origin read.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Cors<'a> {
    /// The room lists origins, so answers differ by `Origin`.
    varies: bool,
    /// The request's origin, when the room lists it.
    origin: Option<&'a str>,
}

impl<'a> Cors<'a> {
    /// Looks the `Origin` header of a request up in the list of a room. Origins are equal when their
    /// serializations are (RFC 6454 section 6.2), byte for byte; the opaque origin `null` is
    /// everybody's and never allowed.
    pub fn new(allowed: &[String], origin: Option<&'a str>) -> Self {
        let listed = |origin: &&str| *origin != "null" && allowed.iter().any(|one| one == origin);
        Self {
            varies: !allowed.is_empty(),
            origin: origin.filter(listed),
        }
    }

    /// Whether the request comes from a listed origin.
    pub const fn is_allowed(&self) -> bool {
        self.origin.is_some()
    }

    /// The fields for an answer that anteroom made. `Vary` is to be joined with the answer's own.
    pub fn answer(&self) -> Vec<Field<'a>> {
        let mut fields = self.grant();
        if self.is_allowed() {
            let exposed = format!("{}, Retry-After", header::STATUS);
            fields.push(("Access-Control-Expose-Headers", exposed.into()));
        }
        if self.varies {
            fields.push(("Vary", "Origin".into()));
        }
        fields
    }

    /// The fields for the answer to a preflight, from its `Access-Control-Request-Method` and
    /// `Access-Control-Request-Headers`. What is no method or no list of names is not granted.
    pub fn preflight(&self, method: &'a str, headers: Option<&'a str>) -> Vec<Field<'a>> {
        let mut fields = self.grant();
        if self.is_allowed() {
            if is_token(method) {
                fields.push(("Access-Control-Allow-Methods", method.into()));
            }
            if let Some(names) = headers.filter(|names| is_list_of_names(names)) {
                fields.push(("Access-Control-Allow-Headers", names.into()));
            }
            fields.push(("Access-Control-Max-Age", PREFLIGHT_SECONDS.into()));
        }
        let vary = "Origin, Access-Control-Request-Method, Access-Control-Request-Headers";
        fields.push(("Vary", vary.into()));
        fields
    }

    /// Lets the origin read the answer to a request that carries cookies. For such requests the
    /// wildcard `*` means nothing, so the origin is named.
    fn grant(&self) -> Vec<Field<'a>> {
        match self.origin {
            None => Vec::new(),
            Some(origin) => vec![
                ("Access-Control-Allow-Origin", origin.into()),
                ("Access-Control-Allow-Credentials", "true".into()),
            ],
        }
    }
}

/// A token of RFC 9110 section 5.6.2: a method or the name of a header field. `*` alone is one as
/// well and would be read as a wildcard, so it is none here.
fn is_token(text: &str) -> bool {
    let allowed = |c: u8| c.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&c);
    !text.is_empty() && text != "*" && text.bytes().all(allowed)
}

fn is_list_of_names(list: &str) -> bool {
    list.len() <= LONGEST_LIST
        && list
            .split(',')
            .all(|name| is_token(name.trim_matches([' ', '\t'])))
}

#[cfg(test)]
mod tests {
    use super::*;

    const APP: &str = "https://app.example.com";

    fn allowed() -> Vec<String> {
        vec!["https://other.example".into(), APP.into(), "null".into()]
    }

    fn written(fields: &[Field<'_>]) -> Vec<String> {
        fields
            .iter()
            .map(|(name, value)| format!("{name}: {value}"))
            .collect()
    }

    #[test]
    fn a_listed_origin_may_read() {
        let allowed = allowed();
        let cors = Cors::new(&allowed, Some(APP));
        assert!(cors.is_allowed());
        assert_eq!(
            written(&cors.answer()),
            [
                "Access-Control-Allow-Origin: https://app.example.com",
                "Access-Control-Allow-Credentials: true",
                "Access-Control-Expose-Headers: Anteroom-Status, Retry-After",
                "Vary: Origin",
            ]
        );
    }

    #[test]
    fn others_may_not_and_caches_learn_why() {
        let allowed = allowed();
        for origin in [
            None,
            Some("null"),
            Some("https://app.example.com.evil.example"),
            Some(""),
        ] {
            let cors = Cors::new(&allowed, origin);
            assert!(!cors.is_allowed(), "{origin:?}");
            assert_eq!(written(&cors.answer()), ["Vary: Origin"], "{origin:?}");
        }
    }

    #[test]
    fn a_room_that_lists_nobody_adds_nothing() {
        assert_eq!(Cors::new(&[], Some(APP)).answer(), []);
    }

    #[test]
    fn a_preflight_is_granted_what_it_asks_for() {
        let allowed = allowed();
        let cors = Cors::new(&allowed, Some(APP));
        assert_eq!(
            written(&cors.preflight("PUT", Some("content-type,x-shop"))),
            [
                "Access-Control-Allow-Origin: https://app.example.com",
                "Access-Control-Allow-Credentials: true",
                "Access-Control-Allow-Methods: PUT",
                "Access-Control-Allow-Headers: content-type,x-shop",
                "Access-Control-Max-Age: 60",
                "Vary: Origin, Access-Control-Request-Method, Access-Control-Request-Headers",
            ]
        );
    }

    #[test]
    fn a_preflight_is_not_granted_junk() {
        let allowed = allowed();
        let cors = Cors::new(&allowed, Some(APP));
        let long = "a".repeat(LONGEST_LIST + 1);
        for (method, headers) in [
            ("PUT\r\nx: y", "x\r\ny"),
            ("", ""),
            ("*", "*"),
            ("GET, PUT", "a,,b"),
            ("ä", "ä"),
            ("GET ", "a b"),
            ("\u{0}", long.as_str()),
        ] {
            let fields = written(&cors.preflight(method, Some(headers)));
            let granted = |name: &str| fields.iter().any(|field| field.starts_with(name));
            assert!(!granted("Access-Control-Allow-Methods"), "{method}");
            assert!(!granted("Access-Control-Allow-Headers"), "{headers}");
        }
    }

    #[test]
    fn a_stranger_s_preflight_is_granted_nothing() {
        let allowed = allowed();
        let fields = Cors::new(&allowed, Some("null")).preflight("GET", Some("x"));
        assert_eq!(
            written(&fields),
            ["Vary: Origin, Access-Control-Request-Method, Access-Control-Request-Headers"]
        );
    }
}
