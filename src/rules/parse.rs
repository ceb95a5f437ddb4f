//! From tokens to an expression of the right types.
//!
//! A recursive descent with a level for each of `or`, `xor` and `and`: Cloudflare's precedence, from
//! the loosest. Types are checked while reading, because how a literal is read depends on them.

mod call;
mod compare;
mod value;

use super::Lists;
use super::expression::{Expression, Test, Value};
use super::fault::Slip;
use super::kind::{Kind, Single};
use super::needs::Needs;
use super::token::{Spanned, Token, tokens};

/// An expression nests no deeper: parentheses, `not` and calls count.
pub(super) const DEEPEST: usize = 32;

/// Reads an expression.
pub(super) fn expression(
    source: &str,
    lists: &Lists,
    needs: &mut Needs,
) -> Result<Expression, Slip> {
    let mut parser = Parser {
        source,
        tokens: tokens(source)?,
        next: 0,
        lists,
        needs,
        depth: 0,
    };
    if parser.tokens.is_empty() {
        return Err(Slip::new(0, "expected an expression"));
    }
    let whole = parser.test(Level::Or)?;
    if parser.peek().is_some() {
        return Err(parser.unexpected("and, or, xor or the end"));
    }
    if whole.through.is_some() {
        let message = "this is asked of every element: put any(...) or all(...) around it";
        return Err(Slip::new(whole.at, message));
    }
    Ok(Expression(whole.test))
}

struct Parser<'a> {
    source: &'a str,
    tokens: Vec<Spanned>,
    next: usize,
    lists: &'a Lists,
    needs: &'a mut Needs,
    depth: usize,
}

/// A value with what is known of it.
struct Typed {
    value: Value,
    kind: Kind,
    /// The array whose elements it was made of, if it was.
    through: Option<Box<Value>>,
    /// Whether it stands for each element, one after the other: then `kind` is an element's.
    each: bool,
    at: usize,
}

/// A test with what is known of it.
struct TypedTest {
    test: Test,
    /// The array of whose elements it is asked; none if it is asked of the request.
    through: Option<Box<Value>>,
    at: usize,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Level {
    Or,
    Xor,
    And,
}

impl Level {
    fn next(self) -> Option<Self> {
        match self {
            Self::Or => Some(Self::Xor),
            Self::Xor => Some(Self::And),
            Self::And => None,
        }
    }

    fn join(self, tests: Vec<Test>) -> Test {
        match self {
            Self::Or => Test::Or(tests),
            Self::Xor => Test::Xor(tests),
            Self::And => Test::And(tests),
        }
    }

    fn is(self, token: Token, word: &str) -> bool {
        match self {
            Self::Or => token == Token::Or || word == "or",
            Self::Xor => token == Token::Xor || word == "xor",
            Self::And => token == Token::And || word == "and",
        }
    }
}

impl Parser<'_> {
    fn test(&mut self, level: Level) -> Result<TypedTest, Slip> {
        let mut first = self.operand(level)?;
        let mut others = Vec::new();
        while let Some((token, word)) = self.peek()
            && level.is(token, word)
        {
            self.next += 1;
            let other = self.operand(level)?;
            if other.through != first.through {
                let message = "both sides are asked of the request, or both of the elements of \
                               the same array";
                return Err(Slip::new(other.at, message));
            }
            others.push(other.test);
        }
        if !others.is_empty() {
            others.insert(0, first.test);
            first.test = level.join(others);
        }
        Ok(first)
    }

    fn operand(&mut self, level: Level) -> Result<TypedTest, Slip> {
        match level.next() {
            Some(tighter) => self.test(tighter),
            None => self.unary(),
        }
    }

    fn unary(&mut self) -> Result<TypedTest, Slip> {
        let at = self.at();
        match self.peek() {
            Some((Token::Not, _) | (Token::Word, "not")) => self.nested(|parser| {
                parser.next += 1;
                let inner = parser.unary()?;
                Ok(TypedTest {
                    test: Test::Not(Box::new(inner.test)),
                    through: inner.through,
                    at,
                })
            }),
            Some((Token::Open, _)) => self.nested(|parser| {
                parser.next += 1;
                let inner = parser.test(Level::Or)?;
                parser.expect(Token::Close, ")")?;
                Ok(inner)
            }),
            _ => self.comparison(),
        }
    }

    /// One level deeper.
    fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T, Slip>) -> Result<T, Slip> {
        if self.depth == DEEPEST {
            let message = format!("nested too deeply: {DEEPEST} levels are the most");
            return Err(Slip::new(self.at(), message));
        }
        self.depth += 1;
        let read = read(self);
        self.depth -= 1;
        read
    }

    /// The next token, with its text.
    fn peek(&self) -> Option<(Token, &str)> {
        let Spanned { token, span } = self.tokens.get(self.next)?;
        Some((*token, self.source.get(span.clone())?))
    }

    /// Where the next token stands, or the end of the expression.
    fn at(&self) -> usize {
        let token = self.tokens.get(self.next);
        token.map_or(self.source.trim_end().len(), |token| token.span.start)
    }

    /// Passes over the next token if it is this one.
    fn skip(&mut self, token: Token) -> bool {
        let found = self.peek().is_some_and(|(next, _)| next == token);
        self.next += usize::from(found);
        found
    }

    fn expect(&mut self, token: Token, expected: &str) -> Result<(), Slip> {
        if self.skip(token) {
            Ok(())
        } else {
            Err(self.unexpected(expected))
        }
    }

    /// That something else was expected at the next token.
    fn unexpected(&self, expected: &str) -> Slip {
        let message = match self.peek() {
            None => format!("expected {expected}, but the expression ends"),
            Some((Token::Word, word))
                if is_operator(&word.to_lowercase()) && !is_operator(word) =>
            {
                format!(
                    "operators are written in lower case: {}",
                    word.to_lowercase()
                )
            }
            Some((_, text)) => {
                let short: String = text.chars().take(40).collect();
                format!("expected {expected}, not {short}")
            }
        };
        Slip::new(self.at(), message)
    }
}

/// The operators that are words.
fn is_operator(word: &str) -> bool {
    const OPERATORS: [&str; 15] = [
        "not", "and", "xor", "or", "eq", "ne", "lt", "le", "gt", "ge", "contains", "matches",
        "wildcard", "strict", "in",
    ];
    OPERATORS.contains(&word)
}

impl Typed {
    /// The type of one value: of it, or of each element.
    fn single(&self) -> Option<Single> {
        match self.kind {
            Kind::One(single) => Some(single),
            Kind::List(_) | Kind::Map => None,
        }
    }

    /// Whether it is written out rather than taken from the request.
    fn is_literal(&self) -> bool {
        matches!(
            self.value,
            Value::Text(_) | Value::Integer(_) | Value::Pattern(_)
        )
    }
}
