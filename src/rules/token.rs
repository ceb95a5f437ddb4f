//! From the text of an expression to its words and signs.

use std::ops::Range;

use logos::{Lexer, Logos};

use super::fault::Slip;

/// A word or sign. Strings keep their delimiters and escapes: how they are read depends on where they
/// stand.
#[derive(Clone, Copy, Debug, Eq, Logos, PartialEq)]
#[logos(skip r"[ \t\r\n]+", error = Mistake)]
pub(super) enum Token {
    #[token("(")]
    Open,
    #[token(")")]
    Close,
    #[token("{")]
    OpenSet,
    #[token("}")]
    CloseSet,
    #[token("[")]
    OpenIndex,
    #[token("]")]
    CloseIndex,
    #[token(",")]
    Comma,
    #[token("*")]
    Star,
    #[token("==")]
    Equal,
    #[token("!=")]
    NotEqual,
    #[token("<")]
    Less,
    #[token("<=")]
    LessOrEqual,
    #[token(">")]
    Greater,
    #[token(">=")]
    GreaterOrEqual,
    #[token("~")]
    Tilde,
    #[token("!")]
    Not,
    #[token("&&")]
    And,
    #[token("^^")]
    Xor,
    #[token("||")]
    Or,
    /// A field, function, keyword, number, address or range. Which one is clear where it stands: an
    /// IPv6 address may well look like a field.
    #[regex("[-A-Za-z0-9_:./]+")]
    Word,
    /// The name of a list.
    #[regex(r"\$[A-Za-z0-9_.]*")]
    List,
    /// `"` to `"`.
    #[token("\"", quoted)]
    Quoted,
    /// `r##"` to `"##`.
    #[regex("r#*\"", raw)]
    Raw,
}

/// Why there is no token.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(super) enum Mistake {
    #[default]
    NoToken,
    Unterminated,
    TooManyHashes,
}

/// A token and where it stands, in bytes.
#[derive(Clone, Debug)]
pub(super) struct Spanned {
    pub(super) token: Token,
    pub(super) span: Range<usize>,
}

/// All tokens of an expression.
pub(super) fn tokens(expression: &str) -> Result<Vec<Spanned>, Slip> {
    let mut tokens = Vec::new();
    for (token, span) in Token::lexer(expression).spanned() {
        match token {
            Ok(token) => tokens.push(Spanned { token, span }),
            Err(mistake) => {
                let rest = expression.get(span.start..).unwrap_or_default();
                return Err(Slip::new(span.start, describe(mistake, rest)));
            }
        }
    }
    Ok(tokens)
}

fn describe(mistake: Mistake, rest: &str) -> String {
    match (mistake, rest.chars().next()) {
        (Mistake::Unterminated, _) => "this string has no end".to_owned(),
        (Mistake::TooManyHashes, _) => {
            "a raw string begins with at most 255 number signs".to_owned()
        }
        (Mistake::NoToken, Some('=')) => "one = is no operator; write eq or ==".to_owned(),
        (Mistake::NoToken, Some('&')) => "one & is no operator; write and or &&".to_owned(),
        (Mistake::NoToken, Some('|')) => "one | is no operator; write or or ||".to_owned(),
        (Mistake::NoToken, Some('^')) => "one ^ is no operator; write xor or ^^".to_owned(),
        (Mistake::NoToken, Some('\'')) => "strings stand in double quotes".to_owned(),
        (Mistake::NoToken, Some('#')) => "there are no comments in expressions".to_owned(),
        (Mistake::NoToken, Some(other)) => format!("{other:?} has no meaning here"),
        (Mistake::NoToken, None) => "the expression ends too soon".to_owned(),
    }
}

/// Up to the next quote that no backslash stands before.
fn quoted(lexer: &mut Lexer<'_, Token>) -> Result<(), Mistake> {
    let mut escaped = false;
    for (at, byte) in lexer.remainder().bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => {
                lexer.bump(at + 1);
                return Ok(());
            }
            _ => {}
        }
    }
    Err(Mistake::Unterminated)
}

/// Up to the next quote that is followed by as many number signs.
fn raw(lexer: &mut Lexer<'_, Token>) -> Result<(), Mistake> {
    let hashes = lexer.slice().len().saturating_sub(2);
    if hashes > 255 {
        return Err(Mistake::TooManyHashes);
    }
    let end = format!("\"{}", "#".repeat(hashes));
    let at = lexer.remainder().find(&end);
    lexer.bump(at.ok_or(Mistake::Unterminated)? + end.len());
    Ok(())
}
