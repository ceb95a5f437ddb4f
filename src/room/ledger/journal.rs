//! How the book is stored: checkpoints and rows, both versioned.
//!
//! A record is one byte of format version and the value in postcard's encoding
//! (<https://postcard.jamesmunns.com/wire-format>). Reading an older version migrates it; reading an
//! unknown one is an error, because guessing could give a number twice.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::book::{Book, Effect};
use super::epochs::Epochs;
use super::lot::Lots;
use super::reserve::Reservations;
use crate::room::seed::Seed;
use crate::time::{Instant, Span};

/// The version that is written.
pub const FORMAT: u8 = 2;

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
    // Format 2 has only added kinds of effects, behind the others.
    let (_, value) = split(bytes)?;
    decode(value)
}

/// Encodes a checkpoint.
///
/// # Errors
///
/// None that is known; the encoder's own are passed on.
pub fn encode_book(book: &Book) -> Result<Vec<u8>, postcard::Error> {
    encode(book)
}

/// Decodes a checkpoint. One of format 1 gets what that format did not have: `seed`, which is to be
/// random, and is not used otherwise; and no draws.
///
/// # Errors
///
/// If the checkpoint is of an unknown format or damaged.
pub fn decode_book(bytes: &[u8], seed: Seed) -> Result<Book, Unreadable> {
    match split(bytes)? {
        (1, value) => {
            // Fields that come last are encoded last.
            let added = (
                seed,
                Reservations::default(),
                Lots::default(),
                Epochs::default(),
            );
            let added = postcard::to_extend(&added, value.to_vec());
            decode(&added.map_err(|error| Unreadable::Damaged(error.to_string()))?)
        }
        (_, value) => decode(value),
    }
}

fn encode<T: Serialize>(value: &T) -> Result<Vec<u8>, postcard::Error> {
    postcard::to_extend(value, vec![FORMAT])
}

/// The format of a record, which is a known one, and its value.
fn split(bytes: &[u8]) -> Result<(u8, &[u8]), Unreadable> {
    match bytes.split_first() {
        Some((&format @ 1..=FORMAT, value)) => Ok((format, value)),
        Some((&format, _)) => Err(Unreadable::Format(format)),
        None => Err(Unreadable::Damaged("it is empty".to_owned())),
    }
}

fn decode<T: DeserializeOwned>(value: &[u8]) -> Result<T, Unreadable> {
    postcard::from_bytes(value).map_err(|error| Unreadable::Damaged(error.to_string()))
}
