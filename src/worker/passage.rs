//! From a covered request to the origin, and from the origin's answer to the visitor.

use wasm_bindgen::JsValue;
use web_sys::{Request, Response};
use worker::{Context, Env};

use super::covered::Covered;
use super::edge::{ARRIVAL_PATIENCE, Prepared};
use super::renewal::Renewal;
use super::{call, forward};
use crate::gate::cookie;
use crate::gate::header;
use crate::gate::token::Standing;
use crate::origin::assertion;
use crate::room::message::Message;
use crate::room::number::{Incarnation, TicketNumber};

impl Prepared {
    /// The origin answers; what the visitor now holds goes along.
    pub(super) async fn pass(
        &self,
        env: &Env,
        ctx: &Context,
        now_holds: Option<Standing>,
    ) -> Result<Response, JsValue> {
        let standing = now_holds.or(self.covered.standing());
        self.note_passage();
        let outgoing = self.outgoing(standing)?;
        let response = forward::and_wait(&self.covered.isolate, outgoing, ctx).await;
        let response = response.unwrap_or_else(|error| self.no_answer(&error));
        self.hand_back(env, response, standing, now_holds).await
    }

    /// The same, and meanwhile the room is asked to renew the session. Its acknowledgement is
    /// waited for until a moment after the origin's header fields are there; without it the old pass
    /// stays.
    pub(super) async fn pass_and_renew(
        &self,
        env: &Env,
        ctx: &Context,
        number: TicketNumber,
        incarnation: Incarnation,
    ) -> Result<Response, JsValue> {
        let standing = self.covered.standing();
        let Some(Standing::Admitted {
            issued, expires, ..
        }) = standing
        else {
            return self.pass(env, ctx, None).await;
        };
        self.note_passage();
        let origin = forward::and_wait(&self.covered.isolate, self.outgoing(standing)?, ctx);
        let renewal = Renewal {
            env,
            ctx,
            covered: &self.covered,
            number,
            incarnation,
            issued,
            expires,
        };
        let (response, renewed) = renewal.alongside(origin).await;
        let response = response.unwrap_or_else(|error| self.no_answer(&error));
        self.hand_back(env, response, standing, renewed).await
    }

    fn note_passage(&self) {
        self.covered
            .count(|counts| counts.passed = counts.passed.saturating_add(1));
    }

    /// The request as the origin shall see it: as it came, unless the room wants otherwise.
    fn outgoing(&self, standing: Option<Standing>) -> Result<Request, JsValue> {
        let Covered {
            isolate,
            room,
            fields: received,
            now,
            ..
        } = &self.covered;
        let mut fields = Vec::new();
        if room.strip_cookie
            && let Some(cookies) = received.read("Cookie")
        {
            fields.push(("Cookie", cookie::strip(&cookies, &room.cookie.name)));
        }
        if room.origin_assertion
            && let Some(keys) = isolate.origin_keys()
            && let Some(Standing::Admitted { number, .. }) = standing
        {
            let assertion = assertion::assert_admitted(keys, &room.name, number, *now);
            fields.push((header::ASSERTION, Some(assertion)));
        } else if received.read(header::ASSERTION).is_some() {
            // Nobody but us says who was admitted.
            fields.push((header::ASSERTION, None));
        }
        if fields.is_empty() {
            Ok(Clone::clone(received.request()))
        } else {
            forward::with_fields(received.request(), &fields)
        }
    }

    /// The origin's answer on its way to the visitor.
    async fn hand_back(
        &self,
        env: &Env,
        response: Response,
        standing: Option<Standing>,
        now_holds: Option<Standing>,
    ) -> Result<Response, JsValue> {
        let Covered {
            isolate,
            index,
            room,
            ..
        } = &self.covered;
        if !room.revoke_enabled || response.status() == 101 {
            return self.with_pass(response, now_holds);
        }
        let Some(command) = response.headers().get(header::COMMAND)? else {
            return self.with_pass(response, now_holds);
        };
        let response = forward::without_field(&response, header::COMMAND)?;
        let Some(Standing::Admitted {
            number,
            incarnation,
            ..
        }) = standing
        else {
            return Ok(response);
        };
        if !command.trim().eq_ignore_ascii_case("revoke") {
            return self.with_pass(response, now_holds);
        }
        let leave = Message::Leave {
            number,
            incarnation,
            revoked: true,
        };
        match call::ask(env, &self.covered.way(), leave, None, ARRIVAL_PATIENCE).await {
            Ok((_, snapshot)) => isolate.heard(*index, snapshot),
            Err(error) => isolate.unheard(*index, &error),
        }
        forward::with_cookie(&response, &self.no_cookie())
    }

    fn with_pass(
        &self,
        response: Response,
        now_holds: Option<Standing>,
    ) -> Result<Response, JsValue> {
        match now_holds {
            // A WebSocket would be lost with the response that it came in.
            Some(standing) if response.status() != 101 => {
                forward::with_cookie(&response, &self.cookie(standing))
            }
            _ => Ok(response),
        }
    }
}
