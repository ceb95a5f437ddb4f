//! The secret of a room, from which the keys of its draws are made.

use std::fmt;

use hmac::{Hmac, KeyInit, Mac};
use serde::{Deserialize, Serialize};
use sha2::Sha256;

/// 256 random bits, drawn when the room's storage is made and kept there alone.
#[derive(Clone, Copy, Deserialize, Eq, Hash, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Seed([u8; 32]);

impl Seed {
    /// The seed of these bits, which must come from a source fit for keys.
    pub const fn new(bits: [u8; 32]) -> Self {
        Self(bits)
    }

    /// The key for one purpose: HMAC-SHA256 (RFC 2104) of the purpose and of what it is for, which
    /// are kept apart by a zero byte. A key that is published says nothing about any other.
    pub fn key(&self, purpose: &str, of: &[u8]) -> [u8; 32] {
        hmac(&self.0, &[purpose.as_bytes(), &[0], of])
    }
}

/// HMAC-SHA256 (RFC 2104) of a message in parts.
pub(super) fn hmac(key: &[u8; 32], message: &[&[u8]]) -> [u8; 32] {
    // HMAC fills a key of less than a block up with zeros.
    let mut block = [0_u8; 64];
    for (place, byte) in block.iter_mut().zip(key) {
        *place = *byte;
    }
    let mut mac = Hmac::<Sha256>::new(&block.into());
    for part in message {
        mac.update(part);
    }
    mac.finalize().into_bytes().into()
}

/// Says nothing: a seed must not get into a log.
impl fmt::Debug for Seed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Seed(..)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_those_of_rfc_2104_and_the_seed_stays_out_of_logs() {
        let seed = Seed::new([7; 32]);
        // Worked out with another implementation: HMAC-SHA256(07..07, "draw\0" "1800000000").
        let key = seed.key("draw", b"1800000000");
        let text: String = key.iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(
            text,
            "83e257194f22fa9852140995c30f351380422bd27493c34a026dd7963773a169"
        );
        assert_ne!(seed.key("draw", b"1"), seed.key("draw\0", b"1"));
        assert_eq!(format!("{seed:?}"), "Seed(..)");
    }
}
