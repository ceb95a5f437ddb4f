//! Which upper tier is asked for a host's answers.
//!
//! What the operator says comes first, what was measured next, what can be concluded last: a tier that
//! the host names; the region of a hint; the tier that measured the shortest way to an origin in one
//! place; the region that a cloud assigns the origin's address to. An origin of which none is known, or
//! which answers from many places, gets several tiers, each for its share of the keys: that is safe
//! wherever the origin is, and each tier then has to fetch.

use std::fmt;

use super::evidence::{Evidence, Located};
use super::fleet::{Fleet, Upper};
use super::rendezvous;
use crate::atlas::cloud::Region;
use crate::atlas::knowledge::Knowledge;
use crate::atlas::region_places::{Place, RegionPlaces};
use crate::site::cached_host::CachedHost;
use crate::time::Instant;

/// What is chosen for.
#[derive(Clone, Copy, Debug)]
pub struct Wanted<'a> {
    /// The tier that the host names.
    pub custom: Option<&'a str>,
    /// What is known of each of the host's origins.
    pub evidence: &'a [Evidence],
    /// The tiers' places that are best for all origins together, if there are several: that of the least
    /// sum of times, and the next one in another metropolitan area.
    pub pool: Option<(&'a Place, Option<&'a Place>)>,
    /// The continent of whoever asks, as in `request.cf`: EU, AS, ...
    pub continent: Option<&'a str>,
    /// The hash of the answer's key ([`rendezvous::hash_of`]).
    pub key: u64,
}

/// The tiers that are asked, one after the other.
#[derive(Clone, Debug, PartialEq)]
pub struct Choice<'f> {
    /// The one that is asked.
    pub primary: &'f Upper,
    /// The one that is asked if that fails: in another place. None if there is none.
    pub fallback: Option<&'f Upper>,
    /// Why.
    pub because: Because,
}

/// Why a tier was chosen. Displayed, it is what `Cache-Status` says in `detail`.
#[derive(Clone, Debug, PartialEq)]
pub enum Because {
    /// The host names it.
    Custom,
    /// A hint says where the origin is.
    Hint {
        /// The region that it names.
        region: Region,
        /// Whether the region's tier was found by measuring.
        measured: bool,
    },
    /// Probes found the way from there to be the shortest.
    Measured {
        /// The round-trip time, in milliseconds; none if it is old.
        rtt_ms: Option<f64>,
    },
    /// The origin's address is of a cloud's region.
    Prefix {
        /// The region.
        region: Region,
        /// Whether the region's tier was found by measuring.
        measured: bool,
    },
    /// It is the nearest to the origins of a pool together.
    Pool {
        /// Of so many origins the place is known.
        located: usize,
        /// There are so many.
        origins: usize,
    },
    /// The key chose one of several.
    Several {
        /// Whether an origin was found to answer from many places.
        anycast: bool,
    },
}

impl fmt::Display for Because {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let source = |measured: &bool| if *measured { "measured" } else { "geography" };
        match self {
            Self::Custom => f.write_str("custom"),
            Self::Hint { region, measured } => write!(f, "hint {region} by {}", source(measured)),
            Self::Measured { rtt_ms: None } => f.write_str("measured"),
            Self::Measured {
                rtt_ms: Some(rtt_ms),
            } => write!(f, "measured {rtt_ms:.0} ms"),
            Self::Prefix { region, measured } => {
                write!(f, "address in {region} by {}", source(measured))
            }
            Self::Pool { located, origins } => write!(f, "pool, {located} of {origins} located"),
            Self::Several { anycast: true } => f.write_str("anycast without hint"),
            Self::Several { anycast: false } => f.write_str("origin not located"),
        }
    }
}

/// What is chosen for a cached host, by all that is known of its origins: `choose` is given it.
pub fn with_wanted<T>(
    host: &CachedHost,
    fleet: &Fleet,
    knowledge: &Knowledge,
    (continent, key): (Option<&str>, u64),
    choose: impl FnOnce(&Wanted<'_>) -> T,
) -> T {
    let of = |origin| Evidence::of(origin, knowledge);
    let evidence: Vec<Evidence> = host.origins.iter().map(of).collect();
    let members: Vec<_> = host.origins.iter().map(|origin| (origin, 1.0)).collect();
    let places = fleet.all().map(|upper| &upper.place);
    let pool = (members.len() > 1).then(|| knowledge.pool(&members, places));
    choose(&Wanted {
        custom: host.tier.as_deref(),
        evidence: &evidence,
        pool: pool.flatten().map(|best| (best.primary, best.fallback)),
        continent,
        key,
    })
}

/// Every tier that may have stored an answer: those that are asked for it, or were lately, on whichever
/// continent somebody asks.
pub fn holders<'f>(
    fleet: &'f Fleet,
    places: &RegionPlaces,
    wanted: &Wanted<'_>,
    now: Instant,
) -> Vec<&'f Upper> {
    let mut continents: Vec<Option<&str>> = fleet
        .all()
        .map(|upper| Some(upper.place.continent.as_str()))
        .collect();
    continents.push(None);
    continents.sort_unstable();
    continents.dedup();
    let mut holders: Vec<&Upper> = Vec::new();
    for continent in continents {
        let wanted = Wanted {
            continent,
            ..*wanted
        };
        let Some(choice) = choose(fleet, places, &wanted) else {
            continue;
        };
        let before = before(fleet, places, &wanted, choice.primary, now);
        let found = [Some(choice.primary), choice.fallback, before];
        for upper in found.into_iter().flatten() {
            if !holders.iter().any(|known| known.name() == upper.name()) {
                holders.push(upper);
            }
        }
    }
    holders
}

