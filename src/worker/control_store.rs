//! What the control object stores, in SQLite.
//!
//! `configuration(key, part, body)`: the rows of `control/rows.rs`, each cut into parts because a row
//! may have 2 MB at most. `preview(id, until, html)`: pages that were sent for a preview.

use js_sys::Reflect;
use wasm_bindgen::JsValue;
use worker::{SqlStorage, SqlStorageValue};

use super::{binding, sql};
use crate::control::keeper::Effects;
use crate::control::rows::Rows;
use crate::time::Instant;

/// The size of a part of a row.
const PART: usize = 1024 * 1024;

const ROWS: &str = "CREATE TABLE IF NOT EXISTS configuration \
    (key TEXT, part INTEGER, body TEXT NOT NULL, PRIMARY KEY (key, part))";

const PREVIEWS: &str = "CREATE TABLE IF NOT EXISTS preview \
    (id TEXT PRIMARY KEY, until INTEGER NOT NULL, html TEXT NOT NULL)";

/// So many pages are kept for previews; a page has a megabyte at most.
const MOST_PREVIEWS: i64 = 64;

/// The tables of the object.
pub(super) struct Store {
    /// The storage as the runtime has it: the crate knows no transactions.
    storage: JsValue,
    sql: SqlStorage,
}

impl Store {
    /// The store of an object.
    pub(super) fn of(state: &JsValue, sql: SqlStorage) -> Self {
        let storage = Reflect::get(state, &"storage".into()).unwrap_or_default();
        Self { storage, sql }
    }

    /// Everything that is stored of the configuration.
    pub(super) fn rows(&self) -> Result<Rows, String> {
        sql::run(&self.sql, ROWS, Vec::new())?;
        let query = "SELECT key, body FROM configuration ORDER BY key, part";
        let mut rows = Rows::new();
        for row in sql::rows(&self.sql, query, Vec::new())? {
            let mut row = row.into_iter();
            match (row.next(), row.next()) {
                (Some(SqlStorageValue::String(key)), Some(SqlStorageValue::String(body))) => {
                    rows.entry(key).or_default().push_str(&body);
                }
                other => return Err(format!("a stored row is not text: {other:?}")),
            }
        }
        Ok(rows)
    }

    /// Writes a change, all of it or nothing.
    pub(super) fn write(&self, effects: &Effects) -> Result<(), String> {
        if effects.put.is_empty() && effects.deleted.is_empty() {
            return Ok(());
        }
        let mut write = || self.write_rows(effects).err();
        binding::atomically(&self.storage, &mut write).map_err(binding::message_of)
    }

    fn write_rows(&self, effects: &Effects) -> Result<(), String> {
        for key in effects.deleted.iter().chain(effects.put.keys()) {
            let key = SqlStorageValue::String(key.clone());
            sql::run(
                &self.sql,
                "DELETE FROM configuration WHERE key = ?",
                vec![key],
            )?;
        }
        for (key, body) in &effects.put {
            for (part, body) in (0..).zip(parts(body)) {
                let row = vec![
                    SqlStorageValue::String(key.clone()),
                    SqlStorageValue::Integer(part),
                    SqlStorageValue::String(body.to_owned()),
                ];
                sql::run(
                    &self.sql,
                    "INSERT INTO configuration (key, part, body) VALUES (?, ?, ?)",
                    row,
                )?;
            }
        }
        Ok(())
    }

    /// Keeps a page for its preview. The oldest give way, so that what pages take is bounded.
    pub(super) fn keep_preview(
        &self,
        id: String,
        html: String,
        until: Instant,
        now: Instant,
    ) -> Result<(), String> {
        sql::run(&self.sql, PREVIEWS, Vec::new())?;
        sql::run(
            &self.sql,
            "DELETE FROM preview WHERE until <= ? OR id NOT IN \
             (SELECT id FROM preview ORDER BY until DESC LIMIT ?)",
            vec![
                sql::integer(now.as_millis())?,
                SqlStorageValue::Integer(MOST_PREVIEWS - 1),
            ],
        )?;
        let id = SqlStorageValue::String(id);
        let html = SqlStorageValue::String(html);
        sql::run(
            &self.sql,
            "INSERT INTO preview (id, until, html) VALUES (?, ?, ?)",
            vec![id, sql::integer(until.as_millis())?, html],
        )
    }

    /// A page that is kept; none if it is not, or not any more.
    pub(super) fn preview(&self, id: String, now: Instant) -> Result<Option<String>, String> {
        sql::run(&self.sql, PREVIEWS, Vec::new())?;
        let bindings = vec![SqlStorageValue::String(id), sql::integer(now.as_millis())?];
        let query = "SELECT html FROM preview WHERE id = ? AND until > ?";
        let Some(row) = sql::rows(&self.sql, query, bindings)?.into_iter().next() else {
            return Ok(None);
        };
        match row.into_iter().next() {
            Some(SqlStorageValue::String(html)) => Ok(Some(html)),
            other => Err(format!("a stored preview is not text: {other:?}")),
        }
    }
}

/// A text in parts of at most [`PART`] bytes; an empty one is one part.
fn parts(text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut rest = text;
    loop {
        let (part, left) = rest.split_at(rest.floor_char_boundary(PART));
        parts.push(part);
        if left.is_empty() {
            return parts;
        }
        rest = left;
    }
}
