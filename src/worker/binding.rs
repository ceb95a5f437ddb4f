//! Functions of the runtime that the crates of the shell do not offer, or offer at a higher price.

use js_sys::{Array, Promise, Uint8Array};
use wasm_bindgen::prelude::*;
use web_sys::{ReadableStream, Request, Response};

#[wasm_bindgen]
extern "C" {
    /// `fetch(request)`. The request goes out as the object it came in as: nothing is copied, the
    /// body is a stream that this code never sees, and redirects are not followed, because that is
    /// how an incoming request is made.
    #[wasm_bindgen(js_namespace = globalThis, js_name = fetch, catch)]
    pub(super) fn fetch(request: &Request) -> Result<Promise, JsValue>;
}

#[wasm_bindgen(module = "/src/worker/runtime.js")]
extern "C" {
    /// The same as [`fetch`], with the body of the answer as it came: compressed, if it was.
    #[wasm_bindgen(js_name = fetchAsItComes, catch)]
    pub(super) fn fetch_as_it_comes(request: &Request) -> Result<Promise, JsValue>;

    /// Header fields of a request, one line for each name: empty, or `=` and the value.
    #[wasm_bindgen(js_name = readFields, catch)]
    pub(super) fn read_fields(request: &Request, names: &Array) -> Result<String, JsValue>;

    /// What bypass rules need of a request, in the same form. A name is a text or a list of them.
    #[wasm_bindgen(js_name = readFacts, catch)]
    pub(super) fn read_facts(request: &Request, names: &Array) -> Result<String, JsValue>;

    /// All header fields of a request or a response, as lines of `name:value`.
    #[wasm_bindgen(js_name = allFields, catch)]
    pub(super) fn all_fields(message: &JsValue) -> Result<String, JsValue>;

    /// An answer. `head` is lines of `name:value`.
    #[wasm_bindgen(js_name = respond, catch)]
    pub(super) fn respond(
        status: u16,
        head: &str,
        cookie: Option<&str>,
        body: Option<&str>,
    ) -> Result<Response, JsValue>;

    /// The same with a body of bytes, which stay where they are.
    #[wasm_bindgen(js_name = respond, catch)]
    pub(super) fn respond_with_bytes(
        status: u16,
        head: &str,
        cookie: Option<&str>,
        body: &Uint8Array,
    ) -> Result<Response, JsValue>;

    /// An answer of the origin with `Set-Cookie` appended, another `Cache-Control`, and fields taken
    /// out.
    #[wasm_bindgen(js_name = withCookie, catch)]
    pub(super) fn with_cookie(
        response: &Response,
        cookie: &str,
        cache_control: &str,
        removed: &Array,
    ) -> Result<Response, JsValue>;

    /// An answer of this status and these fields, with a body that goes along as it is.
    #[wasm_bindgen(catch)]
    pub(super) fn compose(
        status: u16,
        head: &str,
        body: Option<&ReadableStream>,
    ) -> Result<Response, JsValue>;
}

#[wasm_bindgen(module = "/src/worker/object_call.js")]
extern "C" {
    /// Asks an object; see there. The promise is of the answer, or of `undefined` if it is late.
    #[wasm_bindgen]
    pub(super) fn ask(
        namespace: &JsValue,
        name: &str,
        body: &str,
        patience: u32,
        location_hint: Option<&str>,
    ) -> Promise;

    /// Writes all that `write` writes or, if that gives an error, nothing.
    #[wasm_bindgen(catch)]
    pub(super) fn atomically(
        storage: &JsValue,
        write: &mut dyn FnMut() -> Option<String>,
    ) -> Result<(), JsValue>;

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
    #[wasm_bindgen(js_name = answerByHttp)]
    pub(super) fn respond_by_http(request: &Request, body: &Answer, answer: &Answer) -> Promise;
}

