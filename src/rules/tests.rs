mod columns;
mod fields;
mod functions;
mod generated;
mod operators;
mod work;

use super::*;

/// A request for tests.
#[derive(Clone, Debug)]
struct Request {
    https: bool,
    path: &'static str,
    raw_path: &'static str,
    query: &'static str,
    method: &'static str,
    /// Names in lower case.
    headers: Vec<(&'static str, &'static str)>,
    /// Properties of `request.cf`.
    platform: Vec<(&'static str, &'static str)>,
    now: u64,
}

impl Default for Request {
    fn default() -> Self {
        Self {
            https: true,
            path: "/shop/item.HTML",
            raw_path: "/shop/./item.HTML",
            query: "a=1&b=%20x&a=2&flag",
            method: "GET",
            headers: vec![
                ("accept", "application/json"),
                ("accept-language", "fr;q=0.5, de"),
                ("cf-connecting-ip", "192.0.2.7"),
                ("cf-ray", "7d1c0a-FRA"),
                ("cookie", "a=1; b=2; a=3"),
                ("user-agent", "Tester/1.0 (\"x\\y\")"),
            ],
            platform: vec![
                ("asn", "64496"),
                ("city", "Zürich"),
                ("continent", "EU"),
                ("country", "CH"),
                ("httpProtocol", "HTTP/2"),
                ("isEUCountry", "1"),
                ("regionCode", "ZH"),
                ("tlsClientAuth.certPresented", "1"),
                ("tlsClientAuth.certVerified", "SUCCESS"),
                ("tlsVersion", "TLSv1.3"),
            ],
            now: 1_767_225_600_123,
        }
    }
}

fn find<'a>(list: &[(&str, &'a str)], name: &str) -> Option<&'a str> {
    let mut list = list.iter();
    let found = list.find(|(known, _)| known.eq_ignore_ascii_case(name));
    found.map(|(_, value)| *value)
}

impl Facts for Request {
    fn target(&self) -> Target<'_> {
        Target {
            https: self.https,
            host: "Shop.Example.com",
            authority: "shop.example.com:8443",
            path: self.path,
            raw_path: self.raw_path,
            query: self.query,
        }
    }

    fn fields(&self, needs: &[Need]) -> Vec<Option<&str>> {
        let needs = needs.iter().map(|need| match need {
            Need::Header(name) => find(&self.headers, name),
            Need::Platform(_) => None,
            Need::Method => Some(self.method),
        });
        needs.collect()
    }

    fn platform(&self, needs: &[Need]) -> Vec<Option<&str>> {
        let needs = needs.iter().map(|need| match need {
            Need::Platform(path) => find(&self.platform, path),
            _ => None,
        });
        needs.collect()
    }

    fn headers(&self) -> Vec<(String, String)> {
        let headers = self.headers.iter();
        headers
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect()
    }

    fn now(&self) -> u64 {
        self.now
    }
}

fn lists() -> Lists {
    let mut lists = Lists::default();
    let block = |text| Block::parse(text).unwrap();
    lists.insert("office", ["192.0.2.0/28", "2001:db8::/32"].map(block));
    lists.insert("others", ["198.51.100.1"].map(block));
    lists
}

/// Whether an expression holds for a request.
fn holds_for(expression: &str, request: &Request) -> bool {
    let mut ruleset = Ruleset::new();
    if let Err(fault) = ruleset.add(expression, &lists()) {
        panic!("{expression}: {fault}");
    }
    match ruleset.ask(request) {
        Verdict::Bypass => true,
        Verdict::Room => false,
        Verdict::Exhausted => panic!("{expression}: exhausted"),
    }
}

/// Whether an expression holds for the usual request.
fn holds(expression: &str) -> bool {
    holds_for(expression, &Request::default())
}

/// That these hold, and that those do not.
fn table(hold: &[&str], do_not: &[&str]) {
    for expression in hold {
        assert!(holds(expression), "does not hold: {expression}");
        assert_printed_and_read_again(expression);
    }
    for expression in do_not {
        assert!(!holds(expression), "holds: {expression}");
        assert_printed_and_read_again(expression);
    }
}

fn assert_printed_and_read_again(expression: &str) {
    let read = check(expression, &lists()).unwrap();
    let printed = read.to_string();
    assert_eq!(check(&printed, &lists()).as_ref(), Ok(&read), "{printed}");
}

/// What is wrong with an expression, as a column and a message.
fn fault(expression: &str) -> String {
    match check(expression, &lists()) {
        Err(fault) => fault.to_string(),
        Ok(read) => panic!("is right: {read}"),
    }
}
