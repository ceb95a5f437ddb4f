//! Reading the header fields of a request: each read is a crossing to the runtime.

use web_sys::{Headers, Request};

/// The header fields of a request. The object that holds them is fetched once.
pub(super) struct Fields(Headers);

impl Fields {
    /// The fields of a request.
    pub(super) fn of(request: &Request) -> Self {
        Self(request.headers())
    }

    /// The value of a field, several lines of it joined by `, `.
    pub(super) fn read(&self, name: &str) -> Option<String> {
        // An invalid name is the one error; ours are constants.
        self.0.get(name).ok().flatten()
    }
}
