//! The paths of the API, and what each of them can be asked.

use super::super::access::Access;
use super::cloud_regions::Version::{self, V1, V2};
use super::envelope::Refusal;
use crate::room::number::TicketNumber;
use crate::site::room::is_id;

/// A call, by its path.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Route<'a> {
    ZoneRooms,
    AccountRooms,
    Settings,
    Preview,
    Room(&'a str),
    Status(&'a str),
    Rules(&'a str),
    Rule(&'a str, &'a str),
    Events(&'a str),
    Event(&'a str, &'a str),
    Details(&'a str, &'a str),
    Session(&'a str, TicketNumber),
    Place(&'a str, TicketNumber),
    Series(&'a str),
    Metrics,
    ExplainTiers,
    CountTiers,
    Audit,
    Export,
    Keys,
    OpenApi,
    CloudRegions(Version, Hints<'a>),
    /// Of the zone of this id.
    Purge(&'a str),
}

/// What of the hints of cloud regions a path names.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Hints<'a> {
    All,
    One(&'a str),
    Batch,
    Supported,
    Table,
    Export,
}

use Route::*;

impl<'a> Route<'a> {
    /// The call that a path below the prefix names.
    pub(super) fn find(path: &'a str, access: &Access) -> Result<Self, Refusal> {
        let lost = || Refusal::new(404, 7000, "No route for that URI");
        let segments: Vec<&str> = path
            .strip_prefix('/')
            .ok_or_else(lost)?
            .split('/')
            .collect();
        let (owner, known, rest) = match segments.as_slice() {
            ["anteroom", "openapi.json"] => return Ok(OpenApi),
            ["zones", zone, rest @ ..] => ("zones", access.is_zone(zone).then_some(zone), rest),
            ["accounts", id, rest @ ..] => ("accounts", access.is_account(id).then_some(id), rest),
            _ => return Err(lost()),
        };
        if known.is_none() {
            let message = format!("Could not route to /{owner}: this is the API of another one");
            return Err(Refusal::new(404, 7003, message));
        }
        let number = |text: &str| text.parse().ok().and_then(TicketNumber::new);
        Ok(match (owner, rest) {
            ("accounts", ["waiting_rooms"]) => AccountRooms,
            ("zones", ["anteroom", "audit"]) => Audit,
            ("zones", ["anteroom", "export"]) => Export,
            ("zones", ["anteroom", "keys"]) => Keys,
            ("zones", ["anteroom", "metrics"]) => Metrics,
            ("zones", ["anteroom", "tiers", "explain"]) => ExplainTiers,
            ("zones", ["anteroom", "tiers", "counts"]) => CountTiers,
            ("zones", ["anteroom", "cloud_regions.csv"]) => CloudRegions(V2, Hints::Table),
            ("zones", ["anteroom", "cloud_regions", "export"]) => CloudRegions(V2, Hints::Export),
            ("zones", ["origin", "cloud_regions", rest @ ..]) => {
                CloudRegions(V2, Hints::find(rest).ok_or_else(lost)?)
            }
            ("zones", ["cache", "origin_cloud_regions", rest @ ..]) => {
                CloudRegions(V1, Hints::find(rest).ok_or_else(lost)?)
            }
            ("zones", ["purge_cache"]) => Purge(known.copied().unwrap_or_default()),
            ("zones", ["waiting_rooms"]) => ZoneRooms,
            ("zones", ["waiting_rooms", "settings"]) => Settings,
            ("zones", ["waiting_rooms", "preview"]) => Preview,
            ("zones", ["waiting_rooms", room, rest @ ..]) => {
                let room = if is_id(room) { *room } else { "" };
                match rest {
                    [] => Room(room),
                    ["status"] => Status(room),
                    ["series"] => Series(room),
                    ["rules"] => Rules(room),
                    ["rules", rule] => Rule(room, rule),
                    ["events"] => Events(room),
                    ["events", event] => Event(room, event),
                    ["events", event, "details"] => Details(room, event),
                    ["sessions", text] => {
                        Session(room, number(text).ok_or_else(Refusal::not_found)?)
                    }
                    ["places", text] => Place(room, number(text).ok_or_else(Refusal::not_found)?),
                    _ => return Err(lost()),
                }
            }
            _ => return Err(lost()),
        })
    }

    /// The methods that the call has.
    pub(super) const fn methods(self) -> &'static [&'static str] {
        match self {
            ZoneRooms | Events(_) => &["GET", "POST"],
            Settings => &["GET", "PUT", "PATCH"],
            Preview | Purge(_) => &["POST"],
            Room(_) | Event(..) => &["GET", "PUT", "PATCH", "DELETE"],
            Rules(_) => &["GET", "POST", "PUT"],
            Rule(..) => &["PATCH", "DELETE"],
            Session(..) => &["DELETE"],
            CloudRegions(V1, Hints::All) => &["GET", "POST", "PATCH"],
            CloudRegions(V1, Hints::One(_)) => &["GET", "DELETE"],
            CloudRegions(V1, Hints::Batch) => &["PATCH", "DELETE"],
            CloudRegions(V2, Hints::One(_)) => &["GET", "PUT", "DELETE"],
            CloudRegions(V2, Hints::Batch) => &["PUT", "DELETE"],
            CloudRegions(_, Hints::Table) => &["GET", "POST", "PUT"],
            CloudRegions(..) => &["GET"],
            AccountRooms | Status(_) | Series(_) | Details(..) | Place(..) | Audit | Export
            | CountTiers | ExplainTiers | Keys | Metrics | OpenApi => &["GET"],
        }
    }
}

impl<'a> Hints<'a> {
    /// What the segments below the path of all name.
    fn find(rest: &[&'a str]) -> Option<Self> {
        Some(match *rest {
            [] => Self::All,
            ["batch"] => Self::Batch,
            ["supported_regions"] => Self::Supported,
            [one] if !one.is_empty() => Self::One(one),
            _ => return None,
        })
    }
}
