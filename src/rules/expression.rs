//! Expressions that have been read, and their canonical form.

use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;

use super::address::{AddressSet, Block};
use super::field::Field;
use super::function::Function;
use super::pattern::{Pattern, Replacement, Wildcard};

/// An expression of the right types. Displayed in its canonical form: operators in English, no more
/// parentheses than needed, current names of fields. Reading that gives the same expression.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Expression(pub(super) Test);

/// What is true or false: of a request, or inside of `any` and `all` of each element of an array.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum Test {
    /// Two or more.
    Or(Vec<Test>),
    /// Two or more; true if an odd number of them is.
    Xor(Vec<Test>),
    /// Two or more.
    And(Vec<Test>),
    Not(Box<Test>),
    /// A Boolean.
    Is(Value),
    Compare(Value, Comparison),
}

/// What a value is compared with.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum Comparison {
    Text(Order, String),
    Integer(Order, i64),
    Address {
        equal: bool,
        address: IpAddr,
    },
    Contains(String),
    Wildcard(Wildcard),
    Matches(Box<Pattern>),
    InTexts(Vec<String>),
    /// From and to, both included.
    InIntegers(Vec<(i64, i64)>),
    InAddresses {
        blocks: Vec<Block>,
        set: AddressSet,
    },
    InList {
        name: String,
        set: Arc<AddressSet>,
    },
}

/// How two values compare.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Order {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

/// A value, or all values of an array one after the other.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum Value {
    Field(&'static Field, Slots),
    /// What a map has under a key: an array.
    Key(&'static Field, String, Slots),
    Item(Box<Value>, usize),
    /// `[*]`
    Each(Box<Value>),
    Call(Function, Vec<Value>),
    Any(Box<Test>),
    All(Box<Test>),
    Text(String),
    Integer(i64),
    Pattern(Box<Pattern>),
    Replacement(Replacement),
}

/// Where what a field needs is found in what was read of the request.
pub(super) type Slots = [usize; 2];

impl Order {
    pub(super) fn holds(self, ordering: std::cmp::Ordering) -> bool {
        match self {
            Self::Equal => ordering.is_eq(),
            Self::NotEqual => ordering.is_ne(),
            Self::Less => ordering.is_lt(),
            Self::LessOrEqual => ordering.is_le(),
            Self::Greater => ordering.is_gt(),
            Self::GreaterOrEqual => ordering.is_ge(),
        }
    }

    fn word(self) -> &'static str {
        match self {
            Self::Equal => "eq",
            Self::NotEqual => "ne",
            Self::Less => "lt",
            Self::LessOrEqual => "le",
            Self::Greater => "gt",
            Self::GreaterOrEqual => "ge",
        }
    }
}

impl Value {
    fn begins_with_platform(&self) -> bool {
        match self {
            Self::Field(field, _) => field.is_of_platform(),
            Self::Item(value, _) | Self::Each(value) => value.begins_with_platform(),
            Self::Call(_, arguments) => arguments
                .first()
                .is_some_and(|value| value.begins_with_platform()),
            Self::Any(test) | Self::All(test) => test.begins_with_platform(),
            _ => false,
        }
    }
}

impl fmt::Display for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Test {
    /// Whether the first field that it asks for is the platform's.
    pub(super) fn begins_with_platform(&self) -> bool {
        match self {
            Self::Or(tests) | Self::Xor(tests) | Self::And(tests) => tests
                .first()
                .is_some_and(|test| test.begins_with_platform()),
            Self::Not(test) => test.begins_with_platform(),
            Self::Is(value) | Self::Compare(value, _) => value.begins_with_platform(),
        }
    }

    /// How tightly it binds: the least first.
    fn rank(&self) -> u8 {
        match self {
            Self::Or(_) => 0,
            Self::Xor(_) => 1,
            Self::And(_) => 2,
            Self::Not(_) | Self::Is(_) | Self::Compare(..) => 3,
        }
    }
}

