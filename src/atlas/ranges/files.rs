//! The clouds' files of address ranges.
//!
//! What they agree on is that a prefix has a region. The rest of this file is their differences:
//!
//! - Amazon lists a prefix once for each service, and `AMAZON` has them all. A local zone's prefixes
//!   have the region it belongs to and a border group that says where it is.
//! - Azure lists every service of every region; `AzureCloud.<region>` has all of a region's.
//! - `GLOBAL` (Amazon) and `global` (Google) are in no region: they may be anycast, or single places
//!   that the file does not tell.
//! - Oracle lists no IPv6.
//!
//! Others can be had as a plain table of prefixes and regions.

use ipnet::IpNet;
use serde::Deserialize;
use thiserror::Error;

use crate::atlas::cloud::{Format, Misnamed, Region, Vendor};

/// A prefix and the region that it is assigned to.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Assigned {
    /// The prefix, without bits behind its length.
    pub prefix: IpNet,
    /// The region, or Amazon's border group.
    pub region: Region,
}

/// What one file says.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Ranges {
    /// Each prefix once, in order.
    pub assigned: Vec<Assigned>,
    /// Prefixes that are in no region.
    pub nowhere: usize,
    /// Prefixes that the file assigns to two regions. The one that sorts last has it: of a region
    /// and its border group, that is the group.
    pub disputed: usize,
}

/// Why a file is not used.
#[derive(Clone, Debug, Eq, Error, PartialEq)]
pub enum FileFault {
    /// It is not in the provider's format.
    #[error("{vendor}'s address ranges cannot be read: {message}")]
    Unreadable {
        /// Whose file it is.
        vendor: Vendor,
        /// What is wrong, and where.
        message: String,
    },
    /// It has much less in it than the one before.
    #[error("{vendor}'s address ranges shrank from {before} prefixes to {now}; the old ones stay")]
    Shrunk {
        /// Whose file it is.
        vendor: Vendor,
        /// Prefixes in the last good file.
        before: usize,
        /// Prefixes in this one.
        now: usize,
    },
}

/// A file with fewer than so many hundredths of the prefixes of the one before is refused: half a
/// download is more likely than a cloud that gives up a third of its addresses.
const LEAST_PERCENT: usize = 70;

/// Reads a provider's file. `before` is the number of prefixes in the last good one, 0 if there is
/// none.
///
/// # Errors
/// If the file is not to be trusted.
pub fn read(
    vendor: &Vendor,
    format: Format,
    text: &str,
    before: usize,
) -> Result<Ranges, FileFault> {
    let unreadable = |message: String| FileFault::Unreadable {
        vendor: vendor.clone(),
        message,
    };
    let listed = match format {
        Format::Aws => aws(text),
        Format::Azure => azure(text),
        Format::Gcp => gcp(text),
        Format::Oci => oci(text),
        Format::Csv => csv(text),
    };
    let (listed, nowhere) = listed.map_err(|error| unreadable(error.to_string()))?;
    let mut ranges = collect(vendor, listed).map_err(|error| unreadable(error.to_string()))?;
    ranges.nowhere = nowhere;
    let now = ranges.assigned.len();
    if now == 0 || now * 100 < before * LEAST_PERCENT {
        return Err(FileFault::Shrunk {
            vendor: vendor.clone(),
            before,
            now,
        });
    }
    Ok(ranges)
}

/// Each prefix once.
fn collect(vendor: &Vendor, mut listed: Vec<(IpNet, &str)>) -> Result<Ranges, Misnamed> {
    for (prefix, _) in &mut listed {
        *prefix = prefix.trunc();
    }
    listed.sort_unstable();
    listed.dedup();
    let mut ranges = Ranges::default();
    for (prefix, name) in listed {
        let region = Region::new(vendor.clone(), name)?;
        match ranges.assigned.last_mut() {
            Some(last) if last.prefix == prefix => {
                last.region = region;
                ranges.disputed += 1;
            }
            _ => ranges.assigned.push(Assigned { prefix, region }),
        }
    }
    Ok(ranges)
}

/// Prefixes with their regions' names, and how many have none.
type Listed<'a> = serde_json::Result<(Vec<(IpNet, &'a str)>, usize)>;

