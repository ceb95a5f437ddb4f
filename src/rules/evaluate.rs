//! Asking an expression of a request.
//!
//! What is missing (a key that a map does not have, an index beyond the end) makes a comparison false,
//! `any` and `all` too, and what a function makes of it is missing as well. A header field or property
//! that is absent is empty or 0, as at Cloudflare.

mod apply;
mod source;

use std::borrow::Cow;
use std::cell::{Cell, OnceCell};
use std::net::IpAddr;

use super::LIMIT_OF_WORK;
use super::expression::{Comparison, Order, Test, Value};
use super::facts::{Facts, Target};
use super::needs::Need;

/// One value.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Scalar<'a> {
    Boolean(bool),
    Integer(i64),
    Address(IpAddr),
    Text(Cow<'a, str>),
}

/// A request while expressions are asked of it. What was read once is kept.
pub(super) struct Evaluation<'a> {
    facts: &'a dyn Facts,
    target: Target<'a>,
    needs: &'a [Need],
    fields: OnceCell<Vec<Option<&'a str>>>,
    platform: OnceCell<Vec<Option<&'a str>>>,
    headers: OnceCell<Vec<(String, String)>>,
    address: OnceCell<Option<IpAddr>>,
    work: Cell<u32>,
}

/// All work that may be spent is.
#[derive(Debug)]
pub(super) struct Exhausted;

type Asked<T> = Result<T, Exhausted>;

impl<'a> Evaluation<'a> {
    pub(super) fn new(facts: &'a dyn Facts, needs: &'a [Need]) -> Self {
        Self {
            target: facts.target(),
            facts,
            needs,
            fields: OnceCell::new(),
            platform: OnceCell::new(),
            headers: OnceCell::new(),
            address: OnceCell::new(),
            work: Cell::new(LIMIT_OF_WORK),
        }
    }

    /// Spends work: about the number of bytes that are looked at.
    fn spend(&self, work: u32) -> Asked<()> {
        let left = self.work.get().checked_sub(work).ok_or(Exhausted)?;
        self.work.set(left);
        Ok(())
    }

