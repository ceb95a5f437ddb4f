use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use super::*;

const HOST: &str = "shop.example.com";
const ASN: i64 = 64_496;
const ARGUMENTS: [&str; 2] = ["1", "2"];

/// A test, judged without any of the code of this module.
#[derive(Clone, Debug)]
enum Naive {
    Or(Vec<Naive>),
    Xor(Vec<Naive>),
    And(Vec<Naive>),
    Not(Box<Naive>),
    /// An expression, and whether it holds for the usual request.
    Leaf(String, bool),
}

impl Naive {
    fn holds(&self) -> bool {
        match self {
            Self::Or(parts) => parts.iter().any(Self::holds),
            Self::And(parts) => parts.iter().all(Self::holds),
            Self::Xor(parts) => parts.iter().filter(|part| part.holds()).count() % 2 == 1,
            Self::Not(part) => !part.holds(),
            Self::Leaf(_, holds) => *holds,
        }
    }

    /// In parentheses wherever there can be some.
    fn text(&self, english: bool) -> String {
        let join = |parts: &[Self], word: &str| {
            let parts: Vec<_> = parts.iter().map(|part| part.text(english)).collect();
            format!("({})", parts.join(word))
        };
        match (self, english) {
            (Self::Or(parts), true) => join(parts, " or "),
            (Self::Or(parts), false) => join(parts, "||"),
            (Self::Xor(parts), true) => join(parts, " xor "),
            (Self::Xor(parts), false) => join(parts, "^^"),
            (Self::And(parts), true) => join(parts, " and "),
            (Self::And(parts), false) => join(parts, "&&"),
            (Self::Not(part), true) => format!("not {}", part.text(english)),
            (Self::Not(part), false) => format!("!{}", part.text(english)),
            (Self::Leaf(text, _), _) => text.clone(),
        }
    }
}

type Holds = fn(std::cmp::Ordering) -> bool;

/// An operator with what it says of an ordering.
fn orders() -> impl Strategy<Value = (&'static str, Holds)> {
    let orders: Vec<(&'static str, Holds)> = vec![
        ("eq", |order| order.is_eq()),
        ("==", |order| order.is_eq()),
        ("ne", |order| order.is_ne()),
        ("!=", |order| order.is_ne()),
        ("lt", |order| order.is_lt()),
        ("<", |order| order.is_lt()),
        ("le", |order| order.is_le()),
        ("<=", |order| order.is_le()),
        ("gt", |order| order.is_gt()),
        (">", |order| order.is_gt()),
        ("ge", |order| order.is_ge()),
        (">=", |order| order.is_ge()),
    ];
    select(orders)
}

fn quote(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

fn leaf() -> impl Strategy<Value = Naive> {
    let texts = select(vec![
        HOST, "shop", "", "t", "example", "\"\\", "Zürich", "a\"#b", "z*",
    ]);
    let texts = prop_oneof![texts.prop_map(str::to_owned), "\\PC{0,6}"];
    let numbers = prop_oneof![Just(ASN), any::<i64>(), ASN - 2..ASN + 3];
    prop_oneof![
        Just(Naive::Leaf("ssl".to_owned(), true)),
        (orders(), texts.clone()).prop_map(|((word, holds), text)| {
            let holds = holds(HOST.cmp(&text));
            Naive::Leaf(format!("http.host {word} {}", quote(&text)), holds)
        }),
        (orders(), numbers.clone()).prop_map(|((word, holds), number)| {
            let holds = holds(ASN.cmp(&number));
            Naive::Leaf(format!("ip.src.asnum {word} {number}"), holds)
        }),
        texts.clone().prop_map(|text| {
            let holds = HOST.contains(&text);
            Naive::Leaf(format!("http.host contains {}", quote(&text)), holds)
        }),
        vec(texts.clone(), 1..4).prop_map(|texts| {
            let quoted: Vec<_> = texts.iter().map(|text| quote(text)).collect();
            let holds = texts.iter().any(|text| text == HOST);
            Naive::Leaf(format!("http.host in {{{}}}", quoted.join(" ")), holds)
        }),
        vec((numbers, 0..5_i64), 1..4).prop_map(|ranges| {
            let ranges = ranges
                .iter()
                .map(|(from, more)| (*from, from.saturating_add(*more)));
            let holds = ranges.clone().any(|(from, to)| from <= ASN && ASN <= to);
            let texts: Vec<_> = ranges.map(|(from, to)| format!("{from}..{to}")).collect();
            Naive::Leaf(format!("ip.src.asnum in {{{}}}", texts.join(" ")), holds)
        }),
        (any::<[u8; 4]>(), 0..=32_u32).prop_map(|(bytes, bits)| {
            let mask = u32::MAX.checked_shl(32 - bits).unwrap_or(0);
            let network = u32::from_be_bytes(bytes) & mask;
            let holds = u32::from_be_bytes([192, 0, 2, 7]) & mask == network;
            let network = std::net::Ipv4Addr::from(network);
            Naive::Leaf(format!("ip.src in {{{network}/{bits}}}"), holds)
        }),
        (
            any::<bool>(),
            any::<bool>(),
            orders(),
            select(vec!["0", "1", "2", "3"])
        )
            .prop_map(|(all, negated, (word, order), text)| {
                let holds = |value: &&str| order((**value).cmp(text)) != negated;
                let mut values = ARGUMENTS.iter();
                let holds = if all {
                    values.all(holds)
                } else {
                    values.any(holds)
                };
                let function = if all { "all" } else { "any" };
                let not = if negated { "not " } else { "" };
                let test = format!("{not}http.request.uri.args[\"a\"][*] {word} \"{text}\"");
                Naive::Leaf(format!("{function}({test})"), holds)
            }),
        ("[a-zA-Z.]{0,5}", any::<bool>()).prop_map(|(text, upper)| {
            let function = if upper { "upper" } else { "lower" };
            let folded = if upper {
                HOST.to_uppercase()
            } else {
                HOST.to_owned()
            };
            let holds = folded.contains(&text);
            Naive::Leaf(format!("{function}(http.host) contains \"{text}\""), holds)
        }),
    ]
}

fn naive() -> impl Strategy<Value = Naive> {
    leaf().prop_recursive(5, 40, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 2..4).prop_map(Naive::Or),
            vec(inner.clone(), 2..4).prop_map(Naive::Xor),
            vec(inner.clone(), 2..4).prop_map(Naive::And),
            inner.prop_map(|part| Naive::Not(Box::new(part))),
        ]
    })
}

