//! Comparisons: what may stand after a value, and how its literals are read.

use super::{Parser, Typed, TypedTest};
use crate::rules::address::{AddressSet, Block, address};
use crate::rules::expression::{Comparison, Order, Test};
use crate::rules::fault::Slip;
use crate::rules::field::nearest;
use crate::rules::kind::{Kind, Single};
use crate::rules::literal::{self, Escapes};
use crate::rules::pattern::Wildcard;
use crate::rules::token::Token;

/// An operator between a value and literals.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Operator {
    Order(Order),
    Contains,
    Matches,
    Wildcard { strict: bool },
    In,
}

impl Parser<'_> {
    /// A comparison, or a Boolean alone.
    pub(super) fn comparison(&mut self) -> Result<TypedTest, Slip> {
        let typed = self.value()?;
        let at = self.at();
        let operator = self.operator()?;
        let test = match (typed.single(), operator) {
            (Some(Single::Boolean), None) => Test::Is(typed.value),
            (Some(Single::Boolean), Some(_)) => {
                let message = "a Boolean has no operator: it stands alone, or with not before it";
                return Err(Slip::new(at, message));
            }
            // A function that asks something of every element.
            (None, None) if typed.kind == Kind::List(Single::Boolean) => {
                let through = typed
                    .through
                    .or_else(|| Some(Box::new(typed.value.clone())));
                return Ok(TypedTest {
                    test: Test::Is(typed.value),
                    through,
                    at: typed.at,
                });
            }
            (None, _) => {
                let message = format!(
                    "{} is an array; take one element, [0], or ask of every one, [*], inside of \
                     any(...) or all(...)",
                    typed.value
                );
                return Err(Slip::new(typed.at, message));
            }
            (Some(single), None) => {
                let expected = operators(single);
                return Err(self.unexpected(&format!("an operator after the {single}: {expected}")));
            }
            (Some(single), Some(operator)) => {
                let comparison = self.right_side(single, operator, at)?;
                Test::Compare(typed.value, comparison)
            }
        };
        Ok(TypedTest {
            test,
            through: typed.through.filter(|_| typed.each),
            at: typed.at,
        })
    }

    /// The next tokens if they are an operator.
    fn operator(&mut self) -> Result<Option<Operator>, Slip> {
        let Some((token, word)) = self.peek() else {
            return Ok(None);
        };
        let operator = match (token, word) {
            (Token::Equal, _) | (Token::Word, "eq") => Operator::Order(Order::Equal),
            (Token::NotEqual, _) | (Token::Word, "ne") => Operator::Order(Order::NotEqual),
            (Token::Less, _) | (Token::Word, "lt") => Operator::Order(Order::Less),
            (Token::LessOrEqual, _) | (Token::Word, "le") => Operator::Order(Order::LessOrEqual),
            (Token::Greater, _) | (Token::Word, "gt") => Operator::Order(Order::Greater),
            (Token::GreaterOrEqual, _) | (Token::Word, "ge") => {
                Operator::Order(Order::GreaterOrEqual)
            }
            (Token::Tilde, _) | (Token::Word, "matches") => Operator::Matches,
            (Token::Word, "contains") => Operator::Contains,
            (Token::Word, "wildcard") => Operator::Wildcard { strict: false },
            (Token::Word, "in") => Operator::In,
            (Token::Word, "strict") => {
                self.next += 1;
                match self.peek() {
                    Some((Token::Word, "wildcard")) => Operator::Wildcard { strict: true },
                    _ => return Err(self.unexpected("wildcard after strict")),
                }
            }
            (Token::Word | Token::Not, "not" | "!") => {
                let message = "not stands before a whole comparison: not http.host eq \"...\"";
                return Err(Slip::new(self.at(), message));
            }
            _ => return Ok(None),
        };
        self.next += 1;
        Ok(Some(operator))
    }

    /// What stands after an operator, which stands at `at`.
    fn right_side(
        &mut self,
        single: Single,
        operator: Operator,
        at: usize,
    ) -> Result<Comparison, Slip> {
        Ok(match (single, operator) {
            (Single::Text, Operator::Order(order)) => {
                Comparison::Text(order, self.text(Escapes::Basic)?)
            }
            (Single::Text, Operator::Contains) => Comparison::Contains(self.text(Escapes::Basic)?),
            (Single::Text, Operator::Matches) => {
                Comparison::Matches(Box::new(self.pattern(Escapes::Regex)?))
            }
            (Single::Text, Operator::Wildcard { strict }) => {
                let (at, source) = (self.at(), self.text(Escapes::Basic)?);
                let pattern = Wildcard::parse(&source, strict);
                Comparison::Wildcard(pattern.map_err(|fault| Slip::new(at, fault))?)
            }
            (Single::Text, Operator::In) => {
                Comparison::InTexts(self.set(|parser| parser.text(Escapes::Basic))?)
            }
            (Single::Integer, Operator::Order(order)) => {
                Comparison::Integer(order, self.word("a whole number", literal::integer)?)
            }
            (Single::Integer, Operator::In) => {
                let item = |parser: &mut Self| parser.word("a whole number", literal::integers);
                Comparison::InIntegers(self.set(item)?)
            }
            (Single::Address, Operator::Order(order @ (Order::Equal | Order::NotEqual))) => {
                Comparison::Address {
                    equal: order == Order::Equal,
                    address: self.word("an IP address", one_address)?,
                }
            }
            (Single::Address, Operator::In) => self.in_addresses()?,
            (single, _) => {
                let message = format!(
                    "this operator does not go with the type {single}, which has {}",
                    operators(single)
                );
                return Err(Slip::new(at, message));
            }
        })
    }

    fn in_addresses(&mut self) -> Result<Comparison, Slip> {
        if let Some((Token::List, name)) = self.peek() {
            let name = name.trim_start_matches('$').to_owned();
            let Some(set) = self.lists.get(&name) else {
                return Err(Slip::new(self.at(), self.no_list(&name)));
            };
            self.next += 1;
            return Ok(Comparison::InList { name, set });
        }
        let blocks = self.set(|parser| parser.word("an IP address", Block::parse))?;
        let set = AddressSet::new(blocks.iter().copied());
        Ok(Comparison::InAddresses { blocks, set })
    }

    fn no_list(&self, name: &str) -> String {
        if name.starts_with("cf.") {
            return format!("${name} is a list of Cloudflare's, which a Worker cannot ask");
        }
        match nearest(name, self.lists.names()) {
            Some(known) => format!("there is no list ${name}; did you mean ${known}?"),
            None => format!("there is no list ${name} in ip_lists"),
        }
    }

    /// Items in braces, one at least.
    fn set<T>(&mut self, item: impl Fn(&mut Self) -> Result<T, Slip>) -> Result<Vec<T>, Slip> {
        if let Some((Token::List, _)) = self.peek() {
            return Err(Slip::new(self.at(), "named lists are of IP addresses"));
        }
        self.expect(Token::OpenSet, "{ or a list")?;
        let mut items = Vec::new();
        while !self.skip(Token::CloseSet) {
            if self.peek().is_some_and(|(token, _)| token == Token::Comma) {
                let message = "the items of a set stand apart by spaces, without commas";
                return Err(Slip::new(self.at(), message));
            }
            items.push(item(self)?);
        }
        if items.is_empty() {
            return Err(Slip::new(
                self.at(),
                "the set is empty, so nothing is in it",
            ));
        }
        Ok(items)
    }

    /// A literal that is no string.
    fn word<T>(
        &mut self,
        expected: &str,
        read: impl Fn(&str) -> Result<T, String>,
    ) -> Result<T, Slip> {
        match self.peek() {
            Some((Token::Word, word)) => {
                let read = read(word).map_err(|fault| Slip::new(self.at(), fault))?;
                self.next += 1;
                Ok(read)
            }
            _ => Err(self.unexpected(expected)),
        }
    }
}

fn one_address(word: &str) -> Result<std::net::IpAddr, String> {
    if word.contains(['/']) || word.contains("..") {
        return Err(format!(
            "a range of addresses stands in a set: in {{{word}}}"
        ));
    }
    address(word)
}

/// The operators of a type.
fn operators(single: Single) -> &'static str {
    match single {
        Single::Text => {
            "eq, ne, lt, le, gt, ge, contains, matches, wildcard, strict wildcard or in"
        }
        Single::Integer => "eq, ne, lt, le, gt, ge or in",
        Single::Address => "eq, ne or in",
        Single::Boolean => "none",
    }
}

impl Typed {
    /// That it has another type than was expected.
    pub(super) fn is_not(&self, expected: &str) -> Slip {
        let hint = match self.kind {
            Kind::List(_) if !self.each => "; [*] stands for every element of an array",
            _ => "",
        };
        Slip::new(
            self.at,
            format!("expected {expected}, not the type {}{hint}", self.kind),
        )
    }
}
