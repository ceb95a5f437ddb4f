//! All clouds' prefixes as one compact table: the longest prefix that holds an address names its
//! region.
//!
//! Prefixes either contain each other or have nothing in common. So the address space falls into
//! stretches, each with one region or none, and looking up an address is a binary search among
//! their beginnings.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv6Addr};

use serde::{Deserialize, Serialize};

use super::Assigned;
use crate::atlas::cloud::Region;

/// The table.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Table {
    regions: Vec<Region>,
    v4: Stretches<u32>,
    /// By the first 64 bits: no cloud splits what a single network has.
    v6: Stretches<u64>,
}

/// Addresses in a row that belong to one region.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Subnet<'a> {
    /// The region.
    pub region: &'a Region,
    /// The first of its addresses; of IPv6 the first 64 bits.
    pub begin: u64,
    /// How many addresses it has, or how many networks of 64 bits: the logarithm to base 2, rounded
    /// down.
    pub size_log2: u32,
}

/// Where each stretch begins, and the index of its region.
type Stretches<A> = Vec<(A, Option<u16>)>;

/// The table as it is stored: each beginning as the distance from the one before, so that most take
/// two or three bytes, and regions from 1 on.
#[derive(Deserialize, Serialize)]
struct Stored {
    version: u8,
    regions: Vec<Region>,
    v4: Vec<(u32, u16)>,
    v6: Vec<(u64, u16)>,
}

/// The version of the stored form.
const VERSION: u8 = 1;

impl Table {
    /// Puts all that is assigned into one table. Where two clouds claim one prefix, the one that
    /// sorts last has it.
    pub fn new<'a>(assigned: impl IntoIterator<Item = &'a Assigned>) -> Self {
        let mut prefixes = BTreeMap::new();
        for Assigned { prefix, region } in assigned {
            prefixes
                .entry((prefix.network(), prefix.prefix_len()))
                .and_modify(|known: &mut &Region| *known = (*known).max(region))
                .or_insert(region);
        }
        let mut regions: Vec<Region> = prefixes.values().map(|region| (*region).clone()).collect();
        regions.sort();
        regions.dedup();
        regions.truncate(usize::from(u16::MAX) - 1);
        let index = |region: &Region| {
            let index = regions.binary_search(region).ok();
            index.and_then(|index| u16::try_from(index).ok())
        };
        let mut v4 = Sweep::default();
        let mut v6 = Sweep::default();
        // An outer prefix comes before those in it.
        for ((network, length), region) in prefixes {
            let Some(region) = index(region) else {
                continue;
            };
            match network {
                IpAddr::V4(network) => {
                    v4.add(
                        u128::from(network.to_bits()),
                        32 - u32::from(length),
                        region,
                    );
                }
                IpAddr::V6(network) if length <= 64 => {
                    let network = network.to_bits() >> 64;
                    v6.add(network, 64 - u32::from(length), region);
                }
                // In a network of its own, and nothing is lost but an exception within it.
                IpAddr::V6(_) => {}
            }
        }
        Self {
            v4: stretches(v4.finish()),
            v6: stretches(v6.finish()),
            regions,
        }
    }

    /// The region of the longest prefix that holds `address`. An IPv4 address in the clothes of an
    /// IPv6 one (`::ffff:192.0.2.1`) is looked up as what it is.
    pub fn region(&self, address: IpAddr) -> Option<&Region> {
        let index = match address.to_canonical() {
            IpAddr::V4(address) => at(&self.v4, address.to_bits()).0,
            IpAddr::V6(address) => at(&self.v6, network(address)).0,
        };
        self.regions.get(usize::from(index?))
    }

    /// The stretch of addresses of one region that `address` is in.
    pub fn subnet(&self, address: IpAddr) -> Option<Subnet<'_>> {
        let (index, begin, size_log2) = match address.to_canonical() {
            IpAddr::V4(address) => {
                let (index, begin, end) = at(&self.v4, address.to_bits());
                let size = end.unwrap_or(u32::MAX).saturating_sub(begin);
                (index, u64::from(begin), size.checked_ilog2())
            }
            IpAddr::V6(address) => {
                let (index, begin, end) = at(&self.v6, network(address));
                let size = end.unwrap_or(u64::MAX).saturating_sub(begin);
                (index, begin, size.checked_ilog2())
            }
        };
        Some(Subnet {
            region: self.regions.get(usize::from(index?))?,
            begin,
            size_log2: size_log2.unwrap_or_default(),
        })
    }

    /// All regions that have a prefix.
    pub fn regions(&self) -> &[Region] {
        &self.regions
    }

    /// The table as bytes.
    ///
    /// # Errors
    /// None that a table can have.
    pub fn to_bytes(&self) -> Result<Vec<u8>, postcard::Error> {
        postcard::to_allocvec(&Stored {
            version: VERSION,
            regions: self.regions.clone(),
            v4: gaps(&self.v4, |to, from| to.wrapping_sub(from)),
            v6: gaps(&self.v6, |to, from| to.wrapping_sub(from)),
        })
    }

    /// Reads what [`Table::to_bytes`] has written.
    ///
    /// # Errors
    /// If it is something else, or of another version.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, String> {
        let unreadable = |error: postcard::Error| format!("no table of address ranges: {error}");
        let stored: Stored = postcard::from_bytes(bytes).map_err(unreadable)?;
        if stored.version != VERSION {
            let version = stored.version;
            return Err(format!("table of version {version}, known {VERSION}"));
        }
        Ok(Self {
            regions: stored.regions,
            v4: sums(stored.v4, |from, gap| from.checked_add(gap)).ok_or("no order")?,
            v6: sums(stored.v6, |from, gap| from.checked_add(gap)).ok_or("no order")?,
        })
    }
}

