//! `Cache-Status` (RFC 9211): what each cache on the way did with the request.

use sfv::{BareItem, Item, Key, List, ListEntry, ListSerializer, Parser, Token, TokenRef};

/// Why a request was forwarded (RFC 9211 section 2.2).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Forwarded {
    /// The cache had no say.
    Bypass,
    /// By its method.
    Method,
    /// Nothing of the URL was stored.
    UriMiss,
    /// Something was, for other requests.
    VaryMiss,
    /// Something was that could not be used: it was purged, or it is not for this request.
    Miss,
    /// The request wanted so.
    Request,
    /// What was stored is stale.
    Stale,
}

impl Forwarded {
    const fn token(self) -> &'static TokenRef {
        use sfv::token_ref as token;
        match self {
            Self::Bypass => token("bypass"),
            Self::Method => token("method"),
            Self::UriMiss => token("uri-miss"),
            Self::VaryMiss => token("vary-miss"),
            Self::Miss => token("miss"),
            Self::Request => token("request"),
            Self::Stale => token("stale"),
        }
    }
}

/// What this cache did with a request.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Handled {
    /// Whether the answer is a stored one that nobody was asked about.
    pub hit: bool,
    /// Why the request was forwarded, if it was.
    pub forwarded: Option<Forwarded>,
    /// What that was answered, where it is not what the visitor gets.
    pub status: Option<u16>,
    /// How long the answer is still fresh, in seconds; negative if it is stale.
    pub ttl: Option<i64>,
    /// Whether the answer is stored now.
    pub stored: bool,
    /// Whether the request waited for the answer to another one.
    pub collapsed: bool,
    /// In words: which tier was chosen and why, why the answer is not stored.
    pub detail: Option<String>,
}

impl Handled {
    /// The field's value: what caches nearer to the origin have said, and then this one, called `name`.
    pub fn after(&self, upstream: Option<&str>, name: &str) -> String {
        // What is no list is dropped, or it would make all of it unreadable.
        let list = upstream.and_then(|text| Parser::new(text).parse::<List>().ok());
        let mut list = list.unwrap_or_default();
        list.push(ListEntry::Item(self.member(name)));
        let mut serializer = ListSerializer::new();
        serializer.members(&list);
        serializer.finish().unwrap_or_default()
    }

    fn member(&self, name: &str) -> Item {
        let token = Token::from_string(name.to_owned()).map(BareItem::Token);
        let fallback = || BareItem::Token(sfv::token_ref("anteroom").to_owned());
        let mut item = Item::new(token.unwrap_or_else(|_| fallback()));
        let mut add = |key: &str, value: BareItem| {
            if let Ok(key) = Key::from_string(key.to_owned()) {
                item.params.insert(key, value);
            }
        };
        let number = |number: i64| sfv::Integer::try_from(number).ok().map(BareItem::Integer);
        if self.hit {
            add("hit", true.into());
        }
        if let Some(forwarded) = self.forwarded {
            add("fwd", BareItem::Token(forwarded.token().to_owned()));
        }
        if let Some(status) = self.status.and_then(|status| number(status.into())) {
            add("fwd-status", status);
        }
        if self.stored {
            add("stored", true.into());
        }
        if self.collapsed {
            add("collapsed", true.into());
        }
        if let Some(ttl) = self.ttl.and_then(number) {
            add("ttl", ttl);
        }
        let detail = self.detail.as_ref();
        if let Some(Ok(detail)) = detail.map(|detail| sfv::String::from_string(detail.clone())) {
            add("detail", detail.into());
        }
        item
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_member_for_each_cache_the_nearest_to_the_origin_first() {
        let upper = Handled {
            hit: true,
            ttl: Some(42),
            ..Handled::default()
        };
        let upper = upper.after(None, "upper-IAD");
        assert_eq!(upper, "upper-IAD;hit;ttl=42");
        let lower = Handled {
            forwarded: Some(Forwarded::UriMiss),
            status: Some(200),
            stored: true,
            ttl: Some(42),
            detail: Some("hint aws:us-east-1".into()),
            ..Handled::default()
        };
        assert_eq!(
            lower.after(Some(&upper), "lower-NRT"),
            "upper-IAD;hit;ttl=42, lower-NRT;fwd=uri-miss;fwd-status=200;stored;ttl=42;\
             detail=\"hint aws:us-east-1\""
        );
    }

    #[test]
    fn nonsense_from_upstream_does_not_spoil_ours() {
        let stale = Handled {
            hit: true,
            ttl: Some(-3),
            detail: Some("line\nfeed".into()),
            ..Handled::default()
        };
        assert_eq!(stale.after(Some("a b; c"), "x y"), "anteroom;hit;ttl=-3");
    }
}
