//! The management of rooms while they run: what the operator has configured, and the API that
//! changes it.
//!
//! All of it is pure. One object holds the [`Configuration`], stores it, and publishes what
//! [`Configuration::compile`] makes of it; isolates and rooms read the [`Published`] alone.
//! `docs/api.md` is the page for operators.

pub mod access;
pub mod api;
pub mod atlas;
pub mod audit;
mod compile;
mod configuration;
pub mod currency;
mod embedded;
mod export;
mod fields;
pub mod keeper;
pub mod message;
pub mod publication;
mod published;
pub mod rate;
pub mod rows;
pub mod version;

pub use self::compile::{Surroundings, Uncompiled};
pub use self::configuration::{
    Configuration, Declared, EventEntry, PageName, RoomEntry, RuleEntry, Settings,
};
pub use self::published::Published;
