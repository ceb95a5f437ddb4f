//! The keeper of the configuration: what the control object does, as a function of what it is given.
//!
//! Until the first change nothing is published: every isolate and every room goes by what its own
//! build has embedded. With the first change the keeper's configuration wins, and a `rooms.toml` that
//! is deployed later is compared with it and not taken.

use std::collections::BTreeMap;
use std::fmt;

use sha2::{Digest, Sha256};

use super::compile::{Surroundings, Uncompiled};
use super::configuration::Configuration;
use super::message::Policy;
use super::publication::Publication;
use super::published::Published;
use super::rows::{self, Rows};
use super::version::Version;
use crate::site::room::{Room, RoomId, Site};

/// The row of the life of the storage.
const LIFE: &str = "life";
/// The row of what was published last of the rooms.
const SITE: &str = "site";
/// The row of what the Worker was built with when its rooms were last taken over.
const EMBEDDED: &str = "embedded";

/// The configuration, stored and published.
#[derive(Clone, Debug)]
pub struct Keeper {
    life: u64,
    configuration: Configuration,
    /// None until the first change.
    published: Option<Published>,
    /// What [`Keeper::look`] answers whoever has something older.
    text: String,
    /// As they are stored.
    rows: Rows,
}

/// What a change leaves to be done. Nothing of it may be told before it is stored.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Effects {
    /// Rows to be written.
    pub put: Rows,
    /// Rows to be deleted.
    pub deleted: Vec<String>,
    /// What the rooms that it is about are to go by.
    pub policies: Vec<(RoomId, Policy)>,
}

/// What runs, and whether it is what the Worker was built with.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Standing {
    /// What is published.
    pub version: Version,
    /// Whether the rooms of the Worker's build are in force, because nothing was changed yet.
    pub embedded: bool,
    /// Whether the Worker was built with other rooms than those that were taken over: the difference
    /// is not in force.
    pub differs: bool,
}

impl Effects {
    /// These, and then those of a later change.
    pub fn followed_by(&mut self, later: Self) {
        for key in later.put.keys() {
            self.deleted.retain(|deleted| deleted != key);
        }
        for key in &later.deleted {
            self.put.remove(key);
        }
        self.put.extend(later.put);
        self.deleted.extend(later.deleted);
        let is_told = |id: &RoomId| later.policies.iter().any(|(later, _)| later == id);
        self.policies.retain(|(id, _)| !is_told(id));
        self.policies.extend(later.policies);
    }
}

impl fmt::Display for Standing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "version={}, source=", self.version)?;
        f.write_str(if self.embedded { "rooms.toml" } else { "api" })?;
        if self.differs {
            f.write_str(", rooms.toml=changed")?;
        }
        Ok(())
    }
}

