//! A session is renewed while the origin answers.
//!
//! The room is asked by a task of its own, which outlives the answer: an acknowledgement that comes
//! too late for one answer is remembered in the isolate and goes out with the visitor's next one.

use std::pin::pin;
use std::time::Duration;

use futures_channel::oneshot;
use futures_util::future::{Either, select};
use wasm_bindgen::JsValue;
use web_sys::Response;
use worker::{Context, Delay, Env};

use super::call::{self, Way};
use super::clock;
use super::covered::Covered;
use crate::gate::memory::Renewed;
use crate::gate::token::Standing;
use crate::room::message::{Message, Reply};
use crate::room::number::{Incarnation, TicketNumber};
use crate::time::{Instant, Span};

/// A visitor waits for the renewal no longer than this after the origin's header fields are there.
const AFTER_THE_ORIGIN: Duration = Duration::from_millis(50);

/// In the last quarter of the session, when it matters.
const NEAR_THE_END: Duration = Duration::from_millis(1_000);

/// The room gets so long, whether or not the visitor waits.
const PATIENCE: Duration = Duration::from_secs(10);

/// A renewal that was acknowledged longer ago than this is made anew before its pass is sent: else
/// the answer of a slow origin would put an older pass over the newer one of another tab.
const FRESH: Span = Span::from_secs(1);

/// The room is not asked again for so long after it has refused.
const REFUSED_FOR: Span = Span::from_secs(10);

/// The renewal of one visitor's session.
pub(super) struct Renewal<'a> {
    pub(super) env: &'a Env,
    pub(super) ctx: &'a Context,
    pub(super) covered: &'a Covered,
    pub(super) number: TicketNumber,
    pub(super) incarnation: Incarnation,
    /// When the pass that is to be renewed was made and when it ends.
    pub(super) issued: Instant,
    pub(super) expires: Instant,
}

impl Renewal<'_> {
    /// The origin's answer, and the new pass if there is one in time.
    pub(super) async fn alongside(
        &self,
        origin: impl Future<Output = Result<Response, JsValue>>,
    ) -> (Result<Response, JsValue>, Option<Standing>) {
        let now = self.covered.now;
        match self
            .covered
            .memory(|room| room.take_renewal(self.number))
            .flatten()
        {
            Some(Renewed::Until(expires)) if expires > self.expires => {
                return (origin.await, Some(self.pass_until(expires)));
            }
            Some(Renewed::Refused(at)) if now < at + REFUSED_FOR => return (origin.await, None),
            _ if self.covered.memory(|room| room.is_resting(now)) == Some(true) => {
                return (origin.await, None);
            }
            _ => {}
        }
        match select(pin!(origin), self.start()).await {
            Either::Left((response, renewal)) => {
                let length = self.expires.since(self.issued).as_millis();
                let is_near_the_end = self.expires.since(clock::now()).as_millis() < length / 4;
                let patience = if is_near_the_end {
                    NEAR_THE_END
                } else {
                    AFTER_THE_ORIGIN
                };
                (response, within(renewal, patience).await)
            }
            Either::Right((renewed, origin)) => {
                let acknowledged = clock::now();
                let response = origin.await;
                let is_old = clock::now() > acknowledged + FRESH;
                match renewed {
                    Ok(Some(_)) if is_old => {
                        (response, within(self.start(), AFTER_THE_ORIGIN).await)
                    }
                    renewed => (response, renewed.ok().flatten()),
                }
            }
        }
    }

    fn pass_until(&self, expires: Instant) -> Standing {
        Standing::Admitted {
            number: self.number,
            incarnation: self.incarnation,
            issued: clock::now(),
            expires,
            provisional: false,
        }
    }

    /// Asks the room. Whoever stops listening before the answer is there leaves it to the isolate.
    fn start(&self) -> oneshot::Receiver<Option<Standing>> {
        let (answer, answered) = oneshot::channel();
        let way = self.covered.way();
        let (env, number, incarnation) = (self.env.clone(), self.number, self.incarnation);
        self.ctx.wait_until(async move {
            let renewed = ask(&env, &way, number, incarnation).await;
            if let Err(Some(Standing::Admitted { expires, .. })) = answer.send(renewed) {
                way.isolate.edition.memory(way.index, |room| {
                    room.remember_renewal(number, Renewed::Until(expires))
                });
            }
        });
        answered
    }
}

async fn within(
    renewal: oneshot::Receiver<Option<Standing>>,
    patience: Duration,
) -> Option<Standing> {
    match select(renewal, Delay::from(patience)).await {
        Either::Left((renewed, _)) => renewed.ok().flatten(),
        Either::Right(_) => None,
    }
}

async fn ask(
    env: &Env,
    way: &Way,
    number: TicketNumber,
    incarnation: Incarnation,
) -> Option<Standing> {
    let Way { isolate, index, .. } = way;
    let (edition, index) = (&isolate.edition, *index);
    let known = edition.memory(index, |room| room.snapshot().cloned());
    let known = known.flatten();
    let renew = Message::Renew {
        number,
        incarnation,
    };
    match call::ask(env, way, renew, known.as_ref(), PATIENCE).await {
        Ok((reply, snapshot)) => {
            let incarnation = snapshot.incarnation;
            let issued = clock::now();
            isolate.heard(index, snapshot);
            let Reply::Admitted {
                number,
                expires,
                provisional,
            } = reply
            else {
                edition.memory(index, |room| {
                    room.remember_renewal(number, Renewed::Refused(issued))
                });
                return None;
            };
            Some(Standing::Admitted {
                number,
                incarnation,
                issued,
                expires,
                provisional,
            })
        }
        Err(error) => {
            isolate.unheard(index, &error);
            None
        }
    }
}
