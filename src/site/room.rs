//! A room after validation: the form in which `build.rs` packs it and the Worker reads it.
//!
//! Field names are those of Cloudflare's `waiting_rooms` object wherever it has the field.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::event::{Event, Running};
use super::rule::{IpList, Rule};

/// All rooms of a deployment.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct Site {
    /// The rooms in the order of their declaration.
    pub rooms: Vec<Room>,
    /// The lists of addresses that rules may name.
    #[serde(default)]
    pub ip_lists: Vec<IpList>,
    /// Verified crawlers of search engines pass by every room.
    #[serde(default)]
    pub search_engine_crawler_bypass: bool,
}

/// Whether a text is an id as Cloudflare's are: 32 lower-case hexadecimal digits.
pub fn is_id(text: &str) -> bool {
    let hex = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    text.len() == 32 && text.bytes().all(hex)
}

/// The id of a room: 32 lower-case hexadecimal digits. A room that is given a new id is a new room:
/// it starts empty, and passes of the old one do not open it.
#[derive(Clone, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(transparent)]
pub struct RoomId(pub(super) String);

impl RoomId {
    /// The id of these digits; none for any other text.
    pub fn read(digits: &str) -> Option<Self> {
        is_id(digits).then(|| Self(digits.to_owned()))
    }

    /// The 32 hexadecimal digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for RoomId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// One room.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Room {
    /// Names the room's Durable Object and is the audience of its passes.
    pub id: RoomId,
    /// `[A-Za-z0-9_-]+`, unique without regard to case.
    pub name: String,
    /// A free note.
    pub description: String,
    /// The pairs of host and path that the room covers: `host` and `path` first, then
    /// `additional_routes`.
    pub routes: Vec<Route>,
    /// Whether `/Shop` is another path than `/shop`.
    pub path_case_sensitive: bool,
    /// The room's cookie, worked out from the routes.
    pub cookie: Cookie,
    /// Sessions at one time: 1 to 2,147,483,647.
    pub total_active_users: u32,
    /// Admissions in any 60 seconds: 1 to 2,147,483,647. May exceed `total_active_users`.
    pub new_users_per_minute: u32,
    /// How long an admitted visitor may stay away, in seconds: 1 to 86,400. Declared as
    /// `session_duration` (minutes) or `session_duration_seconds`.
    pub session_duration_seconds: u32,
    /// After how many minutes from the admission a session ends however often it was renewed; none:
    /// never. At least a session's length.
    pub session_max_minutes: Option<u32>,
    /// An admitted visitor gets exactly one session and then queues again.
    pub disable_session_renewal: bool,
    /// While more sessions are active than the limit allows, refuse to renew them.
    pub drain_over_limit: bool,
    /// Hold every newcomer, whatever the limits and the method.
    pub queue_all: bool,
    /// What the page says while `queue_all` holds everybody: up to 500 characters without control
    /// characters; empty: nothing.
    #[serde(default)]
    pub queue_all_message: String,
    /// The order of admission.
    pub queueing_method: QueueingMethod,
    /// The expected wait in minutes from which on newcomers get no number; 0: they always do.
    pub queue_full_after_minutes: u32,
    /// The status of the waiting page: 200, 202 or 429.
    pub queueing_status_code: u16,
    /// The file under `templates/` that replaces the default page; its source is packed beside the
    /// site, under this name.
    pub custom_page_html: Option<String>,
    /// The language of the page where the request does not say.
    pub default_template_language: String,
    /// Answer a waiting client that prefers JSON with JSON.
    pub json_response_enabled: bool,
    /// The room is off: every request goes to the origin, without a cookie.
    pub suspended: bool,
    /// Honour `Cf-Waiting-Room-Command: revoke` from the origin.
    pub revoke_enabled: bool,
    /// What happens to a newcomer while the room cannot be reached.
    pub fail_mode: FailMode,
    /// Origins (RFC 6454: `https://app.example.com`) whose scripts may read the answers that
    /// anteroom makes for this room.
    pub allowed_origins: Vec<String>,
    /// What else of the request a pass is bound to.
    pub bind_pass: BindPass,
    /// How long a first pass lives before its first return.
    pub first_pass: FirstPass,
    /// Tell the origin in a signed header who was admitted.
    pub origin_assertion: bool,
    /// Remove the room's cookie from what the origin sees.
    pub strip_cookie: bool,
    /// Seconds between the polls of a visitor whose turn is far: 2 to 120.
    pub poll_far_seconds: u32,
    /// Seconds between the polls of a visitor whose turn is near: 1 to 60.
    pub poll_near_seconds: u32,
    /// From so many requests of edges per second on they come through relays: 1 to 100,000.
    pub relay_above: u32,
    /// Relays of the room in each data centre: 1 to 64.
    pub relay_shards: u32,
    /// The room's events, which do not overlap: 5 at most.
    #[serde(default)]
    pub events: Vec<Event>,
    /// The rules by which requests pass by the room: 100 at most.
    #[serde(default)]
    pub rules: Vec<Rule>,
    /// The event that shapes these settings: none in what is declared, see [`Timeline::at`].
    ///
    /// [`Timeline::at`]: super::timeline::Timeline::at
    #[serde(skip)]
    pub event: Option<Running>,
}

