use std::collections::BTreeSet;

use super::*;

/// For each field an expression that holds for the usual request.
const HOLD: &[&str] = &[
    "not cf.client.bot",
    r#"cf.ray_id eq "7d1c0a""#,
    r#"cf.tls_cipher eq """#,
    r#"cf.tls_client_auth.cert_fingerprint_sha1 eq """#,
    r#"cf.tls_client_auth.cert_fingerprint_sha256 eq """#,
    r#"cf.tls_client_auth.cert_issuer_dn eq """#,
    "cf.tls_client_auth.cert_presented",
    "not cf.tls_client_auth.cert_revoked",
    r#"cf.tls_client_auth.cert_serial eq """#,
    r#"cf.tls_client_auth.cert_subject_dn eq """#,
    "cf.tls_client_auth.cert_verified",
    r#"cf.tls_version eq "TLSv1.3""#,
    r#"cf.verified_bot_category eq """#,
    r#"cf.worker.upstream_zone eq """#,
    r#"http.cookie contains "b=2""#,
    r#"http.host eq "shop.example.com""#,
    r#"http.referer eq """#,
    r#"http.request.accepted_languages[0] eq "de""#,
    r#"http.request.cookies["a"][1] eq "3""#,
    r#"http.request.full_uri eq "https://shop.example.com:8443/shop/item.HTML?a=1&b=%20x&a=2&flag""#,
    r#"http.request.headers["accept"][0] eq "application/json""#,
    r#"any(http.request.headers.names[*] eq "cf-ray")"#,
    r#"any(http.request.headers.values[*] eq "7d1c0a-FRA")"#,
    r#"http.request.method eq "GET""#,
    "http.request.timestamp.msec eq 123",
    "http.request.timestamp.sec eq 1767225600",
    r#"http.request.uri eq "/shop/item.HTML?a=1&b=%20x&a=2&flag""#,
    r#"http.request.uri.args["a"][1] eq "2""#,
    r#"any(http.request.uri.args.names[*] eq "flag")"#,
    r#"any(http.request.uri.args.values[*] eq "%20x")"#,
    r#"http.request.uri.path eq "/shop/item.HTML""#,
    r#"http.request.uri.path.extension eq "html""#,
    r#"http.request.uri.query eq "a=1&b=%20x&a=2&flag""#,
    r#"http.request.version eq "HTTP/2""#,
    r#"http.user_agent contains "Tester/1.0""#,
    r#"http.x_forwarded_for eq """#,
    "ip.src eq 192.0.2.7",
    "ip.src.asnum eq 64496",
    r#"ip.src.city eq "Zürich""#,
    r#"ip.src.continent eq "EU""#,
    r#"ip.src.country eq "CH""#,
    "ip.src.is_in_european_union",
    r#"ip.src.lat eq """#,
    r#"ip.src.lon eq """#,
    r#"ip.src.metro_code eq """#,
    r#"ip.src.postal_code eq """#,
    r#"ip.src.region eq """#,
    r#"ip.src.region_code eq "ZH""#,
    r#"ip.src.subdivision_1_iso_code eq "CH-ZH""#,
    r#"ip.src.timezone.name eq """#,
    r#"raw.http.request.full_uri contains ":8443/shop/./item""#,
    r#"raw.http.request.uri eq "/shop/./item.HTML?a=1&b=%20x&a=2&flag""#,
    r#"raw.http.request.uri.path eq "/shop/./item.HTML""#,
    "ssl",
];

#[test]
fn every_field_has_its_value() {
    table(HOLD, &[]);
    let named: BTreeSet<&str> = HOLD
        .iter()
        .flat_map(|expression| expression.split([' ', '[', '(']))
        .collect();
    for field in FIELDS {
        assert!(named.contains(field.name), "{} has no example", field.name);
    }
}

