//! Rewrites a template so that Handlebars understands it.
//!
//! Mustache's `{{#v}}` and `{{^v}}` become `if` and `unless`, which have the same truth here: the
//! page has only booleans, numbers and strings, and `false`, `0` and `""` are the false ones, as in
//! mustache.js. `{{.}}` inside such a section is the variable of the section.

use super::tags::{Kind, Piece, Reader, Tag};
use super::{Fault, Mention, Position};

/// The helpers that a template may call.
const HELPERS: [&str; 15] = [
    "and", "each", "eq", "gt", "gte", "if", "len", "lookup", "lt", "lte", "ne", "not", "or",
    "unless", "with",
];

/// The helpers of the above that are blocks.
const BLOCKS: [&str; 4] = ["each", "if", "unless", "with"];

/// How deep sections may stand in each other. Handlebars reads them recursively, and the stack of a
/// Worker is small.
const MAX_DEPTH: usize = 32;

/// Encloses the index of a text that was set aside. The character may not stand in a template: HTML does
/// not have it either.
pub(super) const MARK: char = '\u{1}';

/// Texts of more bytes than this are set aside. Handlebars reads text character by character, 250 ms for
/// the largest page allowed, and copies it with every page; so it sees a mark in its place.
const LONG_TEXT: usize = 128;

/// A template in Handlebars alone.
pub(super) struct Translation {
    /// The template, with marks where long texts stood.
    pub(super) handlebars: String,
    /// The long texts.
    pub(super) texts: Vec<Box<str>>,
    /// The variables it asks for.
    pub(super) mentions: Vec<Mention>,
}

/// A section that is open.
struct Section<'a> {
    /// As its end tag has to name it.
    name: &'a str,
    /// As Handlebars closes it.
    helper: &'a str,
    /// What `{{.}}` means in it; none where that is what it means outside.
    dot: Option<&'a str>,
    at: Position,
}

/// Rewrites `source`, or tells the first fault in it.
pub(super) fn translate(source: &str) -> Result<Translation, Fault> {
    let mut translator = Translator {
        out: String::new(),
        texts: Vec::new(),
        mentions: Vec::new(),
        sections: Vec::new(),
    };
    let mut reader = Reader::new(source);
    loop {
        let at = reader.position();
        let Some(piece) = reader.next()? else { break };
        match piece {
            Piece::Text(text) if text.contains(MARK) => {
                let reason = "the control character U+0001 stands in the text".into();
                return Err(Fault { at, reason });
            }
            Piece::Text(text) => translator.text(text),
            Piece::Tag(tag) => translator.tag(tag)?,
        }
    }
    match translator.sections.pop() {
        Some(open) => Err(Fault {
            at: open.at,
            reason: format!("{{{{#{}}}}} is never closed", open.name),
        }),
        None => Ok(Translation {
            handlebars: translator.out,
            texts: translator.texts,
            mentions: translator.mentions,
        }),
    }
}

struct Translator<'a> {
    out: String,
    texts: Vec<Box<str>>,
    mentions: Vec<Mention>,
    sections: Vec<Section<'a>>,
}

impl<'a> Translator<'a> {
    /// Copies text, or sets it aside; the white space around it stays, as a tag on a line of its own
    /// takes the line with it. `{{` in a text is either escaped already or, behind changed delimiters,
    /// not a tag.
    fn text(&mut self, text: &str) {
        let core = text.trim();
        if core.len() > LONG_TEXT && !core.contains("{{") && !core.ends_with('\\') {
            let (before, after) = text.split_once(core).unwrap_or_default();
            let index = self.texts.len();
            self.out += &format!("{before}{MARK}{index}{MARK}{after}");
            self.texts.push(core.into());
            return;
        }
        let mut parts = text.split("{{");
        self.out += parts.next().unwrap_or_default();
        for part in parts {
            if !self.out.ends_with('\\') {
                self.out.push('\\');
            }
            self.out += "{{";
            self.out += part;
        }
    }