impl Room {
    /// Whether an event's pre-queue is under way.
    pub fn is_prequeueing(&self) -> bool {
        self.event.as_ref().is_some_and(|event| event.prequeueing)
    }

    /// Whether all newcomers are held, whatever the method.
    pub fn holds_everybody(&self) -> bool {
        self.queue_all || self.is_prequeueing()
    }

    /// The pages of its own that the room may show: its, and those of its events.
    pub fn pages(&self) -> impl Iterator<Item = &str> {
        let of_events = self.events.iter().map(|event| &event.custom_page_html);
        let all = of_events.chain([&self.custom_page_html]);
        all.filter_map(|page| page.as_deref())
    }
}

/// A host and a path that a room covers, with everything below the path.
#[derive(Clone, Debug, Deserialize, Eq, Hash, PartialEq, Serialize)]
pub struct Route {
    /// The host in lower case and punycode, without port or trailing dot.
    pub host: String,
    /// The canonical path: starts with `/` and, unless it is just that, does not end with it.
    pub path: String,
}

/// The room's cookie: its name and scope, computed when the configuration is.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Cookie {
    /// `__cfwaitingroom`, or with a suffix `__cfwaitingroom_<suffix>`.
    pub name: String,
    /// The deepest domain that all hosts share. None for localhost and IP addresses: then the
    /// cookie belongs to the one host.
    pub domain: Option<String>,
    /// The longest path prefix, by segment, that all routes share.
    pub path: String,
    /// `cookie_attributes.samesite`.
    pub samesite: SameSite,
    /// `cookie_attributes.secure`.
    pub secure: Secure,
}

/// `cookie_attributes.samesite`.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum SameSite {
    /// `None` over https, `Lax` over http.
    #[default]
    Auto,
    /// Not sent with cross-site requests other than top-level navigation.
    Lax,
    /// Sent with every request; needs `Secure`.
    None,
    /// Sent with same-site requests alone.
    Strict,
}

/// `cookie_attributes.secure`.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Secure {
    /// Set over https, not over http.
    #[default]
    Auto,
    /// Set always.
    Always,
    /// Set never.
    Never,
}

/// The order in which a room admits.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum QueueingMethod {
    /// First come, first served.
    #[default]
    Fifo,
    /// Whoever is drawn.
    Random,
    /// Everybody passes and is counted.
    Passthrough,
    /// Nobody new passes.
    Reject,
}

/// What happens to a newcomer while the room cannot be reached.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum FailMode {
    /// They wait.
    #[default]
    Closed,
    /// They pass, without a pass.
    Open,
}

/// What else of the request a pass is bound to. A pass is a bearer token: whoever shows it holds the
/// one slot it stands for.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum BindPass {
    /// Nothing.
    #[default]
    None,
    /// The `User-Agent` header.
    Ua,
    /// The client's /24 (IPv4) or /48 (IPv6).
    IpPrefix,
}

/// How long a first pass lives before its first return.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum FirstPass {
    /// Provisional while many recent passes are never seen again.
    #[default]
    Auto,
    /// A whole session.
    Full,
    /// 60 seconds, made a whole session by the first request that brings the pass back.
    Provisional,
}
