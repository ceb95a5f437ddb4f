//! What a visitor sees who waits: the page in its languages, and the JSON for programs.

pub mod facts;
pub mod json;
pub mod language;
pub mod names;
mod plural;
pub mod shared;
pub mod template;
pub mod texts;
pub(crate) mod timestamp;
pub mod view;

#[cfg(test)]
mod pack;
#[cfg(test)]
mod samples;

use std::collections::HashSet;
use std::fmt;

use serde_json::Value;

use self::facts::Facts;
use self::language::Language;
use self::shared::{Body, Shared};
use self::template::{Engine, Template};
use crate::site::room::{Room, SameSite};

/// What `build.rs` packed: the languages, the default page, and what allows its style and script.
mod packed {
    use super::language::Language;
    use super::texts::{Direction::*, Forms, Rules, Texts, Wording};

    include!(concat!(env!("OUT_DIR"), "/page.rs"));
}

/// The name of the default page among the templates. The name of a file is never empty.
const DEFAULT_PAGE: &str = "";

/// The pages of all rooms, compiled: made once for each isolate.
pub struct Pages {
    engine: Engine,
    /// The templates that name the time of the visitor's last attempt.
    naming_time: HashSet<String>,
    shared: Shared,
}

impl Pages {
    /// Compiles the default page and the rooms' own, each given as the name that
    /// [`Room::custom_page_html`] has and its source. `build.rs` has checked them; one that does not
    /// compile even so is left out, and its room shows the default page.
    pub fn new<'a>(custom: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        let mut engine = Engine::new();
        let mut naming_time = HashSet::new();
        for (name, source) in custom.into_iter().chain([(DEFAULT_PAGE, packed::PAGE)]) {
            if let Ok(template) = Template::compile(source) {
                if source.contains("lastUpdated") {
                    naming_time.insert(name.to_owned());
                }
                engine.insert(name, template);
            }
        }
        Self {
            engine,
            naming_time,
            shared: Shared::default(),
        }
    }

    /// Whether the room shows the default page, which has a [`content_security_policy`].
    pub fn is_default(&self, room: &Room) -> bool {
        self.custom(room).is_none()
    }

    /// The page as HTML, as [`Self::render`] writes it; where it is the same for many visitors, it is
    /// written once.
    pub fn page(&self, room: &Room, facts: &Facts, language: &Language, leave_url: &str) -> Body {
        let template = self.custom(room).unwrap_or(DEFAULT_PAGE);
        let write = |facts: &Facts| self.render(room, facts, language, leave_url);
        let shared = if self.naming_time.contains(template) {
            None
        } else {
            self.shared.page(template, facts, language, write)
        };
        shared.map_or_else(|| Body::Text(write(facts)), Body::Shared)
    }

    /// The page as HTML. `leave_url` is where a form gives the place up by POST: a path of the same
    /// host. A page of the room's own that cannot be written with these facts is replaced by the
    /// default page.
    pub fn render(
        &self,
        room: &Room,
        facts: &Facts,
        language: &Language,
        leave_url: &str,
    ) -> String {
        let leave_url = view::safe_path(leave_url);
        let variables = || Value::Object(view::variables(facts, &leave_url, language));
        let custom = self
            .custom(room)
            .and_then(|name| self.engine.render(name, variables()).ok());
        custom
            .or_else(|| self.engine.render(DEFAULT_PAGE, variables()).ok())
            .unwrap_or_default()
    }

    /// A page as it would be shown, from its source; the default page if that is empty. None if it
    /// cannot be written.
    pub fn preview(source: &str, facts: &Facts, language: &Language) -> Option<String> {
        let source = if source.is_empty() {
            packed::PAGE
        } else {
            source
        };
        let mut engine = Engine::new();
        engine.insert(DEFAULT_PAGE, Template::compile(source).ok()?);
        let variables = Value::Object(view::variables(facts, "/", language));
        engine.render(DEFAULT_PAGE, variables).ok()
    }

    fn custom<'r>(&self, room: &'r Room) -> Option<&'r str> {
        let name = room.custom_page_html.as_deref()?;
        self.engine.contains(name).then_some(name)
    }
}

impl fmt::Debug for Pages {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pages").finish_non_exhaustive()
    }
}

/// The `Content-Security-Policy` of the default page: its own style and script by their hash, its
/// polls, its icon, and the form to leave. Other sites may frame it only where the room's cookie works
/// in a frame: with `samesite` `none`.
pub fn content_security_policy(samesite: SameSite) -> &'static str {
    match samesite {
        SameSite::None => packed::POLICY_FRAMED,
        SameSite::Auto | SameSite::Lax | SameSite::Strict => packed::POLICY,
    }
}

#[cfg(test)]
mod tests;
