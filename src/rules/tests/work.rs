use super::*;

/// A regular expression of the largest size over a long text is refused its turn rather than run.
#[test]
fn what_would_take_too_long_is_not_asked() {
    let mut state = 1_u32;
    let signs = (0..16_000).map(|_| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        if state >> 31 == 0 { 'a' } else { 'b' }
    });
    let long: &'static str = String::leak(signs.collect());
    let request = Request {
        query: long,
        ..Request::default()
    };
    let mut ruleset = Ruleset::new();
    for _ in 0..50 {
        ruleset
            .add(
                r#"http.request.uri.query matches "(a|b)*a(a|b){60}c""#,
                &lists(),
            )
            .unwrap();
    }
    ruleset.add("ssl", &lists()).unwrap();
    assert_eq!(ruleset.ask(&request), Verdict::Exhausted);
    let usual = ruleset.ask(&Request::default());
    assert_eq!(usual, Verdict::Bypass, "short texts are asked");
}

#[test]
fn concatenation_is_paid_for() {
    let long: &'static str = String::leak("a".repeat(16_000));
    let request = Request {
        query: long,
        ..Request::default()
    };
    let many = ", http.request.uri.query".repeat(140);
    let expression = format!("len(concat(http.request.uri.query{many})) eq 1");
    let mut ruleset = Ruleset::new();
    ruleset.add(&expression, &lists()).unwrap();
    assert_eq!(ruleset.ask(&request), Verdict::Exhausted);
}

/// A hundred rules of the usual kind are far from the limit.
#[test]
fn usual_rules_have_room() {
    let mut ruleset = Ruleset::new();
    for n in 0..25 {
        for expression in [
            format!(r#"starts_with(http.request.uri.path, "/static/{n}/")"#),
            format!(r#"http.user_agent matches r"(?i)\b(bot|probe|check){n}\b""#),
            format!("ip.src in {{198.51.100.{n} 203.0.113.0/24}} and not ssl"),
            format!(r#"any(http.request.headers["x-key"][*] eq "{n}")"#),
        ] {
            ruleset.add(&expression, &lists()).unwrap();
        }
    }
    let request = Request {
        headers: vec![("user-agent", String::leak("Mozilla/5.0 ".repeat(40)))],
        ..Request::default()
    };
    assert_eq!(ruleset.ask(&request), Verdict::Room);
}
