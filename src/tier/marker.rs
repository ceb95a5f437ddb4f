//! The marker on every request between the parts of this system.
//!
//! A tier answers whoever carries one, and nobody else; and a Worker in front of the site that meets
//! the request of a tier to the origin hands it on as it is. So a request goes through a tier once,
//! however routes and bindings are set up. Nobody but the deployment can make one: it is signed
//! (HMAC-SHA256, the keys of the secret `ANTEROOM_TIER_KEYS`). Whoever reads one can do nothing else
//! with it: it holds for one method, URL, step and tier, and for [`LIFETIME`].

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::gate::jws;
use crate::gate::keys::Keys;
use crate::time::{Instant, Span};

/// The header field that carries it.
pub use crate::gate::header::TIER as HEADER;

/// How long a marker holds: it is made for a request that leaves at once.
pub const LIFETIME: Span = Span::from_secs(10);

/// So far may the clock of who checks be behind that of who signed.
pub const SKEW: Span = Span::from_secs(2);

/// Where the request is going.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Hop {
    /// To a tier, for an answer.
    Tier,
    /// To a tier, for what it has stored: nobody further is asked.
    Stored,
    /// To a tier, to hear whether it is there.
    Ping,
    /// From a tier to the origin.
    Origin,
    /// To a placed Worker, to time handshakes with the origins that the URL names.
    Probe,
    /// To a tier, to forget what it has stored of the URL.
    Forget,
}

/// What a marker says beside what it is bound to.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Marker {
    /// Where the request is going.
    pub hop: Hop,
    /// The name of the tier that it goes to; of the one that it comes from on [`Hop::Origin`].
    pub tier: String,
    /// Another tier that may have the answer stored: the one that was asked before a change.
    pub before: Option<String>,
}

impl Marker {
    /// The marker to or from a tier that says nothing more.
    pub fn of(hop: Hop, tier: impl Into<String>) -> Self {
        Self {
            hop,
            tier: tier.into(),
            before: None,
        }
    }
}

/// Why a marker is not taken.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum Refused {
    /// No key of ours has signed it.
    #[error("not signed by a key of this deployment")]
    Signature,
    /// It is signed, and says something that this version does not know.
    #[error("not understood")]
    Claims,
    /// It is of another request.
    #[error("made for another method or URL")]
    OtherRequest,
    /// It is too old, or of the future.
    #[error("made at another time")]
    Time,
}

#[derive(Deserialize, Serialize)]
struct Claims {
    hop: Hop,
    tier: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    before: Option<String>,
    /// Milliseconds since the epoch.
    at: u64,
    /// The digest of method and URL.
    of: String,
}

/// The text of a marker for one request.
pub fn sign(keys: &Keys, marker: &Marker, method: &str, url: &str, now: Instant) -> String {
    let claims = Claims {
        hop: marker.hop,
        tier: marker.tier.clone(),
        before: marker.before.clone(),
        at: now.as_millis(),
        of: digest(method, url),
    };
    // Numbers and strings: there is nothing in it that JSON could not hold.
    jws::seal(keys, &serde_json::to_vec(&claims).unwrap_or_default())
}

/// What the text of a marker says, if it was made by this deployment, for this request, and just now.
///
/// # Errors
/// Why it does not count.
pub fn verify(
    keys: &Keys,
    text: &str,
    method: &str,
    url: &str,
    now: Instant,
) -> Result<Marker, Refused> {
    let mut buffer = [0; 1024];
    let claims = jws::open(keys, text, &mut buffer).map_err(|_| Refused::Signature)?;
    let claims: Claims = serde_json::from_slice(claims).map_err(|_| Refused::Claims)?;
    if claims.of != digest(method, url) {
        return Err(Refused::OtherRequest);
    }
    let at = Instant::from_millis(claims.at);
    if now > at + LIFETIME || at > now + SKEW {
        return Err(Refused::Time);
    }
    Ok(Marker {
        hop: claims.hop,
        tier: claims.tier,
        before: claims.before,
    })
}

/// A method has no space in it, so no two pairs make one text.
fn digest(method: &str, url: &str) -> String {
    let mut digest = Sha256::new();
    digest.update(method.as_bytes());
    digest.update(b" ");
    digest.update(url.as_bytes());
    URL_SAFE_NO_PAD.encode(digest.finalize())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const KEY: &str = "a:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
    const OTHER: &str = "a:AQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
    const URL: &str = "https://shop.example.com/a?b=c";

    fn keys(text: &str) -> Keys {
        Keys::parse(text).unwrap()
    }

    fn marker() -> Marker {
        Marker {
            hop: Hop::Tier,
            tier: "fra".into(),
            before: Some("iad".into()),
        }
    }

    fn at(millis: u64) -> Instant {
        Instant::from_millis(millis)
    }

    fn signed() -> String {
        sign(&keys(KEY), &marker(), "GET", URL, at(100_000))
    }

    fn read(key: &str, method: &str, url: &str, now: u64) -> Result<Marker, Refused> {
        verify(&keys(key), &signed(), method, url, at(now))
    }

    #[test]
    fn a_marker_holds_for_its_request_and_its_time() {
        assert_eq!(read(KEY, "GET", URL, 100_000), Ok(marker()));
        assert_eq!(read(KEY, "GET", URL, 110_000), Ok(marker()));
        assert_eq!(read(KEY, "GET", URL, 98_000), Ok(marker()));
        assert_eq!(read(KEY, "GET", URL, 110_001), Err(Refused::Time));
        assert_eq!(read(KEY, "GET", URL, 97_999), Err(Refused::Time));
        assert_eq!(read(KEY, "HEAD", URL, 100_000), Err(Refused::OtherRequest));
        let other = "https://shop.example.com/a?b=d";
        assert_eq!(read(KEY, "GET", other, 100_000), Err(Refused::OtherRequest));
        assert_eq!(read(OTHER, "GET", URL, 100_000), Err(Refused::Signature));
    }

    #[test]
    fn a_changed_key_reads_what_the_old_one_signed() {
        let both = format!("b:{},{KEY}", OTHER.trim_start_matches("a:"));
        assert_eq!(read(&both, "GET", URL, 100_000), Ok(marker()));
    }

    proptest! {
        #[test]
        fn no_changed_text_is_taken(at_byte in any::<prop::sample::Index>(), byte in 0x20_u8..0x7f) {
            let text = signed();
            let mut bytes = text.clone().into_bytes();
            let index = at_byte.index(bytes.len());
            prop_assume!(bytes[index] != byte);
            bytes[index] = byte;
            let changed = String::from_utf8(bytes).unwrap();
            prop_assert!(verify(&keys(KEY), &changed, "GET", URL, at(100_000)).is_err());
        }
    }
}
