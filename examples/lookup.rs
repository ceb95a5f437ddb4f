//! How long it takes to look an address up in the table of address ranges, beside two crates for longest
//! prefixes, on the clouds' files of a folder:
//!
//!     cargo run --release --example lookup -- <folder>
//!
//! with `aws.json`, `azure.json`, `gcp.json` and `oci.json` in it. All three have to give the same answers.
#![cfg(not(target_arch = "wasm32"))]

use std::error::Error;
use std::fs;
use std::hint::black_box;
use std::net::{IpAddr, Ipv4Addr};
use std::path::PathBuf;
use std::time::Instant;

use anteroom::atlas::cloud::{Region, Vendor};
use anteroom::atlas::ranges::{Assigned, Table, read};
use anteroom::atlas::region_places::RegionPlaces;
use ip_network_table::IpNetworkTable;
use ipnet::{IpNet, Ipv4Net};
use prefix_trie::PrefixMap;

const LOOK_UPS: usize = 1_000_000;

fn main() -> Result<(), Box<dyn Error>> {
    let folder = std::env::args().nth(1).ok_or("which folder?")?;
    let assigned = assigned(&PathBuf::from(folder))?;
    let table = Table::new(&assigned);
    let mut trie: PrefixMap<Ipv4Net, &Region> = PrefixMap::new();
    let mut bitmap = IpNetworkTable::new();
    // In the order of the table: where two clouds claim a prefix, the later one has it.
    let mut ordered: Vec<&Assigned> = assigned.iter().collect();
    ordered.sort_by(|a, b| a.region.cmp(&b.region));
    for Assigned { prefix, region } in ordered {
        if let IpNet::V4(v4) = prefix {
            trie.insert(*v4, region);
        }
        bitmap.insert(
            ip_network::IpNetwork::new(prefix.network(), prefix.prefix_len())?,
            region,
        );
    }
    // Half of them in some cloud, half anywhere.
    let mut random = fastrand::Rng::with_seed(7);
    let v4: Vec<Ipv4Net> = assigned
        .iter()
        .filter_map(|one| match one.prefix {
            IpNet::V4(v4) => Some(v4),
            IpNet::V6(_) => None,
        })
        .collect();
    let addresses: Vec<Ipv4Addr> = (0..LOOK_UPS)
        .map(|n| {
            let any = random.u32(..);
            let Some(prefix) = random.choice(&v4).filter(|_| n.is_multiple_of(2)) else {
                return Ipv4Addr::from_bits(any);
            };
            let free = any & prefix.hostmask().to_bits();
            Ipv4Addr::from_bits(prefix.network().to_bits() | free)
        })
        .collect();
    let ours = |address: Ipv4Addr| table.region(IpAddr::V4(address));
    let of_trie = |address: Ipv4Addr| {
        let found = trie.get_lpm(&Ipv4Net::from(address));
        found.map(|(_, region)| *region)
    };
    let of_bitmap = |address: Ipv4Addr| {
        let found = bitmap.longest_match_ipv4(address);
        found.map(|(_, region)| *region)
    };
    for address in &addresses {
        let found = ours(*address);
        if found != of_trie(*address) || found != of_bitmap(*address) {
            return Err(format!("{address}: the three disagree").into());
        }
    }
    println!(
        "{} prefixes, {} bytes stored",
        assigned.len(),
        table.to_bytes()?.len()
    );
    time("table", &addresses, ours);
    time("prefix-trie", &addresses, of_trie);
    time("ip_network_table", &addresses, of_bitmap);
    Ok(())
}

fn time<T>(name: &str, addresses: &[Ipv4Addr], look_up: impl Fn(Ipv4Addr) -> T) {
    let begin = Instant::now();
    for address in addresses {
        black_box(look_up(*address));
    }
    let each = begin.elapsed().as_nanos() / addresses.len() as u128;
    println!("{name}: {each} ns a look-up");
}

fn assigned(folder: &std::path::Path) -> Result<Vec<Assigned>, Box<dyn Error>> {
    let places = RegionPlaces::packed()?;
    let mut all = Vec::new();
    for name in ["aws", "azure", "gcp", "oci"] {
        let vendor: Vendor = name.parse()?;
        let provider = places.provider(&vendor).ok_or("no such provider")?;
        let text = fs::read_to_string(folder.join(format!("{name}.json")))?;
        let begin = Instant::now();
        let ranges = read(&vendor, provider.format, &text, 0)?;
        println!(
            "{name}: {} MB read in {:?}",
            text.len() as f64 / 1e6,
            begin.elapsed()
        );
        all.extend(ranges.assigned);
    }
    Ok(all)
}