/// Where an origin is, and the place to go to if that one fails.
#[derive(Clone, Debug)]
pub(super) struct Target<'p> {
    pub(super) place: &'p Place,
    fallback: Option<&'p Place>,
    pub(super) because: Because,
}

/// Chooses. None if there are no tiers.
pub fn choose<'f>(
    fleet: &'f Fleet,
    places: &RegionPlaces,
    wanted: &Wanted<'_>,
) -> Option<Choice<'f>> {
    if let Some(primary) = wanted.custom.and_then(|name| fleet.get(name)) {
        let fallback = fleet.best(Some(primary), |upper| upper.km_to(&primary.place.point));
        let because = Because::Custom;
        return Some(Choice {
            primary,
            fallback,
            because,
        });
    }
    let targets = wanted.evidence.iter().filter_map(|one| locate(one, places));
    let targets: Vec<Target<'_>> = targets.collect();
    let Some(because) = because(&targets, wanted.evidence.len()) else {
        return several(fleet, wanted);
    };
    let (place, second) = match (wanted.pool, targets.first()) {
        (Some(pool), _) if wanted.evidence.len() > 1 => pool,
        (_, Some(target)) => (target.place, target.fallback),
        _ => return several(fleet, wanted),
    };
    let cost = |upper: &Upper| cost(upper, place);
    let primary = fleet.best(None, cost)?;
    let by_vote = second.and_then(|place| fleet.best(None, |upper| self::cost(upper, place)));
    let fallback = by_vote.filter(|fallback| fallback.is_apart_from(primary));
    let fallback = fallback.or_else(|| fleet.best(Some(primary), cost));
    Some(Choice {
        primary,
        fallback,
        because,
    })
}

/// The tier that was asked before the latest change, if that is not long ago and it is another one.
pub fn before<'f>(
    fleet: &'f Fleet,
    places: &RegionPlaces,
    wanted: &Wanted<'_>,
    primary: &Upper,
    now: Instant,
) -> Option<&'f Upper> {
    if wanted.custom.is_some() {
        return None;
    }
    let mut changed = false;
    let earlier = wanted.evidence.iter().map(|one| match one.earlier(now) {
        Some(earlier) => {
            changed = true;
            earlier
        }
        None => one.clone(),
    });
    let evidence: Vec<Evidence> = earlier.collect();
    if !changed {
        return None;
    }
    let evidence = evidence.as_slice();
    let before = choose(
        fleet,
        places,
        &Wanted {
            evidence,
            ..*wanted
        },
    )?
    .primary;
    (before.name() != primary.name()).then_some(before)
}

/// Where an origin is, by the best that is known of it.
pub(super) fn locate<'p>(evidence: &Evidence, places: &'p RegionPlaces) -> Option<Target<'p>> {
    if let Some(located) = &evidence.hint
        && let Some((place, fallback)) = in_region(located, places)
    {
        let because = Because::Hint {
            region: located.region.clone(),
            measured: located.is_measured(),
        };
        return Some(Target {
            place,
            fallback,
            because,
        });
    }
    // An address that answers from many places looks near from everywhere.
    if evidence.anycast == Some(true) {
        return None;
    }
    if let Some(measured) = &evidence.measured
        && let Some(place) = places.place(&measured.place)
    {
        let fallback = measured
            .fallback
            .as_deref()
            .and_then(|code| places.place(code));
        let because = Because::Measured {
            rtt_ms: measured.rtt_ms,
        };
        return Some(Target {
            place,
            fallback,
            because,
        });
    }
    let located = evidence.prefix.as_ref()?;
    let (place, fallback) = in_region(located, places)?;
    let because = Because::Prefix {
        region: located.region.clone(),
        measured: located.is_measured(),
    };
    Some(Target {
        place,
        fallback,
        because,
    })
}

/// By vote, or else where the region itself is.
fn in_region<'p>(
    located: &Located,
    places: &'p RegionPlaces,
) -> Option<(&'p Place, Option<&'p Place>)> {
    let voted = located.voted.as_ref();
    let primary = voted.and_then(|voted| places.place(&voted.primary));
    let fallback = voted.and_then(|voted| places.place(voted.fallback.as_deref()?));
    let place = primary.or_else(|| places.place_of(&located.region))?;
    Some((place, fallback))
}

fn because(targets: &[Target<'_>], origins: usize) -> Option<Because> {
    match targets {
        [] => None,
        [only] if origins == 1 => Some(only.because.clone()),
        several => Some(Because::Pool {
            located: several.len(),
            origins,
        }),
    }
}

fn cost(upper: &Upper, place: &Place) -> f64 {
    if upper.place.code == place.code {
        0.0
    } else {
        upper.km_to(&place.point)
    }
}

/// The safe topology: of the tiers on the continent of whoever asks, or of all if there are none, the one
/// that has the key.
fn several<'f>(fleet: &'f Fleet, wanted: &Wanted<'_>) -> Option<Choice<'f>> {
    let is_near = |upper: &&Upper| Some(upper.place.continent.as_str()) == wanted.continent;
    let mut pool: Vec<&Upper> = fleet.all().filter(is_near).collect();
    if pool.is_empty() {
        pool = fleet.all().collect();
    }
    pool.sort_by_key(|upper| std::cmp::Reverse(rendezvous::score(upper.name(), wanted.key)));
    let primary = *pool.first()?;
    let fallback = pool
        .iter()
        .find(|upper| upper.is_apart_from(primary))
        .copied();
    let fallback =
        fallback.or_else(|| fleet.best(Some(primary), |upper| upper.km_to(&primary.place.point)));
    let anycast = wanted.evidence.iter().any(|one| one.anycast == Some(true));
    let because = Because::Several { anycast };
    Some(Choice {
        primary,
        fallback,
        because,
    })
}

#[cfg(test)]
mod tests;
