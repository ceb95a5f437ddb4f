//! What expressions are asked of: a request.

use super::needs::Need;

/// A request, as far as its URL tells.
#[derive(Clone, Copy, Debug)]
pub struct Target<'a> {
    /// Whether it came over https.
    pub https: bool,
    /// The host without port and trailing dot, as it is spelled in the URL.
    pub host: &'a str,
    /// Host and port, as they are spelled in the URL.
    pub authority: &'a str,
    /// The path in canonical form, spelled as a URL does: `docs/routes.md`, "One form".
    pub path: &'a str,
    /// The path as it came.
    pub raw_path: &'a str,
    /// The query without `?`; empty if there is none.
    pub query: &'a str,
}

/// A request. Everything but the URL is asked for when an expression first needs it.
pub trait Facts {
    /// The URL's parts.
    fn target(&self) -> Target<'_>;
    /// What [`Ruleset::needs`](super::Ruleset::needs) says, in that order; none for what is absent.
    /// Asked for once at most.
    fn read(&self, needs: &[Need]) -> Vec<Option<String>>;
    /// All header fields: names in lower case, several lines of one joined by `, `.
    fn headers(&self) -> Vec<(String, String)>;
    /// The time in milliseconds since 1970.
    fn now(&self) -> u64;
}
