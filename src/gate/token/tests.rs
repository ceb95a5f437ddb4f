use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use super::*;
use crate::gate::binding::bind;
use crate::site::room::BindPass;

mod claims;
mod forged;

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
        promise: None,
    })
}

/// The same, once a wait can be told.
fn told() -> Token {
    let mut token = waiting();
    if let Standing::Waiting { promise, .. } = &mut token.standing {
        *promise = Some(Promise {
            likely: Span::from_secs(600),
            most: Span::from_secs(723),
        });
    }
    token
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
            told(),
            format!(
                r#"{{"iss":"anteroom","aud":"{room}.2a","sub":"1042","iat":1767225600,"exp":1767225900,"state":"waiting","joined":1767225540,"from":977,"wait":[600,723]}}"#
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
fn the_longest_token_has_less_than_440_bytes() {
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
            promise: Some(Promise {
                likely: Span::from_secs(365 * 86_400),
                most: Span::from_secs(365 * 86_400),
            }),
        },
        binding: bind(BindPass::Ua, None, None),
        embedded: true,
    };
    let text = keys.sign(&room('f'), &longest);
    assert!(text.len() < 440, "{} bytes", text.len());
    assert_eq!(
        keys.verify(&room('f'), &text, longest.binding.as_ref(), late - MINUTE),
        Ok(longest),
        "and it is read again"
    );
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