    fn tag(&mut self, tag: Tag<'a>) -> Result<(), Fault> {
        let refuse = |reason: String| Err(Fault { at: tag.at, reason });
        match tag.kind {
            Kind::Comment | Kind::Delimiters => {
                self.emit(tag, "!", "", "");
                Ok(())
            }
            Kind::Foreign => refuse(format!(
                "{}: partials, decorators and raw blocks are not available",
                tag.source
            )),
            _ if tag.content.is_empty() && tag.kind != Kind::Inverted => {
                refuse(format!("{}: a name is missing", tag.source))
            }
            Kind::Escaped if first_word(tag.content) == "else" => self.alternative(tag),
            Kind::Inverted if tag.content.is_empty() => self.alternative(tag),
            Kind::Escaped => self.value(tag, "", ""),
            Kind::Raw => self.value(tag, "{", "}"),
            Kind::Open => self.open(tag),
            Kind::Inverted => self.inverted(tag),
            Kind::Close => self.close(tag),
        }
    }

    fn value(&mut self, tag: Tag<'a>, before: &str, after: &str) -> Result<(), Fault> {
        let mut content = tag.content;
        if content == "." {
            content = self
                .sections
                .iter()
                .rev()
                .find_map(|s| s.dot)
                .unwrap_or("this");
        }
        self.expression(tag, content)?;
        self.emit(tag, before, content, after);
        Ok(())
    }

    fn open(&mut self, tag: Tag<'a>) -> Result<(), Fault> {
        let helper = first_word(tag.content);
        if let Some(&helper) = BLOCKS.iter().find(|block| **block == helper) {
            self.expression(tag, tag.content)?;
            self.emit(tag, "#", tag.content, "");
            let dot = matches!(helper, "each" | "with").then_some("this");
            return self.push(tag, helper, helper, dot);
        }
        if helper != tag.content {
            return Err(Fault {
                at: tag.at,
                reason: format!(
                    "there is no block helper {helper}; there are {}",
                    BLOCKS.join(", ")
                ),
            });
        }
        self.expression(tag, tag.content)?;
        self.emit(tag, "#if ", tag.content, "");
        self.push(tag, tag.content, "if", Some(tag.content))
    }

    fn inverted(&mut self, tag: Tag<'a>) -> Result<(), Fault> {
        if first_word(tag.content) != tag.content {
            let reason = format!("{}: write {{{{#unless ...}}}} instead", tag.source);
            return Err(Fault { at: tag.at, reason });
        }
        self.expression(tag, tag.content)?;
        self.emit(tag, "#unless ", tag.content, "");
        self.push(tag, tag.content, "unless", None)
    }

    /// `{{else}}`, `{{^}}`, and `{{else if ...}}`.
    fn alternative(&mut self, tag: Tag<'a>) -> Result<(), Fault> {
        let condition = tag.content.strip_prefix("else").unwrap_or_default().trim();
        if self.sections.is_empty() {
            let reason = format!("{} stands in no section", tag.source);
            return Err(Fault { at: tag.at, reason });
        }
        if condition.is_empty() {
            self.emit(tag, "else", "", "");
            return Ok(());
        }
        let helper = first_word(condition);
        if !BLOCKS.contains(&helper) || helper == condition {
            let reason = format!("{}: write {{{{else if ...}}}}", tag.source);
            return Err(Fault { at: tag.at, reason });
        }
        self.expression(tag, condition)?;
        self.emit(tag, "else ", condition, "");
        Ok(())
    }

    fn close(&mut self, tag: Tag<'a>) -> Result<(), Fault> {
        let reason = match self.sections.pop() {
            Some(open) if open.name == tag.content => {
                self.emit(tag, "/", open.helper, "");
                return Ok(());
            }
            Some(open) => format!(
                "{} closes nothing: {{{{/{}}}}} is expected first, for the one of {}",
                tag.source, open.name, open.at
            ),
            None => format!("{} closes nothing", tag.source),
        };
        Err(Fault { at: tag.at, reason })
    }

    fn push(
        &mut self,
        tag: Tag<'a>,
        name: &'a str,
        helper: &'a str,
        dot: Option<&'a str>,
    ) -> Result<(), Fault> {
        if self.sections.len() == MAX_DEPTH {
            let reason = format!("more than {MAX_DEPTH} sections stand in each other");
            return Err(Fault { at: tag.at, reason });
        }
        self.sections.push(Section {
            name,
            helper,
            dot,
            at: tag.at,
        });
        Ok(())
    }

