//! Attack: a visitor in line writes a pass of their own.
//!
//! Defence: nothing of a token counts before its signature is verified, and what it entitles to is
//! signed with it.

use anteroom::gate::token::{Refusal, Standing};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use crate::support::{NOW, admitted, keys, room, waiting};

fn segments(token: &str) -> [&str; 3] {
    token.split('.').collect::<Vec<_>>().try_into().unwrap()
}

#[test]
fn claims_cannot_be_edited() {
    let place = keys().sign(&room('a'), &waiting());
    let [header, claims, signature] = segments(&place);
    let claims = String::from_utf8(URL_SAFE_NO_PAD.decode(claims).unwrap()).unwrap();
    for (from, to) in [
        (r#""state":"waiting""#, r#""state":"admitted""#),
        (r#""sub":"1042""#, r#""sub":"1""#),
        (r#""exp":1767225900"#, r#""exp":9767225900"#),
        (&"a".repeat(32), &"b".repeat(32)),
    ] {
        let edited = claims.replace(from, to);
        assert_ne!(edited, claims, "the claim is there to be edited");
        let forged = format!("{header}.{}.{signature}", URL_SAFE_NO_PAD.encode(edited));
        for target in ['a', 'b'] {
            let read = keys().verify(&room(target), &forged, None, NOW);
            assert_eq!(read, Err(Refusal::Signature), "{to}");
        }
    }
}

#[test]
fn another_s_signature_does_not_fit() {
    let place = keys().sign(&room('a'), &waiting());
    let pass = keys().sign(&room('b'), &admitted());
    let [header, claims, _] = segments(&place);
    let [_, other_claims, other_signature] = segments(&pass);
    for forged in [
        format!("{header}.{claims}.{other_signature}"),
        format!("{header}.{claims}{other_claims}.{other_signature}"),
    ] {
        assert_eq!(
            keys().verify(&room('a'), &forged, None, NOW),
            Err(Refusal::Signature)
        );
    }
}

#[test]
fn a_place_is_no_pass() {
    let place = keys().sign(&room('a'), &waiting());
    let read = keys().verify(&room('a'), &place, None, NOW).unwrap();
    assert!(matches!(read.standing, Standing::Waiting { .. }));
}

#[test]
fn no_bit_of_a_pass_is_free() {
    let pass = keys().sign(&room('a'), &admitted());
    for bit in 0..pass.len() * 8 {
        let mut bytes = pass.clone().into_bytes();
        bytes[bit / 8] ^= 1 << (bit % 8);
        let forged = String::from_utf8_lossy(&bytes);
        assert!(
            keys().verify(&room('a'), &forged, None, NOW).is_err(),
            "bit {bit}"
        );
    }
}
