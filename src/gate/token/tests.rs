use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use proptest::prelude::*;

use super::*;
use crate::gate::binding::bind;
use crate::site::room::BindPass;

const NOW: Instant = Instant::from_secs(1_767_225_600);
const MINUTE: Span = Span::from_secs(60);

/// Two keys of 32 bytes.
const OLD: &str = "2025:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8";
const NEW: &str = "2026:ICEiIyQlJicoKSorLC0uLzAxMjM0NTY3ODk6Ozw9Pj8";

fn keys(text: &str) -> Keys {
    Keys::parse(text).unwrap()
}

fn room(digit: char) -> RoomId {
    let id = digit.to_string().repeat(32);
    serde_json::from_value(serde_json::Value::String(id)).unwrap()
}

fn number(number: u64) -> TicketNumber {
    TicketNumber::new(number).unwrap()
}

fn token(standing: Standing) -> Token {
    Token {
        standing,
        binding: None,
        embedded: false,
    }
}

fn ticket() -> Token {
    token(Standing::Ticket {
        id: TicketId::new(0xbeef),
        issued: NOW,
        expires: NOW + MINUTE,
    })
}

fn waiting() -> Token {
    token(Standing::Waiting {
        number: number(1042),
        incarnation: Incarnation::new(0x2a),
        last_poll: NOW,
        expires: NOW + Span::from_secs(300),
        joined: NOW - MINUTE,
        ahead_at_join: 977,
    })
}

fn admitted() -> Token {
    token(Standing::Admitted {
        number: number(1042),
        incarnation: Incarnation::new(0x2a),
        issued: NOW,
        expires: NOW + Span::from_secs(300),
        provisional: false,
    })
}

fn provisional() -> Token {
    token(Standing::Admitted {
        number: number(1),
        incarnation: Incarnation::new(0),
        issued: NOW,
        expires: NOW + MINUTE,
        provisional: true,
    })
}

fn verify(text: &str) -> Result<Token, Refusal> {
    keys(OLD).verify(&room('a'), text, None, NOW)
}

fn sign(token: &Token) -> String {
    keys(OLD).sign(&room('a'), token)
}

/// Signs whatever is claimed, as a faulty issuer would.
fn sign_claims(claims: &str) -> String {
    jws::seal(&keys(OLD), claims.as_bytes())
}

fn segments(text: &str) -> [&str; 3] {
    text.split('.').collect::<Vec<_>>().try_into().unwrap()
}

fn decoded(segment: &str) -> String {
    String::from_utf8(URL_SAFE_NO_PAD.decode(segment).unwrap()).unwrap()
}

#[test]
fn the_written_form_is_fixed() {
    let room = "a".repeat(32);
    let bound = Token {
        binding: bind(BindPass::Ua, Some("agent"), None),
        embedded: true,
        ..waiting()
    };
    let cases = [
        (
            ticket(),
            format!(
                r#"{{"iss":"anteroom","aud":"{room}","sub":"000000000000beef","iat":1767225600,"exp":1767225660,"state":"ticket"}}"#
            ),
        ),
        (
            waiting(),
            format!(
                r#"{{"iss":"anteroom","aud":"{room}.2a","sub":"1042","iat":1767225600,"exp":1767225900,"state":"waiting","joined":1767225540,"from":977}}"#
            ),
        ),
        (
            admitted(),
            format!(
                r#"{{"iss":"anteroom","aud":"{room}.2a","sub":"1042","iat":1767225600,"exp":1767225900,"state":"admitted"}}"#
            ),
        ),
        (
            provisional(),
            format!(
                r#"{{"iss":"anteroom","aud":"{room}.0","sub":"1","iat":1767225600,"exp":1767225660,"state":"provisional"}}"#
            ),
        ),
        (
            bound,
            format!(
                r#"{{"iss":"anteroom","aud":"{room}.2a","sub":"1042","iat":1767225600,"exp":1767225900,"state":"waiting","joined":1767225540,"from":977,"bnd":"C383PR0r","emb":true}}"#
            ),
        ),
    ];
    for (token, expected) in cases {
        let text = sign(&token);
        let [header, claims, _] = segments(&text);
        assert_eq!(
            decoded(header),
            r#"{"alg":"HS256","kid":"2025","typ":"JWT"}"#
        );
        assert_eq!(decoded(claims), expected);
        assert_eq!(verify(&text), Ok(token));
    }
}

