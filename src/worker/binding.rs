//! Functions of the runtime that the crates of the shell do not offer, or offer at a higher price.

use js_sys::Promise;
use wasm_bindgen::prelude::*;

#[wasm_bindgen]
extern "C" {
    /// `fetch(request)`. The request goes out as the object it came in as: nothing is copied, the
    /// body is a stream that this code never sees, and redirects are not followed, because that is
    /// how an incoming request is made.
    #[wasm_bindgen(js_namespace = globalThis, js_name = fetch, catch)]
    pub(super) fn fetch(request: &web_sys::Request) -> Result<Promise, JsValue>;
}
