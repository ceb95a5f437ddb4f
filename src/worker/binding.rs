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

#[wasm_bindgen(module = "/src/worker/object_call.js")]
extern "C" {
    /// Asks an object; see there. The promise is of the answer, or of `undefined` if it is late.
    #[wasm_bindgen]
    pub(super) fn ask(namespace: &JsValue, name: &str, body: &str, patience: u32) -> Promise;

    /// What an object owes a caller: a promise, and what fulfils it.
    pub(super) type Answer;

    /// A promise that nobody has fulfilled.
    #[wasm_bindgen(constructor)]
    pub(super) fn new() -> Answer;

    /// The promise.
    #[wasm_bindgen(method, getter)]
    pub(super) fn promise(this: &Answer) -> Promise;

    /// Fulfils it.
    #[wasm_bindgen(method)]
    pub(super) fn give(this: &Answer, text: &str);

    /// Breaks it.
    #[wasm_bindgen(method)]
    pub(super) fn fail(this: &Answer, message: &str);

    /// Answers a request by HTTP: `body` is given its body, `answer` gives what it is answered.
    #[wasm_bindgen]
    pub(super) fn respond(request: &web_sys::Request, body: &Answer, answer: &Answer) -> Promise;
}
