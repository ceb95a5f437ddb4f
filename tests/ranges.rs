//! The table of address ranges, from real files of the four clouds.

mod common;

use std::fs;
use std::net::IpAddr;
use std::time::Instant;

use anteroom::atlas::cloud::{Region, Vendor};
use anteroom::atlas::ranges::{Assigned, FileFault, Table, read};

const FILES: [(Vendor, &str); 4] = [
    (Vendor::Aws, "aws-ip-ranges-2026-08-22.json"),
    (Vendor::Azure, "microsoft-azure-ip-ranges.json"),
    (Vendor::Gcp, "google-cloud-ip-ranges.json"),
    (Vendor::Oci, "oracle-cloud-ip-ranges.json"),
];

fn file(name: &str) -> Option<String> {
    let path = common::data("clouds")?.join(name);
    Some(fs::read_to_string(path).unwrap())
}

/// What all files assign.
fn all() -> Option<Vec<Assigned>> {
    let mut all = Vec::new();
    for (vendor, name) in FILES {
        let before = Instant::now();
        let ranges = read(vendor, &file(name)?, 0).unwrap();
        println!(
            "{vendor}: {} prefixes, {} nowhere, {} disputed, read in {:?}",
            ranges.assigned.len(),
            ranges.nowhere,
            ranges.disputed,
            before.elapsed()
        );
        all.extend(ranges.assigned);
    }
    Some(all)
}

#[test]
fn every_cloud_is_in_one_small_table() {
    let Some(all) = all() else { return };
    let table = Table::new(&all);
    let bytes = table.to_bytes().unwrap();
    println!(
        "{} prefixes, {} regions, {} bytes",
        all.len(),
        table.regions().len(),
        bytes.len()
    );
    assert!(all.len() > 20_000 && table.regions().len() > 190);
    assert!(bytes.len() <= 200_000, "{} bytes", bytes.len());
    assert_eq!(Table::from_bytes(&bytes).as_ref(), Ok(&table));
    for Assigned { prefix, .. } in &all {
        let of_longest = |address: IpAddr| {
            let holding = all.iter().filter(|one| one.prefix.contains(&address));
            let longest = holding.max_by_key(|one| (one.prefix.prefix_len(), one.region.clone()));
            longest.map(|one| one.region.clone())
        };
        // All would be five hundred million comparisons.
        if prefix.network().is_ipv4() && prefix.prefix_len() == 24 {
            let first = prefix.network();
            assert_eq!(table.region(first), of_longest(first).as_ref(), "{first}");
        }
    }
}

#[test]
fn addresses_are_where_they_are_known_to_be() {
    let Some(all) = all() else { return };
    let table = Table::new(&all);
    let of = |vendor: Vendor, name: &str| {
        let region = Region::new(vendor, name);
        let mut found = all.iter().filter(|one| one.region == region);
        found
            .next()
            .unwrap_or_else(|| panic!("no prefix of {region}"))
            .prefix
            .network()
    };
    // Buenos Aires and not Virginia; Azure under the names that the rest of Azure knows.
    for (vendor, name) in [
        (Vendor::Aws, "us-east-1-bue-1"),
        (Vendor::Azure, "germanywestcentral"),
        (Vendor::Gcp, "asia-southeast1"),
        (Vendor::Oci, "us-ashburn-1"),
    ] {
        let region = table.region(of(vendor, name)).unwrap();
        assert_eq!(*region, Region::new(vendor, name));
    }
    let nowhere = table
        .regions()
        .iter()
        .filter(|region| region.name().eq_ignore_ascii_case("global"));
    assert_eq!(nowhere.count(), 0);
    let oracle = all.iter().filter(|one| one.region.vendor() == Vendor::Oci);
    assert!(oracle.into_iter().all(|one| one.prefix.network().is_ipv4()));
}

#[test]
fn a_file_that_shrank_or_is_cut_is_refused() {
    let Some(text) = file("google-cloud-ip-ranges.json") else {
        return;
    };
    let whole = read(Vendor::Gcp, &text, 0).unwrap().assigned.len();
    assert!(read(Vendor::Gcp, &text, whole * 100 / 71).is_ok());
    let shrunk = read(Vendor::Gcp, &text, whole * 100 / 69).unwrap_err();
    assert!(matches!(shrunk, FileFault::Shrunk { .. }), "{shrunk}");
    let cut = read(Vendor::Gcp, &text[..text.len() / 2], whole).unwrap_err();
    assert!(matches!(cut, FileFault::Unreadable { .. }), "{cut}");
    let empty = read(Vendor::Gcp, r#"{"prefixes":[]}"#, 0).unwrap_err();
    assert!(matches!(empty, FileFault::Shrunk { .. }), "{empty}");
}