/// The first 64 bits.
const fn network(address: Ipv6Addr) -> u64 {
    (address.to_bits() >> 64) as u64
}

/// The region of the stretch that holds `address`, where it begins, and where the next one does.
fn at<A: Ord + Copy + Default>(
    stretches: &Stretches<A>,
    address: A,
) -> (Option<u16>, A, Option<A>) {
    let behind = stretches.partition_point(|(begin, _)| *begin <= address);
    let next = stretches.get(behind).map(|(begin, _)| *begin);
    let found = behind.checked_sub(1).and_then(|index| stretches.get(index));
    let (begin, region) = found.copied().unwrap_or_default();
    (region, begin, next)
}

fn gaps<A: Copy + Default>(stretches: &Stretches<A>, gap: impl Fn(A, A) -> A) -> Vec<(A, u16)> {
    let mut last = A::default();
    let stored = stretches.iter().map(|(begin, region)| {
        let stored = (gap(*begin, last), region.map_or(0, |index| index + 1));
        last = *begin;
        stored
    });
    stored.collect()
}

fn sums<A: Copy + Default>(
    stored: Vec<(A, u16)>,
    sum: impl Fn(A, A) -> Option<A>,
) -> Option<Stretches<A>> {
    let mut last = A::default();
    let stretches = stored.into_iter().map(|(gap, region)| {
        last = sum(last, gap)?;
        Some((last, region.checked_sub(1)))
    });
    stretches.collect()
}

fn stretches<A: TryFrom<u128>>(swept: Vec<(u128, Option<u16>)>) -> Stretches<A> {
    let fitting = swept.into_iter();
    let fitting = fitting.filter_map(|(begin, region)| Some((A::try_from(begin).ok()?, region)));
    fitting.collect()
}

/// Cuts nested prefixes, given in order, into stretches.
#[derive(Default)]
struct Sweep {
    /// The prefixes that hold the current address, the longest last: where each ends, exclusively.
    open: Vec<(u128, u16)>,
    found: Vec<(u128, Option<u16>)>,
}

impl Sweep {
    /// A prefix of `region` that begins at `begin` and leaves so many bits `free`.
    fn add(&mut self, begin: u128, free: u32, region: u16) {
        self.close_until(begin);
        self.begin(begin, Some(region));
        self.open.push((begin + (1 << free), region));
    }

    fn finish(mut self) -> Vec<(u128, Option<u16>)> {
        self.close_until(u128::MAX);
        self.found
    }

    /// Ends the prefixes that end at `address` or before.
    fn close_until(&mut self, address: u128) {
        while let Some((end, _)) = self.open.last().copied().filter(|(end, _)| *end <= address) {
            self.open.pop();
            let outer = self.open.last().map(|(_, region)| *region);
            self.begin(end, outer);
        }
    }

