//! The signed statement that tells an origin who was let in (`origin_assertion`).
//!
//! A JWT of its own key in the header field [`crate::gate::header::ASSERTION`], by which the origin
//! can refuse what went around the edge. `docs/pass.md` shows how an origin verifies it.

use serde::Serialize;

use crate::gate::jws;
use crate::gate::keys::Keys;
use crate::room::number::TicketNumber;
use crate::time::{Instant, Span};

/// How long a statement holds. It is made for one request and travels with it.
pub const LIFETIME: Span = Span::from_secs(60);

/// The claims in the order in which they are written.
#[derive(Serialize)]
struct Claims<'a> {
    iss: &'a str,
    aud: &'a str,
    sub: &'a str,
    room: &'a str,
    iat: u64,
    exp: u64,
}

/// States that the room called `room` has admitted the visitor of this number. `keys` must not be
/// the ones that sign passes: the origin knows them.
pub fn assert_admitted(keys: &Keys, room: &str, number: TicketNumber, now: Instant) -> String {
    let claims = Claims {
        iss: "anteroom",
        aud: "origin",
        sub: &number.to_string(),
        room,
        iat: now.as_secs(),
        exp: (now + LIFETIME).as_secs(),
    };
    // Numbers and strings: there is nothing in it that JSON could not hold.
    jws::seal(keys, &serde_json::to_vec(&claims).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use base64::Engine;
    use base64::engine::general_purpose::URL_SAFE_NO_PAD;
    use sha2::{Digest, Sha256};

    use super::*;

    const SECRET: [u8; 32] = *b"0123456789abcdef0123456789abcdef";

    /// HMAC as RFC 2104 defines it, for a key shorter than the block.
    fn hmac(key: &[u8], message: &[u8]) -> Vec<u8> {
        let pad = |byte: u8| {
            let mut block = [byte; 64];
            block
                .iter_mut()
                .zip(key)
                .for_each(|(block, key)| *block ^= key);
            block
        };
        let inner = Sha256::new()
            .chain_update(pad(0x36))
            .chain_update(message)
            .finalize();
        Sha256::new()
            .chain_update(pad(0x5c))
            .chain_update(inner)
            .finalize()
            .to_vec()
    }

    #[test]
    fn an_origin_can_verify_it_with_the_standard_alone() {
        let keys = Keys::parse(&format!("o1:{}", URL_SAFE_NO_PAD.encode(SECRET))).unwrap();
        let number = TicketNumber::new(1042).unwrap();
        let now = Instant::from_millis(1_767_225_600_999);
        let text = assert_admitted(&keys, "shop", number, now);

        let [header, claims, signature] = text.split('.').collect::<Vec<_>>().try_into().unwrap();
        let decode = |segment: &str| URL_SAFE_NO_PAD.decode(segment).unwrap();
        assert_eq!(decode(header), br#"{"alg":"HS256","kid":"o1","typ":"JWT"}"#);
        assert_eq!(
            String::from_utf8(decode(claims)).unwrap(),
            r#"{"iss":"anteroom","aud":"origin","sub":"1042","room":"shop","iat":1767225600,"exp":1767225660}"#
        );
        assert_eq!(
            decode(signature),
            hmac(&SECRET, format!("{header}.{claims}").as_bytes())
        );
    }

    #[test]
    fn it_opens_no_room() {
        let keys = Keys::parse(&format!("o1:{}", URL_SAFE_NO_PAD.encode(SECRET))).unwrap();
        let now = Instant::from_secs(1_767_225_600);
        let text = assert_admitted(&keys, "origin", TicketNumber::FIRST, now);
        let room = serde_json::from_str(&format!("\"{}\"", "a".repeat(32))).unwrap();
        assert!(keys.verify(&room, &text, None, now).is_err());
    }
}
