//! Clouds and the names of their regions.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A cloud provider, as Cloudflare's `cloud_regions` API names it.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Vendor {
    /// Amazon Web Services.
    Aws,
    /// Microsoft Azure.
    Azure,
    /// Google Cloud.
    Gcp,
    /// Oracle Cloud Infrastructure.
    Oci,
}

impl Vendor {
    /// All of them, in the order of their names.
    pub const ALL: [Self; 4] = [Self::Aws, Self::Azure, Self::Gcp, Self::Oci];

    /// The name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Aws => "aws",
            Self::Azure => "azure",
            Self::Gcp => "gcp",
            Self::Oci => "oci",
        }
    }
}

impl fmt::Display for Vendor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Vendor {
    type Err = String;

    /// Case does not matter, as in Cloudflare's Terraform provider.
    fn from_str(text: &str) -> Result<Self, String> {
        let known = Self::ALL.into_iter();
        let mut known = known.filter(|vendor| text.eq_ignore_ascii_case(vendor.as_str()));
        known
            .next()
            .ok_or_else(|| format!("vendor must be aws, azure, gcp or oci, not {text:?}"))
    }
}

/// A region of a cloud, under the name that its programming interface has for it. A border group of
/// Amazon's, which may be far from its region (`us-east-1-bue-1` is Buenos Aires), counts as a region
/// of its own.
#[derive(Clone, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
pub struct Region {
    vendor: Vendor,
    name: String,
}

impl Region {
    /// A region by its name, an alias included. Whether there is such a region is not looked at.
    pub fn new(vendor: Vendor, name: &str) -> Self {
        let name = name.to_ascii_lowercase();
        let alias = match vendor {
            Vendor::Azure => AZURE_ALIASES.iter().find(|(file, _)| *file == name),
            _ => None,
        };
        Self {
            vendor,
            name: alias.map_or(name, |(_, name)| (*name).to_owned()),
        }
    }

    /// The cloud.
    pub const fn vendor(&self) -> Vendor {
        self.vendor
    }

    /// The name within the cloud: `us-east-1`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The name that the cloud's file of address ranges has for it.
    pub fn name_in_file(&self) -> &str {
        let alias = match self.vendor {
            Vendor::Azure => AZURE_ALIASES.iter().find(|(_, name)| *name == self.name),
            _ => None,
        };
        alias.map_or(&self.name, |(file, _)| file)
    }
}

impl fmt::Display for Region {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.vendor, self.name)
    }
}

impl FromStr for Region {
    type Err = String;

    /// Reads `aws:us-east-1`, or `aws/us-east-1`.
    fn from_str(text: &str) -> Result<Self, String> {
        let (vendor, name) = text
            .split_once([':', '/'])
            .ok_or_else(|| format!("must be vendor:region, such as aws:us-east-1, not {text:?}"))?;
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
        if name.is_empty() || name.len() > 64 || !name.bytes().all(is_plain) {
            return Err(format!(
                "a region's name is letters, digits and -, not {name:?}"
            ));
        }
        Ok(Self::new(vendor.parse()?, name))
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
            "ibm:us-east",
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
        let plain = Region::new(Vendor::Azure, "westeurope");
        assert_eq!(
            (plain.name(), plain.name_in_file()),
            ("westeurope", "westeurope")
        );
        // What is an alias at one cloud is just a name at another.
        assert_eq!(Region::new(Vendor::Aws, "germanywc").name(), "germanywc");
    }
}