    fn begin(&mut self, address: u128, region: Option<u16>) {
        // Of two that begin at one address the later one is the longer one.
        if self
            .found
            .last()
            .is_some_and(|(begin, _)| *begin == address)
        {
            self.found.pop();
        }
        if self.found.last().and_then(|(_, region)| *region) != region
            || (self.found.is_empty() && region.is_some())
        {
            self.found.push((address, region));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ipnet::IpNet;
    use proptest::prelude::*;

    fn assigned(prefix: IpNet, region: u8) -> Assigned {
        Assigned {
            prefix: prefix.trunc(),
            region: format!("aws:region-{region:03}").parse().unwrap(),
        }
    }

    fn prefix(text: &str) -> IpNet {
        text.parse().unwrap()
    }

    #[test]
    fn the_longest_prefix_wins_and_gaps_stay_empty() {
        let table = Table::new(&[
            assigned(prefix("10.0.0.0/8"), 1),
            assigned(prefix("10.1.0.0/16"), 2),
            assigned(prefix("10.1.2.0/24"), 3),
            assigned(prefix("255.255.255.255/32"), 4),
            assigned(prefix("2001:db8::/32"), 5),
            assigned(prefix("2001:db8:1::/48"), 6),
        ]);
        for (address, region) in [
            ("9.255.255.255", None),
            ("10.0.0.0", Some(1)),
            ("10.1.0.0", Some(2)),
            ("10.1.2.255", Some(3)),
            ("10.1.3.0", Some(2)),
            ("10.2.0.0", Some(1)),
            ("11.0.0.0", None),
            ("255.255.255.254", None),
            ("255.255.255.255", Some(4)),
            ("::ffff:10.1.2.3", Some(3)),
            ("2001:db8::1", Some(5)),
            ("2001:db8:1:ffff::1", Some(6)),
            ("2001:db9::", None),
        ] {
            let found = table.region(address.parse().unwrap());
            let region = region.map(|region| format!("region-{region:03}"));
            assert_eq!(found.map(Region::name), region.as_deref(), "{address}");
        }
    }

    fn prefixes() -> impl Strategy<Value = Vec<Assigned>> {
        // Few different bits, so that prefixes meet.
        let v4 = (any::<[bool; 4]>(), 0_u8..=32).prop_map(|(bits, length)| {
            let bits = bits
                .iter()
                .fold(0_u32, |sum, bit| (sum << 8) | if *bit { 0xa1 } else { 0 });
            IpNet::new(IpAddr::from(bits.to_be_bytes()), length).unwrap()
        });
        let v6 = (any::<[bool; 4]>(), 0_u8..=64).prop_map(|(bits, length)| {
            let bits = bits.iter().fold(0_u64, |sum, bit| {
                (sum << 16) | if *bit { 0xa001 } else { 0 }
            });
            IpNet::new(IpAddr::from((u128::from(bits) << 64).to_be_bytes()), length).unwrap()
        });
        let one = (prop_oneof![v4, v6], 0_u8..6);
        prop::collection::vec(
            one.prop_map(|(prefix, region)| assigned(prefix, region)),
            0..24,
        )
    }

    proptest! {
        #[test]
        fn a_table_says_what_a_look_at_every_prefix_says(all in prefixes(), random in any::<u128>()) {
            let table = Table::new(&all);
            let read = Table::from_bytes(&table.to_bytes().unwrap());
            prop_assert_eq!(read.as_ref(), Ok(&table));
            let ends = all.iter().flat_map(|one| [one.prefix.network(), one.prefix.broadcast()]);
            let beside = |address: IpAddr| match address {
                IpAddr::V4(address) => [
                    IpAddr::from(address.to_bits().wrapping_sub(1).to_be_bytes()),
                    IpAddr::from(address.to_bits().wrapping_add(1).to_be_bytes()),
                ],
                IpAddr::V6(address) => [
                    IpAddr::from(address.to_bits().wrapping_sub(1).to_be_bytes()),
                    IpAddr::from(address.to_bits().wrapping_add(1).to_be_bytes()),
                ],
            };
            let ends: Vec<IpAddr> = ends.collect();
            let near = ends.iter().flat_map(|end| beside(*end));
            let others = [IpAddr::from(random.to_be_bytes()), IpAddr::from((random as u32).to_be_bytes())];
            for address in near.chain(ends.iter().copied()).chain(others) {
                let holding = all.iter().filter(|one| one.prefix.contains(&address.to_canonical()));
                let longest = holding.max_by_key(|one| (one.prefix.prefix_len(), one.region.clone()));
                prop_assert_eq!(table.region(address), longest.map(|one| &one.region), "{}", address);
            }
        }
    }

    #[test]
    fn what_is_no_table_is_refused() {
        assert!(Table::from_bytes(b"").is_err());
        assert!(
            Table::from_bytes(&[9, 0, 0, 0])
                .unwrap_err()
                .contains("version 9")
        );
        // Beginnings that pass the end of the address space.
        let stored = Stored {
            version: VERSION,
            regions: Vec::new(),
            v4: vec![(u32::MAX, 0), (1, 0)],
            v6: Vec::new(),
        };
        let bytes = postcard::to_allocvec(&stored).unwrap();
        assert!(Table::from_bytes(&bytes).is_err());
    }
}
