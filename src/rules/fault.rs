//! What is wrong with an expression, and where.

use thiserror::Error;

/// What is wrong with an expression, and where.
#[derive(Clone, Debug, Eq, Error, PartialEq)]
#[error("column {column}: {message}")]
pub struct Fault {
    /// The place in the expression: 1 is the first character. Counted in characters (Unicode scalar
    /// values), not bytes, as editors do.
    pub column: usize,
    /// What is wrong there, and what was expected.
    pub message: String,
}

/// The same while the expression is at hand: with the place in bytes from its start.
#[derive(Debug)]
pub(super) struct Slip {
    pub(super) at: usize,
    pub(super) message: String,
}

impl Slip {
    pub(super) fn new(at: usize, message: impl Into<String>) -> Self {
        Self {
            at,
            message: message.into(),
        }
    }

    /// The place as a column of the expression.
    pub(super) fn in_expression(self, expression: &str) -> Fault {
        let before = expression
            .char_indices()
            .take_while(|(at, _)| *at < self.at);
        Fault {
            column: before.count() + 1,
            message: self.message,
        }
    }
}
