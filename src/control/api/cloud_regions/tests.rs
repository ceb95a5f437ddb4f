use super::*;
use crate::atlas::hints::MOST;
use crate::atlas::region_places::RegionPlaces;

/// Hints, and a clock that goes on by a second with each call.
struct Api {
    knowledge: Knowledge,
    trail: Trail,
    now: u64,
}

impl Api {
    fn new() -> Self {
        let places = RegionPlaces::packed().unwrap().into();
        Self {
            knowledge: Knowledge {
                places,
                ..Knowledge::default()
            },
            trail: Trail::default(),
            now: 1_800_000_000,
        }
    }

    fn call(&mut self, version: Version, action: Action) -> (u16, Value) {
        self.now += 1;
        let by = "ops".to_owned();
        let call = Call {
            version,
            action,
            by,
        };
        // As it travels to the object.
        let call = serde_json::from_str(&serde_json::to_string(&call).unwrap()).unwrap();
        let now = Instant::from_secs(self.now);
        let answer = answer(&mut self.knowledge, &mut self.trail, call, now);
        let body = serde_json::from_str(&answer.body).unwrap_or(Value::Null);
        (answer.status, body)
    }

    fn v2(&mut self, action: Action) -> (u16, Value) {
        self.call(Version::V2, action)
    }

    fn put(&mut self, origin: &str, vendor: &str, region: &str) -> (u16, Value) {
        let body = json!({ "origin_ip": origin, "vendor": vendor, "region": region });
        self.v2(Action::Put(origin.to_owned(), body))
    }
}

#[test]
fn a_mapping_comes_is_changed_and_goes() {
    let mut api = Api::new();
    let (status, made) = api.put("192.0.2.1", "aws", "us-east-1");
    assert_eq!(status, 200, "{made}");
    let expected = json!({
        "origin_ip": "192.0.2.1", "vendor": "aws", "region": "us-east-1",
        "modified_on": "2027-01-15T08:00:01.000Z",
    });
    assert_eq!(made["result"], expected);
    // The same again changes nothing.
    assert_eq!(
        api.put("192.0.2.1", "AWS", "us-east-1").1["result"],
        expected
    );
    let (_, changed) = api.put("192.0.2.1", "azure", "germanywc");
    assert_eq!(changed["result"]["region"], "germanywestcentral");
    let get = || Action::Get("192.0.2.1".into());
    assert_eq!(api.v2(get()).1["result"], changed["result"]);
    let delete = || Action::Delete("192.0.2.1".into());
    let deleted = api.v2(delete());
    assert_eq!(
        (deleted.0, &deleted.1["result"]),
        (200, &json!({ "origin_ip": "192.0.2.1" }))
    );
    for (action, code) in [(get(), 1142), (delete(), 1163)] {
        let (status, body) = api.v2(action);
        assert_eq!((status, &body["errors"][0]["code"]), (404, &json!(code)));
    }
}

#[test]
fn an_address_of_a_path_is_brought_into_its_one_form() {
    let mut api = Api::new();
    let body = json!({ "origin_ip": "2001:DB8::0:1", "vendor": "gcp", "region": "us-central1" });
    let (status, made) = api.v2(Action::Put("2001%3adb8%3A%3A1".into(), body.clone()));
    assert_eq!(
        (status, &made["result"]["origin_ip"]),
        (200, &json!("2001:db8::1"))
    );
    assert_eq!(api.v2(Action::Get("2001:db8:0::1".into())).0, 200);
    let (status, refused) = api.v2(Action::Put("192.0.2.1".into(), body));
    assert_eq!(status, 400);
    assert_eq!(refused["errors"][0]["source"]["pointer"], "/origin_ip");
}

#[test]
fn what_is_not_known_is_refused_with_a_suggestion() {
    let mut api = Api::new();
    let message = |(status, body): (u16, Value)| {
        assert_eq!(status, 400, "{body}");
        body["errors"][0]["message"].as_str().unwrap().to_owned()
    };
    assert!(
        message(api.put("192.0.2.1", "aws", "us-east1")).contains("did you mean aws:us-east-1")
    );
    assert!(
        message(api.put("192.0.2.1", "ibm", "us-east"))
            .contains("there are aws, azure, gcp, oci, r2")
    );
    assert!(message(api.put("a b", "aws", "us-east-1")).contains("origin_ip must be"));
    let odd = json!({ "origin_ip": "192.0.2.1", "vendor": "aws" });
    assert_eq!(
        message(api.v2(Action::Put("192.0.2.1".into(), odd))),
        "region must be text"
    );
    assert!(api.knowledge.hints.is_empty());
}

