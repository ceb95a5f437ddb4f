//! SQLite as an object has it: a statement at a time, and errors as the text that is logged.

use worker::{SqlStorage, SqlStorageValue};

/// The columns of a row, in their order.
pub(super) type Row = Vec<SqlStorageValue>;

/// Runs a statement that gives nothing.
pub(super) fn run(sql: &SqlStorage, statement: &str, values: Row) -> Result<(), String> {
    let values = Some(values).filter(|values| !values.is_empty());
    let done = sql.exec(statement, values);
    done.map(drop).map_err(|error| error.to_string())
}

/// The rows that a query gives, read at once, so that no cursor stays open over a later statement.
pub(super) fn rows(sql: &SqlStorage, query: &str, values: Row) -> Result<Vec<Row>, String> {
    let values = Some(values).filter(|values| !values.is_empty());
    let cursor = sql.exec(query, values).map_err(|error| error.to_string())?;
    let rows = cursor.raw().collect::<Result<_, _>>();
    rows.map_err(|error| error.to_string())
}

/// A number as the storage keeps it.
pub(super) fn integer(value: u64) -> Result<SqlStorageValue, String> {
    i64::try_from(value)
        .map(SqlStorageValue::Integer)
        .map_err(|error| error.to_string())
}
