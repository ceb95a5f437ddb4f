//! Reading the header fields of a request: each read is a crossing to the runtime.

/// The value of a field, several lines of it joined by `, `.
pub(super) fn read(request: &web_sys::Request, name: &str) -> Option<String> {
    // An invalid name is the one error; ours are constants.
    request.headers().get(name).ok().flatten()
}