    /// Whether a test holds.
    pub(super) fn holds(&'a self, test: &'a Test) -> Asked<bool> {
        match test {
            Test::Or(tests) => {
                for test in tests {
                    if self.holds(test)? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            Test::And(tests) => {
                for test in tests {
                    if !self.holds(test)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            Test::Xor(tests) => {
                let mut odd = false;
                for test in tests {
                    odd ^= self.holds(test)?;
                }
                Ok(odd)
            }
            Test::Not(test) => Ok(!self.holds(test)?),
            Test::Is(value) => Ok(self.scalar(value)? == Some(Scalar::Boolean(true))),
            Test::Compare(value, comparison) => match self.scalar(value)? {
                Some(scalar) => self.compare(&scalar, comparison),
                None => Ok(false),
            },
        }
    }

    /// Whether a test holds of each element of the array that it is about; none if there is no array.
    fn holds_of_each(&'a self, test: &'a Test) -> Asked<Option<Vec<bool>>> {
        match test {
            Test::Or(tests) => self.join(tests, |one, other| one | other),
            Test::And(tests) => self.join(tests, |one, other| one & other),
            Test::Xor(tests) => self.join(tests, |one, other| one ^ other),
            Test::Not(test) => {
                let each = self.holds_of_each(test)?;
                Ok(each.map(|each| each.into_iter().map(|holds| !holds).collect()))
            }
            Test::Is(value) => {
                let list = self.elements(value)?;
                let is_true = |element| element == Scalar::Boolean(true);
                Ok(list.map(|list| list.into_iter().map(is_true).collect()))
            }
            Test::Compare(value, comparison) => {
                let Some(list) = self.elements(value)? else {
                    return Ok(None);
                };
                let each = list.iter().map(|element| self.compare(element, comparison));
                each.collect::<Asked<Vec<bool>>>().map(Some)
            }
        }
    }

    /// The tests are about one array, so their results are of one length.
    fn join(
        &'a self,
        tests: &'a [Test],
        join: impl Fn(bool, bool) -> bool,
    ) -> Asked<Option<Vec<bool>>> {
        let mut joined: Option<Vec<bool>> = None;
        for test in tests {
            let Some(each) = self.holds_of_each(test)? else {
                return Ok(None);
            };
            joined = Some(match joined {
                None => each,
                Some(before) => {
                    let pairs = before.into_iter().zip(each);
                    pairs.map(|(one, other)| join(one, other)).collect()
                }
            });
        }
        Ok(joined)
    }

    fn compare(&self, scalar: &Scalar<'_>, comparison: &Comparison) -> Asked<bool> {
        Ok(match (scalar, comparison) {
            (Scalar::Text(text), comparison) => return self.compare_text(text, comparison),
            (Scalar::Integer(number), Comparison::Integer(order, with)) => {
                order.holds(number.cmp(with))
            }
            (Scalar::Integer(number), Comparison::InIntegers(ranges)) => {
                self.spend(length(ranges.len()))?;
                let inside = |(first, last): &(i64, i64)| (first..=last).contains(&number);
                ranges.iter().any(inside)
            }
            (
                Scalar::Address(address),
                Comparison::Address {
                    equal,
                    address: with,
                },
            ) => (address == with) == *equal,
            (Scalar::Address(address), Comparison::InAddresses { set, .. }) => {
                set.contains(*address)
            }
            (Scalar::Address(address), Comparison::InList { set, .. }) => set.contains(*address),
            // Refused when the expression was read.
            _ => false,
        })
    }

    fn compare_text(&self, text: &str, comparison: &Comparison) -> Asked<bool> {
        if let Comparison::Matches(pattern) = comparison {
            return pattern.fits(text, |work| self.spend(length(work)));
        }
        Ok(match comparison {
            // The most frequent one, and it looks at a text of the same length alone.
            Comparison::Text(Order::Equal, with) => text == with,
            Comparison::Text(order, with) => order.holds(text.cmp(with.as_str())),
            Comparison::Contains(part) => {
                self.spend(length(text.len()))?;
                text.contains(part.as_str())
            }
            Comparison::Wildcard(wildcard) => {
                self.spend(length(text.len()))?;
                wildcard.fits(text)
            }
            Comparison::InTexts(texts) => {
                self.spend(length(texts.len()))?;
                texts.iter().any(|with| text == with)
            }
            // Refused when the expression was read.
            _ => false,
        })
    }

    /// One value; none if it is missing.
    fn scalar(&'a self, value: &'a Value) -> Asked<Option<Scalar<'a>>> {
        match value {
            Value::Field(field, slots) => self.field(field, *slots),
            Value::Item(list, at) => {
                Ok(self.list(list)?.and_then(|list| list.into_iter().nth(*at)))
            }
            Value::Call(function, arguments) => {
                let Some((first, others)) = arguments.split_first() else {
                    return Ok(None);
                };
                self.call(*function, first, others)
            }
            Value::Any(test) => {
                let each = self.holds_of_each(test)?;
                let any = each.is_some_and(|each| each.contains(&true));
                Ok(Some(Scalar::Boolean(any)))
            }
            Value::All(test) => {
                let each = self.holds_of_each(test)?;
                let all = each.is_some_and(|each| !each.contains(&false));
                Ok(Some(Scalar::Boolean(all)))
            }
            Value::Text(text) => Ok(Some(Scalar::Text(Cow::Borrowed(text)))),
            Value::Integer(number) => Ok(Some(Scalar::Integer(*number))),
            // Refused when the expression was read.
            Value::Key(..) | Value::Each(_) | Value::Pattern(_) | Value::Replacement(_) => Ok(None),
        }
    }

    /// An array; none if it is missing.
    fn list(&'a self, value: &'a Value) -> Asked<Option<Vec<Scalar<'a>>>> {
        let list = match value {
            Value::Field(field, slots) => self.list_field(field, *slots)?,
            Value::Key(field, key, slots) => self.key(field, key, *slots)?,
            Value::Call(function, arguments) => {
                let Some((first, others)) = arguments.split_first() else {
                    return Ok(None);
                };
                self.list_call(*function, first, others)?
            }
            _ => None,
        };
        self.spend(list.as_ref().map_or(0, |list| length(list.len())))?;
        Ok(list)
    }

    /// The elements that a value stands for: those of the array before `[*]`, or of what a function
    /// has made of each.
    fn elements(&'a self, value: &'a Value) -> Asked<Option<Vec<Scalar<'a>>>> {
        self.list(match value {
            Value::Each(list) => list,
            made => made,
        })
    }
}

fn length(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}
