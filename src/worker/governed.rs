//! What a room's object goes by: the policy that it was told last, kept in its storage.
//!
//! The control object tells a room what concerns it as soon as it is published. A room that was not
//! reached then learns from an edge that there is something newer, and asks. A policy never gives way
//! to an older one, and an object that is made anew begins with the one that it has stored and not with
//! what the Worker was built with.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Duration;

use worker::{Env, SqlStorage, SqlStorageValue};

use super::configuration::is_configured;
use super::{call, clock, log, sql};
use crate::control::message::{Ask, Policy};
use crate::control::version::Version;
use crate::log::{Entry, clean};
use crate::packed;
use crate::site::room::RoomId;
use crate::site::timeline::Timeline;
use crate::time::{Instant, Span};

/// The control object gets so long.
const PATIENCE: Duration = Duration::from_secs(2);

/// After it has not answered, it is not asked for so long.
const BREATHER: Span = Span::from_secs(2);

/// The policy of a room.
pub(super) struct Governed {
    env: Env,
    sql: SqlStorage,
    id: Option<RoomId>,
    /// Whether this deployment has a control object; else the room is as it was built.
    is_configured: bool,
    version: Cell<Version>,
    timeline: RefCell<Option<Rc<Timeline>>>,
    asking: Cell<bool>,
    failed: Cell<Option<Instant>>,
}

impl Governed {
    /// The room of that name, as it was told last or as the Worker was built.
    pub(super) fn open(env: Env, sql: SqlStorage, name: &str) -> Self {
        let rooms = packed::site().map(|site| site.rooms).unwrap_or_default();
        let embedded = rooms.iter().find(|room| room.id.as_str() == name);
        let governed = Self {
            is_configured: is_configured(&env),
            env,
            sql,
            id: RoomId::read(name),
            version: Cell::new(Version::EMBEDDED),
            timeline: RefCell::new(embedded.map(|room| Rc::new(Timeline::new(room)))),
            asking: Cell::new(false),
            failed: Cell::new(None),
        };
        if governed.is_configured
            && let Some(policy) = governed.stored()
        {
            governed.go_by(&policy);
        }
        governed
    }

    /// The settings over time; none for a room that nobody has declared.
    pub(super) fn timeline(&self) -> Option<Rc<Timeline>> {
        self.timeline.borrow().clone()
    }

    /// Whether the room is to ask, since somebody knows a newer configuration.
    pub(super) fn is_behind(&self, newest: Version) -> bool {
        let rests = |at: Instant| clock::now() < at + BREATHER;
        self.is_configured && newest > self.version.get() && !self.failed.get().is_some_and(rests)
    }

    /// Whether the room was never told what to go by. Then it asks before it decides anything.
    pub(super) fn is_new(&self) -> bool {
        self.version.get().is_embedded()
    }

    /// Takes a policy in and stores it, unless the one in force is as new. The storage is not waited
    /// for.
    pub(super) fn adopt(&self, policy: &Policy) -> Result<(), String> {
        if !self.is_configured || policy.version <= self.version.get() {
            return Ok(());
        }
        // A room that the configuration has no more goes on as it was: who is under way gets an answer,
        // and a room that comes back is what it was.
        let room = policy.room.clone();
        let policy = &Policy {
            version: policy.version,
            room: room.or_else(|| self.stored()?.room),
        };
        let body = serde_json::to_string(policy).map_err(|error| error.to_string())?;
        sql::run(
            &self.sql,
            "INSERT OR REPLACE INTO policy (id, body) VALUES (1, ?)",
            vec![SqlStorageValue::String(body)],
        )?;
        self.go_by(policy);
        Ok(())
    }

    /// Asks the control object, if nobody is asking.
    pub(super) async fn ask(&self) {
        let Some(id) = self.id.clone() else {
            return;
        };
        if self.asking.replace(true) {
            return;
        }
        let before = self.version.get();
        let asked = call::control(&self.env, &Ask::Room { id }, PATIENCE).await;
        self.asking.set(false);
        let policy = asked.map_err(|error| error.to_string()).and_then(|text| {
            let policy: Policy = serde_json::from_str(&text).map_err(|error| error.to_string())?;
            self.adopt(&policy)
        });
        match policy {
            Ok(()) => {
                // One that knows nothing newer than this room is not asked again at once.
                let is_behind = self.version.get() == before;
                self.failed.set(is_behind.then(clock::now));
            }
            Err(message) => {
                let reason = clean(&message);
                log::write(&Entry::PolicyFailed { reason });
                self.failed.set(Some(clock::now()));
            }
        }
    }

    fn go_by(&self, policy: &Policy) {
        self.version.set(policy.version);
        if let Some(room) = &policy.room {
            self.timeline.replace(Some(Rc::new(Timeline::new(room))));
        }
    }

    fn stored(&self) -> Option<Policy> {
        let table =
            "CREATE TABLE IF NOT EXISTS policy (id INTEGER PRIMARY KEY, body TEXT NOT NULL)";
        sql::run(&self.sql, table, Vec::new()).ok()?;
        let rows = sql::rows(&self.sql, "SELECT body FROM policy", Vec::new()).ok()?;
        match rows.into_iter().next()?.into_iter().next()? {
            SqlStorageValue::String(body) => serde_json::from_str(&body).ok(),
            _ => None,
        }
    }
}