impl fmt::Display for Test {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // In parentheses, unless it binds more tightly than what it is a part of.
        let part = |f: &mut fmt::Formatter<'_>, test: &Test, rank: u8| {
            if test.rank() > rank {
                test.fmt(f)
            } else {
                write!(f, "({test})")
            }
        };
        let (tests, word) = match self {
            Self::Or(tests) => (tests, " or "),
            Self::Xor(tests) => (tests, " xor "),
            Self::And(tests) => (tests, " and "),
            Self::Not(test) => {
                f.write_str("not ")?;
                return part(f, test, 2);
            }
            Self::Is(value) => return value.fmt(f),
            Self::Compare(value, comparison) => return write!(f, "{value} {comparison}"),
        };
        for (n, test) in tests.iter().enumerate() {
            if n > 0 {
                f.write_str(word)?;
            }
            part(f, test, self.rank())?;
        }
        Ok(())
    }
}

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(order, text) => write!(f, "{} {}", order.word(), Literal(text)),
            Self::Integer(order, number) => write!(f, "{} {number}", order.word()),
            Self::Address { equal, address } => {
                write!(f, "{} {address}", if *equal { "eq" } else { "ne" })
            }
            Self::Contains(text) => write!(f, "contains {}", Literal(text)),
            Self::Wildcard(wildcard) => {
                f.write_str(if wildcard.is_strict() { "strict " } else { "" })?;
                write!(f, "wildcard {}", Literal(wildcard.source()))
            }
            Self::Matches(pattern) => write!(f, "matches {}", Literal(pattern.source())),
            Self::InTexts(texts) => set(f, texts.iter().map(|text| Literal(text))),
            Self::InIntegers(ranges) => set(f, ranges.iter().map(|range| Integers(*range))),
            Self::InAddresses { blocks, .. } => set(f, blocks.iter()),
            Self::InList { name, .. } => write!(f, "in ${name}"),
        }
    }
}

fn set(f: &mut fmt::Formatter<'_>, items: impl Iterator<Item = impl fmt::Display>) -> fmt::Result {
    f.write_str("in {")?;
    for (n, item) in items.enumerate() {
        let space = if n > 0 { " " } else { "" };
        write!(f, "{space}{item}")?;
    }
    f.write_str("}")
}

struct Integers((i64, i64));

impl fmt::Display for Integers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (first, last) = self.0;
        write!(f, "{first}")?;
        if last > first {
            write!(f, "..{last}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Field(field, _) => f.write_str(field.name),
            Self::Key(field, key, _) => write!(f, "{}[{}]", field.name, Literal(key)),
            Self::Item(list, at) => write!(f, "{list}[{at}]"),
            Self::Each(list) => write!(f, "{list}[*]"),
            Self::Call(function, arguments) => {
                write!(f, "{}(", function.name())?;
                for (n, argument) in arguments.iter().enumerate() {
                    let comma = if n > 0 { ", " } else { "" };
                    write!(f, "{comma}{argument}")?;
                }
                f.write_str(")")
            }
            Self::Any(test) => write!(f, "any({test})"),
            Self::All(test) => write!(f, "all({test})"),
            Self::Text(text) => Literal(text).fmt(f),
            Self::Integer(number) => number.fmt(f),
            Self::Pattern(pattern) => Literal(pattern.source()).fmt(f),
            Self::Replacement(replacement) => Literal(replacement.source()).fmt(f),
        }
    }
}

/// A string: raw if there is anything to escape in it.
struct Literal<'a>(&'a str);

impl fmt::Display for Literal<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = self.0;
        if !text.contains(['"', '\\']) {
            return write!(f, "\"{text}\"");
        }
        // A quote followed by this many number signs does not occur.
        let longest = text.split('"').skip(1).map(|rest| {
            let hashes = rest.bytes().take_while(|byte| *byte == b'#');
            hashes.count() + 1
        });
        let hashes = longest.max().unwrap_or(0);
        if hashes > 255 {
            let escaped = text.replace('\\', "\\\\").replace('"', "\\\"");
            return write!(f, "\"{escaped}\"");
        }
        let hashes = "#".repeat(hashes);
        write!(f, "r{hashes}\"{text}\"{hashes}")
    }
}