#[test]
fn what_is_absent_is_empty_and_what_is_missing_compares_with_nothing() {
    let nothing = Request {
        headers: Vec::new(),
        platform: Vec::new(),
        query: "",
        ..Request::default()
    };
    for expression in [
        r#"http.user_agent eq """#,
        "ip.src.asnum eq 0",
        "not ip.src.is_in_european_union",
        r#"ip.src.subdivision_1_iso_code eq """#,
        r#"not http.request.headers["x"][0] eq "a""#,
        r#"not http.request.headers["x"][0] ne "a""#,
        r#"not any(http.request.headers["x"][*] ne "a")"#,
        r#"not all(http.request.headers["x"][*] ne "a")"#,
        r#"not len(http.request.uri.args["order"]) ge 0"#,
        r#"not lower(http.request.headers["x"][0]) eq """#,
        "not ip.src eq 192.0.2.7",
        "not ip.src ne 192.0.2.7",
        // The array is there, and empty.
        r#"all(http.request.uri.args.values[*] eq "x")"#,
        r#"http.request.uri eq "/shop/item.HTML""#,
    ] {
        assert!(holds_for(expression, &nothing), "{expression}");
    }
}

#[test]
fn bots_are_known_by_category_or_flag() {
    for (property, value, known) in [
        ("verifiedBotCategory", "Page Preview", true),
        ("botManagement.verifiedBot", "true", true),
        ("botManagement.verifiedBot", "false", false),
    ] {
        let request = Request {
            platform: vec![(property, value)],
            ..Request::default()
        };
        assert_eq!(holds_for("cf.client.bot", &request), known, "{value}");
        assert!(!holds_for(CRAWLER, &request));
    }
    for category in ["Search Engine Crawler", "Search engine crawler"] {
        let request = Request {
            platform: vec![("verifiedBotCategory", category)],
            ..Request::default()
        };
        assert!(holds_for(CRAWLER, &request));
    }
    let claims = Request {
        headers: vec![("user-agent", "Googlebot/2.1 (Search Engine Crawler)")],
        platform: Vec::new(),
        ..Request::default()
    };
    assert!(!holds_for(CRAWLER, &claims));
}

#[test]
fn a_certificate_counts_if_it_is_valid() {
    for (verified, counts) in [
        ("SUCCESS", true),
        ("FAILED:certificate revoked", false),
        ("NONE", false),
    ] {
        let request = Request {
            platform: vec![("tlsClientAuth.certVerified", verified)],
            ..Request::default()
        };
        assert_eq!(
            holds_for("cf.tls_client_auth.cert_verified", &request),
            counts
        );
    }
}

/// A request is read once, and only if something needs it.
#[test]
fn nothing_is_read_that_no_expression_names() {
    struct Silent;
    impl Facts for Silent {
        fn target(&self) -> Target<'_> {
            Target {
                https: true,
                host: "example.com",
                authority: "example.com",
                path: "/",
                raw_path: "/",
                query: "",
            }
        }
        fn fields(&self, needs: &[Need]) -> Vec<Option<&str>> {
            panic!("read {needs:?}");
        }
        fn platform(&self, needs: &[Need]) -> Vec<Option<&str>> {
            panic!("asked the platform {needs:?}");
        }
        fn headers(&self) -> Vec<(String, String)> {
            panic!("read all header fields");
        }
        fn now(&self) -> u64 {
            panic!("read the clock");
        }
    }
    let mut ruleset = Ruleset::new();
    for expression in [
        r#"http.host eq "example.org" and http.user_agent eq "x""#,
        r#"http.request.uri.path eq "/x" and any(http.request.headers.names[*] eq "x")"#,
        r#"starts_with(http.request.full_uri, "http:") and http.request.timestamp.sec gt 1"#,
    ] {
        ruleset.add(expression, &lists()).unwrap();
    }
    assert_eq!(ruleset.ask(&Silent), Verdict::Room);
    assert_eq!(ruleset.needs(), [Need::Header("User-Agent".to_owned())]);
}