/// What a chain without parentheses says: by splitting at the loosest operator.
fn chain(operands: &[bool], operators: &[&str]) -> bool {
    for (word, neutral) in [("or", false), ("xor", false), ("and", true)] {
        if !operators.contains(&word) {
            continue;
        }
        let mut result = neutral;
        let mut from = 0;
        for at in 0..=operators.len() {
            if at == operators.len() || operators[at] == word {
                let part = chain(&operands[from..=at], &operators[from..at]);
                result = match word {
                    "or" => result | part,
                    "xor" => result ^ part,
                    _ => result & part,
                };
                from = at + 1;
            }
        }
        return result;
    }
    operands[0]
}

/// Pieces of the language in no order.
fn soup() -> impl Strategy<Value = String> {
    let pieces = select(vec![
        "(",
        ")",
        "{",
        "}",
        "[",
        "]",
        "[*]",
        "[0]",
        ",",
        "*",
        "==",
        "!",
        "not",
        "and",
        "or",
        "xor",
        "eq",
        "in",
        "contains",
        "matches",
        "~",
        "strict",
        "wildcard",
        "http.host",
        "ssl",
        "ip.src",
        "http.request.headers",
        "http.request.uri.args",
        "any(",
        "all(",
        "lower(",
        "concat(",
        "split(",
        "\"a\"",
        "r#\"a\"#",
        "\"",
        "\\",
        "$office",
        "192.0.2.1",
        "::1/64",
        "1..2",
        "-1",
        "ü",
        "\"(\"",
        "\u{0}",
        "..",
        "/",
        "http.request.headers[\"a\"][*]",
        "regex_replace(",
    ]);
    vec(pieces, 0..24).prop_map(|pieces| pieces.join(" "))
}

proptest! {
    #[test]
    fn any_text_is_read_or_refused(text in "\\PC{0,200}") {
        if let Err(fault) = check(&text, &lists()) {
            prop_assert!(fault.column <= text.chars().count() + 1);
        }
    }

    #[test]
    fn any_mixture_of_pieces_is_read_or_refused(text in soup()) {
        match check(&text, &lists()) {
            Ok(read) => {
                let printed = read.to_string();
                prop_assert_eq!(check(&printed, &lists()), Ok(read));
                holds(&text);
            }
            Err(fault) => prop_assert!(fault.column <= text.chars().count() + 1),
        }
    }

    #[test]
    fn what_is_printed_reads_as_the_same_and_says_the_same(
        naive in naive(),
        english in any::<bool>(),
    ) {
        let text = naive.text(english);
        prop_assume!(text.chars().count() <= LONGEST);
        let Ok(read) = check(&text, &lists()) else {
            return Err(TestCaseError::fail(fault(&text)));
        };
        let printed = read.to_string();
        prop_assert_eq!(check(&printed, &lists()), Ok(read));
        prop_assert_eq!(holds(&text), naive.holds(), "{}", text);
        prop_assert_eq!(holds(&printed), naive.holds(), "{}", printed);
    }

    #[test]
    fn chains_without_parentheses(
        operands in vec((any::<bool>(), 0..3_usize), 1..9),
        operators in vec(select(vec!["and", "xor", "or"]), 8),
    ) {
        let operators = &operators[..operands.len() - 1];
        let mut text = String::new();
        for (n, (value, nots)) in operands.iter().enumerate() {
            if n > 0 {
                text += &format!(" {} ", operators[n - 1]);
            }
            text += &"not ".repeat(*nots);
            text += if *value { "ssl" } else { "cf.client.bot" };
        }
        let values: Vec<bool> = operands.iter().map(|(value, nots)| value ^ (nots % 2 == 1)).collect();
        prop_assert_eq!(holds(&text), chain(&values, operators), "{}", text);
    }

    /// Whatever a request holds, and however rules look at it, there is a verdict.
    #[test]
    fn any_request_gets_a_verdict(query in "\\PC{0,60}", cookie in "\\PC{0,60}", address in "\\PC{0,20}") {
        let request = Request {
            query: String::leak(query),
            headers: vec![
                ("cookie", String::leak(cookie)),
                ("cf-connecting-ip", String::leak(address)),
            ],
            ..Request::default()
        };
        let mut ruleset = Ruleset::new();
        for expression in [
            r#"any(url_decode(http.request.uri.args["a"][*], "ur")[*] contains "\x00")"#,
            r#"substring(http.cookie, 1, -1) eq "x" or substring(http.cookie, -7, 3) eq "y""#,
            r#"http.request.cookies["a"][3] eq "x" and ip.src in $office"#,
            r#"len(split(http.request.uri.query, "&", 3)) gt 3"#,
            r#"regex_replace(http.cookie, "(.)(.)", "${2}${1}${3}") eq "never""#,
            r#"join(http.request.accepted_languages, "-") eq "never""#,
        ] {
            ruleset.add(expression, &lists()).unwrap();
        }
        ruleset.ask(&request);
    }
}
