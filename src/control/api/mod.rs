//! The API: a request and the configuration in, an answer out.
//!
//! The paths, the envelope and the meaning of the methods are Cloudflare's; `docs/api.md` says where
//! they are not.

mod audit;
mod change;
pub mod cloud_regions;
mod envelope;
mod events;
#[cfg(test)]
mod openapi;
mod preview;
mod purge;
mod query;
mod room_call;
mod rooms;
mod route;
mod rules;
mod settings;
mod tiers;
mod zone;

use serde_json::Value;

pub use self::audit::AuditCall;
use self::change::Call;
use self::cloud_regions::Action;
pub use self::envelope::Answer;
use self::envelope::Refusal;
pub use self::preview::PreviewQuery;
use self::preview::{keep_preview, show_preview};
pub use self::room_call::{Ask, MetricsCall, RoomCall, Sent};
use self::rooms::Update;
use self::route::Route;
pub use self::tiers::{TierCall, counted, explained};
use super::access::{Access, Actor, Scope};
use super::compile::Surroundings;
use super::configuration::Configuration;
use super::rate::Buckets;
use crate::page::timestamp::iso8601;
use crate::site::room::{Room, RoomId, Site};
use crate::site::timeline::Timeline;
use crate::time::Instant;

/// The longest body that is read, in bytes: a page of Cloudflare's largest size, with every character
/// escaped, and what goes with it.
pub const MOST_BODY: usize = 4 << 20;

/// What the shell tells of a request.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// The method.
    pub method: String,
    /// Scheme and host of the URL, for addresses in answers: `https://api.example.com`.
    pub origin: String,
    /// The path of the URL.
    pub path: String,
    /// Its query, without the question mark.
    pub query: String,
    /// The header field.
    pub authorization: Option<String>,
    /// The header field.
    pub content_type: Option<String>,
    /// The body: [`MOST_BODY`] bytes of it at most, and one more if there are more.
    pub body: Vec<u8>,
}

/// What the shell shall do.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// To answer. If the configuration has changed, it is stored and published before.
    Answer(Answer),
    /// To ask the room.
    Room(Box<RoomCall>),
    /// To ask all rooms.
    Metrics(MetricsCall),
    /// To ask the object of the atlas for what was changed of the hints.
    Audit(AuditCall),
    /// To let the object of the atlas answer.
    CloudRegions(cloud_regions::Call),
    /// To keep a page for its preview until then, and to answer.
    KeepPreview {
        /// The id of the preview.
        id: String,
        /// The page.
        html: String,
        /// When it can be forgotten.
        until: Instant,
        /// The answer.
        answer: Answer,
    },
    /// To answer with what [`PreviewQuery::answer`] makes of the page that was kept.
    ShowPreview {
        /// The id of the preview.
        id: String,
        /// How it is to be shown.
        show: PreviewQuery,
    },
}

/// The time and chance of a call, and what is around it.
#[derive(Clone, Copy, Debug)]
pub struct Moment<'a> {
    /// The time.
    pub now: Instant,
    /// Random bytes, for ids.
    pub random: [u8; 32],
    /// What has to be known beside the configuration.
    pub around: Surroundings<'a>,
    /// The ids of the keys that sign passes, the one in use first.
    pub keys: &'a [String],
    /// The site in force; none while nothing is published.
    pub site: Option<&'a Site>,
}

/// Answers a request. Where the configuration changes, it has changed in `configuration`, and in
/// nothing else yet.
pub fn answer(
    configuration: &mut Configuration,
    access: &Access,
    buckets: &mut Buckets,
    request: &Request,
    moment: Moment<'_>,
) -> Outcome {
    if let Some(id) = access.preview(&request.path) {
        return match show_preview(buckets, request, id, moment.now) {
            Ok(outcome) => outcome,
            Err(refusal) => Outcome::Answer(refusal.answer()),
        };
    }
    let outcome = admit(access, buckets, request, moment.now)
        .and_then(|call| perform(configuration, access, call, request, moment));
    outcome.unwrap_or_else(|refusal| Outcome::Answer(refusal.answer()))
}

