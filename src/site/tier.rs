//! Upper tiers as they are declared: who they are, where they run, how they are reached.

use serde::{Deserialize, Serialize};

/// An upper tier: a cache near the origins, which the data centres ask instead of them.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Tier {
    /// Its name: 1 to 32 of `a-z`, `0-9` and `-`, unique in the site.
    pub name: String,
    /// The metropolitan area where it is meant to run: a code of `atlas/places.csv`.
    pub place: String,
    /// How it is reached.
    pub transport: Transport,
    /// Whether it only measures how far origins are, and no visitor's request ever goes through it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub checkpoint_only: bool,
}

/// The two kinds of upper tier.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", tag = "transport")]
pub enum Transport {
    /// A Worker of the same code that Cloudflare runs close to a cloud region.
    Placed {
        /// What `placement.region` of wrangler is set to: `aws:eu-central-1`.
        region: String,
        /// The service binding that leads to it.
        binding: String,
    },
    /// Durable Objects that are made close to a location hint.
    Object {
        /// The hint.
        location_hint: LocationHint,
        /// Over so many objects the keys are spread.
        shards: u32,
    },
}

/// Where Durable Objects can be asked to run. Cloudflare knows `sam`, `afr` and `me` as well, and
/// makes objects with these on another continent (docs: durable-objects, data-location): they are
/// refused.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum LocationHint {
    /// Western North America.
    Wnam,
    /// Eastern North America.
    Enam,
    /// Western Europe.
    Weur,
    /// Eastern Europe.
    Eeur,
    /// Asia-Pacific.
    Apac,
    /// North-east Asia.
    ApacNe,
    /// South-east Asia.
    ApacSe,
    /// Oceania.
    Oc,
}

impl LocationHint {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::Wnam,
        Self::Enam,
        Self::Weur,
        Self::Eeur,
        Self::Apac,
        Self::ApacNe,
        Self::ApacSe,
        Self::Oc,
    ];

    /// The hint as Cloudflare spells it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Wnam => "wnam",
            Self::Enam => "enam",
            Self::Weur => "weur",
            Self::Eeur => "eeur",
            Self::Apac => "apac",
            Self::ApacNe => "apac-ne",
            Self::ApacSe => "apac-se",
            Self::Oc => "oc",
        }
    }

    /// Where an object with this hint most likely runs, of the data centres in which objects have
    /// been seen (where.durableobjects.live): a code of `atlas/places.csv`.
    pub const fn usual_place(self) -> &'static str {
        match self {
            Self::Wnam => "sjc",
            Self::Enam => "iad",
            Self::Weur => "lhr",
            Self::Eeur => "vie",
            Self::Apac => "hkg",
            Self::ApacNe => "nrt",
            Self::ApacSe => "sin",
            Self::Oc => "syd",
        }
    }
}
