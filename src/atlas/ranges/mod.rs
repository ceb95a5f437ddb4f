//! Which cloud region an address belongs to, by the files of address ranges that the clouds publish.

mod files;
mod table;

pub use self::files::{Assigned, FileFault, Ranges, read};
pub use self::table::{Subnet, Table};
