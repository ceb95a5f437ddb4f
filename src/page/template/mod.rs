//! Templates of the page: Handlebars, and Mustache as custom pages for Cloudflare are written in.
//!
//! A template is cut into tags ([`tags`]), rewritten where Mustache and Handlebars differ
//! ([`translate`]), and compiled once. All of it runs in `build.rs` too, so nothing in here may name
//! another part of the crate.

pub mod check;
mod tags;
mod translate;

use std::collections::HashMap;
use std::fmt;

use handlebars::{Context, Handlebars, RenderError};
use serde_json::Value;

/// The largest template in bytes: Cloudflare's limit for `custom_page_html`.
pub const MAX_BYTES: usize = 1_048_576;

/// Why a template is refused, and where.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("{at}: {reason}")]
pub struct Fault {
    /// The place of the tag at fault.
    pub at: Position,
    /// What is wrong with it.
    pub reason: String,
}

/// A place in a template.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Position {
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
}

/// Where a template starts.
const START: Position = Position { line: 1, column: 1 };

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}", self.line, self.column)
    }
}

/// A variable that a template asks for.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Mention {
    /// The variable; of `a.b` this is `a`.
    pub name: String,
    /// Where the template asks for it.
    pub at: Position,
}

/// A template that has been checked and compiled.
#[derive(Debug)]
pub struct Template {
    compiled: handlebars::Template,
    /// The texts that were set aside, in the order of their marks.
    texts: Vec<Box<str>>,
    mentions: Vec<Mention>,
}

impl Template {
    /// Checks and compiles `source`.
    pub fn compile(source: &str) -> Result<Self, Fault> {
        if source.len() > MAX_BYTES {
            let reason = format!("{} bytes: the limit is {MAX_BYTES}", source.len());
            return Err(Fault { at: START, reason });
        }
        let translation = translate::translate(source)?;
        // Every tag has been compiled on its own by now, so that a fault has its own place. What is
        // left for here would be a fault of the translation.
        let compiled = handlebars::Template::compile(&translation.handlebars).map_err(|error| {
            let reason = error.reason().to_string();
            Fault { at: START, reason }
        })?;
        Ok(Self {
            compiled,
            texts: translation.texts,
            mentions: translation.mentions,
        })
    }

    /// The variables that the template asks for, in the order of the text. A variable that does not
    /// exist prints nothing, as in Mustache.
    pub fn mentions(&self) -> &[Mention] {
        &self.mentions
    }
}

/// Compiled templates, by name.
#[derive(Debug)]
pub struct Engine {
    registry: Handlebars<'static>,
    texts: HashMap<String, Vec<Box<str>>>,
}

impl Engine {
    /// An engine without templates.
    pub fn new() -> Self {
        let mut registry = Handlebars::new();
        // Variables may have these names, and a page has nothing to log.
        registry.unregister_helper("log");
        registry.unregister_helper("raw");
        registry.register_escape_fn(escaped);
        let texts = HashMap::new();
        Self { registry, texts }
    }

    /// Takes in a template under `name`; replaces an older one of that name.
    pub fn insert(&mut self, name: &str, template: Template) {
        self.registry.register_template(name, template.compiled);
        self.texts.insert(name.into(), template.texts);
    }

    /// Whether there is a template of that name.
    pub fn contains(&self, name: &str) -> bool {
        self.registry.has_template(name)
    }

    /// Writes the template `name` with the variables of `data`, an object. `{{name}}` is escaped for
    /// HTML: `& < > " ' =` and the backtick; and so that it cannot leave a string of a script: the
    /// backslash. Fails where there is no such template, or where it
    /// calls a helper with parameters that the helper does not take.
    pub fn render(&self, name: &str, data: Value) -> Result<String, RenderError> {
        let marked = self
            .registry
            .render_with_context(name, &Context::from(data))?;
        let texts = self.texts.get(name).map(Vec::as_slice).unwrap_or_default();
        Ok(put_back(&marked, texts))
    }
}

/// An operator may write `var text = "{{message}}";`: a backslash at the end of the text would escape
/// the quote behind it. Inside of `<script>` entities are not decoded, so the text is a little odd
/// there, and harmless.
fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for character in handlebars::html_escape(text).chars() {
        match character {
            '\\' | '\u{2028}' | '\u{2029}' => {
                safe.push_str("&#");
                safe.push_str(&u32::from(character).to_string());
                safe.push(';');
            }
            other => safe.push(other),
        }
    }
    safe
}

/// Replaces marks by the texts that they stand for.
fn put_back(marked: &str, texts: &[Box<str>]) -> String {
    let length: usize = texts.iter().map(|text| text.len()).sum();
    let mut page = String::with_capacity(marked.len() + length);
    // Every other part is the index of a text.
    for (n, part) in marked.split(translate::MARK).enumerate() {
        let text = part.parse().ok().and_then(|index: usize| texts.get(index));
        match text {
            Some(text) if n % 2 == 1 => page += text,
            _ => page += part,
        }
    }
    page
}

impl Default for Engine {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests;
