//! Reading the header fields of a request, and where it came in. A read is a crossing to the runtime, so
//! those that are wanted together are read together.

use std::cell::OnceCell;

use js_sys::{Array, Reflect};
use web_sys::Request;

use super::binding;
use crate::gate::header;

/// What every covered request is asked for, before what the room's rules want.
pub(super) const FIRST: [&str; 2] = ["Cookie", header::POLL];

/// What tells the intent of a request that does not pass at once, and the form of its answer.
const REST: [&str; 12] = [
    "Accept",
    "Accept-Language",
    "Content-Type",
    "Origin",
    "Purpose",
    "Sec-Fetch-Dest",
    "Sec-Fetch-Mode",
    "Sec-Fetch-Site",
    "Sec-Purpose",
    "Upgrade",
    "X-Moz",
    "X-Requested-With",
];

thread_local! {
    static FIRST_NAMES: Array = names(&FIRST);
    static REST_NAMES: Array = names(&REST);
}

/// A list for the runtime.
pub(super) fn names(names: &[&str]) -> Array {
    names
        .iter()
        .map(|name| wasm_bindgen::JsValue::from_str(name))
        .collect()
}

/// The data centre in which a request has arrived; none where the runtime does not say.
pub(super) fn colo(request: &Request) -> Option<String> {
    platform(request, "colo")
}

/// The continent of whoever sent a request: EU, AS, ...; none where the runtime does not say.
pub(super) fn continent(request: &Request) -> Option<String> {
    platform(request, "continent")
}

/// A text that Cloudflare says of a request.
fn platform(request: &Request, name: &str) -> Option<String> {
    let cf = Reflect::get(request, &"cf".into()).ok()?;
    // Not an object outside of Cloudflare.
    Reflect::get(&cf, &name.into()).ok()?.as_string()
}

/// A request with its header fields.
pub(super) struct Fields {
    request: Request,
    first: String,
    rest: OnceCell<String>,
}

impl Fields {
    /// A request, and a first look at it.
    pub(super) fn of(request: Request) -> Self {
        let first = FIRST_NAMES.with(|names| lines(&request, names));
        Self::with(request, first)
    }

    /// A request of which a first look has told these lines, those of [`FIRST`] before others.
    pub(super) const fn with(request: Request, first: String) -> Self {
        Self {
            request,
            first,
            rest: OnceCell::new(),
        }
    }

    /// The request.
    pub(super) const fn request(&self) -> &Request {
        &self.request
    }

    /// The request, to be handed on.
    pub(super) fn into_request(self) -> Request {
        self.request
    }

    /// The lines of the first look that follow those of [`FIRST`].
    pub(super) fn more(&self) -> impl Iterator<Item = Option<&str>> {
        let lines = self.first.split('\n').skip(FIRST.len());
        lines.map(|line| line.strip_prefix('='))
    }

    /// The value of a field, several lines of it joined by `, `.
    pub(super) fn read(&self, name: &str) -> Option<String> {
        let place = |names: &[&str]| names.iter().position(|known| *known == name);
        if let Some(place) = place(&FIRST) {
            return value(&self.first, place);
        }
        if let Some(place) = place(&REST) {
            let rest = self
                .rest
                .get_or_init(|| REST_NAMES.with(|names| lines(&self.request, names)));
            return value(rest, place);
        }
        // An invalid name is the one error; ours are constants.
        self.request.headers().get(name).ok().flatten()
    }

    /// The value of `Cookie`, without a copy.
    pub(super) fn cookie(&self) -> Option<&str> {
        self.first.split('\n').next()?.strip_prefix('=')
    }
}

/// Fails only for an invalid name; ours are constants.
fn lines(request: &Request, names: &Array) -> String {
    binding::read_fields(request, names).unwrap_or_default()
}

fn value(lines: &str, place: usize) -> Option<String> {
    let line = lines.split('\n').nth(place)?;
    line.strip_prefix('=').map(str::to_owned)
}
