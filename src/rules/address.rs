//! IP addresses and sets of them.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Addresses that belong together: one, those of a prefix, or those from one to another.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Block {
    first: IpAddr,
    last: IpAddr,
    form: Form,
}

/// How a block was written.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Form {
    One,
    Prefix(u8),
    Range,
}

impl Block {
    /// Reads `192.0.2.1`, `192.0.2.0/24` or `192.0.2.1..192.0.2.9`, and the same of IPv6.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn parse(text: &str) -> Result<Self, String> {
        if let Some((first, last)) = text.split_once("..") {
            return Self::range(address(first)?, address(last)?);
        }
        let Some((network, bits)) = text.split_once('/') else {
            let one = address(text)?;
            return Ok(Self {
                first: one,
                last: one,
                form: Form::One,
            });
        };
        let network = address(network)?;
        let most = if network.is_ipv4() { 32 } else { 128 };
        let digits = !bits.is_empty() && bits.bytes().all(|byte| byte.is_ascii_digit());
        let bits = bits.parse().ok().filter(|bits| digits && *bits <= most);
        let bits: u8 = bits.ok_or_else(|| format!("expected 0 to {most} after the slash"))?;
        let first = mask(network, bits);
        if first != network {
            return Err(format!(
                "{network} is no network of {bits} bits; did you mean {first}/{bits}?"
            ));
        }
        Ok(Self {
            first,
            last: fill(first, bits),
            form: Form::Prefix(bits),
        })
    }

    fn range(first: IpAddr, last: IpAddr) -> Result<Self, String> {
        if first.is_ipv4() != last.is_ipv4() {
            return Err("a range goes from IPv4 to IPv4 or from IPv6 to IPv6".to_owned());
        }
        if last < first {
            return Err("the range ends before it begins".to_owned());
        }
        Ok(Self {
            first,
            last,
            form: Form::Range,
        })
    }
}

impl fmt::Display for Block {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { first, last, form } = self;
        match form {
            Form::One => write!(f, "{first}"),
            Form::Prefix(bits) => write!(f, "{first}/{bits}"),
            Form::Range => write!(f, "{first}..{last}"),
        }
    }
}

/// Reads an address. An IPv4 address that is written as IPv6 is IPv4, as the runtime writes it.
///
/// # Errors
/// That it is none.
pub(super) fn address(text: &str) -> Result<IpAddr, String> {
    let address: IpAddr = text
        .parse()
        .map_err(|_error| format!("expected an IP address, not {text}"))?;
    Ok(address.to_canonical())
}

/// The network of so many bits in which an address lies.
pub(super) fn mask(address: IpAddr, bits: u8) -> IpAddr {
    match address {
        IpAddr::V4(v4) => {
            let mask = u32::MAX.checked_shl(32 - u32::from(bits.min(32)));
            Ipv4Addr::from_bits(v4.to_bits() & mask.unwrap_or(0)).into()
        }
        IpAddr::V6(v6) => {
            let mask = u128::MAX.checked_shl(128 - u32::from(bits.min(128)));
            Ipv6Addr::from_bits(v6.to_bits() & mask.unwrap_or(0)).into()
        }
    }
}

/// The last address of a network of so many bits.
fn fill(network: IpAddr, bits: u8) -> IpAddr {
    match network {
        IpAddr::V4(v4) => {
            let hosts = u32::MAX.checked_shr(u32::from(bits)).unwrap_or(0);
            Ipv4Addr::from_bits(v4.to_bits() | hosts).into()
        }
        IpAddr::V6(v6) => {
            let hosts = u128::MAX.checked_shr(u32::from(bits)).unwrap_or(0);
            Ipv6Addr::from_bits(v6.to_bits() | hosts).into()
        }
    }
}

/// A set of addresses. A look takes time logarithmic in its size.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct AddressSet {
    /// Sorted by the first address, none overlaps another. IPv4 comes before IPv6.
    ranges: Vec<(IpAddr, IpAddr)>,
}

impl AddressSet {
    /// The set of all addresses of these blocks.
    pub fn new(blocks: impl IntoIterator<Item = Block>) -> Self {
        let mut sorted: Vec<_> = blocks
            .into_iter()
            .map(|block| (block.first, block.last))
            .collect();
        sorted.sort();
        let mut ranges: Vec<(IpAddr, IpAddr)> = Vec::with_capacity(sorted.len());
        for (first, last) in sorted {
            match ranges.last_mut() {
                Some((_, end)) if first <= *end => *end = last.max(*end),
                _ => ranges.push((first, last)),
            }
        }
        Self { ranges }
    }

    /// Whether an address belongs to it.
    pub fn contains(&self, address: IpAddr) -> bool {
        let after = self.ranges.partition_point(|(first, _)| *first <= address);
        let before = after.checked_sub(1).and_then(|at| self.ranges.get(at));
        before.is_some_and(|(_, last)| address <= *last)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(blocks: &[&str]) -> AddressSet {
        AddressSet::new(blocks.iter().map(|text| Block::parse(text).unwrap()))
    }

    #[test]
    fn a_set_holds_the_addresses_of_its_blocks_and_no_others() {
        let set = set(&[
            "192.0.2.0/24",
            "192.0.2.128/25",
            "198.51.100.3..198.51.100.7",
            "203.0.113.9",
            "2001:db8::/32",
            "::1",
        ]);
        for (text, inside) in [
            ("192.0.1.255", false),
            ("192.0.2.0", true),
            ("192.0.2.255", true),
            ("192.0.3.0", false),
            ("198.51.100.2", false),
            ("198.51.100.3", true),
            ("198.51.100.7", true),
            ("198.51.100.8", false),
            ("203.0.113.9", true),
            ("203.0.113.10", false),
            ("2001:db8:ffff:ffff:ffff:ffff:ffff:ffff", true),
            ("2001:db9::", false),
            ("::1", true),
            ("::2", false),
        ] {
            assert_eq!(set.contains(text.parse().unwrap()), inside, "{text}");
        }
        assert!(!AddressSet::default().contains("0.0.0.0".parse().unwrap()));
    }

    #[test]
    fn the_whole_space_is_a_block() {
        assert!(set(&["0.0.0.0/0"]).contains("255.255.255.255".parse().unwrap()));
        assert!(!set(&["0.0.0.0/0"]).contains("::1".parse().unwrap()));
        assert!(set(&["::/0"]).contains("ffff::".parse().unwrap()));
        assert!(!set(&["::/0"]).contains("1.2.3.4".parse().unwrap()));
    }

    #[test]
    fn what_is_no_block_is_refused_with_the_reason() {
        for (text, reason) in [
            ("192.0.2.1/24", "did you mean 192.0.2.0/24?"),
            ("192.0.2.0/33", "expected 0 to 32"),
            ("192.0.2.0/+8", "expected 0 to 32"),
            ("::/129", "expected 0 to 128"),
            ("192.0.2.256", "expected an IP address"),
            ("192.0.2.9..192.0.2.1", "ends before it begins"),
            ("192.0.2.9..::1", "IPv4 to IPv4"),
            ("example.com", "expected an IP address"),
        ] {
            let fault = Block::parse(text).unwrap_err();
            assert!(fault.contains(reason), "{text}: {fault}");
        }
    }

    #[test]
    fn a_block_is_printed_as_it_was_written() {
        for text in ["192.0.2.1", "192.0.2.0/24", "::1..::9", "2001:db8::/32"] {
            assert_eq!(Block::parse(text).unwrap().to_string(), text);
        }
        let mapped = Block::parse("::ffff:192.0.2.1").unwrap();
        assert_eq!(mapped.to_string(), "192.0.2.1");
    }
}
