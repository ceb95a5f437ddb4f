//! A session is renewed while the origin answers.

use std::pin::pin;
use std::time::Duration;

use futures_util::future::{Either, select};
use wasm_bindgen::JsValue;
use web_sys::Response;
use worker::{Delay, Env};

use super::edge::Covered;
use super::{call, clock};
use crate::gate::token::Standing;
use crate::room::message::{Message, Reply};
use crate::room::number::{Incarnation, TicketNumber};
use crate::time::Span;

/// A visitor waits for the renewal no longer than this after the origin's header fields are there.
const AFTER_THE_ORIGIN: Duration = Duration::from_millis(50);

/// The room gets so long when the origin is slow.
const PATIENCE: Duration = Duration::from_secs(10);

/// A renewal that was acknowledged longer ago than this is made anew before its pass is sent: else
/// the answer of a slow origin would put an older pass over the newer one of another tab.
const FRESH: Span = Span::from_secs(1);

/// The renewal of one visitor's session.
pub(super) struct Renewal<'a> {
    pub(super) env: &'a Env,
    pub(super) covered: &'a Covered,
    pub(super) number: TicketNumber,
    pub(super) incarnation: Incarnation,
}

impl Renewal<'_> {
    /// The origin's answer, and the new pass if the room has given one in time.
    pub(super) async fn alongside(
        &self,
        origin: impl Future<Output = Result<Response, JsValue>>,
    ) -> (Result<Response, JsValue>, Option<Standing>) {
        match select(pin!(origin), pin!(self.ask(PATIENCE))).await {
            Either::Left((response, renewal)) => {
                let renewed = match select(renewal, Delay::from(AFTER_THE_ORIGIN)).await {
                    Either::Left((renewed, _)) => renewed,
                    Either::Right(_) => None,
                };
                (response, renewed)
            }
            Either::Right((renewed, origin)) => {
                let acknowledged = clock::now();
                let response = origin.await;
                let is_old = clock::now() > acknowledged + FRESH;
                if renewed.is_some() && is_old {
                    (response, self.ask(AFTER_THE_ORIGIN).await)
                } else {
                    (response, renewed)
                }
            }
        }
    }

    async fn ask(&self, patience: Duration) -> Option<Standing> {
        let Self {
            env,
            covered,
            number,
            incarnation,
        } = *self;
        let message = Message::Renew {
            number,
            incarnation,
        };
        match call::ask(env, &covered.room.id, message, patience).await {
            Ok((reply, snapshot)) => {
                let incarnation = snapshot.incarnation;
                covered.isolate.learn(covered.index, snapshot, clock::now());
                let Reply::Admitted {
                    number,
                    expires,
                    provisional,
                } = reply
                else {
                    return None;
                };
                let issued = clock::now();
                Some(Standing::Admitted {
                    number,
                    incarnation,
                    issued,
                    expires,
                    provisional,
                })
            }
            Err(error) => {
                worker::console_warn!("room {}: renewal: {error}", covered.room.name);
                None
            }
        }
    }
}