/// Whose request it is and what it asks for. The edge may ask this before it asks the object.
fn admit<'r>(
    access: &'r Access,
    buckets: &mut Buckets,
    request: &'r Request,
    now: Instant,
) -> Result<(Actor<'r>, Route<'r>), Refusal> {
    let Some(actor) = access.actor(request.authorization.as_deref()) else {
        buckets.stranger(now).map_err(Refusal::too_often)?;
        return Err(Refusal::unknown_caller());
    };
    buckets.call(actor.name, now).map_err(Refusal::too_often)?;
    let path = access.below_prefix(&request.path).unwrap_or_default();
    let route = Route::find(path, access)?;
    let method = request.method.as_str();
    if !route.methods().contains(&method) {
        let message = format!("Method {method} not available for that URI.");
        let allowed = route.methods().join(", ");
        return Err(Refusal::new(405, 7001, message).with("Allow", allowed));
    }
    if method != "GET" && actor.scope < Scope::Write {
        return Err(Refusal::not_allowed());
    }
    Ok((actor, route))
}

impl Access {
    /// The refusal of a request that its token or its path does not allow; none if the object has to
    /// answer it.
    pub fn refusal(
        &self,
        buckets: &mut Buckets,
        request: &Request,
        now: Instant,
    ) -> Option<Answer> {
        let admitted = if self.preview(&request.path).is_some() {
            buckets.preview(now).map_err(Refusal::too_often)
        } else {
            admit(self, buckets, request, now).map(drop)
        };
        admitted.err().map(Refusal::answer)
    }
}

fn perform(
    configuration: &mut Configuration,
    access: &Access,
    (actor, route): (Actor<'_>, Route<'_>),
    request: &Request,
    moment: Moment<'_>,
) -> Result<Outcome, Refusal> {
    let now = moment.now;
    let mut call = Call::new(actor.name, now, moment.around, moment.random);
    let call = &mut call;
    let method = request.method.as_str();
    let body = || body(request);
    let object = || match body()? {
        Value::Object(object) => Ok(object),
        _ => Err(Refusal::new(400, 1002, "the body must be an object")),
    };
    let how = if method == "PATCH" {
        Update::Merge
    } else {
        Update::Replace
    };
    let listed = |list: Vec<Value>| query::page(list, &request.query);
    let done = match (route, method) {
        (Route::ZoneRooms, "GET") | (Route::AccountRooms, _) => {
            listed(rooms::list(configuration, now))
        }
        (Route::ZoneRooms, _) => rooms::create(configuration, call, object()?),
        (Route::Room(id), "GET") => rooms::get(configuration, id, now),
        (Route::Room(id), "DELETE") => rooms::delete(configuration, call, id),
        (Route::Room(id), _) => rooms::update(configuration, call, id, object()?, how),
        (Route::Events(room), "GET") => listed(events::list(configuration, room)?),
        (Route::Events(room), _) => events::create(configuration, call, room, object()?),
        (Route::Event(room, id), "GET") => events::get(configuration, room, id),
        (Route::Event(room, id), "DELETE") => events::delete(configuration, call, room, id),
        (Route::Event(room, id), _) => {
            events::update(configuration, call, (room, id), object()?, how)
        }
        (Route::Details(room, id), _) => events::details(configuration, room, id),
        (Route::Rules(room), "GET") => rules::get(configuration, room),
        (Route::Rules(room), "POST") => rules::append(configuration, call, room, body()?),
        (Route::Rules(room), _) => rules::replace(configuration, call, room, body()?),
        (Route::Rule(room, id), "DELETE") => rules::delete(configuration, call, room, id),
        (Route::Rule(room, id), _) => rules::update(configuration, call, (room, id), object()?),
        (Route::Settings, "GET") => Ok(settings::get(configuration)),
        (Route::Settings, _) => settings::update(configuration, call, object()?, how),
        (Route::Export, _) => Ok(zone::export(configuration)),
        (Route::Keys, _) => Ok(zone::keys(moment.keys)),
        (Route::ExplainTiers | Route::CountTiers, _) => {
            Err(Refusal::new(404, 7000, "only an edge answers this"))
        }
        (Route::Purge(zone), _) => purge::purge(configuration, call, zone, &object()?),
        (Route::Audit, _) => {
            return Ok(Outcome::Audit(AuditCall::new(
                configuration,
                &request.query,
            )));
        }
        (Route::OpenApi, _) => return Ok(Outcome::Answer(zone::openapi())),
        (Route::Preview, _) => return keep_preview(call, access, request, object()?),
        (Route::Status(id), _) => return ask(configuration, &moment, id, Ask::Status),
        (Route::Session(id, number), _) => {
            return ask(configuration, &moment, id, Ask::End(number));
        }
        (Route::Place(id, number), _) => {
            return ask(configuration, &moment, id, Ask::Place(number));
        }
        (Route::Series(id), _) => {
            let window = query::window(&request.query, now)?;
            return ask(configuration, &moment, id, Ask::Series(window));
        }
        (Route::Metrics, _) => return Ok(metrics(configuration)),
        (Route::CloudRegions(version, hints), _) => {
            let action = action(hints, request)?;
            return Ok(Outcome::CloudRegions(cloud_regions::Call {
                version,
                action,
                by: actor.name.to_owned(),
            }));
        }
    };
    Ok(Outcome::Answer(done?.answer()))
}

