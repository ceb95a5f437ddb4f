//! The one place where this program writes to the log.

use crate::log::{Entry, Level};

/// Writes a line.
pub(super) fn write(entry: &Entry<'_>) {
    let line = entry.line();
    match entry.level() {
        Level::Error => worker::console_error!("{line}"),
        Level::Warning => worker::console_warn!("{line}"),
    }
}
