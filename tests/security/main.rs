//! One named attack per file, each failing when its defence is removed.

#![expect(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "an attack that cannot be staged is a failed test"
)]

mod algorithm_confusion;
mod api;
mod api_csrf;
mod api_mass_assignment;
mod api_oversize;
mod api_tokens;
mod cookie_junk;
mod cors;
mod forged_leave;
mod forged_token;
mod operator_texts;
mod replay;
mod revoked_pass;
mod support;