/// What a call of cloud regions asks for.
fn action(hints: route::Hints<'_>, request: &Request) -> Result<Action, Refusal> {
    use route::Hints;
    let body = || body(request);
    Ok(match (hints, request.method.as_str()) {
        (Hints::All, "POST") => Action::Create(body()?),
        (Hints::All, "PATCH") => Action::Set(body()?),
        (Hints::All, _) => Action::List(request.query.clone()),
        (Hints::One(origin), "PUT") => Action::Put(origin.to_owned(), body()?),
        (Hints::One(origin), "DELETE") => Action::Delete(origin.to_owned()),
        (Hints::One(origin), _) => Action::Get(origin.to_owned()),
        (Hints::Batch, "DELETE") => Action::DeleteMany(body()?),
        (Hints::Batch, _) => Action::SetMany(body()?),
        (Hints::Supported, _) => Action::Supported,
        (Hints::Table, "POST") => Action::AddTable(table(request)?),
        (Hints::Table, "PUT") => Action::ReplaceTable(table(request)?),
        (Hints::Table, _) => Action::Table,
        (Hints::Export, _) => Action::Export,
    })
}

/// The body as a table. A form of another site cannot send that type either.
fn table(request: &Request) -> Result<String, Refusal> {
    let text = typed(request, "text/csv")?;
    String::from_utf8(text.to_vec()).map_err(|_| Refusal::new(400, 1002, "the body must be UTF-8"))
}

/// The body as JSON. Only what a form cannot send is read: then no page of another site makes a
/// browser send it without asking first, and it is never answered that.
fn body(request: &Request) -> Result<Value, Refusal> {
    serde_json::from_slice(typed(request, "application/json")?).map_err(|error| {
        let message = format!("Malformed JSON in request body: {error}");
        Refusal::new(400, 6007, message)
    })
}

/// The body, if it is of that type and not too long.
fn typed<'r>(request: &'r Request, wanted: &str) -> Result<&'r [u8], Refusal> {
    let media_type = request.content_type.as_deref().unwrap_or_default();
    let media_type = media_type.split(';').next().unwrap_or_default().trim();
    if !media_type.eq_ignore_ascii_case(wanted) {
        let message = format!("Invalid request headers: Content-Type must be {wanted}");
        return Err(Refusal::new(415, 6003, message));
    }
    if request.body.len() > MOST_BODY {
        let message = format!("the body must have {MOST_BODY} bytes at most");
        return Err(Refusal::new(413, 6004, message));
    }
    Ok(&request.body)
}

fn ask(
    configuration: &Configuration,
    moment: &Moment<'_>,
    id: &str,
    ask: Ask,
) -> Result<Outcome, Refusal> {
    configuration.room(id).ok_or_else(Refusal::not_found)?;
    let compiled;
    let site = match moment.site {
        Some(site) => site,
        None => {
            let published = configuration.compile(moment.around);
            compiled = published.map_err(|_| Refusal::not_found())?.site;
            &compiled
        }
    };
    let room = site.rooms.iter().find(|room| room.id.as_str() == id);
    let room = Timeline::new(room.ok_or_else(Refusal::not_found)?);
    let now = crate::site::moment::Moment::from_millis(moment.now.as_millis());
    let room = Room::clone(room.at(now));
    Ok(Outcome::Room(Box::new(RoomCall { room, ask })))
}

fn metrics(configuration: &Configuration) -> Outcome {
    let rooms = configuration.rooms.iter().filter_map(|room| {
        let name = room.declared.get("name")?.as_str()?;
        Some((RoomId::read(&room.id)?, name.to_owned()))
    });
    Outcome::Metrics(MetricsCall {
        rooms: rooms.collect(),
    })
}

/// A point in time as answers have it.
fn stamp(instant: Instant) -> Value {
    iso8601(instant).into()
}

#[cfg(test)]
mod tests;
