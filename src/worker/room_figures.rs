//! What a room's object keeps of its figures: rows in a table of their own, and a data point a minute
//! where the deployment has a data set for them.
//!
//! Nothing here fails a batch. What goes wrong is logged, and figures are missing.

use std::cell::Cell;

use worker::{
    AnalyticsEngineDataPointBuilder, AnalyticsEngineDataset, Env, SqlStorage, SqlStorageValue,
};

use super::sql::Row;
use super::{log, sql};
use crate::log::{Entry, clean};
use crate::room::figures::keep::{self, RESOLUTIONS, Resolution};
use crate::room::figures::point;
use crate::room::figures::query::Window;
use crate::room::figures::recorder::{Minute, Recorder};
use crate::room::figures::tally::Tally;
use crate::site::moment::Moment;
use crate::time::{Instant, Span};

/// The binding of the Analytics Engine data set, which need not exist.
const DATASET: &str = "FIGURES";

const TABLE: &str = "CREATE TABLE IF NOT EXISTS figures (step INTEGER, start INTEGER, \
    body BLOB NOT NULL, PRIMARY KEY (step, start)) WITHOUT ROWID";

/// The figures of one room.
pub(super) struct Figures {
    sql: SqlStorage,
    /// The room's id.
    room: String,
    dataset: Option<AnalyticsEngineDataset>,
    has_table: Cell<bool>,
    /// For when the object's alarm is set, as far as is known.
    armed: Cell<Option<Instant>>,
    /// When the running minute was kept last.
    kept: Cell<Instant>,
    /// Whether something has happened since that is to be kept.
    is_owed: Cell<bool>,
}

/// The running minute is kept no sooner than this after it was kept last.
const KEEP_AFTER: Span = Span::from_secs(1);

/// The step under which it is kept.
const RUNNING: u64 = 0;

impl Figures {
    pub(super) fn new(env: &Env, sql: SqlStorage, room: String) -> Self {
        Self {
            sql,
            room,
            dataset: env.analytics_engine(DATASET).ok(),
            has_table: Cell::new(false),
            armed: Cell::new(None),
            kept: Cell::default(),
            is_owed: Cell::new(false),
        }
    }

    /// Stores minutes that have ended (one at least), with whatever else is written before the next await.
    pub(super) fn keep(&self, name: &str, minutes: &[Minute]) {
        for minute in minutes {
            if let Err(error) = self.store(minute) {
                self.lost(&error);
            }
            self.send(name, minute);
        }
        if let Err(error) = self.forget_running() {
            self.lost(&error);
        }
    }

    /// Keeps the running minute, if something has `happened` in it and it is time. If it is too early,
    /// the object's alarm makes up for it: an object that nobody calls is gone after ten seconds.
    pub(super) fn keep_running(&self, recorder: &Recorder, happened: bool, now: Instant) {
        let is_owed = self.is_owed.get() || happened;
        let is_early = self.is_early(now);
        self.is_owed.set(is_owed && is_early);
        if !is_owed || is_early {
            return;
        }
        self.kept.set(now);
        let Minute { start, tally } = recorder.running();
        let kept = keep::encode(&tally)
            .map_err(|error| error.to_string())
            .and_then(|body| self.insert(RUNNING, start, body));
        if let Err(error) = kept {
            self.lost(&error);
        }
    }

    fn is_early(&self, now: Instant) -> bool {
        now < self.kept.get() + KEEP_AFTER
    }

    /// Whether the running minute is to be kept at `now` though nothing may have happened since.
    pub(super) fn keeps_owed(&self, now: Instant) -> bool {
        self.is_owed.get() && !self.is_early(now)
    }

    /// The minute that was running when the object was there last.
    pub(super) fn running(&self) -> Option<Minute> {
        let read = self.ensure_table().and_then(|()| {
            let query = "SELECT start, body FROM figures WHERE step = ? ORDER BY start DESC";
            sql::rows(&self.sql, query, vec![seconds(RUNNING)])
        });
        match read {
            Ok(rows) => {
                let (start, tally) = rows.into_iter().find_map(row)?;
                Some(Minute { start, tally })
            }
            Err(error) => {
                self.lost(&error);
                None
            }
        }
    }

    fn forget_running(&self) -> Result<(), String> {
        let query = "DELETE FROM figures WHERE step = ?";
        sql::run(&self.sql, query, vec![seconds(RUNNING)])
    }

