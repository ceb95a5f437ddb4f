//! What a request wants, as far as it can be told from its method and header fields.
//!
//! `docs/methods.md` says what each intent means for the visitor's place and for the answer.

use super::accept::{names_html, prefers_json};
use super::header::POLL;

/// Reads a header field of the request. Each call may cost a crossing to the runtime, so what is
/// not needed is not read.
pub type ReadHeader<'r> = &'r dyn Fn(&str) -> Option<String>;

/// The end of the path to which a visitor posts to leave the line or the site. It is covered with
/// the route that it is appended to, and lies within the path of the room's cookie.
pub const LEAVE_PATH: &str = "/.anteroom/leave";

/// What a request wants.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Intent {
    /// The waiting page asks how far the turn is. Never forwarded.
    Poll,
    /// The visitor wants to give the place or the session back. Never forwarded.
    Leave,
    /// A browser asks on behalf of another origin whether it may send a request.
    Preflight,
    /// Any other `OPTIONS`.
    Options,
    /// A browser fetches ahead what the visitor may never look at.
    Prefetch,
    /// The handshake of a WebSocket (RFC 6455 section 4.1).
    WebSocket,
    /// The header fields alone.
    Head,
    /// A visitor opens a page.
    Navigation,
    /// A visitor submits a form: a page is expected, and the request carries what must not be lost
    /// without a word.
    Form,
    /// A program, a script of a page, or a part of a page.
    Api,
}

impl Intent {
    /// Whether a request of this kind may take a place, claim a slot or keep either alive.
    pub const fn counts(self) -> bool {
        matches!(self, Self::Poll | Self::Navigation | Self::Form | Self::Api)
    }
}

/// Whether the request is a poll of the waiting page.
pub fn is_poll(header: ReadHeader<'_>) -> bool {
    header(POLL).is_some_and(|value| value.trim() == "1")
}

/// Whether the request, by method and canonical path, asks to leave.
pub fn is_leave(method: &str, path: &str) -> bool {
    method == "POST" && path.ends_with(LEAVE_PATH)
}

/// Whether a browser's request comes from a page of its own origin, or from no page at all: what
/// [`Intent::Leave`] must be, or another site could give a visitor's place away. `own` is the
/// origin of the requested URL. A program that sends neither header field acts for itself.
pub fn is_same_origin(own: &str, header: ReadHeader<'_>) -> bool {
    match header("Sec-Fetch-Site") {
        Some(site) => matches!(site.trim(), "same-origin" | "none"),
        None => header("Origin").is_none_or(|origin| origin == own),
    }
}

/// Whether the visitor's page belongs to another site than the request: a frame of that page or one
/// of its fetches. Browsers keep cookies of such requests apart or drop them, unless partitioned.
pub fn is_embedded(header: ReadHeader<'_>) -> bool {
    let says = |name: &str, value: &str| header(name).is_some_and(|sent| sent.trim() == value);
    says("Sec-Fetch-Site", "cross-site") && !says("Sec-Fetch-Dest", "document")
}

/// Tells what a request wants. `path` is the canonical path.
pub fn classify(method: &str, path: &str, header: ReadHeader<'_>) -> Intent {
    match method {
        "OPTIONS" => {
            let asks = header("Access-Control-Request-Method").is_some();
            if asks && header("Origin").is_some() {
                Intent::Preflight
            } else {
                Intent::Options
            }
        }
        _ if is_leave(method, path) => Intent::Leave,
        _ if is_poll(header) => Intent::Poll,
        _ if is_prefetch(header) => Intent::Prefetch,
        "HEAD" => Intent::Head,
        "GET" if is_websocket(header) => Intent::WebSocket,
        "GET" if is_navigation(header, true) => Intent::Navigation,
        "GET" => Intent::Api,
        _ if is_navigation(header, is_form(header)) => Intent::Form,
        _ => Intent::Api,
    }
}

/// Prefetch and prerender (`Sec-Purpose: prefetch;prerender`), and the names they had before.
fn is_prefetch(header: ReadHeader<'_>) -> bool {
    ["Sec-Purpose", "Purpose", "X-Moz"].into_iter().any(|name| {
        header(name).is_some_and(|purpose| {
            let mut parts = purpose.split([';', ',']).map(str::trim);
            parts.any(|part| part.eq_ignore_ascii_case("prefetch"))
        })
    })
}

fn is_websocket(header: ReadHeader<'_>) -> bool {
    header("Upgrade").is_some_and(|protocols| {
        let mut protocols = protocols.split(',').map(str::trim);
        protocols.any(|protocol| protocol.eq_ignore_ascii_case("websocket"))
    })
}

/// Whether a visitor will look at the answer. Today's browsers say so; for others and for programs
/// it is `likely`, unless they ask for something else than a page.
fn is_navigation(header: ReadHeader<'_>, likely: bool) -> bool {
    match header("Sec-Fetch-Mode") {
        Some(mode) => mode.trim() == "navigate",
        None => {
            likely
                && header("X-Requested-With").is_none()
                && !prefers_json(header("Accept").as_deref())
        }
    }
}

/// A body as an HTML form sends it, from a client that names HTML among what it accepts.
fn is_form(header: ReadHeader<'_>) -> bool {
    header("Content-Type").is_some_and(|kind| {
        let essence = kind
            .split(';')
            .next()
            .unwrap_or_default()
            .trim()
            .to_ascii_lowercase();
        let forms = [
            "application/x-www-form-urlencoded",
            "multipart/form-data",
            "text/plain",
        ];
        forms.contains(&essence.as_str())
    }) && names_html(header("Accept").as_deref())
}

#[cfg(test)]
mod tests;
