//! Purging the caches: `POST /zones/{zone}/purge_cache`, in Cloudflare's words and with its codes.

use serde_json::{Value, json};

use super::super::audit::{Change, FieldChange, PURGE};
use super::super::configuration::{Configuration, Declared};
use super::change::Call;
use super::envelope::{Fault, Refusal, Success};
use crate::cache::purge::What;

/// What a call may have, one of them.
const KINDS: [&str; 5] = ["purge_everything", "files", "tags", "hosts", "prefixes"];

/// So much may be purged with one call.
const MOST_ITEMS: usize = 100;

/// An URL, a prefix or a tag has no more bytes.
const LONGEST_ITEM: usize = 4_096;

/// Purges what the body names.
pub(super) fn purge(
    configuration: &mut Configuration,
    call: &Call<'_>,
    zone: &str,
    body: &Declared,
) -> Result<Success, Refusal> {
    let what = named(body)?;
    configuration.purges.add(what, call.now);
    configuration.version = configuration.version.saturating_add(1);
    let named = body.iter();
    let named = named.map(|(kind, items)| FieldChange::of(kind, None, Some(items)));
    configuration.trail.note(Change {
        version: configuration.version,
        at: call.now,
        by: call.actor.to_owned(),
        action: PURGE.to_owned(),
        to: "cache".to_owned(),
        fields: named.collect(),
    });
    Ok(Success {
        messages: vec![
            "the caches go by it as soon as they hear of it, within five seconds".to_owned(),
        ],
        ..Success::of(json!({ "id": zone }))
    })
}

fn named(body: &Declared) -> Result<Vec<What>, Refusal> {
    let mut kinds = body.keys();
    let known = |kind: &&String| KINDS.contains(&kind.as_str());
    let (Some(kind), None) = (kinds.next().filter(known), kinds.next()) else {
        let message = "Request must contain one of \"purge_everything\", \"files\", \"tags\", \
                       \"hosts\" or \"prefixes\"";
        return Err(Refusal::new(400, 1012, message));
    };
    let value = body.get(kind).unwrap_or(&Value::Null);
    if kind == "purge_everything" {
        return match value {
            Value::Bool(true) => Ok(vec![What::Everything]),
            _ => Err(Refusal::new(400, 1013, "\"purge_everything\" must be true")),
        };
    }
    let Value::Array(items) = value else {
        return Err(Refusal::new(
            400,
            1014,
            format!("\"{kind}\" must be an array"),
        ));
    };
    if items.is_empty() || items.len() > MOST_ITEMS {
        let message = format!("\"{kind}\" must have 1 to {MOST_ITEMS} items");
        return Err(Refusal::new(400, 1014, message));
    }
    let mut what = Vec::new();
    let mut faults = Vec::new();
    for (n, item) in items.iter().enumerate() {
        match read(kind, item) {
            Ok(item) => what.push(item),
            Err(message) => faults.push(Fault {
                code: 1015,
                ..Fault::invalid(
                    format!("/{kind}/{n}"),
                    format!("Unable to purge {item}: {message}"),
                )
            }),
        }
    }
    if faults.is_empty() {
        Ok(what)
    } else {
        Err(Refusal::invalid(faults))
    }
}

/// One item, in the form in which it is compared.
fn read(kind: &str, item: &Value) -> Result<What, &'static str> {
    // Of a file Cloudflare takes an object too, with header fields that choose one variant. All are purged.
    let text = match item {
        Value::Object(file) if kind == "files" => file.get("url").and_then(Value::as_str),
        item => item.as_str(),
    };
    let text = text.ok_or("must be text")?;
    let is_plain = |text: &str| text.bytes().all(|byte| byte.is_ascii_graphic());
    if text.is_empty() || text.len() > LONGEST_ITEM {
        return Err("must have 1 to 4096 bytes");
    }
    match kind {
        "tags" if text.contains(',') || text.trim() != text => Err("a tag has no commas"),
        "tags" => Ok(What::Tag(text.to_owned())),
        _ if !is_plain(text) => {
            Err("must be spelled as requests are, percent-encoded and in punycode")
        }
        "hosts" if text.contains(['/', ':', '?']) => Err("must be a host alone"),
        "hosts" => Ok(What::Host(text.to_ascii_lowercase())),
        "prefixes" if text.contains("://") => Err("a prefix has no scheme"),
        "prefixes" => Ok(What::Prefix(with_lower_host(text))),
        _ => file(text).ok_or("must be an absolute URL"),
    }
}

