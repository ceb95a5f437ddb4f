//! Clouds and the names of their regions.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// The short name of a cloud provider: `aws`. Which ones there are is data: `atlas/vendors.csv`.
#[derive(Clone, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(try_from = "String", into = "String")]
pub struct Vendor(String);

impl Vendor {
    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    fn is_azure(&self) -> bool {
        self.0 == "azure"
    }
}

impl fmt::Display for Vendor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for Vendor {
    type Err = Misnamed;

    /// Case does not matter, as in Cloudflare's Terraform provider.
    fn from_str(text: &str) -> Result<Self, Misnamed> {
        let is_plain = text.bytes().all(|byte| byte.is_ascii_alphanumeric());
        if text.is_empty() || text.len() > LONGEST_VENDOR || !is_plain {
            return Err(Misnamed::Vendor(text.chars().take(LONGEST_NAME).collect()));
        }
        Ok(Self(text.to_ascii_lowercase()))
    }
}

impl TryFrom<String> for Vendor {
    type Error = Misnamed;

    fn try_from(text: String) -> Result<Self, Misnamed> {
        text.parse()
    }
}

impl From<Vendor> for String {
    fn from(vendor: Vendor) -> Self {
        vendor.0
    }
}

const LONGEST_VENDOR: usize = 16;
const LONGEST_NAME: usize = 64;

/// Why a text names no region.
#[derive(Clone, Debug, Eq, Error, PartialEq)]
pub enum Misnamed {
    /// What should be a vendor is not even a word.
    #[error("a vendor is one word, such as aws, not {0:?}")]
    Vendor(String),
    /// There is no vendor before the name.
    #[error("must be vendor:region, such as aws:us-east-1, not {0:?}")]
    NoVendor(String),
    /// A name with other signs than names have.
    #[error("a region's name is letters, digits and -, not {0:?}")]
    Name(String),
}

/// The form of a cloud's file of address ranges.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Format {
    /// Amazon's `ip-ranges.json`.
    Aws,
    /// Azure's `ServiceTags_Public_<date>.json`.
    Azure,
    /// Google's `cloud.json`.
    Gcp,
    /// Oracle's `public_ip_ranges.json`.
    Oci,
    /// Lines of `prefix,region`; what comes behind a second comma, and lines that begin with `#`, are
    /// left out. An empty region is none.
    Csv,
}

impl FromStr for Format {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Ok(match text {
            "aws" => Self::Aws,
            "azure" => Self::Azure,
            "gcp" => Self::Gcp,
            "oci" => Self::Oci,
            "csv" => Self::Csv,
            _ => return Err(format!("no form of a file of address ranges: {text:?}")),
        })
    }
}

/// A region of a cloud, under the name that its programming interface has for it. A border group of
/// Amazon's, which may be far from its region (`us-east-1-bue-1` is Buenos Aires), counts as a region
/// of its own.
#[derive(Clone, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(try_from = "String", into = "String")]
pub struct Region {
    vendor: Vendor,
    name: String,
}

impl Region {
    /// A region by its name, an alias included. Whether there is such a region is not looked at.
    ///
    /// # Errors
    /// If the name cannot be one.
    pub fn new(vendor: Vendor, name: &str) -> Result<Self, Misnamed> {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
        if name.is_empty() || name.len() > LONGEST_NAME || !name.bytes().all(is_plain) {
            return Err(Misnamed::Name(name.chars().take(LONGEST_NAME).collect()));
        }
        let name = name.to_ascii_lowercase();
        let mut aliases = AZURE_ALIASES.iter().filter(|_| vendor.is_azure());
        let alias = aliases.find(|(file, _)| *file == name);
        let name = alias.map_or(name, |(_, name)| (*name).to_owned());
        Ok(Self { vendor, name })
    }

    /// The cloud.
    pub const fn vendor(&self) -> &Vendor {
        &self.vendor
    }

    /// The name within the cloud: `us-east-1`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The name that the cloud's file of address ranges has for it.
    pub fn name_in_file(&self) -> &str {
        let mut aliases = AZURE_ALIASES.iter().filter(|_| self.vendor.is_azure());
        let alias = aliases.find(|(_, name)| *name == self.name);
        alias.map_or(&self.name, |(file, _)| file)
    }
}

impl fmt::Display for Region {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.vendor, self.name)
    }
}

impl FromStr for Region {
    type Err = Misnamed;

    /// Reads `aws:us-east-1`, or `aws/us-east-1`.
    fn from_str(text: &str) -> Result<Self, Misnamed> {
        let parts = text.split_once([':', '/']);
        let none = || Misnamed::NoVendor(text.chars().take(LONGEST_NAME).collect());
        let (vendor, name) = parts.ok_or_else(none)?;
        Self::new(vendor.parse()?, name)
    }
}

impl TryFrom<String> for Region {
    type Error = Misnamed;

    fn try_from(text: String) -> Result<Self, Misnamed> {
        text.parse()
    }
}

impl From<Region> for String {
    fn from(region: Region) -> Self {
        region.to_string()
    }
}

/// Azure's file of address ranges has other names for some regions than everything else of Azure
/// has: the name in the file, and the name.
const AZURE_ALIASES: [(&str, &str); 13] = [
    ("brazilne", "brazilnortheast"),
    ("brazilse", "brazilsoutheast"),
    ("centralfrance", "francecentral"),
    ("chilec", "chilecentral"),
    ("germanyn", "germanynorth"),
    ("germanywc", "germanywestcentral"),
    ("norwaye", "norwayeast"),
    ("norwayw", "norwaywest"),
    ("southfrance", "francesouth"),
    ("switzerlandn", "switzerlandnorth"),
    ("switzerlandw", "switzerlandwest"),
    ("usstagec", "centralusstage"),
    ("usstagee", "eastusstage"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_region_is_read_in_both_spellings_and_written_in_one() {
        for text in ["aws:us-east-1", "aws/us-east-1", "AWS:US-East-1"] {
            let region: Region = text.parse().unwrap();
            assert_eq!(region.to_string(), "aws:us-east-1");
        }
        for text in [
            "",
            "us-east-1",
            "ib m:us-east",
            "aws:",
            "aws:us east",
            "aws:us/east",
        ] {
            assert!(text.parse::<Region>().is_err(), "{text}");
        }
    }

    #[test]
    fn azures_two_names_are_one_region() {
        let region: Region = "azure:germanywc".parse().unwrap();
        assert_eq!(region.name(), "germanywestcentral");
        assert_eq!(region.name_in_file(), "germanywc");
        assert_eq!(region, "azure:germanywestcentral".parse().unwrap());
        let plain: Region = "azure:westeurope".parse().unwrap();
        assert_eq!(
            (plain.name(), plain.name_in_file()),
            ("westeurope", "westeurope")
        );
        // What is an alias at one cloud is just a name at another.
        let aws: Region = "aws:germanywc".parse().unwrap();
        assert_eq!(aws.name(), "germanywc");
        assert_eq!(
            serde_json::to_string(&region).unwrap(),
            r#""azure:germanywestcentral""#
        );
        assert!(serde_json::from_str::<Region>(r#""germanywc""#).is_err());
    }
}
