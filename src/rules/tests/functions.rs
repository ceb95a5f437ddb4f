use std::collections::BTreeSet;

use super::*;

const HOLD: &[&str] = &[
    r#"any(http.request.uri.args["a"][*] eq "2")"#,
    r#"all(http.request.uri.args["a"][*] in {"1" "2"})"#,
    r#"any(not http.request.uri.args["a"][*] eq "2")"#,
    r#"any(http.request.uri.args["a"][*] eq "2" or http.request.uri.args["a"][*] eq "9")"#,
    r#"all(http.request.uri.args["a"][*] eq "1" xor http.request.uri.args["a"][*] eq "2")"#,
    r#"any((http.request.uri.args["a"][*] gt "1" and http.request.uri.args["a"][*] lt "3"))"#,
    r#"any(lower(http.request.headers.names[*])[*] == "cf-ray")"#,
    r#"any(starts_with(http.request.headers.names[*], "cf-"))"#,
    r#"any(starts_with(http.request.headers.names[*], "cf-")[*])"#,
    r#"all(len(http.request.uri.args["a"][*])[*] in {1 2})"#,
    r#"not all(not len(http.request.uri.args["a"][*])[*] in {1 2})"#,
    "cidr(ip.src, 24, 64) eq 192.0.2.0",
    "cidr6(ip.src, 64) eq 192.0.2.7",
    r#"concat(http.host, "/", http.request.method) eq "shop.example.com/GET""#,
    r#"any(concat(http.request.uri.args["a"][*], "!")[*] eq "2!")"#,
    r#"len(concat(http.request.uri.args["a"], http.request.uri.args["b"])) eq 3"#,
    r#"decode_base64(http.request.uri.query) eq """#,
    r#"ends_with(http.request.uri.path, ".HTML")"#,
    r#"join(http.request.uri.args["a"], ",") eq "1,2""#,
    "len(http.host) eq 16",
    "len(ip.src.city) eq 7",
    r#"len(http.request.uri.args["a"]) eq 2"#,
    r#"lower(http.request.uri.path) eq "/shop/item.html""#,
    r#"upper(http.host) eq "SHOP.EXAMPLE.COM""#,
    r#"regex_replace(http.request.uri.path, "^/shop/([^.]*)\\..*$", "${1}") eq "item""#,
    r#"regex_replace("/foo/bar", "/bar$", "/baz") eq "/foo/baz""#,
    r#"remove_bytes(http.host, "\x2ecom") eq "shpexaple""#,
    r#"split(http.host, ".", 2)[1] eq "example.com""#,
    r#"len(split(http.host, ".", 128)) eq 3"#,
    r#"starts_with(http.request.uri.path, "/shop")"#,
    r#"substring(http.host, 5, 12) eq "example""#,
    r#"substring(http.host, -3) eq "com""#,
    r#"substring(http.host, 0, -4) eq "shop.example""#,
    r#"substring(http.host, 9, 2) eq """#,
    r#"substring(http.host, -99, 4) eq "shop""#,
    r#"to_string(ip.src.asnum) eq "64496""#,
    r#"to_string(ssl) eq "true""#,
    r#"to_string(ip.src) eq "192.0.2.7""#,
    r#"url_decode(http.request.uri.args["b"][0]) eq " x""#,
    r#"any(url_decode(http.request.uri.args.values[*])[*] contains " x")"#,
    r#"lower(http.request.uri.args["a"][0]) eq "1""#,
];

#[test]
fn every_function_does_what_it_says() {
    table(HOLD, &[r#"any(http.request.uri.args["a"][*] eq "3")"#]);
    let called: BTreeSet<&str> = HOLD
        .iter()
        .flat_map(|expression| expression.split('('))
        .filter_map(|before| before.split([' ', '(']).next_back())
        .collect();
    for (name, _) in FUNCTIONS {
        assert!(called.contains(name), "{name} has no example");
    }
}

#[test]
fn decoding() {
    for (query, expression, value) in [
        (
            "John%20Doe",
            "url_decode(http.request.uri.query)",
            "John Doe",
        ),
        ("John+Doe", "url_decode(http.request.uri.query)", "John Doe"),
        ("%2520", "url_decode(http.request.uri.query)", "%20"),
        ("%2520", r#"url_decode(http.request.uri.query, "r")"#, " "),
        (
            "%u2601",
            r#"url_decode(http.request.uri.query, "u")"#,
            "\u{2601}",
        ),
        ("%u2601", "url_decode(http.request.uri.query)", "%u2601"),
        (
            "%ud800%zz%4",
            r#"url_decode(http.request.uri.query, "u")"#,
            "%ud800%zz%4",
        ),
        ("%C3%A4", "url_decode(http.request.uri.query)", "ä"),
        ("%ff", "url_decode(http.request.uri.query)", "\u{fffd}"),
        (
            "MTIzYWJj",
            "decode_base64(http.request.uri.query)",
            "123abc",
        ),
        ("MTI=", "decode_base64(http.request.uri.query)", "12"),
        ("MTI", "decode_base64(http.request.uri.query)", "12"),
        ("%", "decode_base64(http.request.uri.query)", ""),
    ] {
        let request = Request {
            query,
            ..Request::default()
        };
        assert!(
            holds_for(&format!("{expression} eq \"{value}\""), &request),
            "{query} {value}"
        );
    }
}

/// Each round makes the text shorter, and there are few of them.
#[test]
fn decoding_ends() {
    let request = Request {
        query: "%252525252525252525252525252525252520",
        ..Request::default()
    };
    let expression = r#"url_decode(http.request.uri.query, "r") matches "^%(25)+20$""#;
    assert!(holds_for(expression, &request));
}

#[test]
fn networks_of_addresses() {
    let request = Request {
        headers: vec![("cf-connecting-ip", "2001:0:130f:0:0:9c0:876a:130b")],
        ..Request::default()
    };
    assert!(holds_for("cidr(ip.src, 24, 24) eq 2001::", &request));
    assert!(holds_for("cidr6(ip.src, 48) eq 2001:0:130f::", &request));
    assert!(holds_for(
        "cidr6(ip.src, 128) eq 2001:0:130f:0:0:9c0:876a:130b",
        &request
    ));
}
