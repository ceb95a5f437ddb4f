//! What a pass is bound to besides the cookie that carries it (`bind_pass`).

use std::net::IpAddr;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::de::{Deserialize, Deserializer, Error};
use serde::ser::{Serialize, Serializer};
use sha2::{Digest, Sha256};

use crate::site::room::BindPass;

/// A fingerprint of the client: the first 48 bits of a SHA-256. It tells clients apart that mean to
/// share a pass unchanged; whoever copies the bound property as well is not kept out.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Binding([u8; 6]);

/// The binding of a client under a room's setting; none exactly when the room binds to nothing. A
/// property that is missing or unreadable is a value like any other.
pub fn bind(
    setting: BindPass,
    user_agent: Option<&str>,
    client_ip: Option<&str>,
) -> Option<Binding> {
    match setting {
        BindPass::None => None,
        BindPass::Ua => Some(Binding::of(
            b"ua",
            user_agent.unwrap_or_default().as_bytes(),
        )),
        BindPass::IpPrefix => Some(
            match client_ip.and_then(|ip| ip.trim().parse::<IpAddr>().ok()) {
                Some(ip) => Binding::of_ip(ip),
                None => Binding::of(b"ip", b""),
            },
        ),
    }
}

impl Binding {
    /// The kind keeps a user agent that reads like an address from meaning one.
    fn of(kind: &[u8], value: &[u8]) -> Self {
        let digest = Sha256::new()
            .chain_update(kind)
            .chain_update([0])
            .chain_update(value);
        let [a, b, c, d, e, f, ..] = <[u8; 32]>::from(digest.finalize());
        Self([a, b, c, d, e, f])
    }

    /// The /24 of an IPv4 address, also one that is written as IPv6, or the /48 of an IPv6 address:
    /// what stays while a provider moves a client about.
    fn of_ip(ip: IpAddr) -> Self {
        match ip.to_canonical() {
            IpAddr::V4(ip) => {
                let [a, b, c, _] = ip.octets();
                Self::of(b"ip4", &[a, b, c])
            }
            IpAddr::V6(ip) => {
                let [a, b, c, d, e, f, ..] = ip.octets();
                Self::of(b"ip6", &[a, b, c, d, e, f])
            }
        }
    }
}

/// Eight characters of base64url.
impl Serialize for Binding {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&URL_SAFE_NO_PAD.encode(self.0))
    }
}

impl<'de> Deserialize<'de> for Binding {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = <&str>::deserialize(deserializer)?;
        let mut bytes = [0; 6];
        match URL_SAFE_NO_PAD.decode_slice(text, &mut bytes) {
            Ok(6) => Ok(Self(bytes)),
            _ => Err(D::Error::custom(
                "a binding is eight characters of base64url",
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn by_ip(ip: &str) -> Option<Binding> {
        bind(BindPass::IpPrefix, Some("agent"), Some(ip))
    }

    fn by_agent(agent: Option<&str>) -> Option<Binding> {
        bind(BindPass::Ua, agent, Some("192.0.2.1"))
    }

    #[test]
    fn a_room_that_binds_to_nothing_has_no_binding() {
        assert_eq!(bind(BindPass::None, Some("agent"), Some("192.0.2.1")), None);
    }

    #[test]
    fn an_address_is_bound_by_its_network() {
        assert_eq!(by_ip("192.0.2.1"), by_ip("192.0.2.254"));
        assert_ne!(by_ip("192.0.2.1"), by_ip("192.0.3.1"));
        assert_eq!(by_ip("192.0.2.1"), by_ip("::ffff:192.0.2.77"));
        assert_eq!(by_ip("2001:db8:1:2::3"), by_ip("2001:db8:1:ffff::"));
        assert_ne!(by_ip("2001:db8:1::"), by_ip("2001:db8:2::"));
    }

    #[test]
    fn a_user_agent_is_bound_whole() {
        assert_eq!(by_agent(Some("a")), by_agent(Some("a")));
        assert_ne!(by_agent(Some("a")), by_agent(Some("a ")));
        assert_ne!(by_agent(Some("192.0.2.1")), by_ip("192.0.2.1"));
    }

    #[test]
    fn nothing_is_a_value_too() {
        assert!(by_agent(None).is_some());
        assert_ne!(by_agent(None), by_agent(Some("a")));
        assert_eq!(
            by_ip("not an address"),
            bind(BindPass::IpPrefix, None, None)
        );
        assert_ne!(by_ip("not an address"), by_ip("0.0.0.0"));
    }

    #[test]
    fn it_travels_as_eight_characters() {
        let binding = by_ip("192.0.2.1").unwrap();
        let json = serde_json::to_string(&binding).unwrap();
        assert_eq!(json.len(), 10);
        assert_eq!(serde_json::from_str::<Binding>(&json).unwrap(), binding);
        for wrong in [
            r#""""#,
            r#""AAAAAAA""#,
            r#""AAAAAAAAA""#,
            r#""AAAA+AAA""#,
            "1",
        ] {
            assert!(serde_json::from_str::<Binding>(wrong).is_err(), "{wrong}");
        }
    }
}
