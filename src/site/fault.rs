//! What is wrong with a declaration.

use std::fmt;

use thiserror::Error;

/// One thing that is wrong, and where.
#[derive(Clone, Debug, Eq, Error, PartialEq)]
#[error("{path}: {message}")]
pub struct Fault {
    /// The place in the declaration, as in `rooms[1].additional_routes[0].path`.
    pub path: String,
    /// What is wrong with it, and if it helps, what would be right.
    pub message: String,
}

/// Everything that is wrong with a declaration, in the order in which it was found; never empty.
#[derive(Clone, Debug, Eq, Error, PartialEq)]
pub struct Faults(Vec<Fault>);

impl Faults {
    /// The faults.
    pub fn iter(&self) -> impl Iterator<Item = &Fault> {
        self.0.iter()
    }
}

/// One fault a line.
impl fmt::Display for Faults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (n, fault) in self.0.iter().enumerate() {
            if n > 0 {
                f.write_str("\n")?;
            }
            fault.fmt(f)?;
        }
        Ok(())
    }
}

/// Where validation notes what it finds, so that it can go on and find more.
#[derive(Debug, Default)]
pub(super) struct Notes(Vec<Fault>);

impl Notes {
    pub(super) fn add(&mut self, path: impl Into<String>, message: impl Into<String>) {
        self.0.push(Fault {
            path: path.into(),
            message: message.into(),
        });
    }

    /// How many faults there are up to now.
    pub(super) fn count(&self) -> usize {
        self.0.len()
    }

    pub(super) fn finish<T>(self, valid: T) -> Result<T, Faults> {
        if self.0.is_empty() {
            Ok(valid)
        } else {
            Err(Faults(self.0))
        }
    }
}
