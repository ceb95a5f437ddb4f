//! Patterns of text: wildcards and regular expressions. Both take time linear in the text for a given
//! pattern, whatever the two are.

use std::borrow::Cow;
use std::cell::RefCell;

use regex_automata::Input;
use regex_automata::hybrid::dfa::{Cache, DFA};
use regex_automata::nfa::thompson::pikevm::PikeVM;
use regex_automata::nfa::thompson::{self, NFA};
use regex_syntax::ParserBuilder;

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

/// A regular expression. Bytes are matched and not characters, and classes are ASCII's, as at Cloudflare
/// unless an expression asks for Unicode.
#[derive(Clone, Debug)]
pub(super) struct Pattern {
    source: String,
    /// Its states are made when a text leads to them, and kept.
    automaton: Box<DFA>,
    states: RefCell<Cache>,
    /// Takes longer and tells groups.
    simulation: Box<PikeVM>,
}

impl Eq for Pattern {}

impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        self.source == other.source
    }
}

/// A compiled expression may take so much memory, in bytes: about a thousand steps.
const LARGEST: usize = 1 << 15;
/// The states that are kept may take so much, in bytes.
const KEPT: usize = 1 << 15;
/// Groups nest no deeper.
const DEEPEST: u32 = 16;

/// What is wrong with an expression, and where in it, in bytes.
#[derive(Debug)]
pub(super) struct Refusal {
    pub(super) at: usize,
    pub(super) message: String,
}

impl Pattern {
    /// Compiles an expression.
    ///
    /// # Errors
    /// What is wrong with it.
    pub(super) fn parse(source: &str) -> Result<Self, Refusal> {
        let whole = |error: &dyn std::error::Error| {
            // The cause is what tells something.
            let message = match error.source() {
                Some(cause) => cause.to_string(),
                None => error.to_string(),
            };
            refusal(0, &message)
        };
        let mut parser = ParserBuilder::new();
        let parser = parser.unicode(false).utf8(false).nest_limit(DEEPEST);
        let parsed = parser.build().parse(source);
        let parsed = parsed.map_err(|error| match &error {
            regex_syntax::Error::Parse(error) => {
                refusal(error.span().start.offset, &error.kind().to_string())
            }
            regex_syntax::Error::Translate(error) => {
                refusal(error.span().start.offset, &error.kind().to_string())
            }
            other => whole(other),
        })?;
        let limits = NFA::config().utf8(false).nfa_size_limit(Some(LARGEST));
        let mut compiler = thompson::Compiler::new();
        let nfa = compiler.configure(limits).build_from_hir(&parsed);
        let nfa = nfa.map_err(|error| whole(&error))?;
        let limits = DFA::config()
            .cache_capacity(KEPT)
            .skip_cache_capacity_check(true)
            // Where a text leads to new states all the time, the simulation is as good.
            .minimum_cache_clear_count(Some(1))
            .minimum_bytes_per_state(Some(10));
        let automaton = DFA::builder().configure(limits).build_from_nfa(nfa.clone());
        let automaton = automaton.map_err(|error| whole(&error))?;
        let simulation = PikeVM::new_from_nfa(nfa).map_err(|error| whole(&error))?;
        Ok(Self {
            source: source.to_owned(),
            states: RefCell::new(automaton.create_cache()),
            automaton: Box::new(automaton),
            simulation: Box::new(simulation),
        })
    }

    /// The expression as it was written.
    pub(super) fn source(&self) -> &str {
        &self.source
    }

    /// Whether some part of the text fits. `spend` is told what that costs, in units of
    /// [`LIMIT_OF_WORK`](super::LIMIT_OF_WORK).
    pub(super) fn fits<E>(
        &self,
        text: &str,
        spend: impl Fn(usize) -> Result<(), E>,
    ) -> Result<bool, E> {
        spend(text.len())?;
        let input = Input::new(text).earliest(true);
        let Ok(mut states) = self.states.try_borrow_mut() else {
            // Nobody asks while somebody else does.
            return Ok(false);
        };
        let (memory, clears) = (states.memory_usage(), states.clear_count());
        let found = self.automaton.try_search_fwd(&mut states, &input);
        // To make a state takes about as long as it is large.
        let made = states.memory_usage().saturating_sub(memory);
        let cleared = states.clear_count().saturating_sub(clears);
        spend(made.saturating_add(cleared.saturating_mul(KEPT)))?;
        match found {
            Ok(found) => Ok(found.is_some()),
            Err(_gave_up) => {
                spend(self.cost(text))?;
                let mut cache = self.simulation.create_cache();
                Ok(self.simulation.is_match(&mut cache, input))
            }
        }
    }

    /// What the simulation costs at most.
    pub(super) fn cost(&self, text: &str) -> usize {
        let steps = self.simulation.get_nfa().states().len();
        text.len().saturating_mul(steps)
    }

    /// The text with its first fitting part replaced.
    pub(super) fn replace(&self, text: &str, replacement: &Replacement) -> String {
        let mut cache = self.simulation.create_cache();
        let mut found = self.simulation.create_captures();
        self.simulation.captures(&mut cache, text, &mut found);
        let Some(whole) = found.get_group(0) else {
            return text.to_owned();
        };
        let bytes = text.as_bytes();
        let mut replaced = bytes.get(..whole.start).unwrap_or_default().to_vec();
        for piece in &replacement.pieces {
            match piece {
                Piece::Text(text) => replaced.extend_from_slice(text.as_bytes()),
                Piece::Group(number) => {
                    let group = found
                        .get_group(*number)
                        .and_then(|span| bytes.get(span.range()));
                    replaced.extend_from_slice(group.unwrap_or_default());
                }
            }
        }
        replaced.extend_from_slice(bytes.get(whole.end..).unwrap_or_default());
        String::from_utf8_lossy(&replaced).into_owned()
    }
}

fn refusal(at: usize, message: &str) -> Refusal {
    Refusal {
        at,
        message: format!("this regular expression is refused: {message}"),
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
