//! In an upper tier: who of many that miss the same answer asks the origin ([`crate::tier::lease`]).

use std::time::Duration;

use wasm_bindgen_futures::spawn_local;
use worker::Env;

use super::{call, log};
use crate::log::{Entry, clean};
use crate::tier::lease::{Grant, Message, Outcome, WAIT};
use crate::tier::rendezvous;

/// Over so many objects the leases of a tier are spread.
const SHARDS: u32 = 16;

/// A leader's word takes so long at most.
const PATIENCE: Duration = Duration::from_secs(2);

/// The leases of a tier.
#[derive(Clone)]
pub(super) struct Leasing {
    env: Env,
    tier: String,
}

/// What a request that missed may do.
pub(super) enum Permit {
    /// To ask the origin, for all who wait.
    Lead(Lead),
    /// To look into the cache again.
    Look,
    /// To ask the origin for itself.
    Alone,
}

/// Leads. Whoever drops it without a word has failed, and the next one leads.
pub(super) struct Lead {
    leasing: Leasing,
    key: String,
    lease: u64,
    has_finished: bool,
}

impl Leasing {
    pub(super) fn new(env: &Env, tier: &str) -> Self {
        Self {
            env: env.clone(),
            tier: tier.to_owned(),
        }
    }

    /// Asks for the lease of what lies at `place`, and waits while another one leads. Where the leases
    /// cannot be asked for, everybody goes alone.
    pub(super) async fn ask(&self, place: &str) -> Permit {
        let key = rendezvous::name_of(place);
        let message = Message::Ask { key: key.clone() };
        let patience = Duration::from_millis(WAIT.as_millis());
        match call::lease(&self.env, &self.object_of(&key), &message, patience).await {
            Ok(Grant::Lead { lease }) => Permit::Lead(Lead {
                leasing: self.clone(),
                key,
                lease,
                has_finished: false,
            }),
            Ok(Grant::Look) => Permit::Look,
            Ok(Grant::Alone) => Permit::Alone,
            Err(error) => {
                let reason = clean(&error.to_string());
                log::write(&Entry::LeaseFailed { reason });
                Permit::Alone
            }
        }
    }

    fn object_of(&self, key: &str) -> String {
        let shard = rendezvous::shard(rendezvous::hash_of(key), SHARDS);
        format!("{}/{shard}", self.tier)
    }

    async fn finish(self, key: String, lease: u64, outcome: Outcome) {
        let object = self.object_of(&key);
        let message = Message::Finish {
            key,
            lease,
            outcome,
        };
        // Unheard, the lease ends by itself.
        let _ = call::lease(&self.env, &object, &message, PATIENCE).await;
    }
}

impl Lead {
    /// Says how it ended.
    pub(super) async fn finish(mut self, outcome: Outcome) {
        self.has_finished = true;
        let key = std::mem::take(&mut self.key);
        self.leasing.clone().finish(key, self.lease, outcome).await;
    }
}

impl Drop for Lead {
    fn drop(&mut self) {
        if !self.has_finished {
            let key = std::mem::take(&mut self.key);
            spawn_local(
                self.leasing
                    .clone()
                    .finish(key, self.lease, Outcome::Failed),
            );
        }
    }
}

/// Tells those who wait for a leader how it ended, if this is one.
pub(super) async fn finish(lead: Option<Lead>, outcome: Outcome) {
    if let Some(lead) = lead {
        lead.finish(outcome).await;
    }
}
