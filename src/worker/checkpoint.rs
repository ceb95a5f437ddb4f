//! Rounds of probes: whoever asks checkpoints to time handshakes, and what a checkpoint does.
//!
//! A checkpoint is an object that is made near a location hint, or a placed Worker. The Worker does it for
//! whoever shows a marker ([`crate::tier::marker`]) that is bound to the very origins, and takes no
//! second one for as long as the first would hold: a marker that was seen on its way is good for nothing.

use std::cell::Cell;
use std::time::Duration;

use futures_util::future::{Either, join, join_all, select};
use js_sys::Reflect;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::{Request, Response};
use worker::{Delay, Env};

use super::binding;
use super::call::ATLAS;
use super::clock;
use super::configuration::named;
use super::tiers::keys;
use super::upstream::marked;
use crate::atlas::checkpoint::{Errand, turn};
use crate::atlas::origin_name::OriginName;
use crate::atlas::probe::{self, HANDSHAKES, MOST_ORIGINS, Report, Timed};
use crate::atlas::region_places::RegionPlaces;
use crate::control::atlas::{Ask, CHECKPOINT};
use crate::gate::keys::Keys;
use crate::packed;
use crate::site::tier::LocationHint;
use crate::tier::environments::placed;
use crate::tier::marker::{self, Hop, Marker};
use crate::time::{Instant, Span};

/// A checkpoint gets so long: it times every handshake of every origin, with a pause for none.
const TAKES: Duration = Duration::from_secs(60);

/// What a round has brought.
#[derive(Default)]
pub(super) struct Round {
    /// What those have measured that have answered.
    pub(super) reports: Vec<Report>,
    /// The names of the placed Workers that have given no report.
    pub(super) silent: Vec<String>,
}

/// Lets all checkpoints time these handshakes, at the same time.
pub(super) async fn hold_round(env: &Env, errand: Errand) -> Round {
    let placed = ask_placed(env, &errand);
    let (objects, placed) = join(ask_objects(env, &errand), placed).await;
    let mut round = Round::default();
    round.reports.extend(objects);
    for (name, report) in placed {
        match report {
            Some(report) => round.reports.push(report),
            None => round.silent.push(name),
        }
    }
    round
}

/// One object for each location hint.
async fn ask_objects(env: &Env, errand: &Errand) -> Vec<Report> {
    let ask = Ask::Probe {
        origins: errand.origins.clone(),
        port: errand.port,
    };
    let Ok(body) = serde_json::to_string(&ask) else {
        return Vec::new();
    };
    let namespace = named(env, ATLAS);
    let patience = u32::try_from(TAKES.as_millis()).unwrap_or(u32::MAX);
    let asked = LocationHint::ALL.map(LocationHint::as_str).map(|hint| {
        let name = format!("{CHECKPOINT}{hint}");
        let answer = binding::ask(&namespace, &name, &body, patience, Some(hint));
        async { read(&JsFuture::from(answer).await.ok()?) }
    });
    join_all(asked).await.into_iter().flatten().collect()
}

/// The placed Workers whose turn it is: each with its name.
async fn ask_placed(env: &Env, errand: &Errand) -> Vec<(String, Option<Report>)> {
    let Ok(keys) = keys(env) else {
        // Without the secret nobody would answer.
        return Vec::new();
    };
    let tiers = packed::tiers().unwrap_or_default();
    let placed = placed(&tiers).map(|(tier, _, binding)| (binding, tier.name.as_str()));
    let placed: Vec<(&str, &str)> = placed.collect();
    let keys = &keys;
    let asked = turn(&placed, clock::now()).map(|&(binding, name)| async move {
        let target = Reflect::get(env, &JsValue::from_str(binding)).unwrap_or_default();
        (name.to_owned(), ask_one(keys, &target, name, errand).await)
    });
    join_all(asked).await
}

async fn ask_one(keys: &Keys, target: &JsValue, name: &str, errand: &Errand) -> Option<Report> {
    let request = Request::new_with_str(&errand.url()).ok()?;
    let call = marked(keys, target, &request, &Marker::of(Hop::Probe, name));
    let report = std::pin::pin!(async {
        let answered = JsFuture::from(call.response()).await.ok()?;
        let response: Response = answered.dyn_into().ok()?;
        read(&JsFuture::from(response.text().ok()?).await.ok()?)
    });
    match select(report, Delay::from(TAKES)).await {
        Either::Left((report, _)) => report,
        Either::Right(_) => {
            call.stop();
            None
        }
    }
}

/// A report as text; none if the checkpoint does not know where it is.
fn read(answered: &JsValue) -> Option<Report> {
    serde_json::from_str::<Option<Report>>(&answered.as_string()?).ok()?
}

/// When a placed Worker has taken the last errand, as far as this isolate knows.
#[derive(Default)]
pub(super) struct Busy(Cell<Instant>);

impl Busy {
    /// Takes an errand, if no marker that was taken before could still hold.
    pub(super) fn take(&self, now: Instant) -> bool {
        let holds = Span::from_millis(marker::LIFETIME.as_millis() + marker::SKEW.as_millis());
        let is_free = self.0.get() == Instant::default() || now > self.0.get() + holds;
        if is_free {
            self.0.set(now);
        }
        is_free
    }
}

/// Times handshakes, one after the other, so that none waits for another. None where it is not known from
/// where they are timed: that is half of what they say.
pub(super) async fn report(origins: Vec<OriginName>, port: u16) -> Option<Report> {
    let place = own_place().await?;
    let patience = u32::try_from(probe::PATIENCE.as_millis()).unwrap_or(u32::MAX);
    let mut timed = Vec::new();
    let hosts = packed::cached_hosts().unwrap_or_default();
    let own: Vec<&str> = hosts.iter().map(|host| host.host.as_str()).collect();
    for origin in origins.into_iter().take(MOST_ORIGINS) {
        // Whoever asks has looked already; this is what connects.
        if !may_probe(&origin, &own) {
            continue;
        }
        let times = binding::time_handshakes(origin.as_str(), port, HANDSHAKES, patience);
        let Ok(times) = JsFuture::from(times).await else {
            continue;
        };
        let number = |index: u32| {
            Reflect::get_u32(&times, index)
                .ok()
                .and_then(|n| n.as_f64())
        };
        if let (Some(rtt_ms), Some(samples)) = (number(0), number(1)) {
            timed.push(Timed {
                origin,
                rtt_ms,
                samples: samples as u32,
            });
        }
    }
    Some(Report { place, timed })
}

/// Whether an origin may be connected to. The tests of the Worker connect to this machine; no
/// configuration can.
pub(super) fn may_probe(origin: &OriginName, own: &[&str]) -> bool {
    #[cfg(feature = "planted-panic")]
    if origin.as_str() == "127.0.0.1" {
        return true;
    }
    probe::may_probe(origin, own).is_ok()
}

/// The code of the place where this code runs, if it is one that is known.
async fn own_place() -> Option<String> {
    let colo = JsFuture::from(binding::own_colo())
        .await
        .ok()?
        .as_string()?;
    let places = RegionPlaces::packed().ok()?;
    Some(places.place_of_colo(&colo)?.code.clone())
}
