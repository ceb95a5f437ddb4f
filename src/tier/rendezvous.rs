//! Which of several tiers has a key: the one with the highest score for it (rendezvous hashing: Thaler
//! and Ravishankar, 1998). Everybody who knows the names agrees, and a tier that comes or goes moves
//! no key but its own.

use sha2::{Digest, Sha256};

/// 64 bits of a cache key's digest.
pub fn hash_of(key: &str) -> u64 {
    first_bytes(&Sha256::digest(key.as_bytes()))
}

/// 128 bits of a cache key's digest, in hexadecimal: what names a key to an object.
pub fn name_of(key: &str) -> String {
    let digest = Sha256::digest(key.as_bytes());
    let bytes = digest.iter().take(16);
    bytes.map(|byte| format!("{byte:02x}")).collect()
}

/// How much the one called `name` is wanted for the key of this hash.
pub fn score(name: &str, key: u64) -> u64 {
    // FNV-1a (Fowler, Noll, Vo), then the finalizer of SplitMix64 (Steele, Lea, Flood 2014), which
    // spreads a change of any bit over all of them.
    let named = name.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    let mut mixed = named ^ key.wrapping_add(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

/// Which of `shards` has the key of this hash.
pub fn shard(key: u64, shards: u32) -> u32 {
    u32::try_from(key % u64::from(shards.max(1))).unwrap_or_default()
}

fn first_bytes(digest: &[u8]) -> u64 {
    let bytes = digest.iter().take(8);
    bytes.fold(0, |sum, byte| (sum << 8) | u64::from(*byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAMES: [&str; 5] = ["fra", "iad", "lhr", "nrt", "sin"];

    fn best<'a>(names: &[&'a str], key: u64) -> &'a str {
        names.iter().max_by_key(|name| score(name, key)).unwrap()
    }

    #[test]
    fn keys_are_spread_evenly() {
        let mut counts = [0_u32; 5];
        for key in 0..10_000 {
            let best = best(&NAMES, hash_of(&key.to_string()));
            counts[NAMES.iter().position(|name| *name == best).unwrap()] += 1;
        }
        // 2,000 each; 200 are five standard deviations.
        assert!(
            counts.iter().all(|count| count.abs_diff(2_000) < 200),
            "{counts:?}"
        );
    }

    #[test]
    fn a_tier_that_goes_moves_its_own_keys_alone() {
        for key in (0..2_000).map(|key: u32| hash_of(&key.to_string())) {
            let before = best(&NAMES, key);
            if before != "sin" {
                assert_eq!(best(&NAMES[..4], key), before);
            }
        }
    }

    /// Isolates of two releases must agree.
    #[test]
    fn scores_do_not_change() {
        assert_eq!(hash_of("https://example.com/"), 0x0f11_5db0_62b7_c0dd);
        assert_eq!(
            name_of("https://example.com/"),
            "0f115db062b7c0dd030b16878c99dea5"
        );
        assert_eq!(score("fra", 1), 719_494_887_514_525_469);
    }
}
