//! What a waiting visitor sees.

pub mod facts;
pub mod json;
pub mod language;
use crate::site::room::{Room, Site};
/// x
pub struct Pages;
impl Pages {
    /// x
    pub fn new(_: &Site) -> Self {
        Self
    }
    /// x
    pub fn is_default(&self, _: &Room) -> bool {
        true
    }
    /// x
    pub fn csp(&self, _: bool) -> &'static str {
        ""
    }
    /// x
    pub fn render(
        &self,
        _: &Room,
        facts: &facts::Facts,
        _: &language::Language,
        l: &str,
    ) -> String {
        format!("{facts:?} {l}")
    }
}