/// Why there is no keeper, or no change.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The rows cannot be read.
    #[error(transparent)]
    Unreadable(#[from] rows::Unreadable),
    /// The encoder's own.
    #[error(transparent)]
    Encoder(#[from] serde_json::Error),
    /// The configuration is not one.
    #[error("the configuration has faults: {0}")]
    Uncompiled(Uncompiled),
}

impl Keeper {
    /// The keeper of what is stored, or of what the Worker was built with (`embedded`, of version 0)
    /// if nothing is. `life` is that of a storage that has none yet.
    ///
    /// The configuration is compiled anew, since the code may be another. What comes out otherwise
    /// than before is published as a new version; while nothing comes out, the last that did stays.
    ///
    /// # Errors
    /// What is wrong with the rows.
    pub fn open(
        rows: Rows,
        embedded: impl FnOnce() -> Result<Configuration, serde_json::Error>,
        life: u64,
        around: Surroundings<'_>,
    ) -> Result<(Self, Effects), Failure> {
        let stored = rows::join(&rows)?;
        let known = rows.get(LIFE).and_then(|life| life.parse().ok());
        let mut keeper = Self {
            life: known.unwrap_or(life),
            published: None,
            text: format!("{}\n", Version::EMBEDDED),
            configuration: Configuration::default(),
            rows,
        };
        let Some(mut configuration) = stored else {
            keeper.configuration = embedded()?;
            return Ok((keeper, Effects::default()));
        };
        let site = keeper.rows.get(SITE);
        let before: Option<Site> = site.and_then(|site| serde_json::from_str(site).ok());
        let published = match (configuration.compile(around), before) {
            (Ok(now), Some(before)) if now.site == before => now,
            (Ok(mut now), _) => {
                configuration.version = configuration.version.saturating_add(1);
                now.version = configuration.version;
                now
            }
            (Err(_), Some(site)) => Published {
                version: configuration.version,
                site,
                pages: configuration.pages().clone(),
                purges: configuration.purges.clone(),
            },
            (Err(faults), None) => return Err(Failure::Uncompiled(faults)),
        };
        // Rooms are not told: who has missed something asks.
        let effects = keeper.publish(configuration, published)?;
        Ok((keeper, effects))
    }

    /// Changes the configuration by `change`, which raises its version if it changes anything, and is told
    /// the site in force. What it
    /// was built upon is noted with the first change: `embedded` tells one build's rooms from another's.
    ///
    /// After an error the keeper is as it was before.
    ///
    /// # Errors
    /// The configuration cannot be compiled or written.
    pub fn change<T>(
        &mut self,
        around: Surroundings<'_>,
        embedded: &str,
        change: impl FnOnce(&mut Configuration, Option<&Site>) -> T,
    ) -> Result<(T, Effects), Failure> {
        let mut draft = self.configuration.clone();
        let site = self.published.as_ref().map(|published| &published.site);
        let said = change(&mut draft, site);
        if draft.version <= self.configuration.version {
            return Ok((said, Effects::default()));
        }
        let before = self.published.take();
        let published = draft.compile(around).map_err(Failure::Uncompiled);
        let effects = published.and_then(|published| self.publish(draft, published));
        let mut effects = match effects {
            Ok(effects) => effects,
            Err(failure) => {
                self.published = before;
                return Err(failure);
            }
        };
        if before.is_none() {
            let digest = digest(embedded);
            self.rows.insert(EMBEDDED.to_owned(), digest.clone());
            effects.put.insert(EMBEDDED.to_owned(), digest);
        }
        let (before, now) = (by_id(before.as_ref()), by_id(self.published.as_ref()));
        let changed = now
            .iter()
            .filter(|(id, room)| before.get(*id) != Some(*room));
        let gone = before.keys().filter(|id| !now.contains_key(*id));
        let concerned = changed.map(|(id, _)| *id).chain(gone.copied());
        effects.policies = concerned.map(|id| (id.clone(), self.policy(id))).collect();
        Ok((said, effects))
    }

    /// Puts a configuration in the place of the present one. Nothing is changed if that fails.
    fn publish(
        &mut self,
        configuration: Configuration,
        published: Published,
    ) -> Result<Effects, Failure> {
        let mut rows = rows::split(&configuration)?;
        rows.insert(LIFE.to_owned(), self.life.to_string());
        rows.insert(SITE.to_owned(), serde_json::to_string(&published.site)?);
        if let Some(embedded) = self.rows.get(EMBEDDED) {
            rows.insert(EMBEDDED.to_owned(), embedded.clone());
        }
        let publication = Publication {
            life: self.life,
            published,
        };
        self.text = publication.write()?;
        self.published = Some(publication.published);
        self.configuration = configuration;
        let changed = rows
            .iter()
            .filter(|(key, row)| self.rows.get(*key) != Some(*row));
        let put = changed
            .map(|(key, row)| (key.clone(), row.clone()))
            .collect();
        let gone = self.rows.keys().filter(|key| !rows.contains_key(*key));
        let deleted = gone.cloned().collect();
        self.rows = rows;
        Ok(Effects {
            put,
            deleted,
            policies: Vec::new(),
        })
    }

    /// The configuration, for tests.
    #[cfg(test)]
    const fn configuration(&self) -> &Configuration {
        &self.configuration
    }

    /// What is published.
    pub fn version(&self) -> Version {
        let published = self.published.as_ref();
        published.map_or(Version::EMBEDDED, |published| {
            Version(self.life, published.version)
        })
    }

    /// The publication as a text, or its version alone for one who knows it.
    pub fn look(&self, knows: Version) -> &str {
        // The first line ends with the line feed.
        let line = self.text.find('\n').map_or(self.text.len(), |at| at + 1);
        match knows == self.version() {
            true => self.text.get(..line).unwrap_or_default(),
            false => &self.text,
        }
    }

    /// The publication as a text; none before the first.
    pub fn publication(&self) -> Option<&str> {
        self.published.as_ref().map(|_| self.text.as_str())
    }

    /// What a room goes by.
    pub fn policy(&self, id: &RoomId) -> Policy {
        let rooms = self
            .published
            .as_ref()
            .map(|published| &published.site.rooms);
        let room = rooms.and_then(|rooms| rooms.iter().find(|room| room.id == *id));
        Policy {
            version: self.version(),
            room: room.cloned(),
        }
    }

    /// What runs, beside what the Worker was built with.
    pub fn standing(&self, embedded: &str) -> Standing {
        let taken = self.rows.get(EMBEDDED);
        Standing {
            version: self.version(),
            embedded: self.published.is_none(),
            differs: taken.is_some_and(|taken| *taken != digest(embedded)),
        }
    }
}

fn by_id(published: Option<&Published>) -> BTreeMap<&RoomId, &Room> {
    let rooms = published.map_or(&[][..], |published| &published.site.rooms);
    rooms.iter().map(|room| (&room.id, room)).collect()
}

fn digest(text: &str) -> String {
    let digest = Sha256::digest(text);
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests;
