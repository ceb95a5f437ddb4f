//! What the objects of this program have in common: they hear text and owe an answer for it.

use js_sys::Promise;
use wasm_bindgen_futures::{JsFuture, spawn_local};

use super::binding::{self, Answer};

/// Gives an object the methods by which it hears: what its module's own `hear` is told, with what the
/// object shares in `inner`.
macro_rules! hears {
    ($object:ident) => {
        #[wasm_bindgen]
        impl $object {
            /// What is said as text; the promise is of the answer as text.
            pub fn hear(&self, body: &str) -> js_sys::Promise {
                $crate::worker::object::hear(body, |body, answer| hear(&self.inner, body, answer))
            }

            /// The same by HTTP.
            pub fn fetch(&self, request: &web_sys::Request) -> js_sys::Promise {
                let inner = std::rc::Rc::clone(&self.inner);
                $crate::worker::object::fetch(request, move |body, answer| {
                    hear(&inner, body, answer);
                })
            }
        }
    };
}

pub(super) use hears;

/// Hears `body`; the promise is of the answer. No future of this program is made for it.
pub(super) fn hear(body: &str, hear: impl FnOnce(&str, Answer)) -> Promise {
    let answer = Answer::new();
    let promise = answer.promise();
    hear(body, answer);
    promise
}

/// The same by HTTP: the request's body is heard, and the response has the answer.
pub(super) fn fetch(
    request: &web_sys::Request,
    hear: impl FnOnce(&str, Answer) + 'static,
) -> Promise {
    let (body, answer) = (Answer::new(), Answer::new());
    let response = binding::respond_by_http(request, &body, &answer);
    spawn_local(async move {
        if let Ok(body) = JsFuture::from(body.promise()).await {
            hear(&body.as_string().unwrap_or_default(), answer);
        }
    });
    response
}
