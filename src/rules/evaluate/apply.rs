//! What functions make of values.

use std::borrow::Cow;

use base64::Engine;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

use super::source::integer;
use super::{Asked, Evaluation, Scalar, length};
use crate::rules::address::mask;
use crate::rules::expression::Value;
use crate::rules::function::Function;
use crate::rules::kind::Kind;

/// With or without padding.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// A text is decoded again so often at most.
const MOST_DECODINGS: usize = 8;

impl<'a> Evaluation<'a> {
    /// What a function gives that gives one value.
    pub(super) fn call(
        &'a self,
        function: Function,
        first: &'a Value,
        others: &'a [Value],
    ) -> Asked<Option<Scalar<'a>>> {
        match function {
            Function::Len => {
                if is_list(first) {
                    return Ok(self.list(first)?.map(|list| integer(list.len() as u64)));
                }
                let text = self.scalar(first)?.and_then(into_text);
                Ok(text.map(|text| integer(text.len() as u64)))
            }
            Function::Join => {
                let (Some(list), [Value::Text(separator)]) = (self.list(first)?, others) else {
                    return Ok(None);
                };
                let texts: Vec<_> = list.into_iter().filter_map(into_text).collect();
                let joined = texts.join(separator.as_str());
                self.spend(length(joined.len()))?;
                Ok(Some(Scalar::Text(joined.into())))
            }
            _ => match self.scalar(first)? {
                Some(scalar) => self.apply(function, scalar, others),
                None => Ok(None),
            },
        }
    }

    /// What a function gives that gives an array: of each element, or of a text.
    pub(super) fn list_call(
        &'a self,
        function: Function,
        first: &'a Value,
        others: &'a [Value],
    ) -> Asked<Option<Vec<Scalar<'a>>>> {
        match (function, first, others) {
            (function, Value::Each(list), others) => {
                let Some(list) = self.list(list)? else {
                    return Ok(None);
                };
                let each = list.into_iter();
                let each = each.map(|element| self.apply(function, element, others));
                each.collect()
            }
            (Function::Split, first, [Value::Text(separator), Value::Integer(limit)]) => {
                let Some(text) = self.scalar(first)?.and_then(into_text) else {
                    return Ok(None);
                };
                self.spend(length(text.len()))?;
                let parts = text.splitn(usize::try_from(*limit).unwrap_or(1), separator.as_str());
                let parts = parts.map(|part| Scalar::Text(part.to_owned().into()));
                Ok(Some(parts.collect()))
            }
            (Function::Concat, first, others) => {
                let mut all = Vec::new();
                for list in std::iter::once(first).chain(others) {
                    match self.list(list)? {
                        Some(list) => all.extend(list),
                        None => return Ok(None),
                    }
                }
                Ok(Some(all))
            }
            _ => Ok(None),
        }
    }

    /// A function of one value.
    fn apply(
        &'a self,
        function: Function,
        of: Scalar<'a>,
        others: &'a [Value],
    ) -> Asked<Option<Scalar<'a>>> {
        let text = match (function, of, others) {
            (Function::ToString, Scalar::Text(_), _) => return Ok(None),
            (Function::ToString, scalar, _) => return Ok(Some(Scalar::Text(to_string(&scalar)))),
            (Function::Cidr, Scalar::Address(address), [v4, v6]) => {
                let bits = if address.is_ipv4() { v4 } else { v6 };
                return Ok(Some(Scalar::Address(mask(address, to_bits(bits)))));
            }
            (Function::Cidr6, Scalar::Address(address), [v6]) => {
                let bits = if address.is_ipv4() { 32 } else { to_bits(v6) };
                return Ok(Some(Scalar::Address(mask(address, bits))));
            }
            (_, Scalar::Text(text), _) => text,
            // Refused when the expression was read.
            _ => return Ok(None),
        };
        self.spend(length(text.len()))?;
        Ok(match (function, others) {
            (Function::StartsWith, [Value::Text(start)]) => {
                Some(Scalar::Boolean(text.starts_with(start.as_str())))
            }
            (Function::EndsWith, [Value::Text(end)]) => {
                Some(Scalar::Boolean(text.ends_with(end.as_str())))
            }
            (Function::Len, _) => Some(integer(text.len() as u64)),
            (Function::Concat, others) => self.concat(text, others)?,
            (Function::RegexReplace, [Value::Pattern(pattern), Value::Replacement(with)]) => {
                self.spend(length(pattern.cost(&text)))?;
                Some(Scalar::Text(pattern.replace(&text, with).into()))
            }
            _ => transformed(function, text, others).map(Scalar::Text),
        })
    }

    fn concat(&'a self, first: Cow<'a, str>, others: &'a [Value]) -> Asked<Option<Scalar<'a>>> {
        let mut whole = first.into_owned();
        for other in others {
            match self.scalar(other)?.and_then(into_text) {
                Some(text) => whole.push_str(&text),
                None => return Ok(None),
            }
            self.spend(length(whole.len()))?;
        }
        Ok(Some(Scalar::Text(whole.into())))
    }
}

