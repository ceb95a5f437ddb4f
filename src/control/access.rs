//! Who may use the API: where it lies, of which zone it is, and its tokens.
//!
//! All of it is read from one secret, so that nothing of it can be changed through the API. A token is
//! kept as its SHA-256; tokens are random, so a plain hash is as good as a slow one.

use serde::Deserialize;
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

use crate::site::room::is_id;

/// Where the API lies unless the secret says otherwise: where Cloudflare's does.
const PREFIX: &str = "/client/v4";
/// Below it lie the previews.
const PREVIEW: &str = "/anteroom/preview/";
/// The longest token that is looked at, in bytes.
const LONGEST_TOKEN: usize = 512;

/// What a token allows.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Ord, PartialEq, PartialOrd)]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    /// To read.
    Read,
    /// To read and to change.
    Write,
}

/// Whose token a request has.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Actor<'a> {
    /// The name of the token.
    pub name: &'a str,
    /// What it allows.
    pub scope: Scope,
}

/// What the secret says.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Access {
    host: Option<String>,
    prefix: String,
    zone_id: String,
    account_id: String,
    zone_names: Vec<String>,
    tokens: Vec<Token>,
}

#[derive(Clone, Debug, Eq, PartialEq)]
struct Token {
    name: String,
    scope: Scope,
    digest: [u8; 32],
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Secret {
    host: Option<String>,
    prefix: Option<String>,
    zone_id: String,
    account_id: String,
    zone_names: Vec<String>,
    tokens: Vec<SecretToken>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SecretToken {
    name: String,
    scope: Scope,
    sha256: String,
}

/// Why the secret cannot be used. No message repeats any of its text but names.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("{0}")]
pub struct AccessFault(String);

impl Access {
    /// Reads the secret, see `docs/api.md`.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn parse(text: &str) -> Result<Self, AccessFault> {
        let fault = |message: String| Err(AccessFault(message));
        let secret: Secret = match serde_json::from_str(text) {
            Ok(secret) => secret,
            Err(error) => return fault(format!("must be JSON as docs/api.md shows: {error}")),
        };
        let prefix = secret.prefix.unwrap_or_else(|| PREFIX.to_owned());
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/-_.".contains(&byte);
        let slashes = prefix.starts_with('/') && !prefix.ends_with('/') && !prefix.contains("//");
        if !slashes || !prefix.bytes().all(plain) {
            return fault("prefix: must be a path such as /client/v4".into());
        }
        for (name, id) in [
            ("zone_id", &secret.zone_id),
            ("account_id", &secret.account_id),
        ] {
            if !is_id(id) {
                return fault(format!("{name}: must be 32 lower-case hexadecimal digits"));
            }
        }
        if secret.zone_names.is_empty() {
            return fault("zone_names: must name the zone's domain".into());
        }
        let mut tokens: Vec<Token> = Vec::new();
        for SecretToken {
            name,
            scope,
            sha256,
        } in secret.tokens
        {
            let Some(digest) = from_hex(&sha256) else {
                return fault(format!(
                    "token {name}: sha256 must be 64 hexadecimal digits"
                ));
            };
            if name.is_empty() || tokens.iter().any(|token| token.name == name) {
                return fault(format!("token {name:?}: names must be given, and differ"));
            }
            tokens.push(Token {
                name,
                scope,
                digest,
            });
        }
        let lower = |name: String| name.to_ascii_lowercase();
        Ok(Self {
            host: secret.host.map(lower),
            prefix,
            zone_id: secret.zone_id,
            account_id: secret.account_id,
            zone_names: secret.zone_names.into_iter().map(lower).collect(),
            tokens,
        })
    }

    /// The domains of the zone.
    pub fn zone_names(&self) -> &[String] {
        &self.zone_names
    }

    /// Whether a URL is the API's: then no room covers it. `host` is without a port.
    pub fn covers(&self, host: &str, path: &str) -> bool {
        let here = self.host.as_deref();
        here.is_none_or(|here| here.eq_ignore_ascii_case(host)) && self.below_prefix(path).is_some()
    }

    /// The id of the preview that a path is of.
    pub(super) fn preview<'p>(&self, path: &'p str) -> Option<&'p str> {
        self.below_prefix(path)?.strip_prefix(PREVIEW)
    }

    /// The address of a preview at `origin`.
    pub(super) fn preview_address(&self, origin: &str, id: &str) -> String {
        format!("{origin}{}{PREVIEW}{id}", self.prefix)
    }

    /// What follows the prefix, with its slash; empty for the prefix alone.
    pub(super) fn below_prefix<'p>(&self, path: &'p str) -> Option<&'p str> {
        let rest = path.strip_prefix(&self.prefix)?;
        (rest.is_empty() || rest.starts_with('/')).then_some(rest)
    }

    /// Whether the API is that of this zone.
    pub(super) fn is_zone(&self, id: &str) -> bool {
        self.zone_id == id
    }

    /// Whether the API is that of this account.
    pub(super) fn is_account(&self, id: &str) -> bool {
        self.account_id == id
    }

    /// Whose token an `Authorization` has; none if it is nobody's. It takes as long for every token.
    pub fn actor(&self, authorization: Option<&str>) -> Option<Actor<'_>> {
        let (scheme, token) = authorization?.split_once(' ')?;
        if !scheme.eq_ignore_ascii_case("bearer") || token.len() > LONGEST_TOKEN {
            return None;
        }
        let digest: [u8; 32] = Sha256::digest(token.trim()).into();
        let mut found = None;
        for token in &self.tokens {
            if bool::from(token.digest.ct_eq(&digest)) {
                found = Some(token);
            }
        }
        found.map(|token| Actor {
            name: &token.name,
            scope: token.scope,
        })
    }
}

