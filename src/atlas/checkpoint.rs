//! What a checkpoint that is a placed Worker is asked to time: the errand, as a URL.
//!
//! A marker of the kind [`Probe`](crate::tier::marker::Hop::Probe) is bound to the whole URL, so that it
//! sends nobody to other origins or to another port.

use super::origin_name::OriginName;
use super::probe::MOST_ORIGINS;
use crate::time::{Instant, Span};

/// Before what is asked. The name is one that resolves nowhere (RFC 6761): should a binding lead to
/// something else than a checkpoint, nobody else hears of it.
const BEFORE: &str = "https://checkpoint.invalid/";

/// So many placed Workers are asked in a round. A request may have 32 invocations of Workers, and
/// 50 calls on the Free plan, of which eight go to objects and five to files and KV (docs: workers, limits).
pub const MOST_PLACED: usize = 24;

/// A round begins every so often; those that had no turn have theirs in the next.
const ROUND: Span = Span::from_secs(15 * 60);

/// Handshakes to be timed.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Errand {
    /// With whom: [`MOST_ORIGINS`] at most.
    pub origins: Vec<OriginName>,
    /// The TCP port.
    pub port: u16,
}

impl Errand {
    /// The errand as a URL, in the form to which the runtime brings it.
    pub fn url(&self) -> String {
        // Names and addresses have no character that a query could not have.
        let origins: Vec<&str> = self.origins.iter().map(OriginName::as_str).collect();
        format!("{BEFORE}?port={}&origins={}", self.port, origins.join(","))
    }

    /// The errand that a URL is; none if it is another one, or asks for more than is done at once.
    pub fn read(url: &str) -> Option<Self> {
        let query = url.strip_prefix(BEFORE)?.strip_prefix("?port=")?;
        let (port, origins) = query.split_once("&origins=")?;
        let origins = origins.split(',').map(|origin| origin.parse().ok());
        let origins: Vec<OriginName> = origins.collect::<Option<_>>()?;
        let port = port.parse().ok()?;
        (origins.len() <= MOST_ORIGINS).then_some(Self { origins, port })
    }
}

/// Those whose turn it is in the round at this time: [`MOST_PLACED`] of all, and in the next rounds the
/// others.
pub fn turn<T>(all: &[T], now: Instant) -> impl Iterator<Item = &T> {
    let round = usize::try_from(now.as_millis() / ROUND.as_millis()).unwrap_or_default();
    let first = round.wrapping_mul(MOST_PLACED) % all.len().max(1);
    let from_there = all.iter().cycle().skip(first);
    from_there.take(all.len().min(MOST_PLACED))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn errand(origins: &[&str]) -> Errand {
        let origins = origins.iter().map(|origin| origin.parse().unwrap());
        Errand {
            origins: origins.collect(),
            port: 443,
        }
    }

    #[test]
    fn an_errand_is_read_as_it_was_written() {
        let errand = errand(&["198.51.100.7", "2001:db8::1", "a-b.example.com"]);
        let url = errand.url();
        assert_eq!(
            url,
            "https://checkpoint.invalid/?port=443&origins=198.51.100.7,2001:db8::1,a-b.example.com"
        );
        assert_eq!(Errand::read(&url), Some(errand));
    }

    #[test]
    fn nothing_else_is_an_errand() {
        let nine = errand(&["198.51.100.7"; MOST_ORIGINS + 1]).url();
        for url in [
            nine.as_str(),
            "https://checkpoint.invalid/",
            "https://checkpoint.invalid/?port=443&origins=",
            "https://checkpoint.invalid/?port=65536&origins=198.51.100.7",
            "https://checkpoint.invalid/?port=443&origins=198.51.100.7:22",
            "https://checkpoint.invalid.example/?port=443&origins=198.51.100.7",
            "https://shop.example.com/?port=443&origins=198.51.100.7",
        ] {
            assert_eq!(Errand::read(url), None, "{url}");
        }
    }

    #[test]
    fn everybody_has_a_turn() {
        let at = |round: u64| Instant::from_millis(round * ROUND.as_millis());
        let few = ["a", "b"];
        assert_eq!(turn(&few, at(7)).collect::<BTreeSet<_>>().len(), 2);
        assert_eq!(turn::<u8>(&[], at(7)).count(), 0);
        let many: Vec<usize> = (0..64).collect();
        let mut asked: BTreeSet<&usize> = BTreeSet::new();
        for round in 1_000..1_003 {
            assert_eq!(turn(&many, at(round)).count(), MOST_PLACED);
            asked.extend(turn(&many, at(round)));
        }
        assert_eq!(asked.len(), many.len());
    }
}
