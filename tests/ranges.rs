//! The table of address ranges, from real files of the four clouds.
#![cfg(not(target_arch = "wasm32"))]
// clippy.toml allows these in tests, but does not know the functions that tests share.
#![allow(clippy::indexing_slicing, clippy::unwrap_used)]

mod common;

use std::fs;
use std::net::IpAddr;
use std::time::Instant;

use anteroom::atlas::cloud::{Format, Region, Vendor};
use anteroom::atlas::ranges::{Assigned, FileFault, Ranges, Table};
use anteroom::atlas::region_places::RegionPlaces;

const FILES: [(&str, Format, &str); 4] = [
    ("aws", Format::Aws, "aws-ip-ranges-2026-08-22.json"),
    ("azure", Format::Azure, "microsoft-azure-ip-ranges.json"),
    ("gcp", Format::Gcp, "google-cloud-ip-ranges.json"),
    ("oci", Format::Oci, "oracle-cloud-ip-ranges.json"),
];

fn vendor(name: &str) -> Vendor {
    name.parse().unwrap()
}

fn google(text: &str, before: usize) -> Result<Ranges, FileFault> {
    anteroom::atlas::ranges::read(&vendor("gcp"), Format::Gcp, text, before)
}

fn file(name: &str) -> Option<String> {
    let path = common::data("clouds")?.join(name);
    Some(fs::read_to_string(path).unwrap())
}

/// What all files assign.
fn all() -> Option<Vec<Assigned>> {
    let mut all = Vec::new();
    for (of, format, name) in FILES {
        let text = file(name)?;
        let before = Instant::now();
        let ranges = anteroom::atlas::ranges::read(&vendor(of), format, &text, 0).unwrap();
        println!(
            "{of}: {} prefixes, {} nowhere, {} disputed, read in {:?}",
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
    let of = |region: &Region| {
        let found = all.iter().find(|one| one.region == *region);
        let found = found.unwrap_or_else(|| panic!("no prefix of {region}"));
        found.prefix.network()
    };
    // Buenos Aires and not Virginia; Azure under the names that the rest of Azure knows.
    for region in [
        "aws:us-east-1-bue-1",
        "azure:germanywestcentral",
        "gcp:asia-southeast1",
        "oci:us-ashburn-1",
    ] {
        let region: Region = region.parse().unwrap();
        assert_eq!(table.region(of(&region)), Some(&region));
    }
    let nowhere = table
        .regions()
        .iter()
        .filter(|region| region.name().eq_ignore_ascii_case("global"));
    assert_eq!(nowhere.count(), 0);
    let oracle = all
        .iter()
        .filter(|one| one.region.vendor().as_str() == "oci");
    assert!(oracle.into_iter().all(|one| one.prefix.network().is_ipv4()));
}

#[test]
fn a_file_that_shrank_or_is_cut_is_refused() {
    let Some(text) = file("google-cloud-ip-ranges.json") else {
        return;
    };
    let whole = google(&text, 0).unwrap().assigned.len();
    assert!(google(&text, whole * 100 / 71).is_ok());
    let shrunk = google(&text, whole * 100 / 69).unwrap_err();
    assert!(matches!(shrunk, FileFault::Shrunk { .. }), "{shrunk}");
    let cut = google(text.split_at(text.len() / 2).0, whole).unwrap_err();
    assert!(matches!(cut, FileFault::Unreadable { .. }), "{cut}");
    let empty = google(r#"{"prefixes":[]}"#, 0).unwrap_err();
    assert!(matches!(empty, FileFault::Shrunk { .. }), "{empty}");
}

#[test]
fn every_region_of_the_files_has_a_place_or_is_listed() {
    let Some(all) = all() else { return };
    let places = RegionPlaces::packed().unwrap();
    let table = Table::new(&all);
    let lost = table.regions().iter();
    let lost = lost.filter(|region| places.place_of(region).is_none());
    let lost: Vec<&Region> = lost.collect();
    println!("regions without a place: {lost:?}");
    let unlisted = lost
        .iter()
        .filter(|region| !places.unplaced().contains(region));
    assert_eq!(
        unlisted.count(),
        0,
        "add them to atlas/regions.csv: {lost:?}"
    );
}
