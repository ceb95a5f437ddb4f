//! The keeper of an isolate's reservations: a task that goes on behind the answers of a busy time.

use std::sync::Arc;
use std::time::Duration;

use worker::{Delay, Env};

use super::call::{self, Way};
use super::isolate::Isolate;
use super::{clock, random};
use crate::room::number::{Incarnation, TicketId};
use crate::site::room::Room;

/// How often the keeper looks whether it has something to do.
const TURN: Duration = Duration::from_millis(100);

/// A call gets so long; reserved slots would be over by then.
const PATIENCE: Duration = Duration::from_secs(2);

/// Keeps reservations while many newcomers come; ends by itself, and before the runtime would end
/// it.
pub(super) async fn keep(
    env: Env,
    isolate: Isolate,
    index: usize,
    room: Arc<Room>,
    colo: Option<String>,
) {
    loop {
        let asked = clock::now();
        let id = TicketId::new(random::random());
        let said = isolate.edition.memory(index, |memory| {
            let known = memory.snapshot().cloned();
            let spare = known.as_ref().map_or(0, |snapshot| snapshot.spare);
            (memory.reserved.ask(spare, id, asked), known)
        });
        let Some((messages, known)) = said.filter(|(messages, _)| !messages.is_empty()) else {
            return;
        };
        let incarnation = known
            .as_ref()
            .map_or(Incarnation::default(), |snapshot| snapshot.incarnation);
        let way = Way::find(&isolate, index, &room.id, || colo.clone());
        match call::exchange(&env, &way, &messages, known.as_ref(), PATIENCE).await {
            Ok((replies, snapshot)) => {
                let incarnation = snapshot.incarnation;
                isolate.edition.memory(index, |memory| {
                    memory
                        .reserved
                        .answered(&messages, &replies, incarnation, asked);
                });
                isolate.heard(index, snapshot);
            }
            Err(error) => {
                isolate.edition.memory(index, |memory| {
                    memory.reserved.failed(messages, incarnation);
                });
                isolate.unheard(index, &error);
            }
        }
        loop {
            let now = clock::now();
            let (due, done) = isolate
                .edition
                .memory(index, |memory| {
                    (memory.reserved.is_due(now), memory.reserved.is_done(now))
                })
                .unwrap_or((false, true));
            if done {
                isolate
                    .edition
                    .memory(index, |memory| memory.reserved.end());
                return;
            }
            if due {
                break;
            }
            Delay::from(TURN).await;
        }
    }
}
