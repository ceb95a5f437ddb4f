use super::*;

fn packed() -> RegionPlaces {
    RegionPlaces::packed().unwrap()
}

fn region(text: &str) -> Region {
    text.parse().unwrap()
}

#[test]
fn regions_are_where_they_are() {
    for (text, city) in [
        ("aws:us-east-1", Some("Ashburn")),
        ("aws:us-east-1-bue-1", Some("Buenos Aires")),
        ("aws:us-east-1-wl1-mia-wlz-1", Some("Miami")),
        ("aws:us-east-1-foe-wlz-1", Some("Topeka")),
        ("aws:us-east-1-xyz-1", None),
        ("azure:germanywc", Some("Frankfurt")),
        ("gcp:asia-southeast1", Some("Singapore")),
        ("oci:us-ashburn-1", Some("Ashburn")),
        ("gcp:us-east-1-bue-1", None),
    ] {
        let places = packed();
        let found = places.place_of(&region(text));
        assert_eq!(found.map(|place| place.city.as_str()), city, "{text}");
    }
}

#[test]
fn a_region_of_oracles_is_placed_by_its_neighbour() {
    let places = packed();
    for (text, placed) in [
        ("oci:us-ashburn-1", "iad"),
        ("oci:sa-saopaulo-1", "gru"),
        ("gcp:europe-west3", "fra"),
    ] {
        let placement = places.placement(&region(text)).unwrap();
        assert_eq!(placement.place.code, placed);
        assert_ne!(placement.region.vendor().as_str(), "oci");
    }
}

#[test]
fn every_name_is_the_one_that_the_cloud_uses() {
    let places = packed();
    for known in places.regions() {
        assert_eq!(*known, region(&known.to_string()));
        assert!(places.place_of(known).is_some(), "{known}");
    }
}

#[test]
fn a_mistyped_region_is_recognized() {
    let places = packed();
    let like = |text: &str| {
        let like = places.like(&region(text));
        like.first().map(|region| region.to_string())
    };
    assert_eq!(like("aws:us-east1").as_deref(), Some("aws:us-east-1"));
    assert_eq!(like("gcp:us-east-1").as_deref(), Some("gcp:us-east1"));
    assert_eq!(
        like("azure:westeuropa").as_deref(),
        Some("azure:westeurope")
    );
    assert_eq!(like("oci:xxxxxxxx"), None);
}

/// The only pairs of a region and its upper tiers that Cloudflare has published: the example of
/// `supported_regions` in its API's description.
#[test]
fn geography_says_what_cloudflares_example_says() {
    let places = packed();
    let colos = |text: &str| {
        let place = places.place_of(&region(text)).unwrap();
        let nearest = places.nearest(&place.point).unwrap();
        let both = [Some(nearest.primary), nearest.fallback].into_iter();
        let both = both.flatten().map(|place| places.colo_at(&place.code));
        both.map(|colo| colo.unwrap().code.clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(colos("aws:us-east-1"), ["IAD", "EWR"]);
    assert_eq!(colos("aws:us-west-2")[0], "SEA");
    assert_eq!(colos("gcp:us-central1")[0], "ORD");
}

#[test]
fn primary_and_fallback_are_never_in_one_metropolitan_area() {
    let places = packed();
    for known in places.regions() {
        let place = places.place_of(known).unwrap();
        let Nearest { primary, fallback } = places.nearest(&place.point).unwrap();
        let apart = fallback.unwrap().point.km_to(&primary.point);
        assert!(apart >= APART_KM, "{known}: {apart} km");
    }
}

#[test]
fn a_bucket_is_where_its_name_says() {
    let places = packed();
    for (host, expected) in [
        ("pictures.s3.eu-west-1.amazonaws.com", Some("aws:eu-west-1")),
        (
            "s3.dualstack.ap-south-1.amazonaws.com",
            Some("aws:ap-south-1"),
        ),
        ("shop-1.us-east-2.elb.amazonaws.com", Some("aws:us-east-2")),
        (
            "x.objectstorage.eu-frankfurt-1.oraclecloud.com",
            Some("oci:eu-frankfurt-1"),
        ),
        (
            "shop.westeurope.cloudapp.azure.com",
            Some("azure:westeurope"),
        ),
        (
            "pictures.s3-website-us-west-2.amazonaws.com",
            Some("aws:us-west-2"),
        ),
        ("s3-eu-west-1.amazonaws.com", Some("aws:eu-west-1")),
        (
            "storage.asia-southeast1.rep.googleapis.com",
            Some("gcp:asia-southeast1"),
        ),
        ("storage.eu.rep.googleapis.com", Some("gcp:eu")),
        ("0a.eu.r2.cloudflarestorage.com", Some("r2:eu")),
        ("0a.r2.cloudflarestorage.com", None),
        ("storage.googleapis.com", None),
        ("pictures.s3.amazonaws.com", None),
        ("eu-west-1.example.com", None),
        ("eu-west-1.notamazonaws.com", None),
        ("192.0.2.1", None),
    ] {
        let found = places.region_of_host(&host.parse().unwrap());
        assert_eq!(
            found.map(ToString::to_string).as_deref(),
            expected,
            "{host}"
        );
    }
}

#[test]
fn a_location_of_buckets_is_in_the_middle_of_its_places() {
    let places = packed();
    for (text, code) in [
        ("r2:weur", "lhr"),
        ("r2:oc", "syd"),
        ("gcp:asia1", "nrt"),
        ("gcp:nam4", "oma"),
        ("gcp:eu", "fra"),
    ] {
        assert_eq!(places.place_of(&region(text)).unwrap().code, code, "{text}");
        // No Worker can be placed there but near it.
        let placement = places.placement(&region(text)).unwrap();
        assert_ne!(placement.region, region(text));
        assert!(!places.is_of_buckets(&placement.region));
    }
    // Tiers follow from it as from a region, also where two clouds call something the same.
    assert_eq!(places.place_of(&region("gcp:us")).unwrap().continent, "NA");
    assert_eq!(places.place_of(&region("aws:us")), None);
}

#[test]
fn a_table_with_a_fault_is_refused() {
    let read = |regions: &str| {
        RegionPlaces::read(Tables {
            places: "code,city,country,continent,latitude,longitude\nsin,Singapore,SG,AS,1.35,103.82\n",
            vendors: "vendor,format,placement,url,domains,before\naws,aws,true,,,\n",
            regions,
            buckets: "vendor,location,places\n",
            colos: "colo,place,objects\nSIN,sin,true\n",
        })
    };
    let both = read("vendor,region,place\naws,a-b-1,sin\naws,a-b-2,\n").unwrap();
    assert_eq!(both.unplaced(), [region("aws:a-b-2")]);
    assert_eq!(both.place_of(&region("aws:a-b-2")), None);
    assert_eq!(both.regions().count(), 2 - both.unplaced().len());
    for line in ["aws,a-b-1,xxx", "aws,a-b-1", "ibm,a-b-1,sin"] {
        let fault = read(&format!("vendor,region,place\n{line}\n")).unwrap_err();
        assert_eq!((fault.table, fault.line.as_str()), ("regions", line));
    }
}
