//! Attack: a token whose header asks for another algorithm, or for none, or for a key of the
//! attacker's.
//!
//! Defence: the header is compared, not read. Even a token that is signed with the room's own
//! secret counts only under the one header that the key writes.

use anteroom::gate::token::Refusal;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use crate::support::{NOW, SECRET, admitted, keys, room};

/// Signs with the room's own secret: what an attacker could do at the very best.
fn sign(header: &str) -> String {
    let genuine = keys().sign(&room('a'), &admitted());
    let claims = genuine.split('.').nth(1).unwrap();
    let signed = format!("{}.{claims}", URL_SAFE_NO_PAD.encode(header));
    let mac = Hmac::<Sha256>::new_from_slice(&SECRET)
        .unwrap()
        .chain_update(&signed);
    format!(
        "{signed}.{}",
        URL_SAFE_NO_PAD.encode(mac.finalize().into_bytes())
    )
}

#[test]
fn the_pattern_is_genuine() {
    let text = sign(r#"{"alg":"HS256","kid":"k1","typ":"JWT"}"#);
    assert_eq!(keys().verify(&room('a'), &text, None, NOW), Ok(admitted()));
}

#[test]
fn no_header_chooses_the_algorithm_or_the_key() {
    for header in [
        r#"{"alg":"none","kid":"k1","typ":"JWT"}"#,
        r#"{"alg":"NONE","kid":"k1","typ":"JWT"}"#,
        r#"{"alg":"hs256","kid":"k1","typ":"JWT"}"#,
        r#"{"alg":"HS384","kid":"k1","typ":"JWT"}"#,
        r#"{"alg":"RS256","kid":"k1","typ":"JWT"}"#,
        r#"{"alg":"ES256","kid":"k1","typ":"JWT"}"#,
        r#"{"alg":"HS256","kid":"k2","typ":"JWT"}"#,
        r#"{"alg":"HS256","kid":"../k1","typ":"JWT"}"#,
        r#"{"alg":"HS256","kid":"k1","typ":"JWT","jku":"https://evil.example/keys"}"#,
        r#"{"alg":"HS256","kid":"k1","typ":"JWT","jwk":{"kty":"oct","k":"AAAA"}}"#,
        r#"{"alg":"HS256","alg":"none","kid":"k1","typ":"JWT"}"#,
        r#"{ "alg":"HS256","kid":"k1","typ":"JWT"}"#,
        r#"{"alg":"HS256"}"#,
        "{}",
        "",
    ] {
        let signed = sign(header);
        let (unsigned, _) = signed.rsplit_once('.').unwrap();
        for forged in [signed.clone(), format!("{unsigned}.")] {
            let read = keys().verify(&room('a'), &forged, None, NOW);
            assert_eq!(read, Err(Refusal::Key), "{header}");
        }
    }
}
