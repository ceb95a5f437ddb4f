//! What a room's object stores of its ledger.
//!
//! `checkpoint(sequence, part, parts, body)` holds a book as of a row, cut into parts because a row
//! may have 2 MB at most; `journal(sequence, body)` the rows since. Both are versioned
//! (`room::ledger::journal`). A new checkpoint is written whole before the old one and the rows that
//! it replaces are deleted, so that a write that fails half-way leaves the old state in force.

use worker::{SqlStorage, SqlStorageValue};

use super::{clock, sql};
use crate::room::ledger::Ledger;
use crate::room::ledger::book::Book;
use crate::room::ledger::journal::{self, Row};
use crate::room::number::Incarnation;
use crate::room::seed::Seed;

/// A checkpoint is written when the journal has grown to this many bytes, or to the size of the last
/// checkpoint if that is more: so rows are rewritten once on average.
const CHECKPOINT_AFTER: usize = 256 * 1024;

/// The parts of the newest checkpoint that is whole.
const NEWEST_CHECKPOINT: &str = "SELECT body FROM checkpoint WHERE sequence = \
    (SELECT max(sequence) FROM (SELECT sequence FROM checkpoint \
    GROUP BY sequence HAVING count(*) = max(parts))) ORDER BY part";

/// The size of a part of a checkpoint.
const PART: usize = 1024 * 1024;

/// The ledger, and how much was stored since its checkpoint.
pub(super) struct Kept {
    pub(super) ledger: Ledger,
    checkpoint_bytes: usize,
    journal_bytes: usize,
}

/// The tables.
pub(super) struct Store {
    sql: SqlStorage,
}

impl Store {
    /// The store of an object.
    pub(super) const fn of(sql: SqlStorage) -> Self {
        Self { sql }
    }

    /// Writes a row, and now and then a checkpoint in the place of many.
    pub(super) fn write(&self, kept: &mut Kept, row: &Row) -> Result<(), String> {
        let body = journal::encode_row(row).map_err(|error| error.to_string())?;
        kept.journal_bytes += body.len();
        let sequence = sql::integer(row.sequence)?;
        sql::run(
            &self.sql,
            "INSERT INTO journal (sequence, body) VALUES (?, ?)",
            vec![sequence, SqlStorageValue::Blob(body)],
        )?;
        if kept.journal_bytes > CHECKPOINT_AFTER.max(kept.checkpoint_bytes) {
            self.checkpoint(kept)?;
        }
        Ok(())
    }

    /// Replaces the checkpoint and empties the journal.
    fn checkpoint(&self, kept: &mut Kept) -> Result<(), String> {
        let book = kept.ledger.book();
        let bytes = journal::encode_book(book).map_err(|error| error.to_string())?;
        let sequence = sql::integer(book.sequence)?;
        let parts = sql::integer(bytes.len().div_ceil(PART) as u64)?;
        for (part, body) in (0..).zip(bytes.chunks(PART)) {
            let part = SqlStorageValue::Integer(part);
            let body = SqlStorageValue::Blob(body.to_vec());
            sql::run(
                &self.sql,
                "INSERT OR REPLACE INTO checkpoint (sequence, part, parts, body) VALUES (?, ?, ?, ?)",
                vec![sequence.clone(), part, parts.clone(), body],
            )?;
        }
        sql::run(
            &self.sql,
            "DELETE FROM checkpoint WHERE sequence <> ?",
            vec![sequence.clone()],
        )?;
        sql::run(
            &self.sql,
            "DELETE FROM journal WHERE sequence <= ?",
            vec![sequence],
        )?;
        kept.checkpoint_bytes = bytes.len();
        kept.journal_bytes = 0;
        Ok(())
    }

    /// The ledger as it is stored; an empty one the first time.
    pub(super) fn load(&self) -> Result<Kept, String> {
        for table in [
            "CREATE TABLE IF NOT EXISTS checkpoint (sequence INTEGER, part INTEGER, \
             parts INTEGER NOT NULL, body BLOB NOT NULL, PRIMARY KEY (sequence, part))",
            "CREATE TABLE IF NOT EXISTS journal (sequence INTEGER PRIMARY KEY, body BLOB NOT NULL)",
        ] {
            sql::run(&self.sql, table, Vec::new())?;
        }
        let checkpoint = self.bodies(NEWEST_CHECKPOINT)?.concat();
        let bodies = self.bodies("SELECT body FROM journal ORDER BY sequence")?;
        let now = clock::now();
        if checkpoint.is_empty() {
            if !bodies.is_empty() {
                return Err("the journal has no checkpoint to start from".to_owned());
            }
            let ledger = Ledger::new(Incarnation::new(now.as_millis()), random_seed()?, now);
            let mut kept = Kept {
                ledger,
                checkpoint_bytes: 0,
                journal_bytes: 0,
            };
            self.checkpoint(&mut kept)?;
            return Ok(kept);
        }
        let book =
            journal::decode_book(&checkpoint, random_seed()?).map_err(|error| error.to_string())?;
        let journal_bytes = bodies.iter().map(Vec::len).sum();
        let rows = rows_after(&book, &bodies)?;
        let mut kept = Kept {
            ledger: Ledger::recover(book, rows, now),
            checkpoint_bytes: checkpoint.len(),
            journal_bytes,
        };
        if checkpoint.first() != Some(&journal::FORMAT) {
            // What the migration has added must be the same the next time.
            self.checkpoint(&mut kept)?;
        }
        Ok(kept)
    }

    fn bodies(&self, query: &str) -> Result<Vec<Vec<u8>>, String> {
        let rows = sql::rows(&self.sql, query, Vec::new())?;
        rows.into_iter()
            .map(|row| match row.into_iter().next() {
                Some(SqlStorageValue::Blob(body)) => Ok(body),
                other => Err(format!("stored body is no blob: {other:?}")),
            })
            .collect()
    }
}

/// A secret for a room that has none yet.
fn random_seed() -> Result<Seed, String> {
    let mut bits = [0; 32];
    getrandom::fill(&mut bits).map_err(|error| error.to_string())?;
    Ok(Seed::new(bits))
}

/// The journal's rows, which must follow the checkpoint one by one.
fn rows_after(book: &Book, bodies: &[Vec<u8>]) -> Result<Vec<Row>, String> {
    let mut expected = book.sequence;
    let mut rows = Vec::with_capacity(bodies.len());
    for body in bodies {
        let row = journal::decode_row(body).map_err(|error| error.to_string())?;
        if row.sequence <= book.sequence {
            // Left over from before the checkpoint.
            continue;
        }
        expected += 1;
        if row.sequence != expected {
            return Err(format!(
                "journal row {} where {expected} belongs",
                row.sequence
            ));
        }
        rows.push(row);
    }
    Ok(rows)
}
