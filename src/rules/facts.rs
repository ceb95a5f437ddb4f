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

/// A request. Everything but the URL is asked for when an expression first needs it, each once at most.
pub trait Facts {
    /// The URL's parts.
    fn target(&self) -> Target<'_>;
    /// The header fields and the method of what [`Ruleset::needs`](super::Ruleset::needs) says, in its order;
    /// none for what is absent, and in the places of what the platform says.
    fn fields(&self, needs: &[Need]) -> Vec<Option<&str>>;
    /// What the platform says, with none in the places of the others.
    fn platform(&self, needs: &[Need]) -> Vec<Option<&str>>;
    /// All header fields: names in lower case, several lines of one joined by `, `.
    fn headers(&self) -> Vec<(String, String)>;
    /// The time in milliseconds since 1970.
    fn now(&self) -> u64;
}
