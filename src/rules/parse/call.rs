//! Calls of functions: what each is given and gives.

use super::{Level, Parser, Typed};
use crate::rules::expression::Value;
use crate::rules::fault::Slip;
use crate::rules::function::{self, Function};
use crate::rules::kind::{Kind, Single};
use crate::rules::literal::Escapes;
use crate::rules::pattern::Replacement;
use crate::rules::token::Token;

const TEXT: Kind = Kind::One(Single::Text);
/// As at Cloudflare.
const MOST_PARTS: i64 = 128;

impl Parser<'_> {
    /// A call of the function `name`, which stands at `at`. The next token is the parenthesis.
    pub(super) fn call(&mut self, name: &str, at: usize) -> Result<Typed, Slip> {
        self.nested(|parser| match name {
            "any" => parser.over_elements(at, Value::Any),
            "all" => parser.over_elements(at, Value::All),
            _ => {
                let function = function::find(name).map_err(|fault| Slip::new(at, fault))?;
                parser.next += 1;
                let mut arguments = Vec::new();
                loop {
                    let pattern = function == Function::RegexReplace && arguments.len() == 1;
                    arguments.push(match pattern {
                        true => parser.pattern_argument()?,
                        false => parser.argument()?,
                    });
                    if !parser.skip(Token::Comma) {
                        break;
                    }
                }
                let end = parser.at();
                parser.expect(Token::Close, ", or )")?;
                typed_call(function, arguments, at, end)
            }
        })
    }

    /// The regular expression that a function is given.
    fn pattern_argument(&mut self) -> Result<Typed, Slip> {
        let at = self.at();
        let pattern = self.pattern(Escapes::Basic)?;
        Ok(Typed {
            value: Value::Pattern(Box::new(pattern)),
            kind: TEXT,
            through: None,
            each: false,
            at,
        })
    }

    fn over_elements(
        &mut self,
        at: usize,
        make: fn(Box<super::Test>) -> Value,
    ) -> Result<Typed, Slip> {
        self.next += 1;
        let inner = self.test(Level::Or)?;
        if inner.through.is_none() {
            let message = "expected a test of every element of an array, with [*]";
            return Err(Slip::new(inner.at, message));
        }
        self.expect(Token::Close, ")")?;
        Ok(Typed {
            value: make(Box::new(inner.test)),
            kind: Kind::One(Single::Boolean),
            through: None,
            each: false,
            at,
        })
    }
}

/// Checks what a function is given. The call ends at `end`.
fn typed_call(
    function: Function,
    arguments: Vec<Typed>,
    at: usize,
    end: usize,
) -> Result<Typed, Slip> {
    let Some((first, others)) = arguments.split_first() else {
        return Err(Slip::new(end, "expected an argument"));
    };
    if let Some(other) = others.iter().find(|other| other.each) {
        return Err(Slip::new(
            other.at,
            "[*] stands in the first argument alone",
        ));
    }
    let (least, most) = counts(function);
    if others.len() + 1 < least {
        let more = if least == most { "" } else { " or more" };
        let message = format!("{}() takes {least} arguments{more}", function.name());
        return Err(Slip::new(end, message));
    }
    if let Some(over) = others.get(most - 1) {
        let message = format!("{}() takes at most {most} arguments", function.name());
        return Err(Slip::new(over.at, message));
    }
    let gives = result(function, first, others)?;
    let kind = match (first.each, gives) {
        (false, kind) => kind,
        (true, Kind::One(single)) => Kind::List(single),
        (true, _) => {
            let message = format!(
                "{}() gives an array and does not go with [*]",
                function.name()
            );
            return Err(Slip::new(first.at, message));
        }
    };
    let through = first.through.clone().filter(|_| first.each);
    Ok(Typed {
        value: Value::Call(function, prepared(function, arguments)?),
        kind,
        through,
        each: false,
        at,
    })
}

/// The least and the most arguments.
fn counts(function: Function) -> (usize, usize) {
    match function {
        Function::DecodeBase64
        | Function::Len
        | Function::Lower
        | Function::ToString
        | Function::Upper => (1, 1),
        Function::UrlDecode => (1, 2),
        Function::Cidr6
        | Function::EndsWith
        | Function::Join
        | Function::RemoveBytes
        | Function::StartsWith => (2, 2),
        Function::Substring => (2, 3),
        Function::Cidr | Function::RegexReplace | Function::Split => (3, 3),
        Function::Concat => (2, usize::MAX),
    }
}

