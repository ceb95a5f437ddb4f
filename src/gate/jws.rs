//! JSON Web Signature in compact form (RFC 7515 section 3.1) with HMAC-SHA256, the only algorithm.
//!
//! A key has exactly one header, and a header segment counts only when it equals that one byte for
//! byte. So the text names a key and can say nothing else: no algorithm is negotiated and nothing
//! of the header is parsed. The claims are decoded after the signature has been verified.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::Mac;

use super::keys::Keys;

/// The longest text that is looked at. What anteroom signs has less than 440 bytes.
const LONGEST: usize = 1024;

/// Room for the decoded claims of the longest text.
pub(crate) type Buffer = [u8; LONGEST];

/// Why a text is not a signature of ours.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Fault {
    /// Not three segments of base64url, or too long.
    Malformed,
    /// The header is not one of those that our keys write.
    Key,
    /// The signature is not the key's.
    Signature,
}

/// The header segment of a key and the dot that follows it.
pub(super) fn header(kid: &str) -> String {
    let json = format!(r#"{{"alg":"HS256","kid":"{kid}","typ":"JWT"}}"#);
    let mut header = URL_SAFE_NO_PAD.encode(json);
    header.push('.');
    header
}

/// Signs claims with the first key.
pub(crate) fn seal(keys: &Keys, claims: &[u8]) -> String {
    let key = keys.signing();
    let mut text = String::with_capacity(key.header.len() + claims.len() * 4 / 3 + 48);
    text.push_str(&key.header);
    URL_SAFE_NO_PAD.encode_string(claims, &mut text);
    let mut mac = key.mac.clone();
    // The MAC has seen the header already; the rest of the text is the claims segment.
    mac.update(text.as_bytes().get(key.header.len()..).unwrap_or_default());
    text.push('.');
    URL_SAFE_NO_PAD.encode_string(mac.finalize().into_bytes(), &mut text);
    text
}

/// The claims of a text that one of the keys has signed.
pub(crate) fn open<'b>(keys: &Keys, text: &str, buffer: &'b mut Buffer) -> Result<&'b [u8], Fault> {
    if text.len() > LONGEST {
        return Err(Fault::Malformed);
    }
    let (signed, signature_text) = text.rsplit_once('.').ok_or(Fault::Malformed)?;
    let (_, claims) = signed.split_once('.').ok_or(Fault::Malformed)?;
    if claims.contains('.') {
        return Err(Fault::Malformed);
    }
    // `header` ends in the dot, so a header that begins like another never matches it.
    let key = keys
        .all()
        .find(|key| text.starts_with(&key.header))
        .ok_or(Fault::Key)?;
    let mut signature = [0; 32];
    let length = URL_SAFE_NO_PAD.decode_slice(signature_text, &mut signature);
    if !matches!(length, Ok(32)) {
        return Err(Fault::Malformed);
    }
    let mut mac = key.mac.clone();
    mac.update(claims.as_bytes());
    // Takes the same time wherever the signatures differ.
    mac.verify_slice(&signature).map_err(|_| Fault::Signature)?;
    let length = URL_SAFE_NO_PAD
        .decode_slice(claims, buffer)
        .map_err(|_| Fault::Malformed)?;
    buffer.get(..length).ok_or(Fault::Malformed)
}