fn aws(text: &str) -> Listed<'_> {
    #[derive(Deserialize)]
    struct File<'a> {
        #[serde(borrow)]
        prefixes: Vec<V4<'a>>,
        #[serde(borrow)]
        ipv6_prefixes: Vec<V6<'a>>,
    }
    #[derive(Deserialize)]
    struct V4<'a> {
        ip_prefix: IpNet,
        region: &'a str,
        network_border_group: &'a str,
    }
    #[derive(Deserialize)]
    struct V6<'a> {
        ipv6_prefix: IpNet,
        region: &'a str,
        network_border_group: &'a str,
    }
    let file: File<'_> = serde_json::from_str(text)?;
    let v4 = file.prefixes.into_iter();
    let v4 = v4.map(|entry| (entry.ip_prefix, entry.region, entry.network_border_group));
    let v6 = file.ipv6_prefixes.into_iter();
    let v6 = v6.map(|entry| (entry.ipv6_prefix, entry.region, entry.network_border_group));
    let all = v4.chain(v6).map(|(prefix, region, group)| {
        let somewhere = region != "GLOBAL";
        (prefix, somewhere.then_some(group))
    });
    Ok(split(all))
}

fn gcp(text: &str) -> Listed<'_> {
    #[derive(Deserialize)]
    struct File<'a> {
        #[serde(borrow)]
        prefixes: Vec<Entry<'a>>,
    }
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Entry<'a> {
        #[serde(alias = "ipv6Prefix")]
        ipv4_prefix: IpNet,
        scope: &'a str,
    }
    let file: File<'_> = serde_json::from_str(text)?;
    let all = file.prefixes.into_iter().map(|entry| {
        let somewhere = entry.scope != "global";
        (entry.ipv4_prefix, somewhere.then_some(entry.scope))
    });
    Ok(split(all))
}

fn azure(text: &str) -> Listed<'_> {
    #[derive(Deserialize)]
    struct File<'a> {
        #[serde(borrow)]
        values: Vec<Tag<'a>>,
    }
    #[derive(Deserialize)]
    struct Tag<'a> {
        name: &'a str,
        #[serde(borrow)]
        properties: Properties<'a>,
    }
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Properties<'a> {
        region: &'a str,
        #[serde(borrow)]
        address_prefixes: Vec<&'a str>,
    }
    let file: File<'_> = serde_json::from_str(text)?;
    let mut listed = Vec::new();
    for tag in file.values {
        if !tag.name.starts_with("AzureCloud.") || tag.properties.region.is_empty() {
            continue;
        }
        for prefix in tag.properties.address_prefixes {
            let prefix = prefix.parse::<IpNet>();
            let prefix = prefix.map_err(|error| serde::de::Error::custom(error.to_string()))?;
            listed.push((prefix, tag.properties.region));
        }
    }
    Ok((listed, 0))
}

fn oci(text: &str) -> Listed<'_> {
    #[derive(Deserialize)]
    struct File<'a> {
        #[serde(borrow)]
        regions: Vec<Entry<'a>>,
    }
    #[derive(Deserialize)]
    struct Entry<'a> {
        region: &'a str,
        cidrs: Vec<Cidr>,
    }
    #[derive(Deserialize)]
    struct Cidr {
        cidr: IpNet,
    }
    let file: File<'_> = serde_json::from_str(text)?;
    let mut listed = Vec::new();
    for entry in file.regions {
        let region = entry.region;
        listed.extend(entry.cidrs.into_iter().map(|cidr| (cidr.cidr, region)));
    }
    Ok((listed, 0))
}

fn csv(text: &str) -> Listed<'_> {
    let rows = text.lines().map(str::trim);
    let rows = rows.filter(|row| !row.is_empty() && !row.starts_with('#'));
    let mut all = Vec::new();
    for row in rows {
        let mut fields = row.split(',').map(str::trim);
        let (prefix, region) = (fields.next(), fields.next());
        let prefix = prefix.and_then(|prefix| prefix.parse::<IpNet>().ok());
        let (prefix, region) = prefix
            .zip(region)
            .ok_or_else(|| serde::de::Error::custom(format!("no prefix and region: {row:?}")))?;
        all.push((prefix, Some(region).filter(|region| !region.is_empty())));
    }
    Ok(split(all.into_iter()))
}

fn split<'a>(
    all: impl Iterator<Item = (IpNet, Option<&'a str>)>,
) -> (Vec<(IpNet, &'a str)>, usize) {
    let mut nowhere = 0;
    let somewhere = all.filter_map(|(prefix, region)| match region {
        Some(region) => Some((prefix, region)),
        None => {
            nowhere += 1;
            None
        }
    });
    let listed = somewhere.collect();
    (listed, nowhere)
}