/// Host in lower case, the rest as it is.
fn with_lower_host(after_scheme: &str) -> String {
    let end = after_scheme.find(['/', '?']).unwrap_or(after_scheme.len());
    let (host, rest) = after_scheme.split_at_checked(end).unwrap_or_default();
    host.to_ascii_lowercase() + rest
}

/// An URL as requests have it: without a fragment and the usual port.
fn file(url: &str) -> Option<What> {
    let url = url.split('#').next()?;
    let (scheme, rest) = url.split_once("://")?;
    let scheme = scheme.to_ascii_lowercase();
    let usual = match scheme.as_str() {
        "https" => ":443",
        "http" => ":80",
        _ => return None,
    };
    let end = rest.find(['/', '?']).unwrap_or(rest.len());
    let (host, path) = rest.split_at_checked(end)?;
    let host = host
        .strip_suffix(usual)
        .unwrap_or(host)
        .to_ascii_lowercase();
    if host.is_empty() || host.contains('@') {
        return None;
    }
    let slash = if path.starts_with('/') { "" } else { "/" };
    Some(What::File(format!("{scheme}://{host}{slash}{path}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_all(body: Value) -> Result<Vec<What>, Vec<u16>> {
        let Value::Object(body) = body else {
            unreachable!()
        };
        named(&body).map_err(|refusal| refusal.faults.iter().map(|fault| fault.code).collect())
    }

    #[test]
    fn what_is_named_is_read_as_requests_spell_it() {
        for (body, expected) in [
            (json!({ "purge_everything": true }), What::Everything),
            (
                json!({ "files": ["HTTPS://WWW.Example.com:443/A?b#c"] }),
                What::File("https://www.example.com/A?b".into()),
            ),
            (
                json!({ "files": [{ "url": "http://a.test?b", "headers": { "X": "y" } }] }),
                What::File("http://a.test/?b".into()),
            ),
            (
                json!({ "tags": ["Some-Tag"] }),
                What::Tag("Some-Tag".into()),
            ),
            (
                json!({ "hosts": ["WWW.example.com"] }),
                What::Host("www.example.com".into()),
            ),
            (
                json!({ "prefixes": ["WWW.example.com/Foo"] }),
                What::Prefix("www.example.com/Foo".into()),
            ),
        ] {
            assert_eq!(read_all(body.clone()), Ok(vec![expected]), "{body}");
        }
    }

    #[test]
    fn what_is_wrong_is_refused_with_cloudflares_codes() {
        let many: Vec<String> = (0..101).map(|n| format!("t{n}")).collect();
        for (body, codes) in [
            (json!({}), vec![1012]),
            (json!({ "urls": ["https://a.test/"] }), vec![1012]),
            (json!({ "tags": ["a"], "hosts": ["a.test"] }), vec![1012]),
            (json!({ "purge_everything": false }), vec![1013]),
            (json!({ "files": "https://a.test/" }), vec![1014]),
            (json!({ "tags": [] }), vec![1014]),
            (json!({ "tags": many }), vec![1014]),
            (
                json!({ "files": ["/a", "https://a.test/", "ftp://a/"] }),
                vec![1015, 1015],
            ),
            (json!({ "files": ["https://a.test/ü"] }), vec![1015]),
            (json!({ "files": ["https://u@a.test/"] }), vec![1015]),
            (json!({ "hosts": ["https://a.test"] }), vec![1015]),
            (json!({ "prefixes": ["https://a.test/"] }), vec![1015]),
            (json!({ "tags": ["a,b", 1, ""] }), vec![1015, 1015, 1015]),
        ] {
            assert_eq!(read_all(body.clone()), Err(codes), "{body}");
        }
    }
}
