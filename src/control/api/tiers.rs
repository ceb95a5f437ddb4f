//! Questions about upper tiers. An edge answers them by what it knows: its choices are what they are
//! about.

use serde_json::{Value, json};

use super::envelope::{Answer, Refusal, Success};
use super::query::pairs;
use super::route::Route;
use super::{Access, Request, stamp};
use crate::atlas::origin_name::OriginName;
use crate::site::cached_host::CachedHost;
use crate::tier::explain::Explanation;
use crate::tier::tally::Tally;

/// A question.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum TierCall {
    /// Why this origin has the tiers that it has.
    Explain(OriginName),
    /// What was counted.
    Counts,
}

impl Access {
    /// The question about tiers that a request asks, if it asks one. Whether its token allows that is
    /// [`Access::refusal`]'s.
    ///
    /// # Errors
    /// The answer to a question that cannot be understood.
    pub fn about_tiers(&self, request: &Request) -> Option<Result<TierCall, Answer>> {
        let path = self.below_prefix(&request.path)?;
        match Route::find(path, self) {
            Ok(Route::ExplainTiers) => Some(explain(&request.query).map_err(Refusal::answer)),
            Ok(Route::CountTiers) => Some(Ok(TierCall::Counts)),
            _ => None,
        }
    }
}

fn explain(query: &str) -> Result<TierCall, Refusal> {
    let origin = pairs(query).find(|(name, _)| name == "origin");
    let (_, origin) = origin.ok_or_else(|| Refusal::new(400, 1002, "origin is required"))?;
    let origin = origin.parse();
    let origin = origin.map_err(|fault| Refusal::new(400, 1002, format!("origin {fault}")))?;
    Ok(TierCall::Explain(origin))
}

/// The answer of an edge.
pub fn explained(explanation: &Explanation) -> Answer {
    let mut result = serde_json::to_value(explanation).unwrap_or_default();
    if let Value::Object(result) = &mut result {
        result.insert("text".into(), json!(explanation.text()));
    }
    Success::of(result).answer()
}

/// The sums, with the origins of each host.
pub fn counted<'a>(tally: &Tally, hosts: impl Iterator<Item = &'a CachedHost>) -> Answer {
    let hosts = hosts.map(|host| {
        let counts = tally.hosts.get(&host.host).cloned().unwrap_or_default();
        json!({ "host": host.host, "origins": host.origins, "counts": counts })
    });
    let since = tally.since.map(stamp);
    Success::of(json!({ "since": since, "hosts": hosts.collect::<Vec<_>>() })).answer()
}

#[cfg(test)]
mod tests {
    use super::*;

    const ZONE: &str = "0123456789abcdef0123456789abcdef";

    fn asked(path: &str, query: &str) -> Option<Result<TierCall, u16>> {
        let secret = format!(
            r#"{{"zone_id":"{ZONE}","account_id":"{ZONE}","zone_names":["example.com"],"tokens":[]}}"#
        );
        let access = Access::parse(&secret).unwrap();
        let request = Request {
            method: "GET".into(),
            path: path.into(),
            query: query.into(),
            ..Request::default()
        };
        let answer = access.about_tiers(&request);
        answer.map(|answer| answer.map_err(|answer| answer.status))
    }

    #[test]
    fn an_origin_is_read_in_any_spelling() {
        let path = format!("/client/v4/zones/{ZONE}/anteroom/tiers/explain");
        let origin = |text: &str| Some(Ok(TierCall::Explain(text.parse().unwrap())));
        assert_eq!(asked(&path, "origin=192.0.2.1"), origin("192.0.2.1"));
        assert_eq!(
            asked(&path, "origin=2001%3Adb8%3A%3A1"),
            origin("2001:db8::1")
        );
        assert_eq!(asked(&path, ""), Some(Err(400)));
        assert_eq!(asked(&path, "origin=a%20b"), Some(Err(400)));
        assert_eq!(asked("/client/v4/anteroom/openapi.json", ""), None);
    }
}
