//! Asking a room together with the other requests of the isolate ([`crate::gate::joint`]).

use std::sync::Arc;
use std::time::Duration;

use worker::{Delay, Env};

use super::call::{self, Way};
use super::clock;
use crate::gate::joint::{Seat, Turn};
use crate::room::message::{Message, Reply};
use crate::room::snapshot::Snapshot;

/// Who waits for the call of another looks after so long, and then after twice as long each time.
const FIRST_PAUSE: Duration = Duration::from_millis(5);
const LONGEST_PAUSE: Duration = Duration::from_millis(40);

/// Says something to the room and waits for the reply, for `patience` at most; none if there is no answer.
/// What the isolate knows of the room is up to date afterwards.
pub(super) async fn ask(
    env: &Env,
    way: &Way,
    message: Message,
    patience: Duration,
) -> Option<(Reply, Arc<Snapshot>)> {
    let edition = &way.isolate.edition;
    let begin = clock::now();
    let seat = edition.memory(way.index, |room| room.joint.enter(message))?;
    let mut pause = FIRST_PAUSE;
    loop {
        let now = clock::now();
        let left = patience.saturating_sub(Duration::from_millis(now.since(begin).as_millis()));
        let turn = edition.memory(way.index, |room| room.joint.look(seat, message, now))?;
        match turn {
            Turn::Told(outcome) => return outcome,
            Turn::Call(batch) => speak(env, way, &batch, left).await,
            Turn::Wait if left.is_zero() => {
                edition.memory(way.index, |room| room.joint.leave(seat));
                return None;
            }
            Turn::Wait => {
                Delay::from(pause).await;
                pause = LONGEST_PAUSE.min(pause * 2);
            }
        }
    }
}

/// Makes a call, and says what came of it.
async fn speak(env: &Env, way: &Way, batch: &[(Seat, Message)], patience: Duration) {
    let Way { isolate, index, .. } = way;
    let edition = &isolate.edition;
    let known = edition.memory(*index, |room| room.snapshot().cloned());
    let known = known.flatten();
    let messages: Vec<_> = batch.iter().map(|(_, message)| *message).collect();
    match call::exchange(env, way, &messages, known.as_ref(), patience).await {
        Ok((replies, snapshot)) => {
            let answer = Some((replies.as_slice(), &snapshot));
            edition.memory(*index, |room| room.joint.tell(batch, answer));
            isolate.heard(*index, snapshot);
        }
        Err(error) => {
            edition.memory(*index, |room| room.joint.tell(batch, None));
            isolate.unheard(*index, &error);
        }
    }
}
