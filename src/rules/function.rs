//! The functions that expressions may call.

/// A function. `any` and `all` take a test and are a thing of their own.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Function {
    /// `cidr(address, ipv4_bits, ipv6_bits)`
    Cidr,
    /// `cidr6(address, ipv6_bits)`
    Cidr6,
    /// `concat(value, ...)`
    Concat,
    /// `decode_base64(text)`
    DecodeBase64,
    /// `ends_with(text, end)`
    EndsWith,
    /// `join(texts, separator)`
    Join,
    /// `len(text or list)`
    Len,
    /// `lower(text)`
    Lower,
    /// `regex_replace(text, pattern, replacement)`
    RegexReplace,
    /// `remove_bytes(text, signs)`
    RemoveBytes,
    /// `split(text, separator, limit)`
    Split,
    /// `starts_with(text, start)`
    StartsWith,
    /// `substring(text, start[, end])`
    Substring,
    /// `to_string(value)`
    ToString,
    /// `upper(text)`
    Upper,
    /// `url_decode(text[, options])`
    UrlDecode,
}

/// Every function under its name.
pub const FUNCTIONS: &[(&str, Function)] = &[
    ("cidr", Function::Cidr),
    ("cidr6", Function::Cidr6),
    ("concat", Function::Concat),
    ("decode_base64", Function::DecodeBase64),
    ("ends_with", Function::EndsWith),
    ("join", Function::Join),
    ("len", Function::Len),
    ("lower", Function::Lower),
    ("regex_replace", Function::RegexReplace),
    ("remove_bytes", Function::RemoveBytes),
    ("split", Function::Split),
    ("starts_with", Function::StartsWith),
    ("substring", Function::Substring),
    ("to_string", Function::ToString),
    ("upper", Function::Upper),
    ("url_decode", Function::UrlDecode),
];

const REWRITES: &str = "is for rewriting a request, and a rule only asks about one";
const BODIES: &str = "reads bodies, which go to the origin unread";

/// Functions of Cloudflare's that are refused, each with the reason.
pub const REFUSED_FUNCTIONS: &[(&str, &str)] = &[
    ("bit_slice", "is of network rules"),
    (
        "is_timed_hmac_valid_v0",
        "would put a key into a rule, which is no place for secrets",
    ),
    ("lookup_json_integer", BODIES),
    ("lookup_json_string", BODIES),
    ("remove_query_args", REWRITES),
    (
        "uuidv4",
        "decides by chance, and a rule decides by the request",
    ),
    ("wildcard_replace", REWRITES),
];

impl Function {
    /// The function's name.
    pub fn name(self) -> &'static str {
        let found = FUNCTIONS.iter().find(|(_, function)| *function == self);
        found.map_or("", |(name, _)| name)
    }
}

/// The function of a name, or why there is none.
pub(super) fn find(name: &str) -> Result<Function, String> {
    if let Some((_, function)) = FUNCTIONS.iter().find(|(known, _)| *known == name) {
        return Ok(*function);
    }
    if let Some((_, reason)) = REFUSED_FUNCTIONS.iter().find(|(known, _)| *known == name) {
        return Err(format!("{name}() cannot be used: it {reason}"));
    }
    let names = FUNCTIONS
        .iter()
        .map(|(name, _)| *name)
        .chain(["any", "all"]);
    Err(match super::field::nearest(name, names) {
        Some(known) => format!("unknown function {name}; did you mean {known}()?"),
        None => format!("unknown function {name}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_function_has_a_name_and_is_found_by_it() {
        for (name, function) in FUNCTIONS {
            assert_eq!(function.name(), *name);
            assert_eq!(find(name), Ok(*function));
        }
        assert!(
            find("lwoer")
                .unwrap_err()
                .ends_with("did you mean lower()?")
        );
        assert!(find("uuidv4").unwrap_err().contains("cannot be used"));
    }
}
