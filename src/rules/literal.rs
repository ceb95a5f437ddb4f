//! Reading the literals of expressions.

use super::fault::Slip;
use super::token::Token;

/// What escapes a quoted string may have.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Escapes {
    /// `\"`, `\\` and `\xHH`.
    Basic,
    /// `\"` alone: all other backslashes are the regular expression's.
    Regex,
}

/// The text of a string literal with its delimiters, which stands at `at`.
pub(super) fn text(
    token: Token,
    literal: &str,
    at: usize,
    escapes: Escapes,
) -> Result<String, Slip> {
    if token == Token::Raw {
        let delimiter = literal.find('"').map_or(0, |quote| quote + 1);
        let end = literal.len().saturating_sub(delimiter - 1);
        return Ok(literal.get(delimiter..end).unwrap_or_default().to_owned());
    }
    let inner = literal.get(1..literal.len().saturating_sub(1));
    let mut text = String::with_capacity(literal.len());
    let mut signs = inner.unwrap_or_default().char_indices();
    while let Some((place, sign)) = signs.next() {
        if sign != '\\' {
            text.push(sign);
            continue;
        }
        let escape = signs.next().map(|(_, sign)| sign);
        match (escapes, escape) {
            (_, Some('"')) => text.push('"'),
            (Escapes::Regex, Some(other)) => text.extend(['\\', other]),
            (Escapes::Basic, Some('\\')) => text.push('\\'),
            (Escapes::Basic, Some('x')) => {
                let mut digit = || signs.next().and_then(|(_, digit)| digit.to_digit(16));
                let value = digit().zip(digit()).map(|(high, low)| high * 16 + low);
                let ascii = value.and_then(char::from_u32).filter(char::is_ascii);
                text.push(ascii.ok_or_else(|| {
                    let message = "\\x stands before two hexadecimal digits, 00 to 7f; other \
                                   characters are written as they are";
                    Slip::new(at + 1 + place, message)
                })?);
            }
            _ => {
                let message = "unknown escape; there are \\\", \\\\ and \\xHH, and raw strings: \
                               r\"\\d\"";
                return Err(Slip::new(at + 1 + place, message));
            }
        }
    }
    Ok(text)
}

/// Where in a string literal the byte `offset` of its text stands, in bytes from its start.
pub(super) fn place(token: Token, literal: &str, offset: usize, escapes: Escapes) -> usize {
    let start = literal.find('"').map_or(0, |quote| quote + 1);
    if token == Token::Raw {
        return start + offset;
    }
    let mut read = 0;
    let mut signs = literal.char_indices().skip(1);
    while let Some((place, sign)) = signs.next() {
        if read >= offset {
            return place;
        }
        read += sign.len_utf8();
        if sign == '\\' {
            let escape = signs.next().map(|(_, sign)| sign);
            match (escapes, escape) {
                (Escapes::Regex, Some(other)) if other != '"' => read += other.len_utf8(),
                (Escapes::Basic, Some('x')) => drop(signs.nth(1)),
                _ => {}
            }
        }
    }
    literal.len()
}

/// A whole number, or two of them with `..` between, as the first and the last.
pub(super) fn integers(word: &str) -> Result<(i64, i64), String> {
    let Some((first, last)) = word.split_once("..") else {
        let one = integer(word)?;
        return Ok((one, one));
    };
    let (first, last) = (integer(first)?, integer(last)?);
    if last < first {
        return Err("the range ends before it begins".to_owned());
    }
    Ok((first, last))
}

/// A whole number.
pub(super) fn integer(word: &str) -> Result<i64, String> {
    let digits = word.strip_prefix('-').unwrap_or(word);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(format!("expected a whole number, not {word}"));
    }
    word.parse()
        .map_err(|_overflow| "this number is too large".to_owned())
}