#[wasm_bindgen(module = "/src/worker/configuration.js")]
extern "C" {
    /// What the data centre knows of the configuration; see there.
    #[wasm_bindgen]
    pub(super) fn cached(known: &str) -> Promise;

    /// Keeps what the control object has told for the data centre.
    #[wasm_bindgen]
    pub(super) fn keep(version: &str, text: Option<&str>, asked: f64) -> Promise;

    /// The copy for bad times, or `undefined`.
    #[wasm_bindgen(js_name = readCopy)]
    pub(super) fn read_copy(namespace: &JsValue) -> Promise;

    /// Writes it.
    #[wasm_bindgen(js_name = writeCopy)]
    pub(super) fn write_copy(namespace: &JsValue, text: &str) -> Promise;
}

#[wasm_bindgen(module = "/src/worker/cache.js")]
extern "C" {
    /// What lies in a place of the data centre's cache: a promise of a response, or of `undefined`.
    #[wasm_bindgen]
    pub(super) fn find(place: &str, range: Option<&str>) -> Promise;

    /// What was put aside of it; see there.
    #[wasm_bindgen(catch)]
    pub(super) fn kept(response: &Response) -> Result<String, JsValue>;

    /// Puts an answer into a place.
    #[wasm_bindgen(js_name = put)]
    pub(super) fn put(
        place: &str,
        kept: &str,
        seconds: f64,
        body: Option<&ReadableStream>,
        length: Option<f64>,
    ) -> Promise;

    /// Empties places.
    #[wasm_bindgen]
    pub(super) fn remove(places: Vec<String>) -> Promise;
}

#[wasm_bindgen(module = "/src/worker/atlas.js")]
extern "C" {
    /// Asks for a provider's file; see there.
    #[wasm_bindgen(js_name = fetchFile)]
    pub(super) fn fetch_file(
        url: &str,
        etag: Option<&str>,
        last_modified: Option<&str>,
        most: u32,
    ) -> Promise;

    /// Times handshakes; see there.
    #[wasm_bindgen(js_name = timeHandshakes)]
    pub(super) fn time_handshakes(host: &str, port: u16, times: u32, patience: u32) -> Promise;

    /// The code of the data centre that this code runs in, or `undefined`.
    #[wasm_bindgen(js_name = ownColo)]
    pub(super) fn own_colo() -> Promise;

    /// Writes a value into KV.
    #[wasm_bindgen]
    pub(super) fn publish(namespace: &JsValue, key: &str, value: &JsValue) -> Promise;
}

#[wasm_bindgen(module = "/src/worker/knowledge.js")]
extern "C" {
    /// What is published of the atlas: a promise of three values; see there.
    #[wasm_bindgen(js_name = readKnowledge)]
    pub(super) fn read_knowledge(namespace: &JsValue, ranges: bool) -> Promise;
}

#[wasm_bindgen(module = "/src/worker/tier_call.js")]
extern "C" {
    /// The stub of the object of this name, which is made near the hint if it is new.
    #[wasm_bindgen(js_name = objectOf, catch)]
    pub(super) fn object_of(
        namespace: &JsValue,
        name: &str,
        location_hint: &str,
    ) -> Result<JsValue, JsValue>;

    /// A request to a tier; see there.
    pub(super) type TierCall;

    /// Sends a request to a service binding or the stub of an object.
    #[wasm_bindgen(constructor)]
    pub(super) fn new(target: &JsValue, request: &Request, marker: &str) -> TierCall;

    /// The promise of the answer.
    #[wasm_bindgen(method, getter)]
    pub(super) fn response(this: &TierCall) -> Promise;

    /// Gives up.
    #[wasm_bindgen(method)]
    pub(super) fn stop(this: &TierCall);
}

/// What an exception of the runtime says.
pub(super) fn message_of(error: JsValue) -> String {
    js_sys::Error::from(error).message().into()
}

impl Answer {
    /// Fulfils what is owed with a text, or breaks it for this reason.
    pub(super) fn settle<T: AsRef<str>, E: ToString>(&self, outcome: Result<T, E>) {
        match outcome {
            Ok(text) => self.give(text.as_ref()),
            Err(reason) => self.fail(&reason.to_string()),
        }
    }
}
