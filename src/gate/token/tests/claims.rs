//! What was signed, whatever it is.

use proptest::prelude::*;

use super::*;

#[test]
fn claims_must_fit_together() {
    let aud = "a".repeat(32);
    let times = r#""iat":1767225600,"exp":1767225900"#;
    let base = |aud: &str, sub: &str, rest: &str| {
        sign_claims(&format!(
            r#"{{"iss":"anteroom","aud":"{aud}","sub":"{sub}",{times},{rest}}}"#
        ))
    };
    let life = format!("{aud}.2a");
    let admitted_state = r#""state":"admitted""#;
    assert_eq!(
        verify(&base(&life, "1042", admitted_state)),
        Ok(admitted()),
        "the pattern is right"
    );
    assert_eq!(
        verify(&base(
            &life,
            "1042",
            r#""state":"admitted","later":{"x":[1]}"#
        )),
        Ok(admitted()),
        "claims of a newer version are passed over"
    );
    for (aud, sub, rest) in [
        (&life, "0", admitted_state),
        (&life, "9007199254740992", admitted_state),
        (&life, "-1", admitted_state),
        (&life, "", admitted_state),
        (&aud, "1042", admitted_state),
        (&life, "1042", r#""state":"Admitted""#),
        (&life, "1042", r#""state":"other""#),
        (&life, "1042", r#""state":"waiting""#),
        (&life, "1042", r#""state":"waiting","joined":1"#),
        (&aud, "1042", r#""state":"waiting","joined":1,"from":1"#),
        (&life, "000000000000beef", r#""state":"ticket""#),
        (&aud, "xyz", r#""state":"ticket""#),
        (&life, "1042", r#""state":"admitted","bnd":"short""#),
        (&life, "1042", r#""state":"admitted","state":"admitted""#),
        (&life, "1042", "\"x\":1"),
    ] {
        assert_eq!(
            verify(&base(aud, sub, rest)),
            Err(Refusal::Malformed),
            "{aud} {sub} {rest}"
        );
    }
    for aud in [
        format!("{aud}2a"),
        format!("{aud}."),
        format!("{aud}.x"),
        "a".repeat(31),
    ] {
        assert_eq!(
            verify(&base(&aud, "1042", admitted_state)),
            Err(Refusal::OtherRoom),
            "{aud}"
        );
    }
    let stranger =
        format!(r#"{{"iss":"other","aud":"{life}","sub":"1042",{times},{admitted_state}}}"#);
    assert_eq!(verify(&sign_claims(&stranger)), Err(Refusal::OtherRoom));
    for json in ["", "null", "[]", "{}", "{", "\u{fffd}"] {
        assert_eq!(
            verify(&sign_claims(json)),
            Err(Refusal::Malformed),
            "{json}"
        );
    }
}

prop_compose! {
    fn any_token()(
        which in 0..4_u8,
        bits in any::<u64>(),
        number in 1..=TicketNumber::MAX.get(),
        [issued, life, joined] in [0..10_000_000_000_u64, 1..86_400_u64, 0..10_000_000_000_u64],
        ahead_at_join in any::<u32>(),
        told in proptest::option::of([0..=31_536_000_u32, 0..=31_536_000]),
        agent in proptest::option::of(".{0,4}"),
        embedded in any::<bool>(),
    ) -> Token {
        let number = TicketNumber::new(number).unwrap();
        let incarnation = Incarnation::new(bits);
        let issued = Instant::from_secs(issued);
        let expires = issued + Span::from_secs(life);
        let standing = match which {
            0 => Standing::Ticket { id: TicketId::new(bits), issued, expires },
            1 => Standing::Waiting {
                number, incarnation, last_poll: issued, expires,
                joined: Instant::from_secs(joined), ahead_at_join,
                promise: told.map(|[likely, most]| Promise {
                    likely: Span::from_secs(likely.into()),
                    most: Span::from_secs(most.into()),
                }),
            },
            _ => Standing::Admitted { number, incarnation, issued, expires, provisional: which == 3 },
        };
        let binding = agent.and_then(|agent| bind(BindPass::Ua, Some(&agent), None));
        Token { standing, binding, embedded }
    }
}

proptest! {
    #[test]
    fn what_is_signed_is_read(token in any_token()) {
        let keys = keys(OLD);
        let text = keys.sign(&room('a'), &token);
        prop_assert!(text.len() < 440);
        prop_assert!(text.bytes().all(|c| c.is_ascii_alphanumeric() || b"-_.".contains(&c)));
        let last = token.standing.expires() - Span::from_secs(1);
        let read = keys.verify(&room('a'), &text, token.binding.as_ref(), last);
        prop_assert_eq!(read, Ok(token));
    }

    #[test]
    fn no_text_is_a_token(text in ".{0,200}") {
        prop_assert!(verify(&text).is_err());
    }

    #[test]
    fn no_claims_crash_the_reader(claims in ".{0,200}") {
        prop_assert!(verify(&sign_claims(&claims)).is_err());
    }
}