#[test]
fn the_longest_token_has_less_than_400_bytes() {
    let keys = keys("2026-12-31:ICEiIyQlJicoKSorLC0uLzAxMjM0NTY3ODk6Ozw9Pj8");
    // The last second with ten digits lies in 2286.
    let late = Instant::from_secs(9_999_999_999);
    let longest = Token {
        standing: Standing::Waiting {
            number: TicketNumber::MAX,
            incarnation: Incarnation::new(u64::MAX),
            last_poll: late,
            expires: late,
            joined: late,
            ahead_at_join: u32::MAX,
        },
        binding: bind(BindPass::Ua, None, None),
        embedded: true,
    };
    let text = keys.sign(&room('f'), &longest);
    assert!(text.len() < 400, "{} bytes", text.len());
    assert_eq!(
        keys.verify(&room('f'), &text, longest.binding.as_ref(), late - MINUTE),
        Ok(longest),
        "and it is read again"
    );
}

#[test]
fn no_bit_can_be_flipped() {
    for token in [ticket(), waiting(), admitted(), provisional()] {
        let text = sign(&token);
        for place in 0..text.len() * 8 {
            let mut bytes = text.clone().into_bytes();
            bytes[place / 8] ^= 1 << (place % 8);
            // What is no longer UTF-8 reaches the verifier as the runtime repairs it.
            let flipped = String::from_utf8_lossy(&bytes);
            let refusal = verify(&flipped).unwrap_err();
            assert!(
                matches!(
                    refusal,
                    Refusal::Malformed | Refusal::Key | Refusal::Signature
                ),
                "bit {place}: {refusal}"
            );
        }
    }
}

#[test]
fn no_other_header_is_read() {
    let text = sign(&admitted());
    let [_, claims, signature] = segments(&text);
    for header in [
        r#"{"alg":"none","kid":"2025","typ":"JWT"}"#,
        r#"{"alg":"None","kid":"2025","typ":"JWT"}"#,
        r#"{"alg":"RS256","kid":"2025","typ":"JWT"}"#,
        r#"{"alg":"HS512","kid":"2025","typ":"JWT"}"#,
        r#"{"alg":"hs256","kid":"2025","typ":"JWT"}"#,
        r#"{"alg":"HS256","kid":"2026","typ":"JWT"}"#,
        r#"{"alg":"HS256","kid":"","typ":"JWT"}"#,
        r#"{"alg":"HS256","typ":"JWT"}"#,
        r#"{"kid":"2025","alg":"HS256","typ":"JWT"}"#,
        r#"{"alg":"HS256", "kid":"2025","typ":"JWT"}"#,
        r#"{"alg":"HS256","kid":"2025","typ":"JWT","crit":["b64"]}"#,
        "",
    ] {
        let header = URL_SAFE_NO_PAD.encode(header);
        for signature in [signature, ""] {
            let forged = format!("{header}.{claims}.{signature}");
            assert_eq!(verify(&forged), Err(Refusal::Key), "{forged}");
        }
    }
}

#[test]
fn an_empty_or_short_or_padded_signature_is_none() {
    let text = sign(&admitted());
    let [header, claims, signature] = segments(&text);
    for wrong in [
        "",
        "AA",
        signature.get(..42).unwrap(),
        &format!("{signature}="),
        &format!("{signature}AAAA"),
    ] {
        let refusal = verify(&format!("{header}.{claims}.{wrong}")).unwrap_err();
        assert_eq!(refusal, Refusal::Malformed, "{wrong}");
    }
}

#[test]
fn segments_cannot_be_swapped() {
    let (one, other) = (sign(&waiting()), sign(&admitted()));
    let [header, waiting, waiting_signature] = segments(&one);
    let [_, admitted, admitted_signature] = segments(&other);
    for forged in [
        format!("{header}.{admitted}.{waiting_signature}"),
        format!("{header}.{waiting}.{admitted_signature}"),
    ] {
        assert_eq!(verify(&forged), Err(Refusal::Signature));
    }
    assert_eq!(
        verify(&format!("{waiting}.{header}.{waiting_signature}")),
        Err(Refusal::Key)
    );
}

#[test]
fn there_are_three_segments() {
    let text = sign(&admitted());
    let [header, claims, signature] = segments(&text);
    for forged in [
        format!("{text}."),
        format!(".{text}"),
        format!("{text}.{signature}"),
        format!("{header}.{claims}.{claims}.{signature}"),
        format!("{header}..{claims}.{signature}"),
        format!("{header}.{claims}"),
        format!("{header}.{signature}"),
        header.to_owned(),
    ] {
        assert_eq!(verify(&forged), Err(Refusal::Malformed), "{forged}");
    }
}

