//! One named attack per file, each failing when its defence is removed.

#![expect(
    clippy::unwrap_used,
    reason = "an attack that cannot be staged is a failed test"
)]

mod algorithm_confusion;
mod cookie_junk;
mod cors;
mod forged_leave;
mod forged_token;
mod replay;
mod revoked_pass;
mod support;
