//! The keeper of an isolate's reservations: a task that goes on behind the answers of a busy time.

use std::time::Duration;

use worker::{Delay, Env};

use super::isolate::Isolate;
use super::{call, clock, edge};
use crate::room::message::{Request, VERSION};
use crate::room::number::{Incarnation, TicketId};
use crate::site::room::Room;

/// How often the keeper looks whether it has something to do.
const TURN: Duration = Duration::from_millis(100);

/// A call gets so long; reserved slots would be over by then.
const PATIENCE: Duration = Duration::from_secs(2);

/// Keeps reservations while many newcomers come; ends by itself, and before the runtime would end
/// it.
pub(super) async fn keep(env: Env, isolate: &'static Isolate, index: usize, room: &'static Room) {
    loop {
        let asked = clock::now();
        let id = TicketId::new(edge::random());
        let said = isolate.memory(index, |memory| {
            let known = memory.snapshot();
            let spare = known.map_or(0, |snapshot| snapshot.spare);
            let incarnation = known.map_or(Incarnation::default(), |snapshot| snapshot.incarnation);
            (memory.reserved.ask(spare, id, asked), incarnation)
        });
        let Some((messages, incarnation)) = said.filter(|(messages, _)| !messages.is_empty())
        else {
            return;
        };
        let request = Request {
            version: VERSION,
            messages,
            ..Request::default()
        };
        match call::exchange(&env, &room.id, &request, PATIENCE).await {
            Ok(response) => {
                let incarnation = response.snapshot.incarnation;
                isolate.memory(index, |memory| {
                    let messages = &request.messages;
                    memory
                        .reserved
                        .answered(messages, &response.replies, incarnation, asked);
                });
                isolate.heard(index, response.snapshot);
            }
            Err(error) => {
                isolate.memory(index, |memory| {
                    memory.reserved.failed(request.messages, incarnation);
                });
                isolate.unheard(index, &error);
            }
        }
        loop {
            let now = clock::now();
            let (due, done) = isolate
                .memory(index, |memory| {
                    (memory.reserved.is_due(now), memory.reserved.is_done(now))
                })
                .unwrap_or((false, true));
            if done {
                isolate.memory(index, |memory| memory.reserved.end());
                return;
            }
            if due {
                break;
            }
            Delay::from(TURN).await;
        }
    }
}
