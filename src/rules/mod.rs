//! Bypass rules: expressions in Cloudflare's Rules language, asked of requests.
//!
//! An expression is read and checked once ([`check`]); the rules of a room are compiled once per
//! configuration ([`Ruleset`]). What they ask of a request is read when the first of them needs it
//! ([`Facts`]), and how long they may take is limited. `docs/rules.md` has the whole language.
//!
//! `build.rs` compiles this folder too, as a part of checking `rooms.toml`. So nothing in here may name
//! another part of the crate.

pub mod address;
mod evaluate;
mod expression;
mod facts;
mod fault;
mod field;
mod function;
mod kind;
mod literal;
mod needs;
mod parse;
mod pattern;
mod request;
mod token;

use std::collections::BTreeMap;
use std::sync::Arc;

use address::{AddressSet, Block};
use evaluate::Evaluation;
use needs::Needs;

pub use self::expression::Expression;
pub use self::facts::{Facts, Target};
pub use self::fault::Fault;
pub use self::field::{FIELDS, Field, OLD_NAMES, REFUSED_FIELDS};
pub use self::function::{FUNCTIONS, Function, REFUSED_FUNCTIONS};
pub use self::kind::{Kind, Single};
pub use self::needs::Need;

/// An expression is no longer, in characters: Cloudflare's limit.
pub const LONGEST: usize = 4_096;

/// What all rules together may do for one request. A unit is a byte that is looked at, or a byte of a
/// regular expression's states that is made for it.
pub const LIMIT_OF_WORK: u32 = 1 << 20;

/// That a search engine's crawler asks: by the platform's verified category alone, since anybody can
/// send the crawler's user agent.
pub const CRAWLER: &str = r#"cf.verified_bot_category wildcard "search engine crawler""#;

/// Named lists of IP addresses.
#[derive(Clone, Debug, Default)]
pub struct Lists(BTreeMap<String, Arc<AddressSet>>);

impl Lists {
    /// Adds a list.
    pub fn insert(&mut self, name: &str, blocks: impl IntoIterator<Item = Block>) {
        let set = Arc::new(AddressSet::new(blocks));
        self.0.insert(name.to_owned(), set);
    }

    fn get(&self, name: &str) -> Option<Arc<AddressSet>> {
        self.0.get(name).cloned()
    }

    fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }
}

/// Reads an expression and checks its types.
///
/// # Errors
/// What is wrong with it, and in which column.
pub fn check(expression: &str, lists: &Lists) -> Result<Expression, Fault> {
    read(expression, lists, &mut Needs::default())
}

fn read(source: &str, lists: &Lists, needs: &mut Needs) -> Result<Expression, Fault> {
    if source.chars().nth(LONGEST).is_some() {
        return Err(Fault {
            column: LONGEST + 1,
            message: format!("an expression has {LONGEST} characters at most"),
        });
    }
    parse::expression(source, lists, needs).map_err(|slip| slip.in_expression(source))
}

/// Expressions, compiled to be asked together.
#[derive(Clone, Debug, Default)]
pub struct Ruleset {
    expressions: Vec<Expression>,
    needs: Needs,
}

/// What a request is to the rules of its room.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Verdict {
    /// No rule holds: the room decides.
    Room,
    /// A rule holds: the request passes by the room.
    Bypass,
    /// The rules would have cost too much for this request, so the room decides.
    Exhausted,
}

impl Ruleset {
    /// An empty set.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds an expression.
    ///
    /// # Errors
    /// What is wrong with it. Then nothing was added.
    pub fn add(&mut self, expression: &str, lists: &Lists) -> Result<(), Fault> {
        let expression = read(expression, lists, &mut self.needs)?;
        self.expressions.push(expression);
        Ok(())
    }

    /// Whether no expression was added.
    pub fn is_empty(&self) -> bool {
        self.expressions.is_empty()
    }

    /// What the expressions need of a request, beside its URL.
    pub fn needs(&self) -> &[Need] {
        self.needs.as_slice()
    }

    /// Whether an expression begins with what the platform says, so that every request that none holds for is
    /// asked it.
    pub fn begins_with_platform(&self) -> bool {
        let mut expressions = self.expressions.iter();
        expressions.any(|Expression(test)| test.begins_with_platform())
    }

    /// Asks the expressions of a request, in their order until one holds.
    pub fn ask(&self, facts: &dyn Facts) -> Verdict {
        let evaluation = Evaluation::new(facts, self.needs());
        for Expression(test) in &self.expressions {
            match evaluation.holds(test) {
                Ok(true) => return Verdict::Bypass,
                Ok(false) => {}
                Err(evaluate::Exhausted) => return Verdict::Exhausted,
            }
        }
        Verdict::Room
    }
}

#[cfg(test)]
mod tests;