#[test]
fn the_store_has_an_end() {
    let mut api = Api::new();
    for n in 0..MOST {
        let (a, b) = (n / 250, n % 250);
        assert_eq!(
            api.put(&format!("192.1.{a}.{b}"), "aws", "us-east-1").0,
            200
        );
    }
    let (status, refused) = api.put("192.2.0.0", "aws", "us-east-1");
    assert_eq!((status, &refused["errors"][0]["code"]), (403, &json!(1164)));
    assert_eq!(api.put("192.1.0.0", "aws", "us-east-2").0, 200);
    let (_, listed) = api.v2(Action::List("page=175&per_page=20".into()));
    let info = json!({
        "page": 175, "per_page": 20, "count": 20, "total_count": MOST, "total_pages": 175,
    });
    assert_eq!(listed["result_info"], info);
    assert_eq!(listed["result"].as_array().unwrap().len(), 20);
}

#[test]
fn each_item_of_a_batch_is_judged_for_itself() {
    let mut api = Api::new();
    let item =
        |ip: &str, region: &str| json!({ "origin_ip": ip, "vendor": "aws", "region": region });
    let body = json!([
        item("192.0.2.1", "us-east-1"),
        item("192.0.2.2", "nowhere-1"),
        7
    ]);
    let (status, done) = api.v2(Action::SetMany(body));
    let result = &done["result"];
    assert_eq!(
        (status, result["succeeded"].as_array().unwrap().len()),
        (200, 1)
    );
    assert_eq!(result["failed"][0]["origin_ip"], "192.0.2.2");
    assert!(result["failed"][1]["error"].is_string());
    let (_, done) = api.v2(Action::DeleteMany(json!(["192.0.2.9", "192.0.2.1", 7])));
    assert_eq!(done["result"]["succeeded"][0]["region"], "us-east-1");
    assert_eq!(done["result"]["failed"].as_array().unwrap().len(), 2);
    for action in [
        Action::SetMany(json!({})),
        Action::SetMany(json!(vec![0; 101])),
    ] {
        assert_eq!(api.v2(action).0, 400);
    }
    assert_eq!(api.v2(Action::List(String::new())).1["result"], json!([]));
}

#[test]
fn the_first_version_says_the_same_in_other_words() {
    let mut api = Api::new();
    let body = |region: &str| json!({ "ip": "192.0.2.1", "vendor": "aws", "region": region });
    let (status, made) = api.call(Version::V1, Action::Create(body("us-east-1")));
    assert_eq!(
        (status, &made["result"]["id"]),
        (200, &json!("origin_public_cloud_region"))
    );
    assert_eq!(made["result"]["value"]["origin-ip"], "192.0.2.1");
    let (status, again) = api.call(Version::V1, Action::Create(body("us-east-1")));
    assert_eq!((status, &again["errors"][0]["code"]), (400, &json!(1145)));
    assert_eq!(api.call(Version::V1, Action::Set(body("us-west-2"))).0, 200);
    let (_, one) = api.v2(Action::Get("192.0.2.1".into()));
    assert_eq!(one["result"]["region"], "us-west-2");
    let (_, all) = api.call(Version::V1, Action::List(String::new()));
    assert_eq!(all["result"]["value"][0]["region"], "us-west-2");
    let (_, done) = api.call(Version::V1, Action::DeleteMany(json!(["192.0.2.1"])));
    assert_eq!(
        done["result"]["value"]["succeeded"][0]["origin-ip"],
        "192.0.2.1"
    );
}

#[test]
fn supported_regions_have_their_tiers() {
    let (_, body) = Api::new().v2(Action::Supported);
    let vendors = &body["result"]["vendors"];
    let of = |vendor: &str, name: &str| {
        let listed = vendors[vendor].as_array().unwrap().iter();
        let found = listed.clone().find(|region| region["name"] == name);
        found.unwrap()["upper_tier_colos"].clone()
    };
    assert_eq!(of("aws", "us-east-1"), json!(["IAD", "EWR"]));
    assert_eq!(of("oci", "sa-saopaulo-1")[0], "GRU");
    // Beyond Cloudflare's list: where buckets are.
    assert_eq!(of("r2", "weur")[0], "LHR");
    assert_eq!(vendors.as_object().unwrap().len(), 5);
}

