//! A value that many states of the model share, told apart by what it prints.

use std::fmt::{self, Debug, Write};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Deref;
use std::sync::Arc;

/// A shared value and the hash of its `Debug` form.
///
/// A state holds production types (the ledger, an edge's memory) that have no use for `Hash`
/// otherwise. Their derived `Debug` writes every field, private ones and estimates included, so two
/// values that print the same behave the same. The hash has 64 bits, as has the fingerprint by
/// which the checker tells states apart.
pub(crate) struct Printed<T> {
    value: Arc<T>,
    print: u64,
}

impl<T: Debug> Printed<T> {
    pub(crate) fn new(value: T) -> Self {
        let mut print = Print(DefaultHasher::new());
        // A hasher takes whatever is written.
        let _ = write!(print, "{value:?}");
        Self {
            value: Arc::new(value),
            print: print.0.finish(),
        }
    }
}

impl<T: Clone + Debug> Printed<T> {
    /// The value, changed.
    pub(crate) fn with(&self, change: impl FnOnce(&mut T)) -> Self {
        let mut value = T::clone(&self.value);
        change(&mut value);
        Self::new(value)
    }
}

struct Print(DefaultHasher);

impl Write for Print {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0.write(text.as_bytes());
        Ok(())
    }
}

impl<T> Clone for Printed<T> {
    fn clone(&self) -> Self {
        Self {
            value: Arc::clone(&self.value),
            print: self.print,
        }
    }
}

impl<T> Deref for Printed<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T> Hash for Printed<T> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.print.hash(state);
    }
}

impl<T> PartialEq for Printed<T> {
    fn eq(&self, other: &Self) -> bool {
        self.print == other.print
    }
}

impl<T> Eq for Printed<T> {}

impl<T: Debug> Debug for Printed<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.value.fmt(f)
    }
}