/// The type of what a function gives, once what it is given is of the right types.
fn result(function: Function, first: &Typed, others: &[Typed]) -> Result<Kind, Slip> {
    let number = Kind::One(Single::Integer);
    match function {
        Function::Len => {
            if first.kind != TEXT && !matches!(first.kind, Kind::List(_)) {
                return Err(first.is_not("a String or an Array"));
            }
            taken(first, function)?;
            Ok(number)
        }
        Function::Concat => {
            for other in others {
                if other.kind != first.kind {
                    return Err(other.is_not(&format!("the type {} as before", first.kind)));
                }
            }
            match first.kind {
                TEXT | Kind::List(Single::Text) => Ok(first.kind),
                _ => Err(first.is_not("a String or an Array<String>")),
            }
        }
        Function::Join => {
            if first.kind != Kind::List(Single::Text) {
                return Err(first.is_not("an Array<String>"));
            }
            literals(others, Single::Text)?;
            Ok(TEXT)
        }
        Function::ToString => match first.kind {
            Kind::One(Single::Integer | Single::Boolean | Single::Address) => Ok(TEXT),
            _ => Err(first.is_not("an Integer, a Boolean or an IP address")),
        },
        Function::Cidr | Function::Cidr6 => {
            if first.kind != Kind::One(Single::Address) {
                return Err(first.is_not("an IP address"));
            }
            let limits: &[i64] = match function {
                Function::Cidr => &[32, 128],
                _ => &[128],
            };
            for (other, most) in others.iter().zip(limits) {
                within(other, 1, *most)?;
            }
            Ok(first.kind)
        }
        _ => {
            if first.kind != TEXT {
                return Err(first.is_not("a String"));
            }
            if function != Function::RegexReplace {
                taken(first, function)?;
            }
            of_text(function, others)
        }
    }
}

/// The same for functions whose first argument is a text.
fn of_text(function: Function, others: &[Typed]) -> Result<Kind, Slip> {
    match (function, others) {
        (Function::StartsWith | Function::EndsWith, _) => {
            literals(others, Single::Text)?;
            Ok(Kind::One(Single::Boolean))
        }
        (Function::Split, [separator, limit]) => {
            literals(std::slice::from_ref(separator), Single::Text)?;
            if separator.value == Value::Text(String::new()) {
                return Err(Slip::new(separator.at, "the separator is empty"));
            }
            within(limit, 1, MOST_PARTS)?;
            Ok(Kind::List(Single::Text))
        }
        (Function::Substring, _) => {
            for other in others {
                within(other, i64::from(i32::MIN), i64::from(i32::MAX))?;
            }
            Ok(TEXT)
        }
        (Function::UrlDecode, [options]) => {
            literals(others, Single::Text)?;
            match &options.value {
                Value::Text(text) if ["r", "u", "ru", "ur", ""].contains(&text.as_str()) => {
                    Ok(TEXT)
                }
                _ => Err(Slip::new(options.at, "expected \"r\", \"u\" or \"ur\"")),
            }
        }
        _ => {
            literals(others, Single::Text)?;
            Ok(TEXT)
        }
    }
}

/// A literal has one length and one lower case: whoever asks for it meant something else.
fn taken(argument: &Typed, function: Function) -> Result<(), Slip> {
    if argument.is_literal() {
        let message = format!(
            "{}() is given a field or a function, not a literal",
            function.name()
        );
        return Err(Slip::new(argument.at, message));
    }
    Ok(())
}

fn literals(arguments: &[Typed], single: Single) -> Result<(), Slip> {
    match arguments
        .iter()
        .find(|argument| !argument.is_literal() || argument.kind != Kind::One(single))
    {
        Some(argument) => {
            let message = format!("expected a literal {single}");
            Err(Slip::new(argument.at, message))
        }
        None => Ok(()),
    }
}

/// A literal number in these limits.
fn within(argument: &Typed, least: i64, most: i64) -> Result<(), Slip> {
    match argument.value {
        Value::Integer(number) if (least..=most).contains(&number) => Ok(()),
        _ => {
            let message = format!("expected a number from {least} to {most}");
            Err(Slip::new(argument.at, message))
        }
    }
}

/// The arguments as the evaluation wants them.
fn prepared(function: Function, arguments: Vec<Typed>) -> Result<Vec<Value>, Slip> {
    let arguments = arguments.into_iter().enumerate();
    arguments
        .map(|(n, Typed { value, at, .. })| match (function, n, value) {
            (Function::RegexReplace, 2, Value::Text(source)) => {
                let replacement = Replacement::parse(&source);
                let replacement = replacement.map_err(|fault| Slip::new(at, fault))?;
                Ok(Value::Replacement(replacement))
            }
            (_, _, value) => Ok(value),
        })
        .collect()
}
