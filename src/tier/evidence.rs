//! What is known of an origin, gathered for one choice.

use crate::atlas::cloud::Region;
use crate::atlas::findings::Source;
use crate::atlas::knowledge::Knowledge;
use crate::atlas::origin_name::OriginName;
use crate::time::{Instant, Span};

/// For so long after a change the tier of before is asked for what it has stored, before the origin is:
/// longer than most answers are fresh.
pub const READ_BEFORE_FOR: Span = Span::from_secs(3_600);

/// What is known of one origin.
#[derive(Clone, Debug, PartialEq)]
pub struct Evidence {
    /// The origin.
    pub origin: OriginName,
    /// What the operator says: the region of a hint.
    pub hint: Option<Located>,
    /// Whether it answers from many places, as far as probes can tell.
    pub anycast: Option<bool>,
    /// The place with the shortest way to it.
    pub measured: Option<Measured>,
    /// The region that a cloud assigns its address to.
    pub prefix: Option<Located>,
}

/// A region, and the places from where it is best reached.
#[derive(Clone, Debug, PartialEq)]
pub struct Located {
    /// The region.
    pub region: Region,
    /// What its subnets voted for; none before there is a vote.
    pub voted: Option<Voted>,
    /// Since when the operator says so.
    pub since: Option<Instant>,
}

/// The outcome of a vote.
#[derive(Clone, Debug, PartialEq)]
pub struct Voted {
    /// The code of the best place.
    pub primary: String,
    /// The best one in another place.
    pub fallback: Option<String>,
    /// Whether measurements decided, and not geography.
    pub measured: bool,
    /// The latest change of the best place.
    pub change: Option<Change>,
}

/// That a place was found better than another.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// When.
    pub at: Instant,
    /// The code of the place before; none if there was none.
    pub before: Option<String>,
}

/// What probes of one origin found.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    /// The code of the place with the shortest round-trip time.
    pub place: String,
    /// The next best one in another place.
    pub fallback: Option<String>,
    /// That time, in milliseconds; none if it is old.
    pub rtt_ms: Option<f64>,
    /// The latest change of the best place.
    pub change: Option<Change>,
}

impl Located {
    /// What was known of the region before the latest vote, if that is not long ago.
    fn earlier(&self, now: Instant) -> Option<Self> {
        let voted = self.voted.as_ref()?;
        let change = voted.change.as_ref()?;
        is_recent(change.at, now).then(|| Self {
            voted: change.before.as_ref().map(|before| Voted {
                primary: before.clone(),
                change: None,
                ..voted.clone()
            }),
            ..self.clone()
        })
    }

    /// Whether the region's tier was found by measuring.
    pub fn is_measured(&self) -> bool {
        self.voted.as_ref().is_some_and(|voted| voted.measured)
    }
}

impl Evidence {
    /// All that is known of an origin.
    pub fn of(origin: &OriginName, knowledge: &Knowledge) -> Self {
        let located = |region: &Region, since| Located {
            region: region.clone(),
            voted: voted(region, knowledge),
            since,
        };
        let hint = knowledge.hints.get(origin);
        let measured = knowledge.measured(origin).map(|winner| Measured {
            place: winner.place.to_owned(),
            fallback: winner.fallback.map(str::to_owned),
            rtt_ms: winner.rtt_ms,
            change: Some(Change {
                at: winner.since,
                before: winner.before.map(str::to_owned),
            }),
        });
        Self {
            origin: origin.clone(),
            hint: hint.map(|hint| located(&hint.region, Some(hint.modified))),
            anycast: knowledge.is_anycast(origin),
            measured,
            prefix: knowledge.region(origin).map(|region| located(region, None)),
        }
    }

    /// That of an origin of which nothing is known.
    pub const fn none(origin: OriginName) -> Self {
        Self {
            origin,
            hint: None,
            anycast: None,
            measured: None,
            prefix: None,
        }
    }

    /// What was known before the latest change, if that is not longer ago than [`READ_BEFORE_FOR`].
    pub fn earlier(&self, now: Instant) -> Option<Self> {
        if let Some(hint) = &self.hint {
            if hint.since.is_some_and(|since| is_recent(since, now)) {
                return Some(Self {
                    hint: None,
                    ..self.clone()
                });
            }
            let hint = hint.earlier(now)?;
            return Some(Self {
                hint: Some(hint),
                ..self.clone()
            });
        }
        if let Some(measured) = &self.measured {
            let change = measured.change.as_ref()?;
            let before = change.before.as_ref().map(|before| Measured {
                place: before.clone(),
                change: None,
                ..measured.clone()
            });
            return is_recent(change.at, now).then(|| Self {
                measured: before,
                ..self.clone()
            });
        }
        let prefix = self.prefix.as_ref()?.earlier(now)?;
        Some(Self {
            prefix: Some(prefix),
            ..self.clone()
        })
    }
}

fn voted(region: &Region, knowledge: &Knowledge) -> Option<Voted> {
    let tiers = knowledge.tiers_of(region)?;
    let before = tiers.before;
    Some(Voted {
        primary: tiers.pair.primary,
        fallback: tiers.pair.fallback,
        measured: tiers.source == Source::Measured,
        change: tiers.since.map(|at| Change { at, before }),
    })
}

fn is_recent(at: Instant, now: Instant) -> bool {
    now < at + READ_BEFORE_FOR
}
