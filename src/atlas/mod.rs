//! Where things are: clouds and their regions, address ranges, data centres, and what can be
//! concluded from the time that light takes.
//!
//! Nothing in here asks anybody. Files and measurements are handed in; what follows from them is
//! handed out.

pub mod anycast;
pub mod checkpoint;
pub mod cloud;
pub mod files;
pub mod findings;
pub mod hints;
pub mod hints_csv;
pub mod keeper;
pub mod knowledge;
pub mod origin_name;
pub mod place;
pub mod probe;
pub mod ranges;
pub mod region_places;
pub mod standing;
pub mod votes;

pub use self::knowledge::Knowledge;