fn from_hex(text: &str) -> Option<[u8; 32]> {
    let mut bytes = [0; 32];
    if text.len() != 64 || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    for (n, byte) in bytes.iter_mut().enumerate() {
        *byte = u8::from_str_radix(text.get(2 * n..2 * n + 2)?, 16).ok()?;
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ZONE: &str = "0123456789abcdef0123456789abcdef";

    fn secret(more: &str) -> String {
        let digest: String = Sha256::digest("correct-horse")
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        format!(
            r#"{{"zone_id":"{ZONE}","account_id":"{ZONE}","zone_names":["Example.com"],
                "tokens":[{{"name":"ci","scope":"write","sha256":"{digest}"}}]{more}}}"#
        )
    }

    #[test]
    fn the_right_token_is_recognised_and_no_other() {
        let access = Access::parse(&secret("")).unwrap();
        let actor = Actor {
            name: "ci",
            scope: Scope::Write,
        };
        for right in ["Bearer correct-horse", "bearer correct-horse"] {
            assert_eq!(access.actor(Some(right)), Some(actor), "{right}");
        }
        for wrong in [
            "Bearer correct-hors",
            "Basic correct-horse",
            "correct-horse",
            "Bearer ",
            "",
        ] {
            assert_eq!(access.actor(Some(wrong)), None, "{wrong}");
        }
        assert_eq!(access.actor(None), None);
    }

    #[test]
    fn the_api_lies_below_its_prefix_on_its_host() {
        let access = Access::parse(&secret(r#","host":"api.example.com""#)).unwrap();
        for (host, path, covered) in [
            ("api.example.com", "/client/v4/zones", true),
            ("API.example.com", "/client/v4/anteroom/preview/0123", true),
            ("api.example.com", "/preview/0123", false),
            ("api.example.com", "/client/v40", false),
            ("api.example.com", "/", false),
            ("shop.example.com", "/client/v4/zones", false),
        ] {
            assert_eq!(access.covers(host, path), covered, "{host}{path}");
        }
    }

    #[test]
    fn what_is_wrong_with_the_secret_is_told() {
        for (text, told) in [
            ("", "must be JSON"),
            (&secret(r#","prefix":"client""#), "prefix"),
            (&secret(r#","hots":"x""#), "unknown field `hots`"),
            (&secret("").replace(ZONE, "1"), "zone_id"),
            (&secret("").replace("write", "admin"), "unknown variant"),
        ] {
            let fault = Access::parse(text).unwrap_err().to_string();
            assert!(fault.contains(told), "{fault}");
        }
    }
}
