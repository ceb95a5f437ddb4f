//! Fields, keys, indices, literals.

use super::{Parser, Typed, is_operator};
use crate::rules::expression::Value;
use crate::rules::fault::Slip;
use crate::rules::field::{self, Source};
use crate::rules::kind::{Kind, Single};
use crate::rules::literal::{self, Escapes};
use crate::rules::pattern::Pattern;
use crate::rules::token::Token;

/// Header fields have no longer names.
const LONGEST_KEY: usize = 256;

impl Parser<'_> {
    /// A field or a call, with what stands in brackets after it.
    pub(super) fn value(&mut self) -> Result<Typed, Slip> {
        let at = self.at();
        let mut typed = match self.peek() {
            Some((Token::Word, word)) if !is_operator(word) => {
                let word = word.to_owned();
                self.next += 1;
                if self.peek().is_some_and(|(token, _)| token == Token::Open) {
                    self.call(&word, at)?
                } else {
                    self.field(&word, at)?
                }
            }
            Some((Token::Quoted | Token::Raw, _)) => {
                let message = "a comparison begins with a field or a function; the string comes \
                               after the operator";
                return Err(Slip::new(at, message));
            }
            _ => return Err(self.unexpected("a field, a function, not or (")),
        };
        while self.skip(Token::OpenIndex) {
            typed = self.bracket(typed)?;
            self.expect(Token::CloseIndex, "]")?;
        }
        if typed.kind == Kind::Map {
            let message = format!(
                "{} is a map; take the values of one key: [\"...\"]",
                typed.value
            );
            return Err(Slip::new(typed.at, message));
        }
        Ok(typed)
    }

    /// What a function is given: a value or a literal.
    pub(super) fn argument(&mut self) -> Result<Typed, Slip> {
        let at = self.at();
        let literal = |value, single| Typed {
            value,
            kind: Kind::One(single),
            through: None,
            each: false,
            at,
        };
        match self.peek() {
            Some((Token::Quoted | Token::Raw, _)) => {
                let text = self.text(Escapes::Basic)?;
                Ok(literal(Value::Text(text), Single::Text))
            }
            Some((Token::Word, word)) if literal::integer(word).is_ok() => {
                let number = literal::integer(word).map_err(|fault| Slip::new(at, fault))?;
                self.next += 1;
                Ok(literal(Value::Integer(number), Single::Integer))
            }
            _ => self.value(),
        }
    }

    /// A string.
    pub(super) fn text(&mut self, escapes: Escapes) -> Result<String, Slip> {
        match self.peek() {
            Some((token @ (Token::Quoted | Token::Raw), text)) => {
                let text = literal::text(token, text, self.at(), escapes)?;
                self.next += 1;
                Ok(text)
            }
            _ => Err(self.unexpected("a string in double quotes")),
        }
    }

    /// A regular expression.
    pub(super) fn pattern(&mut self, escapes: Escapes) -> Result<Pattern, Slip> {
        let (at, next) = (self.at(), self.next);
        let source = self.text(escapes)?;
        Pattern::parse(&source).map_err(|refusal| {
            // Where the expression is wrong, rather than where it begins.
            self.next = next;
            let literal = self.peek().map_or(0, |(token, literal)| {
                literal::place(token, literal, refusal.at, escapes)
            });
            Slip::new(at + literal, refusal.message)
        })
    }

    fn field(&mut self, name: &str, at: usize) -> Result<Typed, Slip> {
        let field = field::find(name).map_err(|fault| Slip::new(at, fault))?;
        Ok(Typed {
            value: Value::Field(field, self.needs.of(field, None)),
            kind: field.kind,
            through: None,
            each: false,
            at,
        })
    }

    /// What stands in brackets after a value.
    fn bracket(&mut self, of: Typed) -> Result<Typed, Slip> {
        let at = self.at();
        match (self.peek(), of.kind) {
            (Some((Token::Star, _)), Kind::List(single)) if !of.each => {
                self.next += 1;
                let through = of.through.unwrap_or_else(|| Box::new(of.value.clone()));
                Ok(Typed {
                    value: Value::Each(Box::new(of.value)),
                    kind: Kind::One(single),
                    through: Some(through),
                    each: true,
                    at: of.at,
                })
            }
            (Some((Token::Quoted | Token::Raw, _)), Kind::Map) => {
                let key = self.text(Escapes::Basic)?;
                self.key(&of, key, at)
            }
            (Some((Token::Word, word)), Kind::List(single)) if !of.each => {
                let index = word.parse().ok().filter(|index| *index < 1_000_000_usize);
                let index = index.filter(|_| word.bytes().all(|byte| byte.is_ascii_digit()));
                let index = index.ok_or_else(|| self.unexpected("an index from 0 on, or *"))?;
                self.next += 1;
                Ok(Typed {
                    value: Value::Item(Box::new(of.value), index),
                    kind: Kind::One(single),
                    through: None,
                    each: false,
                    at: of.at,
                })
            }
            (_, Kind::Map) => Err(self.unexpected("a key in double quotes")),
            (_, Kind::List(_)) if !of.each => Err(self.unexpected("an index from 0 on, or *")),
            _ => {
                let message = format!("{} is no array and no map", of.value);
                Err(Slip::new(of.at, message))
            }
        }
    }

    fn key(&mut self, of: &Typed, key: String, at: usize) -> Result<Typed, Slip> {
        let Value::Field(field, _) = of.value else {
            return Err(Slip::new(of.at, "only fields are maps"));
        };
        // RFC 9110, section 5.6.2. The runtime refuses to look for anything else.
        let token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
        if field.source == Source::Headers {
            if key.bytes().any(|byte| byte.is_ascii_uppercase()) {
                let message = "the names of header fields are in lower case here";
                return Err(Slip::new(at, message));
            }
            if key.is_empty() || key.len() > LONGEST_KEY || !key.bytes().all(token) {
                return Err(Slip::new(at, "no header field has such a name"));
            }
        }
        let slots = self.needs.of(field, Some(&key));
        Ok(Typed {
            value: Value::Key(field, key, slots),
            kind: Kind::List(Single::Text),
            through: None,
            each: false,
            at: of.at,
        })
    }
}
