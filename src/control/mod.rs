//! The configuration of a running site: what is published, and who knows which.

pub mod currency;
pub mod publication;
mod published;
pub mod version;

pub use self::published::Published;
