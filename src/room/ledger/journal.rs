//! How the book is stored: checkpoints and rows, both versioned.
//!
//! A record is one byte of format version and the value in postcard's encoding
//! (<https://postcard.jamesmunns.com/wire-format>). Reading an older version migrates it; reading an
//! unknown one is an error, because guessing could give a number twice.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::book::{Book, Effect};
use crate::time::{Instant, Span};

/// The version that is written.
pub const FORMAT: u8 = 1;

/// The changes of one batch.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Row {
    /// 1 for the first row of an incarnation; the next is always one more.
    pub sequence: u64,
    /// The room's time of all its effects.
    pub at: Instant,
    /// How much of the time since the row before nobody could be heard.
    pub silence: Span,
    /// The changes, in their order.
    pub effects: Vec<Effect>,
}

/// Why a stored record cannot be read.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum Unreadable {
    /// A newer version of anteroom has written it.
    #[error("stored in format {0}, this version of anteroom reads up to {FORMAT}")]
    Format(u8),
    /// It is damaged.
    #[error("stored record is damaged: {0}")]
    Damaged(String),
}

/// Encodes a row.
///
/// # Errors
///
/// None that is known; the encoder's own are passed on.
pub fn encode_row(row: &Row) -> Result<Vec<u8>, postcard::Error> {
    encode(row)
}

/// Decodes a row.
///
/// # Errors
///
/// If the row is of an unknown format or damaged.
pub fn decode_row(bytes: &[u8]) -> Result<Row, Unreadable> {
    decode(bytes)
}

/// Encodes a checkpoint.
///
/// # Errors
///
/// None that is known; the encoder's own are passed on.
pub fn encode_book(book: &Book) -> Result<Vec<u8>, postcard::Error> {
    encode(book)
}

/// Decodes a checkpoint.
///
/// # Errors
///
/// If the checkpoint is of an unknown format or damaged.
pub fn decode_book(bytes: &[u8]) -> Result<Book, Unreadable> {
    decode(bytes)
}

fn encode<T: Serialize>(value: &T) -> Result<Vec<u8>, postcard::Error> {
    postcard::to_extend(value, vec![FORMAT])
}

fn decode<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Unreadable> {
    match bytes.split_first() {
        Some((&FORMAT, value)) => {
            postcard::from_bytes(value).map_err(|error| Unreadable::Damaged(error.to_string()))
        }
        Some((&format, _)) => Err(Unreadable::Format(format)),
        None => Err(Unreadable::Damaged("it is empty".to_owned())),
    }
}