#[test]
fn a_table_is_taken_in_whole_or_line_by_line() {
    let mut api = Api::new();
    api.put("192.0.2.9", "aws", "us-east-1");
    let faulty = "192.0.2.1,aws,us-east-1\n192.0.2.2,aws,nowhere\n".to_owned();
    let (status, refused) = api.v2(Action::ReplaceTable(faulty.clone()));
    assert_eq!(status, 400);
    assert!(
        refused["errors"][0]["message"]
            .as_str()
            .unwrap()
            .starts_with("line 2: ")
    );
    assert_eq!(api.knowledge.hints.iter().len(), 1);
    let (_, added) = api.v2(Action::AddTable(faulty));
    assert_eq!(added["result"]["succeeded"], 1);
    assert_eq!(added["result"]["failed"][0]["line"], 2);
    assert_eq!(api.knowledge.hints.iter().len(), 2);
    let version = api.knowledge.hints.version;
    let table = hints_csv::write(&api.knowledge.hints);
    assert_eq!(api.v2(Action::ReplaceTable(table)).0, 200);
    assert_eq!(api.knowledge.hints.version, version);
    let (_, one) = api.v2(Action::ReplaceTable(
        "origin.example.net,gcp,us-east1\n".into(),
    ));
    assert_eq!(one["result"]["succeeded"], 1);
    assert_eq!(
        (
            api.knowledge.hints.iter().len(),
            api.knowledge.hints.version
        ),
        (1, version + 1)
    );
}

#[test]
fn what_cloudflare_takes_is_exported() {
    let mut api = Api::new();
    let lines: Vec<String> = (0..150)
        .map(|n| format!("192.0.2.{n},aws,us-east-1\n"))
        .collect();
    api.v2(Action::AddTable(lines.concat()));
    api.put("origin.example.net", "aws", "us-east-1");
    let (_, exported) = api.v2(Action::Export);
    let batches = exported["result"]["batches"].as_array().unwrap();
    let sizes: Vec<usize> = batches
        .iter()
        .map(|batch| batch.as_array().unwrap().len())
        .collect();
    assert_eq!(sizes, [100, 50]);
    assert_eq!(
        exported["result"]["left_out"],
        json!(["origin.example.net"])
    );
    // They are what our own batch takes, too.
    let mut other = Api::new();
    let (_, done) = other.v2(Action::SetMany(batches[1].clone()));
    assert_eq!(done["result"]["failed"], json!([]));
}

#[test]
fn who_has_changed_what_is_noted() {
    let mut api = Api::new();
    api.put("192.0.2.1", "aws", "us-east-1");
    // Neither a fault nor what says the same is a change.
    api.put("192.0.2.1", "aws", "us-east-1");
    api.put("192.0.2.1", "aws", "nowhere");
    api.put("192.0.2.1", "gcp", "us-east1");
    api.v2(Action::Delete("192.0.2.1".into()));
    let lines: Vec<String> = (0..150)
        .map(|n| format!("192.0.2.{n},aws,us-east-1\n"))
        .collect();
    api.v2(Action::AddTable(lines.concat()));
    let noted: Vec<String> = api
        .trail
        .newest_first()
        .map(|change| {
            let field = &change.fields[0];
            format!(
                "{} {} {}, {}: {:?} to {:?}",
                change.version, change.by, change.action, change.to, field.from, field.to
            )
        })
        .collect();
    let one = "cloud_regions/192.0.2.1";
    assert_eq!(
        noted,
        [
            r#"4 ops update, cloud_regions: None to Some("\"aws:us-east-1\"")"#.to_owned(),
            format!(r#"3 ops delete, {one}: Some("\"gcp:us-east1\"") to None"#),
            format!(
                r#"2 ops update, {one}: Some("\"aws:us-east-1\"") to Some("\"gcp:us-east1\"")"#
            ),
            format!(r#"1 ops create, {one}: None to Some("\"aws:us-east-1\"")"#),
        ]
    );
    let newest = api.trail.newest_first().next().unwrap();
    assert_eq!(
        (newest.fields.len(), newest.fields[100].field.as_str()),
        (101, "50 more")
    );
}
