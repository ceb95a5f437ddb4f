//! Cuts a template into text and tags.

use super::{Fault, Position};

/// A piece of a template.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Piece<'a> {
    /// Text to copy.
    Text(&'a str),
    /// A tag.
    Tag(Tag<'a>),
}

/// A tag: what stands between `{{` and `}}`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Tag<'a> {
    pub(super) kind: Kind,
    /// The content without the mark of the kind, `~` and outer white space.
    pub(super) content: &'a str,
    /// The whole tag with its delimiters.
    pub(super) source: &'a str,
    /// `{{~`: white space before the tag goes.
    pub(super) trims_before: bool,
    /// `~}}`: white space behind the tag goes.
    pub(super) trims_after: bool,
    pub(super) at: Position,
}

/// What the first character of a tag makes of it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Kind {
    /// `{{name}}`
    Escaped,
    /// `{{{name}}}` and `{{&name}}`
    Raw,
    /// `{{#name}}`
    Open,
    /// `{{^name}}`, and `{{^}}`
    Inverted,
    /// `{{/name}}`
    Close,
    /// `{{! text }}` and `{{!-- text --}}`
    Comment,
    /// `{{=<% %>=}}`
    Delimiters,
    /// `{{>name}}`, `{{*name}}`, `{{{{name}}}}`
    Foreign,
}

/// Reads a template from its start to its end.
pub(super) struct Reader<'a> {
    rest: &'a str,
    at: Position,
    open: &'a str,
    close: &'a str,
}

impl<'a> Reader<'a> {
    pub(super) fn new(source: &'a str) -> Self {
        Self {
            rest: source,
            at: Position { line: 1, column: 1 },
            open: "{{",
            close: "}}",
        }
    }

    /// Where the next piece starts.
    pub(super) fn position(&self) -> Position {
        self.at
    }

    /// The next piece; none at the end.
    pub(super) fn next(&mut self) -> Result<Option<Piece<'a>>, Fault> {
        if self.rest.is_empty() {
            return Ok(None);
        }
        match self.find_open() {
            Some(0) => self.tag().map(|tag| Some(Piece::Tag(tag))),
            Some(n) => Ok(Some(Piece::Text(self.take(n)))),
            None => Ok(Some(Piece::Text(self.take(self.rest.len())))),
        }
    }

    /// The offset of the next tag. As in Handlebars `\{{` is text; `\\{{` is a backslash and a tag.
    fn find_open(&self) -> Option<usize> {
        let mut from = 0;
        loop {
            let n = from + self.rest.get(from..)?.find(self.open)?;
            let before = self.rest.get(..n)?;
            let backslashes = before.len() - before.trim_end_matches('\\').len();
            if self.open != "{{" || backslashes != 1 {
                return Some(n);
            }
            from = n + self.open.len();
        }
    }

    fn tag(&mut self) -> Result<Tag<'a>, Fault> {
        let at = self.at;
        let standard = self.open == "{{";
        let inner = self.rest.get(self.open.len()..).unwrap_or_default();
        let trims_before = inner.starts_with('~');
        let marked = inner.strip_prefix('~').unwrap_or(inner).trim_start();
        let (kind, body, end) = match marked.chars().next() {
            Some('{') if standard && marked.starts_with("{{") => (Kind::Foreign, marked, "}}}}"),
            Some('{') if standard && trims_before => (Kind::Raw, skip(marked), "}~}}"),
            Some('{') if standard => (Kind::Raw, skip(marked), "}}}"),
            Some('!') if marked.starts_with("!--") && standard => (Kind::Comment, marked, "--}}"),
            Some('!') => (Kind::Comment, skip(marked), self.close),
            Some('=') => (Kind::Delimiters, skip(marked), self.close),
            Some('#') => (Kind::Open, skip(marked), self.close),
            Some('^') => (Kind::Inverted, skip(marked), self.close),
            Some('/') => (Kind::Close, skip(marked), self.close),
            Some('&') => (Kind::Raw, skip(marked), self.close),
            Some('>' | '*') => (Kind::Foreign, skip(marked), self.close),
            _ => (Kind::Escaped, marked, self.close),
        };
        let found = match kind {
            Kind::Comment | Kind::Delimiters => body.find(end),
            _ => find_unquoted(body, end),
        };
        // `{{~{name}}}` and `{{!-- text --~}}` may end the other way too.
        let (n, end) = match (found, kind, end) {
            (Some(n), ..) => (n, end),
            (None, Kind::Raw, "}~}}") => match find_unquoted(body, "}}}") {
                Some(n) => (n, "}}}"),
                None => return Err(unclosed(at, "}}}")),
            },
            (None, Kind::Comment, "--}}") => match body.find(self.close) {
                Some(n) => (n, self.close),
                None => return Err(unclosed(at, end)),
            },
            (None, ..) => return Err(unclosed(at, end)),
        };
        let content = body.get(..n).unwrap_or_default();
        let length = self.rest.len() - body.len() + n + end.len();
        let source = self.take(length);
        let trims_after = end == "}~}}" || content.ends_with('~');
        let content = content.strip_suffix('~').unwrap_or(content).trim();
        if kind == Kind::Delimiters {
            self.change_delimiters(content, at)?;
        }
        Ok(Tag {
            kind,
            content,
            source,
            trims_before,
            trims_after,
            at,
        })
    }

    /// `<% %>=` out of `{{=<% %>=}}`.
    fn change_delimiters(&mut self, content: &'a str, at: Position) -> Result<(), Fault> {
        let mut words = content
            .strip_suffix('=')
            .unwrap_or_default()
            .split_whitespace();
        match (words.next(), words.next(), words.next()) {
            (Some(open), Some(close), None) if !content.trim_end_matches('=').contains('=') => {
                (self.open, self.close) = (open, close);
                Ok(())
            }
            _ => Err(Fault {
                at,
                reason: "delimiters are changed as in {{=<% %>=}}".into(),
            }),
        }
    }

    /// Takes `n` bytes and moves the position behind them.
    fn take(&mut self, n: usize) -> &'a str {
        let (taken, rest) = self.rest.split_at_checked(n).unwrap_or((self.rest, ""));
        self.rest = rest;
        match taken.rsplit_once('\n') {
            Some((before, last)) => {
                self.at.line += before.matches('\n').count() + 1;
                self.at.column = last.chars().count() + 1;
            }
            None => self.at.column += taken.chars().count(),
        }
        taken
    }
}

fn unclosed(at: Position, end: &str) -> Fault {
    Fault {
        at,
        reason: format!("this tag is not closed: {end} is missing"),
    }
}

/// The text without its first character, which is a mark of one byte.
fn skip(marked: &str) -> &str {
    marked.get(1..).unwrap_or_default()
}

/// The offset of `end` outside of string literals, which only stand behind a white space, a
/// parenthesis or `=`.
fn find_unquoted(body: &str, end: &str) -> Option<usize> {
    let mut quote = None;
    let mut before = 'x';
    for (n, c) in body.char_indices() {
        match quote {
            Some(q) if c == q && before != '\\' => quote = None,
            Some(_) => {}
            None if body.get(n..)?.starts_with(end) => return Some(n),
            None if matches!(c, '"' | '\'') && matches!(before, ' ' | '\n' | '\t' | '(' | '=') => {
                quote = Some(c);
            }
            None => {}
        }
        before = c;
    }
    None
}
