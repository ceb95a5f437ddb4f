//! The draw of a room that admits in random order.
//!
//! Time is cut into epochs. For an epoch in which somebody shall be called the room publishes a key
//! and a probability; the HMAC of a waiting visitor's number under that key decides whether the
//! number is drawn. So nothing is kept for each visitor: the edge tells a visitor's luck from the
//! snapshot, the room verifies it, and both find the same however often they look.
//!
//! Nobody can influence their luck. Numbers are the room's; the key follows from the room's secret
//! and the epoch alone and is not known before it is published; and only numbers that had been given
//! by then take part.

use std::fmt;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::number::TicketNumber;
use super::seed::{Seed, hmac};
use crate::time::{Instant, Span};

/// The length of an epoch.
///
/// Half the default interval of a poll from afar: a shorter epoch would come to the same, since a
/// visitor hears of several at one poll, and a longer one would leave slots empty until it ends.
pub const EPOCH: Span = Span::from_secs(10);

/// So many epochs are kept and published. They span at least 320 seconds, and a place is kept for
/// 300 after a visitor's last poll: whoever still has a place hears of every epoch since that poll.
pub const MOST_EPOCHS: usize = 32;

/// Fewer epochs say nothing about the chance of the next one.
const FEWEST_EPOCHS: u64 = 3;

/// A wait of more than a year says nothing.
const LONGEST_WAIT: Span = Span::from_secs(365 * 86_400);

/// One draw.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, PartialEq, Serialize)]
pub struct Epoch {
    /// Which epoch: spans of [`EPOCH`] from the Unix epoch to its beginning, on the room's clock.
    #[serde(rename = "e")]
    pub index: u64,
    /// Decides who is drawn.
    #[serde(rename = "k")]
    pub key: EpochKey,
    /// Each number's chance.
    #[serde(rename = "p")]
    pub chance: Probability,
    /// The highest number that takes part: the last one given when the key was made known.
    #[serde(rename = "n")]
    pub up_to: u64,
}

impl Epoch {
    /// The index of the epoch that `now` lies in.
    pub const fn index_at(now: Instant) -> u64 {
        now.as_millis() / EPOCH.as_millis()
    }

    /// The draw of the epoch `index` in the room with this secret.
    pub fn new(seed: &Seed, index: u64, chance: Probability, up_to: u64) -> Self {
        Self {
            index,
            key: EpochKey(seed.key("epoch", &index.to_be_bytes())),
            chance,
            up_to,
        }
    }

    /// When the epoch begins.
    pub const fn begins(&self) -> Instant {
        Instant::from_millis(self.index.saturating_mul(EPOCH.as_millis()))
    }

    /// Whether `number` takes part and is drawn.
    pub fn draws(&self, number: TicketNumber) -> bool {
        number.get() <= self.up_to && self.key.lot(number) < self.chance.0
    }
}

/// The key of a draw, published with it.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct EpochKey([u8; 32]);

impl EpochKey {
    /// The lot of a number: the first eight bytes, as a big-endian integer, of the HMAC-SHA256 (RFC
    /// 2104) under this key of the number's eight bytes, big-endian too.
    pub fn lot(&self, number: TicketNumber) -> u64 {
        let [a, b, c, d, e, f, g, h, ..] = hmac(&self.0, &[&number.get().to_be_bytes()]);
        u64::from_be_bytes([a, b, c, d, e, f, g, h])
    }
}

/// Base64url without padding: 43 characters.
impl fmt::Display for EpochKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&URL_SAFE_NO_PAD.encode(self.0))
    }
}

impl Serialize for EpochKey {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for EpochKey {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<str>::deserialize(deserializer)?;
        let bytes = URL_SAFE_NO_PAD.decode(text.as_bytes());
        let bits = bytes.ok().and_then(|bytes| bytes.try_into().ok());
        let message = "a key is 43 characters of base64url";
        bits.map(Self)
            .ok_or_else(|| serde::de::Error::custom(message))
    }
}

/// A probability as a fraction of 2^64, so that every edge and the room compare the same number.
/// Certainty falls short of one by 2^-64.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Probability(u64);

impl Probability {
    /// The nearest to `share`, which is cut to 0 to 1; not a number is 0.
    pub fn new(share: f64) -> Self {
        // The conversion cuts what is out of range, and takes what is no number for 0.
        Self((share * Self::ONE) as u64)
    }

    /// The probability as a share: 0 to 1.
    pub fn share(self) -> f64 {
        self.0 as f64 / Self::ONE
    }

    /// 2^64.
    const ONE: f64 = 18_446_744_073_709_551_616.0;
}

/// Hexadecimal: as a JSON number it would lose digits in clients whose numbers are doubles.
impl Serialize for Probability {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&format_args!("{:x}", self.0))
    }
}

impl<'de> Deserialize<'de> for Probability {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<str>::deserialize(deserializer)?;
        u64::from_str_radix(&text, 16)
            .map(Self)
            .map_err(serde::de::Error::custom)
    }
}

/// How long the luckiest quarter, half and three quarters of those who wait have to wait at most.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Quartiles {
    /// For the luckiest quarter.
    pub p25: Span,
    /// For the luckier half.
    pub p50: Span,
    /// For three quarters.
    pub p75: Span,
}

impl Quartiles {
    /// The wait of one who takes part in every draw from now on, when each is like the recent ones;
    /// `epochs` are those, in their order, and `now` is the room's time.
    ///
    /// Draws do not depend on one another, so the number of epochs up to the first that draws a
    /// number is geometrically distributed: after `k` of them a share of `1 - (1 - chance)^k` has
    /// been drawn. The chance is the mean over all epochs since the first of those known, also those
    /// in which nobody was drawn. None while they are too few, or the wait is longer than a year.
    pub fn estimate(epochs: &[Epoch], now: Instant) -> Option<Self> {
        let first = epochs.first()?.index;
        let elapsed = Epoch::index_at(now).checked_sub(first)? + 1;
        if elapsed < FEWEST_EPOCHS {
            return None;
        }
        let drawn: f64 = epochs.iter().map(|epoch| epoch.chance.share()).sum();
        let chance = (drawn / elapsed as f64).min(1.0);
        let within = |share: f64| {
            // ln(1 - share) / ln(1 - chance), exact for small chances too.
            let epochs = ((-share).ln_1p() / (-chance).ln_1p()).ceil().max(1.0);
            let wait = Span::from_millis((epochs * EPOCH.as_millis() as f64) as u64);
            (chance > 0.0 && wait <= LONGEST_WAIT).then_some(wait)
        };
        Some(Self {
            p25: within(0.25)?,
            p50: within(0.5)?,
            p75: within(0.75)?,
        })
    }
}

#[cfg(test)]
mod tests;