/// What a function makes of a text that gives a text.
fn transformed<'a>(
    function: Function,
    text: Cow<'a, str>,
    others: &[Value],
) -> Option<Cow<'a, str>> {
    let upper = |byte: u8| byte.is_ascii_uppercase();
    let lower = |byte: u8| byte.is_ascii_lowercase();
    Some(match (function, others) {
        (Function::Lower, _) if text.bytes().any(upper) => text.to_ascii_lowercase().into(),
        (Function::Upper, _) if text.bytes().any(lower) => text.to_ascii_uppercase().into(),
        (Function::Lower | Function::Upper, _) => text,
        (Function::DecodeBase64, _) => {
            let decoded = BASE64.decode(text.as_bytes()).unwrap_or_default();
            String::from_utf8_lossy(&decoded).into_owned().into()
        }
        (Function::RemoveBytes, [Value::Text(signs)]) => {
            let signs = |sign| signs.contains(sign);
            text.replace(signs, "").into()
        }
        (Function::Substring, [Value::Integer(start)]) => substring(&text, *start, None),
        (Function::Substring, [Value::Integer(start), Value::Integer(end)]) => {
            substring(&text, *start, Some(*end))
        }
        (Function::UrlDecode, options) => {
            let has = |option| matches!(options, [Value::Text(text)] if text.contains(option));
            url_decode(text, has('r'), has('u'))
        }
        _ => return None,
    })
}

/// From byte `start` up to byte `end`; negative ones count from the end. What is left of a character
/// that is cut through becomes U+FFFD.
fn substring(text: &str, start: i64, end: Option<i64>) -> Cow<'static, str> {
    let place = |index: i64| {
        let index = usize::try_from(index).unwrap_or_else(|_negative| {
            let back = usize::try_from(index.unsigned_abs()).unwrap_or(usize::MAX);
            text.len().saturating_sub(back)
        });
        index.min(text.len())
    };
    let end = end.map_or(text.len(), place);
    let bytes = text.as_bytes().get(place(start)..end).unwrap_or_default();
    String::from_utf8_lossy(bytes).into_owned().into()
}

/// `%HH` and `+`; with `unicode` also `%uHHHH`. What is no UTF-8 afterwards becomes U+FFFD.
fn url_decode(text: Cow<'_, str>, again: bool, unicode: bool) -> Cow<'_, str> {
    let mut text = text;
    for _ in 0..if again { MOST_DECODINGS } else { 1 } {
        if !text.bytes().any(|byte| matches!(byte, b'%' | b'+')) {
            break;
        }
        let decoded = decoded(&text, unicode);
        if decoded == text {
            break;
        }
        text = Cow::Owned(decoded);
    }
    text
}

fn decoded(text: &str, unicode: bool) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        match (byte, after) {
            (b'+', _) => bytes.push(b' '),
            (b'%', [b'u', digits @ ..]) if unicode => {
                let digits = digits.first_chunk::<4>();
                match digits
                    .and_then(|digits| hexadecimal(digits))
                    .and_then(char::from_u32)
                {
                    Some(sign) => {
                        let mut buffer = [0; 4];
                        bytes.extend_from_slice(sign.encode_utf8(&mut buffer).as_bytes());
                        rest = after.get(5..).unwrap_or_default();
                    }
                    None => bytes.push(byte),
                }
            }
            (b'%', [high, low, later @ ..]) => match hexadecimal(&[*high, *low]) {
                Some(value) => {
                    bytes.push(u8::try_from(value).unwrap_or_default());
                    rest = later;
                }
                None => bytes.push(byte),
            },
            _ => bytes.push(byte),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn hexadecimal(digits: &[u8]) -> Option<u32> {
    digits.iter().try_fold(0, |value, digit| {
        Some(value * 16 + char::from(*digit).to_digit(16)?)
    })
}

fn to_bits(value: &Value) -> u8 {
    match value {
        Value::Integer(bits) => u8::try_from(*bits).unwrap_or(u8::MAX),
        _ => u8::MAX,
    }
}

fn to_string(scalar: &Scalar<'_>) -> Cow<'static, str> {
    match scalar {
        Scalar::Boolean(value) => value.to_string().into(),
        Scalar::Integer(number) => number.to_string().into(),
        Scalar::Address(address) => address.to_string().into(),
        Scalar::Text(text) => text.to_string().into(),
    }
}

fn into_text(scalar: Scalar<'_>) -> Option<Cow<'_, str>> {
    match scalar {
        Scalar::Text(text) => Some(text),
        _ => None,
    }
}

/// Whether a value is an array rather than one text.
fn is_list(value: &Value) -> bool {
    match value {
        Value::Field(field, _) => matches!(field.kind, Kind::List(_)),
        Value::Key(..) => true,
        Value::Call(Function::Split, _) => true,
        // What a function makes of every element is an array.
        Value::Call(Function::Concat, arguments) => arguments
            .first()
            .is_some_and(|first| matches!(first, Value::Each(_)) || is_list(first)),
        Value::Call(_, arguments) => matches!(arguments.first(), Some(Value::Each(_))),
        _ => false,
    }
}
