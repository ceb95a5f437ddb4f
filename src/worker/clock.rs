//! The runtime's clock, read once for each event.

use crate::time::Instant;

/// The time of the last I/O, as the runtime has it: it stands still while code runs.
pub(super) fn now() -> Instant {
    Instant::from_millis(js_sys::Date::now() as u64)
}