    fn insert(&self, step: u64, start: Instant, body: Vec<u8>) -> Result<(), String> {
        self.ensure_table()?;
        let query = "INSERT OR REPLACE INTO figures (step, start, body) VALUES (?, ?, ?)";
        let start = seconds(start.as_secs());
        let row = vec![seconds(step), start, SqlStorageValue::Blob(body)];
        sql::run(&self.sql, query, row)
    }

    fn store(&self, minute: &Minute) -> Result<(), String> {
        self.ensure_table()?;
        let now = minute.start;
        for resolution in RESOLUTIONS {
            let step = resolution.step.as_secs();
            let start = resolution.start(now);
            let stored = sql::rows(
                &self.sql,
                "SELECT body FROM figures WHERE step = ? AND start = ?",
                vec![seconds(step), seconds(start.as_secs())],
            )?;
            let stored = stored.into_iter().find_map(blob);
            let (start, body) = resolution
                .add(stored.as_deref(), minute)
                .map_err(|error| error.to_string())?;
            self.insert(step, start, body)?;
            let oldest = seconds(resolution.oldest(now).as_secs());
            sql::run(
                &self.sql,
                "DELETE FROM figures WHERE step = ? AND start < ?",
                vec![seconds(step), oldest],
            )?;
        }
        Ok(())
    }

    /// The rows of a window, in their order.
    pub(super) fn rows(&self, window: &Window) -> Result<Vec<(Instant, Tally)>, String> {
        self.ensure_table()?;
        let Resolution { step, .. } = window.resolution();
        let rows = sql::rows(
            &self.sql,
            "SELECT start, body FROM figures WHERE step = ? AND start >= ? AND start < ? \
             ORDER BY start",
            vec![
                seconds(step.as_secs()),
                seconds(window.start().as_secs()),
                seconds(window.end().as_secs()),
            ],
        )?;
        Ok(rows.into_iter().filter_map(row).collect())
    }

    fn send(&self, name: &str, minute: &Minute) {
        let Some(dataset) = &self.dataset else { return };
        let start = Moment::from_millis(minute.start.as_millis()).iso8601();
        let sent = AnalyticsEngineDataPointBuilder::new()
            .indexes([self.room.as_str()])
            .blobs([name, &start.unwrap_or_default()])
            .doubles(point::doubles(minute))
            .write_to(dataset);
        if let Err(error) = sent {
            self.lost(&error.to_string());
        }
    }

    /// The time for which the alarm is to be set, if it is not set for then already: when the minute
    /// is over (`due`), or what is owed can be kept.
    pub(super) fn arm(&self, due: Option<Instant>) -> Option<Instant> {
        let owed = self.is_owed.get().then(|| self.kept.get() + KEEP_AFTER);
        let due = owed.or(due);
        let due = due.filter(|due| self.armed.get() != Some(*due))?;
        self.armed.set(Some(due));
        Some(due)
    }

    /// The room's group of requests has come to nothing.
    pub(super) fn batch_failed(&self, reason: &str) {
        let reason = clean(reason);
        let room = &self.room;
        log::write(&Entry::BatchFailed { room, reason });
    }

    /// Figures are missing, or will be.
    pub(super) fn lost(&self, reason: &str) {
        let reason = clean(reason);
        let room = &self.room;
        log::write(&Entry::FiguresLost { room, reason });
    }

    fn ensure_table(&self) -> Result<(), String> {
        if !self.has_table.replace(true)
            && let Err(error) = sql::run(&self.sql, TABLE, Vec::new())
        {
            self.has_table.set(false);
            return Err(error);
        }
        Ok(())
    }
}

/// A start and a tally; none if the tally is of another version.
fn row(row: Row) -> Option<(Instant, Tally)> {
    let start = row.iter().find_map(|value| match value {
        SqlStorageValue::Integer(start) => u64::try_from(*start).ok(),
        SqlStorageValue::Float(start) => Some(*start as u64),
        _ => None,
    });
    Some((Instant::from_secs(start?), keep::decode(&blob(row)?)?))
}

fn blob(row: Row) -> Option<Vec<u8>> {
    row.into_iter().find_map(|value| match value {
        SqlStorageValue::Blob(body) => Some(body),
        _ => None,
    })
}

/// Whole seconds as the storage keeps them.
fn seconds(value: u64) -> SqlStorageValue {
    SqlStorageValue::Integer(i64::try_from(value).unwrap_or(i64::MAX))
}
