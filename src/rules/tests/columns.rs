use super::*;

/// What is wrong, at which column, and what was expected.
#[test]
fn faults_point_at_their_column() {
    for (expression, wanted) in [
        ("", "column 1: expected an expression"),
        ("   ", "column 1: expected an expression"),
        (
            "http.hots eq \"a\"",
            "column 1: unknown field http.hots; did you mean http.host?",
        ),
        (
            "ssl and http.hots eq \"a\"",
            "column 9: unknown field http.hots",
        ),
        (
            "http.host",
            "column 10: expected an operator after the String: eq, ne, lt",
        ),
        (
            "http.host eq",
            "column 13: expected a string in double quotes, but the expression ends",
        ),
        (
            "http.host eq a",
            "column 14: expected a string in double quotes, not a",
        ),
        (
            "http.host = \"a\"",
            "column 11: one = is no operator; write eq or ==",
        ),
        (
            "http.host EQ \"a\"",
            "column 11: operators are written in lower case: eq",
        ),
        (
            "ssl AND ssl",
            "column 5: operators are written in lower case: and",
        ),
        ("ssl & ssl", "column 5: one & is no operator"),
        (
            "http.host eq 'a'",
            "column 14: strings stand in double quotes",
        ),
        ("http.host eq \"a", "column 14: this string has no end"),
        ("http.host eq r#\"a\"", "column 14: this string has no end"),
        ("http.host eq \"\\d\"", "column 15: unknown escape"),
        ("http.host eq \"ü\\xff\"", "column 16: \\x stands before"),
        (
            "http.host eq \"ü\" ssl",
            "column 18: expected and, or, xor or the end, not ssl",
        ),
        ("(ssl", "column 5: expected ), but the expression ends"),
        ("ssl)", "column 4: expected and, or, xor or the end, not )"),
        (
            "ssl and",
            "column 8: expected a field, a function, not or (, but the expression ends",
        ),
        ("ssl eq true", "column 5: a Boolean has no operator"),
        (
            "\"a\" eq http.host",
            "column 1: a comparison begins with a field or a function",
        ),
        (
            "http.host gt 5",
            "column 14: expected a string in double quotes, not 5",
        ),
        (
            "ip.src.asnum eq \"5\"",
            "column 17: expected a whole number, not \"5\"",
        ),
        (
            "ip.src.asnum eq 0x5",
            "column 17: expected a whole number, not 0x5",
        ),
        (
            "ip.src.asnum eq 99999999999999999999",
            "column 17: this number is too large",
        ),
        (
            "ip.src.asnum contains \"5\"",
            "column 14: this operator does not go with the type Integer, which has eq, ne, lt",
        ),
        (
            "ip.src lt 192.0.2.1",
            "column 8: this operator does not go with the type IP address, which has eq, ne or in",
        ),
        (
            "ip.src eq 192.0.2.0/24",
            "column 11: a range of addresses stands in a set: in {192.0.2.0/24}",
        ),
        (
            "ip.src in 192.0.2.0/24",
            "column 11: expected { or a list, not 192.0.2.0/24",
        ),
        (
            "ip.src in {192.0.2.1/24}",
            "column 12: 192.0.2.1 is no network of 24 bits; did you mean 192.0.2.0/24?",
        ),
        (
            "ip.src in {192.0.2.1, 192.0.2.2}",
            "column 21: the items of a set stand apart by spaces",
        ),
        ("ip.src in {}", "column 13: the set is empty"),
        (
            "ip.src in {\"a\"}",
            "column 12: expected an IP address, not \"a\"",
        ),
        (
            "ip.src in $offce",
            "column 11: there is no list $offce; did you mean $office?",
        ),
        ("ip.src in $x", "column 11: there is no list $x in ip_lists"),
        (
            "ip.src in $cf.open_proxies",
            "column 11: $cf.open_proxies is a list of Cloudflare's",
        ),
        (
            "http.host in $office",
            "column 14: named lists are of IP addresses",
        ),
        (
            "ip.src not in $office",
            "column 8: not stands before a whole comparison",
        ),
        (
            "http.host strict \"a\"",
            "column 18: expected wildcard after strict, not \"a\"",
        ),
        (
            "http.host wildcard \"a**\"",
            "column 20: two stars in a row",
        ),
        (
            "http.host matches \"a(\"",
            "column 21: this regular expression is refused: unclosed group",
        ),
        (
            "http.host matches \"(a{500}){500}\"",
            "column 20: this regular expression is refused",
        ),
        (
            "http.host matches r\"ü\\p{Greek}\"",
            "column 22: this regular expression is refused",
        ),
        (
            "cf.threat_score gt 5",
            "column 1: cf.threat_score cannot be used: is not allowed in waiting room rules",
        ),
        (
            "cf.bot_management.score gt 5",
            "column 1: cf.bot_management.score cannot be used",
        ),
        (
            "http.response.code eq 5",
            "column 1: http.response.code cannot be used: a rule is asked before",
        ),
        (
            "http.request.body.raw eq \"\"",
            "column 1: http.request.body.raw cannot be used: bodies go",
        ),
        (
            "http.request.headers eq \"a\"",
            "column 1: http.request.headers is a map; take the values of one key",
        ),
        (
            "http.request.headers[0] eq \"a\"",
            "column 22: expected a key in double quotes, not 0",
        ),
        (
            "http.request.headers[\"Accept\"][0] eq \"a\"",
            "column 22: the names of header fields are in lower case",
        ),
        (
            "http.request.headers[\"a b\"][0] eq \"a\"",
            "column 22: no header field has such a name",
        ),
        (
            "http.request.headers[\"a\"] eq \"a\"",
            "column 1: http.request.headers[\"a\"] is an array; take one element",
        ),
        (
            "http.request.headers[\"a\"][-1] eq \"a\"",
            "column 27: expected an index from 0 on, or *, not -1",
        ),
        (
            "http.request.headers[\"a\"][*] eq \"a\"",
            "column 1: this is asked of every element",
        ),
        (
            "http.host[0] eq \"a\"",
            "column 1: http.host is no array and no map",
        ),
        ("http.host[0", "column 1: http.host is no array"),
        (
            "any(ssl)",
            "column 5: expected a test of every element of an array, with [*]",
        ),
        (
            "any()",
            "column 5: expected a field, a function, not or (, not )",
        ),
        (
            "any(ssl or http.request.headers.names[*] eq \"a\")",
            "column 12: both sides are asked",
        ),
        (
            "any(http.request.headers.names[*] eq \"a\" and http.request.headers.values[*] eq \"b\")",
            "column 46: both sides are asked",
        ),
        (
            "lwoer(http.host) eq \"a\"",
            "column 1: unknown function lwoer; did you mean lower()?",
        ),
        (
            "uuidv4(cf.random_seed) eq \"a\"",
            "column 1: uuidv4() cannot be used",
        ),
        (
            "lower() eq \"a\"",
            "column 7: expected a field, a function, not or (, not )",
        ),
        (
            "lower(ssl) eq \"a\"",
            "column 7: expected a String, not the type Boolean",
        ),
        (
            "lower(\"A\") eq \"a\"",
            "column 7: lower() is given a field or a function, not a literal",
        ),
        (
            "lower(http.request.headers.names) eq \"a\"",
            "column 7: expected a String, not the type Array<String>; [*] stands for every element",
        ),
        (
            "lower(http.host, \"a\") eq \"a\"",
            "column 18: lower() takes at most 1 arguments",
        ),
        (
            "starts_with(http.host)",
            "column 22: starts_with() takes 2 arguments",
        ),
        (
            "starts_with(http.host, http.cookie)",
            "column 24: expected a literal String",
        ),
        (
            "http.host starts_with \"a\"",
            "column 11: expected an operator after the String",
        ),
        (
            "cidr(ip.src, 33, 64) eq 1.2.3.4",
            "column 14: expected a number from 1 to 32",
        ),
        (
            "split(http.host, \"\", 5)[0] eq \"a\"",
            "column 18: the separator is empty",
        ),
        (
            "split(http.host, \",\", 129)[0] eq \"a\"",
            "column 23: expected a number from 1 to 128",
        ),
        (
            "url_decode(http.host, \"x\") eq \"a\"",
            "column 23: expected \"r\", \"u\" or \"ur\"",
        ),
        (
            "regex_replace(http.host, \"\\x61(\", \"\") eq \"a\"",
            "column 31: this regular expression is refused",
        ),
        (
            "regex_replace(http.host, \"a\", \"$\") eq \"a\"",
            "column 31: in a replacement $ stands before",
        ),
        (
            "concat(http.host, 5) eq \"a\"",
            "column 19: expected the type String as before",
        ),
        (
            "len(ssl) eq 1",
            "column 5: expected a String or an Array, not the type Boolean",
        ),
        ("ssl # why", "column 5: there are no comments"),
        ("ssl @", "column 5: '@' has no meaning here"),
    ] {
        let fault = fault(expression);
        assert!(
            fault.starts_with(wanted),
            "{expression}\n  is  {fault}\n  not {wanted}"
        );
    }
}

#[test]
fn limits() {
    let long = format!("http.host eq \"{}\"", "ü".repeat(LONGEST - 15));
    assert_eq!(check(&long, &lists()).map(drop), Ok(()));
    assert_eq!(
        fault(&format!("{long} ")),
        "column 4097: an expression has 4096 characters at most"
    );

    let deep = |levels: usize| format!("{}ssl{}", "(".repeat(levels), ")".repeat(levels));
    assert_eq!(check(&deep(32), &lists()).map(drop), Ok(()));
    assert_eq!(
        fault(&deep(33)),
        "column 33: nested too deeply: 32 levels are the most"
    );
    assert!(fault(&format!("{}ssl", "!".repeat(4_000))).contains("nested too deeply"));
    assert!(fault(&"lower(".repeat(600)).contains("nested too deeply"));
    let hashes = "#".repeat(256);
    assert!(fault(&format!("http.host eq r{hashes}\"a\"{hashes}")).contains("255 number signs"));
}
