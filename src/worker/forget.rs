//! After an unsafe request has succeeded: the upper tiers forget what it has changed (RFC 9111 section 4.4).
//!
//! The call runs behind the answer. It takes the way that the visitor's next request takes on a miss, and
//! is ahead of that by the time from here to the visitor and back.

use std::time::Duration;

use futures_util::future::join_all;
use web_sys::{Request, Response};

use super::cache_store;
use super::tiers::{Tiers, said};
use super::upstream::{marked, within};
use super::{clock, isolate::Lasting};
use crate::cache::key::place_of;
use crate::site::cached_host::CachedHost;
use crate::tier::choice;
use crate::tier::fleet::Upper;
use crate::tier::marker::{Hop, Marker};
use crate::tier::rendezvous;
use crate::tier::said::Said;

/// A tier gets so long to forget something.
const PATIENCE: Duration = Duration::from_secs(3);

impl Tiers {
    /// Lets all tiers forget these URLs that may have stored something of them. One that cannot be reached
    /// keeps it until it is stale.
    pub(super) async fn forget(&'static self, host: &'static CachedHost, urls: Vec<String>) {
        let knowledge = self.known.get(&self.env).await;
        let mut told = Vec::new();
        for url in &urls {
            let key = rendezvous::hash_of(url);
            let (fleet, now) = (&self.fleet, clock::now());
            let holders = choice::with_wanted(host, fleet, &knowledge, (None, key), |wanted| {
                choice::holders(fleet, &knowledge.places, wanted, now)
            });
            let holders = holders.into_iter();
            told.extend(holders.map(|upper| self.tell(upper, url, key)));
        }
        join_all(told).await;
    }

    async fn tell(&self, upper: &Upper, url: &str, key: u64) -> Option<()> {
        let keys = self.keys.as_ref().ok()?;
        let target = self.target(upper, key).ok()?;
        let request = Request::new_with_str(url).ok()?;
        let marker = Marker::of(Hop::Forget, upper.name());
        let call = marked(keys, &target, &request, &marker);
        within(&call, PATIENCE).await.map(drop)
    }
}

/// As a tier: forgets what is stored of a URL, with all variants.
pub(super) async fn forget(lasting: &'static Lasting, url: &str) -> Response {
    if lasting.cached_host(url).is_none() {
        return said(421, Said::Refused);
    }
    cache_store::remove(vec![place_of(url)]).await;
    said(204, Said::Here)
}
