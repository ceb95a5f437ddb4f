//! Patterns of text: wildcards and regular expressions. Both take time linear in the text for a given
//! pattern, whatever the two are.

use std::borrow::Cow;

use regex_lite::{Regex, RegexBuilder};

/// A wildcard pattern. `*` stands for any text, also none; `\*` and `\\` for themselves.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Wildcard {
    source: String,
    /// What stands between the stars, in lower case unless `strict`. One more than there are stars.
    pieces: Vec<String>,
    strict: bool,
}

impl Wildcard {
    /// Reads a pattern; `strict` says that case matters.
    ///
    /// # Errors
    /// What is wrong with it.
    pub(super) fn parse(source: &str, strict: bool) -> Result<Self, &'static str> {
        let mut pieces = vec![String::new()];
        let mut after_star = false;
        let mut rest = source.chars();
        while let Some(sign) = rest.next() {
            let literal = match sign {
                '*' if after_star => return Err("two stars in a row; one stands for any text"),
                '*' => {
                    after_star = true;
                    pieces.push(String::new());
                    continue;
                }
                '\\' => rest
                    .next()
                    .filter(|next| matches!(next, '*' | '\\'))
                    .ok_or(
                        "in a wildcard pattern a backslash stands before * or another backslash",
                    )?,
                other => other,
            };
            after_star = false;
            if let Some(piece) = pieces.last_mut() {
                piece.push(if strict {
                    literal
                } else {
                    literal.to_ascii_lowercase()
                });
            }
        }
        Ok(Self {
            source: source.to_owned(),
            pieces,
            strict,
        })
    }

    /// The pattern as it was written.
    pub(super) fn source(&self) -> &str {
        &self.source
    }

    /// Whether case matters.
    pub(super) fn is_strict(&self) -> bool {
        self.strict
    }

    /// Whether the whole text fits.
    pub(super) fn fits(&self, text: &str) -> bool {
        let text = if self.strict || !text.bytes().any(|byte| byte.is_ascii_uppercase()) {
            Cow::Borrowed(text)
        } else {
            Cow::Owned(text.to_ascii_lowercase())
        };
        let [first, middle @ .., last] = self.pieces.as_slice() else {
            // No star.
            return self.pieces.first().is_some_and(|piece| *piece == *text);
        };
        let Some(rest) = text.strip_prefix(first.as_str()) else {
            return false;
        };
        let Some(mut rest) = rest.strip_suffix(last.as_str()) else {
            return false;
        };
        // The first place that fits leaves most for the pieces after it.
        for piece in middle {
            let Some((_, after)) = rest.split_once(piece.as_str()) else {
                return false;
            };
            rest = after;
        }
        true
    }
}

/// A regular expression.
#[derive(Clone, Debug)]
pub(super) struct Pattern {
    regex: Regex,
    weight: u32,
}

impl Eq for Pattern {}

impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        self.source() == other.source()
    }
}

/// A compiled expression may take so much memory, in bytes.
const LARGEST: usize = 1 << 15;

impl Pattern {
    /// Compiles an expression.
    ///
    /// # Errors
    /// What is wrong with it.
    pub(super) fn parse(source: &str) -> Result<Self, String> {
        // The engine's time for a byte of text grows with the size of the program. It does not tell
        // the size, but it does tell whether a limit is kept.
        let mut limit = LARGEST >> 5;
        loop {
            let built = RegexBuilder::new(source)
                .size_limit(limit)
                .nest_limit(16)
                .build();
            match built {
                Ok(regex) => {
                    let weight = u32::try_from(limit >> 7).unwrap_or(u32::MAX);
                    return Ok(Self { regex, weight });
                }
                Err(error) if limit == LARGEST => {
                    return Err(format!("this regular expression is refused: {error}"));
                }
                Err(_) => limit <<= 1,
            }
        }
    }

    /// The expression as it was written.
    pub(super) fn source(&self) -> &str {
        self.regex.as_str()
    }

    /// Whether some part of the text fits.
    pub(super) fn fits(&self, text: &str) -> bool {
        self.regex.is_match(text)
    }

    /// What a search through so many bytes of text costs at most, in units of
    /// [`LIMIT_OF_WORK`](super::LIMIT_OF_WORK).
    pub(super) fn cost(&self, length: usize) -> u32 {
        let length = u32::try_from(length).unwrap_or(u32::MAX);
        length.saturating_add(16).saturating_mul(self.weight)
    }

    /// The text with its first fitting part replaced.
    pub(super) fn replace(&self, text: &str, replacement: &Replacement) -> String {
        let Some(found) = self.regex.captures(text) else {
            return text.to_owned();
        };
        let whole = found.get(0).map_or(0..0, |whole| whole.range());
        let mut replaced = text.get(..whole.start).unwrap_or_default().to_owned();
        for piece in &replacement.pieces {
            match piece {
                Piece::Text(text) => replaced.push_str(text),
                Piece::Group(number) => {
                    replaced.push_str(found.get(*number).map_or("", |group| group.as_str()));
                }
            }
        }
        replaced.push_str(text.get(whole.end..).unwrap_or_default());
        replaced
    }
}

/// What a part that fits is replaced by: `${1}` is the first group, `$$` a dollar sign.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Replacement {
    source: String,
    pieces: Vec<Piece>,
}

#[derive(Clone, Debug, Eq, PartialEq)]
enum Piece {
    Text(String),
    Group(usize),
}

/// As at Cloudflare.
const MOST_GROUPS: usize = 8;

impl Replacement {
    /// Reads a replacement.
    ///
    /// # Errors
    /// What is wrong with it.
    pub(super) fn parse(source: &str) -> Result<Self, &'static str> {
        const FAULT: &str = "in a replacement $ stands before {1} to {8} or another $";
        let mut pieces = Vec::new();
        let mut groups = 0;
        let mut parts = source.split('$');
        pieces.push(Piece::Text(parts.next().unwrap_or_default().to_owned()));
        while let Some(part) = parts.next() {
            if part.is_empty() {
                // Two in a row, of which the second has ended this part.
                let next = parts.next().ok_or(FAULT)?;
                pieces.push(Piece::Text(format!("${next}")));
                continue;
            }
            let (number, rest) = part
                .strip_prefix('{')
                .and_then(|part| part.split_once('}'))
                .ok_or(FAULT)?;
            let number = number
                .parse()
                .ok()
                .filter(|number| (1..=8).contains(number));
            groups += 1;
            if groups > MOST_GROUPS {
                return Err("a replacement refers to at most 8 groups");
            }
            pieces.push(Piece::Group(number.ok_or(FAULT)?));
            pieces.push(Piece::Text(rest.to_owned()));
        }
        Ok(Self {
            source: source.to_owned(),
            pieces,
        })
    }

    /// The replacement as it was written.
    pub(super) fn source(&self) -> &str {
        &self.source
    }
}

#[cfg(test)]
mod tests;
