//! Hints as a table of comma-separated values: `origin,vendor,region`, a line each.
//!
//! No field can hold a comma or a quote, so there is nothing to quote (RFC 4180).

use super::cloud::{Misnamed, Region};
use super::hints::{Fault, Hints, known};
use super::origin_name::{NoOriginName, OriginName};
use super::region_places::RegionPlaces;

/// The first line; it may be missing.
const HEAD: &str = "origin,vendor,region";

/// What is wrong with a line.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum LineFault {
    /// It has not two or three fields.
    #[error("must be origin,vendor,region or origin,vendor:region")]
    Fields,
    /// The first field is no origin.
    #[error(transparent)]
    Origin(#[from] NoOriginName),
    /// The others are no region.
    #[error(transparent)]
    Misnamed(#[from] Misnamed),
    /// There is no such region.
    #[error(transparent)]
    Region(#[from] Fault),
}

/// The hints as a table.
pub fn write(hints: &Hints) -> String {
    let mut text = format!("{HEAD}\r\n");
    for (origin, hint) in hints.iter() {
        let (vendor, name) = (hint.region.vendor(), hint.region.name());
        text.extend([origin.as_str(), ",", vendor.as_str(), ",", name, "\r\n"]);
    }
    text
}

/// The lines of a table, each with its number, from 1. Empty lines and those that begin with `#` are left
/// out.
pub fn read<'a>(
    text: &'a str,
    places: &'a RegionPlaces,
) -> impl Iterator<Item = (usize, Result<(OriginName, Region), LineFault>)> + 'a {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let lines = (1..).zip(text.lines().map(str::trim));
    let lines = lines.filter(|(n, line)| {
        let is_head = *n == 1 && line.eq_ignore_ascii_case(HEAD);
        !is_head && !line.is_empty() && !line.starts_with('#')
    });
    lines.map(|(n, text)| (n, line(text, places)))
}

fn line(line: &str, places: &RegionPlaces) -> Result<(OriginName, Region), LineFault> {
    let fields: Vec<&str> = line.split(',').map(str::trim).collect();
    let (origin, region) = match fields.as_slice() {
        [origin, region] => (origin, region.parse()?),
        [origin, vendor, name] => (origin, Region::new(vendor.parse()?, name)?),
        _ => return Err(LineFault::Fields),
    };
    Ok((origin.parse()?, known(region, places)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::Instant;

    #[test]
    fn what_is_written_can_be_read() {
        let places = RegionPlaces::packed().unwrap();
        let mut hints = Hints::default();
        for (origin, region) in [
            ("192.0.2.1", "aws:us-east-1"),
            ("2001:db8::1", "azure:germanywc"),
            ("origin.example.net", "gcp:europe-west1"),
        ] {
            let (origin, region) = (origin.parse().unwrap(), region.parse().unwrap());
            hints.set(origin, region, Instant::from_secs(1)).unwrap();
        }
        let text = write(&hints);
        assert_eq!(
            text,
            "origin,vendor,region\r\n192.0.2.1,aws,us-east-1\r\n\
             2001:db8::1,azure,germanywestcentral\r\norigin.example.net,gcp,europe-west1\r\n"
        );
        let mut again = Hints::default();
        for (_, line) in read(&text, &places) {
            let (origin, region) = line.unwrap();
            again.set(origin, region, Instant::from_secs(1)).unwrap();
        }
        assert_eq!(again, hints);
    }

    #[test]
    fn each_line_is_judged_for_itself() {
        let places = RegionPlaces::packed().unwrap();
        let text = "# ours\n192.0.2.1, aws:us-east-1\n\n192.0.2.2,aws,us-east1\nx y,aws,us-east-1\n\
                    192.0.2.3\n192.0.2.4,aws/us-east-2\n";
        let read: Vec<_> = read(text, &places)
            .map(|(n, line)| (n, line.map_err(|fault| fault.to_string())))
            .collect();
        let good =
            |origin: &str, region: &str| Ok((origin.parse().unwrap(), region.parse().unwrap()));
        assert_eq!(read[0], (2, good("192.0.2.1", "aws:us-east-1")));
        assert!(
            read[1]
                .1
                .as_ref()
                .unwrap_err()
                .contains("did you mean aws:us-east-1")
        );
        assert!(read[2].1.is_err() && read[3].1.is_err());
        assert_eq!(read[4], (7, good("192.0.2.4", "aws:us-east-2")));
    }
}