#[test]
fn junk_is_refused() {
    let million = "a".repeat(1_000_000);
    let dots = ".".repeat(1_000_000);
    let long_claims = sign_claims(&format!(r#"{{"iss":"{}"}}"#, "a".repeat(1000)));
    for junk in [
        "",
        ".",
        "..",
        "...",
        "a.b.c.d",
        " ",
        "\0",
        "ä.ö.ü",
        "💡",
        &million,
        &dots,
        &long_claims,
    ] {
        assert_eq!(
            verify(junk).unwrap_err(),
            match junk {
                ".." | "ä.ö.ü" => Refusal::Key,
                _ => Refusal::Malformed,
            }
        );
    }
    assert_eq!(
        verify(&format!(" {}", sign(&admitted()))),
        Err(Refusal::Key)
    );
    assert!(verify(&format!("{}ä", sign(&admitted()))).is_err());
}

#[test]
fn a_room_opens_for_its_own_tokens() {
    for token in [ticket(), waiting(), admitted()] {
        let text = keys(OLD).sign(&room('b'), &token);
        assert_eq!(verify(&text), Err(Refusal::OtherRoom));
    }
}

#[test]
fn the_incarnation_is_told_apart() {
    let Ok(read) = verify(&sign(&admitted())) else {
        panic!()
    };
    assert_eq!(read.standing.incarnation(), Some(Incarnation::new(0x2a)));
    assert_eq!(ticket().standing.incarnation(), None);
}

#[test]
fn a_token_ends_at_its_expiry() {
    let keys = keys(OLD);
    let text = keys.sign(&room('a'), &admitted());
    let last = NOW + Span::from_millis(299_999);
    assert_eq!(keys.verify(&room('a'), &text, None, last), Ok(admitted()));
    for late in [NOW + Span::from_secs(300), NOW + Span::from_secs(1_000_000)] {
        assert_eq!(
            keys.verify(&room('a'), &text, None, late),
            Err(Refusal::Expired(admitted()))
        );
    }
}

#[test]
fn a_clock_may_be_a_minute_behind_the_issuers() {
    let keys = keys(OLD);
    for token in [ticket(), waiting(), admitted()] {
        let text = keys.sign(&room('a'), &token);
        assert_eq!(
            keys.verify(&room('a'), &text, None, NOW - MINUTE),
            Ok(token)
        );
        assert_eq!(
            keys.verify(&room('a'), &text, None, NOW - Span::from_millis(60_001)),
            Err(Refusal::IssuedInFuture)
        );
    }
}

#[test]
fn a_bound_token_needs_its_client() {
    let keys = keys(OLD);
    let [mine, other] = ["agent", "other"].map(|ua| bind(BindPass::Ua, Some(ua), None));
    let bound = Token {
        binding: mine,
        ..admitted()
    };
    let text = keys.sign(&room('a'), &bound);
    let shown = |text: &str, client: Option<Binding>, now| {
        keys.verify(&room('a'), text, client.as_ref(), now)
    };
    assert_eq!(shown(&text, mine, NOW), Ok(bound));
    assert_eq!(shown(&text, other, NOW), Err(Refusal::Binding));
    assert_eq!(
        shown(&text, None, NOW),
        Ok(bound),
        "the room stopped binding"
    );
    assert_eq!(
        shown(&sign(&admitted()), mine, NOW),
        Err(Refusal::Binding),
        "a pass from before the room began to bind"
    );
    let late = NOW + Span::from_secs(300);
    assert_eq!(
        shown(&text, other, late),
        Err(Refusal::Binding),
        "a stranger learns no number"
    );
}

#[test]
fn keys_can_be_changed() {
    let before = keys(OLD);
    let during = keys(&format!("{NEW} {OLD}"));
    let after = keys(NEW);
    let room = room('a');
    let old = before.sign(&room, &waiting());
    let new = during.sign(&room, &waiting());
    assert_eq!(
        during.verify(&room, &old, None, NOW),
        Ok(waiting()),
        "no place is lost"
    );
    assert_eq!(
        after.verify(&room, &new, None, NOW),
        Ok(waiting()),
        "the first key signs"
    );
    assert_eq!(after.verify(&room, &old, None, NOW), Err(Refusal::Key));
    assert_eq!(before.verify(&room, &new, None, NOW), Err(Refusal::Key));
}

#[test]
fn a_kid_does_not_vouch_for_another_secret() {
    let other = keys(&NEW.replace("2026:", "2025:"));
    assert_eq!(
        verify(&other.sign(&room('a'), &admitted())),
        Err(Refusal::Signature)
    );
}

#[test]
fn a_kid_is_no_prefix_of_another() {
    let short = keys(&OLD.replace("2025:", "202:"));
    assert_eq!(
        verify(&short.sign(&room('a'), &admitted())),
        Err(Refusal::Key)
    );
}

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
        prop_assert!(text.len() < 400);
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
