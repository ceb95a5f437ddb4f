//! Of many who miss the same key at the same time, one asks the origin, and the others wait for what it
//! stores.
//!
//! Whoever misses asks for the key's lease. The first gets it and leads; others wait. When the leader
//! says that the answer is stored, they look into the cache again; when it says that the answer is not
//! one to store, each goes on its own, and so does everybody who comes within the next
//! [`UNSTORED_FOR`]. A leader that dies says nothing: its lease ends, and the first who waits leads.
//!
//! `W` is whatever answers somebody who waits.

use std::collections::{BTreeMap, HashMap, VecDeque};

use serde::{Deserialize, Serialize};

use crate::time::{Instant, Span};

/// How long a leader has. Nobody waits longer for one that has died.
pub const LEASE: Span = Span::from_secs(5);

/// How long anybody waits. Who has not been told anything by then goes on alone.
pub const WAIT: Span = Span::from_secs(6);

/// So long after an answer that was not stored nobody waits for that key.
pub const UNSTORED_FOR: Span = Span::from_secs(10);

/// More do not wait for one key, and more keys are not kept: who comes then goes on its own.
const MOST_WAITERS: usize = 5_000;
const MOST_KEYS: usize = 20_000;

/// What somebody who has missed is to do.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", tag = "grant")]
pub enum Grant {
    /// To ask the origin, to store what it answers, and to say so under this number.
    Lead {
        /// The number of the lease.
        lease: u64,
    },
    /// To look into the cache again: the answer has been stored.
    Look,
    /// To ask the origin: what it answers is not stored, or there is too much going on here.
    Alone,
}

/// How a leader's errand ended.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// The answer is in the cache.
    Stored,
    /// The answer is not one to store.
    NotStored,
    /// There is no answer, or it could not be stored. Another one may try.
    Failed,
}

/// What a tier says to the object that keeps the leases.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", tag = "say")]
pub enum Message {
    /// Somebody has missed this key. The answer is a [`Grant`].
    Ask {
        /// [`super::rendezvous::name_of`] a place.
        key: String,
    },
    /// A leader has finished. The answer says nothing.
    Finish {
        /// The key.
        key: String,
        /// The number of the lease.
        lease: u64,
        /// How it ended.
        outcome: Outcome,
    },
}

/// The leases of an object's keys.
#[derive(Debug)]
pub struct Leases<W> {
    keys: HashMap<String, Key<W>>,
    /// When something ends, and of which key.
    ends: BTreeMap<(Instant, u64), String>,
    /// The number of the last lease.
    last: u64,
    /// How many wait for something.
    waiting: usize,
}

#[derive(Debug)]
struct Key<W> {
    state: State,
    waiters: Waiters<W>,
}

/// Who waits, and since when.
type Waiters<W> = VecDeque<(W, Instant)>;

#[derive(Clone, Copy, Debug)]
enum State {
    /// Somebody leads.
    Led { lease: u64, until: Instant },
    /// The last answer was not one to store.
    Unstored { number: u64, until: Instant },
}

impl State {
    const fn end(self) -> (Instant, u64) {
        match self {
            Self::Led { lease, until } => (until, lease),
            Self::Unstored { number, until } => (until, number),
        }
    }
}

impl<W> Default for Leases<W> {
    fn default() -> Self {
        Self {
            keys: HashMap::new(),
            ends: BTreeMap::new(),
            last: 0,
            waiting: 0,
        }
    }
}

/// Who is to be told what.
pub type Told<W> = Vec<(W, Grant)>;

impl<W> Leases<W> {
    /// Somebody has missed `key`. Whoever is not told anything waits.
    pub fn ask(&mut self, key: &str, waiter: W, now: Instant) -> Told<W> {
        let mut told = self.expire(now);
        let crowded = self.keys.len() >= MOST_KEYS;
        match self.keys.get_mut(key) {
            None if crowded => told.push((waiter, Grant::Alone)),
            None => {
                let grant = self.lead(key, VecDeque::new(), now);
                told.push((waiter, grant));
            }
            Some(known) => match known.state {
                State::Led { .. } if known.waiters.len() < MOST_WAITERS => {
                    known.waiters.push_back((waiter, now));
                    self.waiting += 1;
                }
                State::Led { .. } | State::Unstored { .. } => told.push((waiter, Grant::Alone)),
            },
        }
        told
    }

    /// The leader of `key` has finished. One whose lease has ended is not heard any more.
    pub fn finish(&mut self, key: &str, lease: u64, outcome: Outcome, now: Instant) -> Told<W> {
        let leads =
            |known: &Key<W>| matches!(known.state, State::Led { lease: led, .. } if led == lease);
        if !self.keys.get(key).is_some_and(leads) {
            return self.expire(now);
        }
        let mut told = Vec::new();
        let Some(known) = self.forget(key) else {
            return told;
        };
        match outcome {
            Outcome::Stored => self.tell_all(known.waiters, Grant::Look, &mut told),
            Outcome::NotStored => {
                self.tell_all(known.waiters, Grant::Alone, &mut told);
                self.last += 1;
                let state = State::Unstored {
                    number: self.last,
                    until: now + UNSTORED_FOR,
                };
                self.remember(key, state, VecDeque::new());
            }
            Outcome::Failed => self.follow(key, known.waiters, now, &mut told),
        }
        told.extend(self.expire(now));
        told
    }

    /// Ends what is over by now.
    pub fn expire(&mut self, now: Instant) -> Told<W> {
        let mut told = Vec::new();
        while let Some((&(until, _), _)) = self.ends.first_key_value()
            && until <= now
        {
            let Some((_, key)) = self.ends.pop_first() else {
                break;
            };
            if let Some(known) = self.keys.remove(&key) {
                self.follow(&key, known.waiters, now, &mut told);
            }
        }
        told
    }

    /// When to call [`Self::expire`] next; none while nobody waits.
    pub fn due(&self) -> Option<Instant> {
        let (&(until, _), _) = self.ends.first_key_value()?;
        (self.waiting > 0).then_some(until)
    }

    /// The first who waits leads now.
    fn follow(&mut self, key: &str, mut waiters: Waiters<W>, now: Instant, told: &mut Told<W>) {
        while let Some((next, since)) = waiters.pop_front() {
            self.waiting = self.waiting.saturating_sub(1);
            // Who has gone on alone leads nobody.
            if now.since(since) >= WAIT {
                told.push((next, Grant::Alone));
                continue;
            }
            let grant = self.lead(key, waiters, now);
            told.push((next, grant));
            return;
        }
    }

    fn tell_all(&mut self, waiters: Waiters<W>, grant: Grant, told: &mut Told<W>) {
        self.waiting = self.waiting.saturating_sub(waiters.len());
        told.extend(waiters.into_iter().map(|(waiter, _)| (waiter, grant)));
    }

    fn lead(&mut self, key: &str, waiters: Waiters<W>, now: Instant) -> Grant {
        self.last += 1;
        let lease = self.last;
        let until = now + LEASE;
        self.remember(key, State::Led { lease, until }, waiters);
        Grant::Lead { lease }
    }

    fn remember(&mut self, key: &str, state: State, waiters: Waiters<W>) {
        self.ends.insert(state.end(), key.to_owned());
        self.keys.insert(key.to_owned(), Key { state, waiters });
    }

    fn forget(&mut self, key: &str) -> Option<Key<W>> {
        let known = self.keys.remove(key)?;
        self.ends.remove(&known.state.end());
        Some(known)
    }
}

#[cfg(test)]
mod tests;
