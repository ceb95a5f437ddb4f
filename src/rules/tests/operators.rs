use super::*;

#[test]
fn texts() {
    table(
        &[
            r#"http.host eq "shop.example.com""#,
            r#"http.host == "shop.example.com""#,
            r#"http.host ne "x""#,
            r#"http.host != "x""#,
            r#"http.host lt "t""#,
            r#"http.host < "t""#,
            r#"http.host le "shop.example.com""#,
            r#"http.host <= "shop.example.com""#,
            r#"http.host gt "a""#,
            r#"http.host > "a""#,
            r#"http.host ge "shop.example.com""#,
            r#"http.host >= "shop.example.com""#,
            r#"http.host contains "example""#,
            r#"http.host matches "^(www|shop)\.example\.com$""#,
            r#"http.host ~ r"^shop\.""#,
            r#"http.host in {"example.com" "shop.example.com"}"#,
            r#"http.host wildcard "*.EXAMPLE.com""#,
            r#"http.host strict wildcard "*.example.com""#,
            r#"http.user_agent contains "(\"x\\y\")""#,
            r##"http.user_agent contains r#"("x\y")"#"##,
            r#"http.user_agent matches "\"x\\y\"""#,
            r##"http.user_agent matches r#""x\\y""#"##,
            r#"http.user_agent contains "\x54ester\x2f""#,
            r#"ip.src.city eq "Zürich""#,
            r#"http.host matches "(?i)EXAMPLE""#,
        ],
        &[
            r#"http.host eq "Shop.example.com""#,
            r#"http.host contains "EXAMPLE""#,
            r#"http.host matches "^example""#,
            r#"http.host strict wildcard "*.EXAMPLE.com""#,
            r#"http.host wildcard "example""#,
            r#"http.host in {"example.com"}"#,
            r#"http.host gt "t""#,
        ],
    );
}

#[test]
fn integers() {
    table(
        &[
            "ip.src.asnum eq 64496",
            "ip.src.asnum ne 1",
            "ip.src.asnum lt 64497",
            "ip.src.asnum le 64496",
            "ip.src.asnum gt -1",
            "ip.src.asnum ge 64496",
            "ip.src.asnum in {1 2 64000..65000}",
            "ip.src.asnum in {64496}",
        ],
        &[
            "ip.src.asnum in {-5..64495 64497..70000}",
            "ip.src.asnum gt 64496",
        ],
    );
}

#[test]
fn addresses() {
    table(
        &[
            "ip.src eq 192.0.2.7",
            "ip.src ne 192.0.2.8",
            "ip.src in {192.0.2.7}",
            "ip.src in {198.51.100.1 192.0.2.0/24 2001:db8::/32 ::1..::9}",
            "ip.src in {192.0.2.1..192.0.2.9}",
            "ip.src in $office",
            "not ip.src in $others",
            "ip.src eq ::ffff:192.0.2.7",
        ],
        &[
            "ip.src eq 192.0.2.8",
            "ip.src in {192.0.2.8/29 2001:db8::1}",
            "ip.src in $others",
        ],
    );
    let v6 = Request {
        headers: vec![("cf-connecting-ip", "2001:db8:1::5")],
        ..Request::default()
    };
    assert!(holds_for("ip.src in $office", &v6));
    assert!(holds_for("ip.src eq 2001:db8:1:0:0::5", &v6));
    // An address that looks like a word.
    assert!(!holds_for("ip.src in {cafe::1 ab::..ab::f}", &v6));
}

#[test]
fn booleans_stand_alone() {
    table(
        &["ssl", "not not ssl", "!!ssl", "(ssl)", "! ( not ssl )"],
        &["not ssl", "!ssl"],
    );
}

/// `T` and `F` stand for tests that hold and do not. The right column has the parentheses that the
/// left one does without.
const PRECEDENCE: &[(&str, &str)] = &[
    ("not F and F", "(not F) and F"),
    ("not T or T", "(not T) or T"),
    ("T or T and F", "T or (T and F)"),
    ("T xor T and F", "T xor (T and F)"),
    ("T or T xor T", "T or (T xor T)"),
    ("F and T or T", "(F and T) or T"),
    ("T xor T or T", "(T xor T) or T"),
    ("F and F xor T", "(F and F) xor T"),
    ("T xor T xor T", "(T xor T) xor T"),
    ("not T xor T", "(not T) xor T"),
    ("T && T || F ^^ T", "(T && T) || (F ^^ T)"),
    ("!F && T ^^ !T || F", "(((!F) && T) ^^ (!T)) || F"),
];

#[test]
fn not_binds_before_and_before_xor_before_or() {
    for (without, with) in PRECEDENCE {
        let [without, with] = [without, with].map(|text| {
            let text = text.replace('T', "ssl");
            check(&text.replace('F', "cf.client.bot"), &lists()).unwrap()
        });
        if !with.to_string().contains("xor ssl xor") {
            assert_eq!(
                without.to_string().replace(['(', ')'], ""),
                with.to_string().replace(['(', ')'], "")
            );
        }
        let request = Request::default();
        let [one, other] = [without, with].map(|read| holds_for(&read.to_string(), &request));
        assert_eq!(one, other);
    }
    // Each differs from what another precedence would make of it.
    assert!(!holds("not cf.client.bot and cf.client.bot"));
    assert!(holds("not ssl or ssl"));
    assert!(holds("ssl or ssl and cf.client.bot"));
    assert!(holds("ssl xor ssl and cf.client.bot"));
    assert!(holds("ssl or ssl xor ssl"));
    assert!(holds("cf.client.bot and cf.client.bot xor ssl"));
}

#[test]
fn the_canonical_form() {
    for (written, printed) in [
        ("(ssl)&&(!ssl||ssl)", "ssl and (not ssl or ssl)"),
        ("((ssl and ssl)) or ssl", "ssl and ssl or ssl"),
        ("ssl and (ssl and ssl)", "ssl and (ssl and ssl)"),
        ("not (ssl and ssl)", "not (ssl and ssl)"),
        (r#"http.host=="a""#, r#"http.host eq "a""#),
        (r#"http.host ~ "a\.b""#, r#"http.host matches r"a\.b""#),
        (r#"http.host eq "a\"b""#, r##"http.host eq r#"a"b"#"##),
        (
            r#"ip.geoip.country in{"CH"  "LI"}"#,
            r#"ip.src.country in {"CH" "LI"}"#,
        ),
        (
            "ip.src in {192.0.2.0/24 ::0001}",
            "ip.src in {192.0.2.0/24 ::1}",
        ),
        ("ip.src.asnum in {007 1..2}", "ip.src.asnum in {7 1..2}"),
        (
            r#"any(lower(http.request.headers["a"][*])[*]=="b")"#,
            r#"any(lower(http.request.headers["a"][*])[*] eq "b")"#,
        ),
    ] {
        assert_eq!(check(written, &lists()).unwrap().to_string(), printed);
        assert_printed_and_read_again(printed);
    }
}