    /// Checks an expression on its own, so that a fault has a place, and notes its variables.
    fn expression(&mut self, tag: Tag<'a>, content: &str) -> Result<(), Fault> {
        let refuse = |reason: String| Err(Fault { at: tag.at, reason });
        let calls = Words::new(content).count() > 1;
        // A name alone is looked up as a variable; with parameters behind it, it is a helper.
        let mut helper_comes = calls;
        for word in Words::new(content) {
            if word == "(" {
                helper_comes = true;
            } else if std::mem::take(&mut helper_comes) {
                if !HELPERS.contains(&word) {
                    return refuse(format!(
                        "there is no helper {word}; there are {}",
                        HELPERS.join(", ")
                    ));
                }
            } else if let Some(name) = self.variable(word) {
                let name = name.to_owned();
                self.mentions.push(Mention { name, at: tag.at });
            }
        }
        if !calls && HELPERS.contains(&content) {
            return refuse(format!("{}: the helper needs parameters", tag.source));
        }
        if !calls && is_plain_name(content) {
            return Ok(());
        }
        let block = BLOCKS.contains(&first_word(content)) && calls;
        let probe = match block {
            true => format!("{{{{#{content}}}}}{{{{/{}}}}}", first_word(content)),
            false => format!("{{{{{content}}}}}"),
        };
        match handlebars::Template::compile(&probe) {
            Ok(_) => Ok(()),
            Err(_) => refuse(format!("{} is not valid", tag.source)),
        }
    }

    /// The variable of the page that a word of an expression names. Inside `each` and `with` names
    /// are those of the value.
    fn variable<'w>(&self, word: &'w str) -> Option<&'w str> {
        let inside_value = self.sections.iter().any(|s| s.dot == Some("this"));
        let literal = matches!(word, "true" | "false" | "null" | "this" | "as");
        let first = word.split(['.', '/']).next().unwrap_or_default();
        let named = first.starts_with(|c: char| c.is_alphabetic() || c == '_' || c == '$');
        (named && !literal && !inside_value).then_some(first)
    }

    /// Writes a tag in the standard delimiters.
    fn emit(&mut self, tag: Tag<'a>, before: &str, content: &str, after: &str) {
        let trimmed = |trims| if trims { "~" } else { "" };
        // A backslash right before a tag that is not `{{` in the source would escape it.
        if self.out.ends_with('\\') && !self.out.ends_with("\\\\") {
            self.out.push('\\');
        }
        self.out += "{{";
        self.out += trimmed(tag.trims_before);
        self.out += before;
        self.out += content;
        self.out += after;
        self.out += trimmed(tag.trims_after);
        self.out += "}}";
    }
}

/// The first word of an expression.
fn first_word(content: &str) -> &str {
    content.split_whitespace().next().unwrap_or_default()
}

/// Whether this is a name that Handlebars looks up as it stands.
fn is_plain_name(content: &str) -> bool {
    let word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '$');
    content
        .split('.')
        .all(|part| !part.is_empty() && part.chars().all(word))
}

/// The words of an expression: names, literals and `(`. String literals are left out, and so are the
/// keys of `key=value` and the names of `as |name|`.
struct Words<'a>(&'a str);

impl<'a> Words<'a> {
    fn new(content: &'a str) -> Self {
        Self(content)
    }
}

impl<'a> Iterator for Words<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        loop {
            self.0 = self
                .0
                .trim_start_matches(|c: char| c.is_whitespace() || c == ')' || c == '=');
            let first = self.0.chars().next()?;
            if matches!(first, '"' | '\'' | '|') {
                let inner = self.0.get(1..)?;
                self.0 = inner.get(inner.find(first)? + 1..)?;
                // A literal is a parameter, too; it only has no name.
                return Some("\"");
            }
            let length = match first {
                '(' => 1,
                _ => self
                    .0
                    .find(|c: char| c.is_whitespace() || matches!(c, '(' | ')' | '='))
                    .unwrap_or(self.0.len()),
            };
            let (word, rest) = self.0.split_at_checked(length)?;
            self.0 = rest;
            if !rest.starts_with('=') {
                return Some(word);
            }
        }
    }
}
