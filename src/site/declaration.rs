//! From a declaration to a checked [`Site`].

use serde_json::Value;
use sha2::{Digest, Sha256};

use super::coverage;
use super::cross::{self, Draft};
use super::event_declaration;
use super::fault::{Faults, Notes};
use super::fields;
use super::host::Names;
use super::language;
use super::origin;
use super::room::{
    BindPass, Cookie, FailMode, FirstPass, QueueingMethod, Room, RoomId, SameSite, Secure, Site,
    is_id,
};
use super::rule_declaration;
use super::table::Table;
use crate::rules::Lists;

/// The base name of the cookies, unless `cookie_name` says otherwise: Cloudflare's.
const COOKIE_NAME: &str = "__cfwaitingroom";
/// Limits are what fits Cloudflare's 32-bit signed integers.
pub(super) const LIMIT: (u32, u32) = (1, 2_147_483_647);
/// Lengths in bytes, so that a pass stays small whatever is declared.
const LONGEST_NAME: usize = 128;
const LONGEST_COOKIE_NAME: usize = 64;
/// In characters: a page tells it in a few lines.
const LONGEST_MESSAGE: usize = 500;
/// A year.
const LONGEST_MINUTES: u32 = 525_600;
/// Cloudflare's line is full when the wait is longer than a day.
const FULL_AFTER_MINUTES: u32 = 1_440;

/// What validation has to know beside the declaration.
#[derive(Clone, Copy)]
pub struct Context<'a> {
    /// About host names.
    pub names: Names<'a>,
    /// The languages that the page has been translated into.
    pub languages: &'a [String],
}

/// Checks a declaration and works out what follows from it.
///
/// # Errors
/// Everything that is wrong with it.
pub fn validate(declaration: &Value, context: Context<'_>) -> Result<Site, Faults> {
    let mut notes = Notes::default();
    let mut drafts = Vec::new();
    let mut ip_lists = Vec::new();
    let mut search_engine_crawler_bypass = false;
    if let Some(table) = Table::open(declaration, String::new(), &fields::SITE, &mut notes) {
        let base = cookie_name(&table, &mut notes);
        if !table.has("rooms") {
            notes.add(
                "rooms",
                "is required; a site without rooms says so with rooms = []",
            );
        }
        search_engine_crawler_bypass =
            table.flag("search_engine_crawler_bypass", false, &mut notes);
        let lists;
        (ip_lists, lists) = rule_declaration::ip_lists(&table, &mut notes);
        for (place, value) in table.list("rooms", &mut notes) {
            if let Some(table) = Table::open(value, place.clone(), &fields::ROOM, &mut notes) {
                drafts.push(room(&table, place, &base, &lists, context, &mut notes));
            }
        }
        cross::check(&mut drafts, context.names, &mut notes);
    }
    notes.finish(Site {
        rooms: drafts.into_iter().map(|draft| draft.room).collect(),
        ip_lists,
        search_engine_crawler_bypass,
    })
}

fn cookie_name(table: &Table<'_>, notes: &mut Notes) -> String {
    let Some(name) = table.text("cookie_name", notes) else {
        return COOKIE_NAME.to_owned();
    };
    let place = table.at("cookie_name");
    // RFC 6265, section 4.1.1: a token of RFC 9110.
    let token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    if name.is_empty() || name.len() > LONGEST_COOKIE_NAME || !name.bytes().all(token) {
        notes.add(
            place,
            format!(
                "must be a cookie name: 1 to {LONGEST_COOKIE_NAME} letters, digits or \
                 !#$%&'*+-.^_`|~"
            ),
        );
    } else if name.to_ascii_lowercase().starts_with("__host-") {
        notes.add(
            place,
            "must not start with __Host-: such a cookie cannot have a Domain",
        );
    } else if name.to_ascii_lowercase().starts_with("__secure-") {
        notes.add(
            place,
            "must not start with __Secure-: such a cookie is refused over http",
        );
    }
    name.to_owned()
}

fn room(
    table: &Table<'_>,
    place: String,
    base: &str,
    lists: &Lists,
    context: Context<'_>,
    notes: &mut Notes,
) -> Draft {
    table.require("name", notes);
    table.require("host", notes);
    table.require("total_active_users", notes);
    table.require("new_users_per_minute", notes);

    let name = name(table, notes).unwrap_or_default().to_owned();
    let path_case_sensitive = table.flag("path_case_sensitive", true, notes);
    let faults = notes.count();
    let routes = coverage::routes(table, context.names, notes);
    let routes_hold = notes.count() == faults;
    let suffix = suffix(table, notes);
    let (samesite, secure) = cookie_attributes(table, notes);
    let poll_far_seconds = table
        .number("poll_far_seconds", (2, 120), notes)
        .unwrap_or(20);
    let poll_near_seconds = table
        .number("poll_near_seconds", (1, 60), notes)
        .unwrap_or(5);
    if poll_near_seconds > poll_far_seconds {
        let message = format!("must not exceed poll_far_seconds ({poll_far_seconds})");
        notes.add(table.at("poll_near_seconds"), message);
    }
    let id = id(table, &name, notes);
    let room = Room {
        events: event_declaration::events(table, &id, notes),
        rules: rule_declaration::rules(table, &id, lists, notes),
        event: None,
        id,
        description: table
            .text("description", notes)
            .unwrap_or_default()
            .to_owned(),
        routes: routes.iter().map(|(_, route)| route.clone()).collect(),
        path_case_sensitive,
        cookie: Cookie {
            name: match &suffix {
                Some(suffix) => format!("{base}_{suffix}"),
                None => base.to_owned(),
            },
            domain: None,
            path: "/".to_owned(),
            samesite,
            secure,
        },
        total_active_users: table
            .number("total_active_users", LIMIT, notes)
            .unwrap_or(1),
        new_users_per_minute: table
            .number("new_users_per_minute", LIMIT, notes)
            .unwrap_or(1),
        session_duration_seconds: session_duration(table, notes).unwrap_or(5 * 60),
        session_max_minutes: table.number("session_max_minutes", (1, LONGEST_MINUTES), notes),
        disable_session_renewal: table.flag("disable_session_renewal", false, notes),
        drain_over_limit: table.flag("drain_over_limit", false, notes),
        queue_all: table.flag("queue_all", false, notes),
        queue_all_message: message(table, notes),
        queueing_method: queueing_method(table, notes),
        queue_full_after_minutes: table
            .number("queue_full_after_minutes", (0, LONGEST_MINUTES), notes)
            .unwrap_or(FULL_AFTER_MINUTES),
        queueing_status_code: status_code(table, notes),
        custom_page_html: page(table, notes),
        default_template_language: page_language(table, context.languages, notes),
        json_response_enabled: table.flag("json_response_enabled", false, notes),
        suspended: table.flag("suspended", false, notes),
        revoke_enabled: origin_commands(table, notes),
        fail_mode: table
            .choice(
                "fail_mode",
                &[("closed", FailMode::Closed), ("open", FailMode::Open)],
                notes,
            )
            .unwrap_or_default(),
        allowed_origins: allowed_origins(table, context.names, notes),
        bind_pass: table
            .choice(
                "bind_pass",
                &[
                    ("none", BindPass::None),
                    ("ua", BindPass::Ua),
                    ("ip_prefix", BindPass::IpPrefix),
                ],
                notes,
            )
            .unwrap_or_default(),
        first_pass: table
            .choice(
                "first_pass",
                &[
                    ("auto", FirstPass::Auto),
                    ("full", FirstPass::Full),
                    ("provisional", FirstPass::Provisional),
                ],
                notes,
            )
            .unwrap_or_default(),
        origin_assertion: table.flag("origin_assertion", false, notes),
        strip_cookie: table.flag("strip_cookie", false, notes),
        poll_far_seconds,
        poll_near_seconds,
        relay_above: table
            .number("relay_above", (1, 100_000), notes)
            .unwrap_or(800),
        relay_shards: table.number("relay_shards", (1, 64), notes).unwrap_or(1),
        name,
    };
    session_fits(&room, table, notes);
    turnstile(table, notes);
    Draft {
        place,
        room,
        suffix,
        routes,
        routes_hold,
    }
}

/// Turnstile can only be off. An action without it never happens, so the one that does nothing is taken:
/// some clients send it always.
pub(super) fn turnstile(table: &Table<'_>, notes: &mut Notes) {
    for (name, only) in [("turnstile_mode", "off"), ("turnstile_action", "log")] {
        if table.text(name, notes).is_some_and(|value| value != only) {
            let message = format!("Turnstile is not built yet; it can only be {only}");
            notes.add(table.at(name), message);
        }
    }
}

fn name<'a>(table: &Table<'a>, notes: &mut Notes) -> Option<&'a str> {
    let name = table.text("name", notes)?;
    if !is_word(name, LONGEST_NAME) {
        let message = format!("must be 1 to {LONGEST_NAME} letters, digits, - or _, not {name:?}");
        notes.add(table.at("name"), message);
        return None;
    }
    Some(name)
}

fn suffix(table: &Table<'_>, notes: &mut Notes) -> Option<String> {
    let suffix = table
        .text("cookie_suffix", notes)
        .filter(|suffix| !suffix.is_empty())?;
    if !is_word(suffix, LONGEST_COOKIE_NAME) {
        let message = format!("must be at most {LONGEST_COOKIE_NAME} letters, digits, - or _");
        notes.add(
            table.at("cookie_suffix"),
            format!("{message}, not {suffix:?}"),
        );
    }
    Some(suffix.to_owned())
}

pub(super) fn is_word(word: &str, longest: usize) -> bool {
    (1..=longest).contains(&word.len())
        && word
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
}

/// The declared id; else one that follows from the name, so that a room keeps its visitors when the
/// rest of its declaration changes.
fn id(table: &Table<'_>, name: &str, notes: &mut Notes) -> RoomId {
    if let Some(id) = declared_id(table, notes) {
        return RoomId(id.to_owned());
    }
    let digest = Sha256::digest(format!("anteroom room id\0{}", name.to_ascii_lowercase()));
    RoomId(
        digest
            .iter()
            .take(16)
            .map(|byte| format!("{byte:02x}"))
            .collect(),
    )
}

/// The declared id, if there is one.
pub(super) fn declared_id<'a>(table: &Table<'a>, notes: &mut Notes) -> Option<&'a str> {
    let id = table.text("id", notes)?;
    if !is_id(id) {
        notes.add(table.at("id"), "must be 32 lower-case hexadecimal digits");
    }
    Some(id)
}

fn cookie_attributes(table: &Table<'_>, notes: &mut Notes) -> (SameSite, Secure) {
    let Some(value) = table.get("cookie_attributes") else {
        return Default::default();
    };
    let place = table.at("cookie_attributes");
    let Some(table) = Table::open(value, place.clone(), &fields::COOKIE_ATTRIBUTES, notes) else {
        return Default::default();
    };
    let samesite = [
        ("auto", SameSite::Auto),
        ("lax", SameSite::Lax),
        ("none", SameSite::None),
        ("strict", SameSite::Strict),
    ];
    let secure = [
        ("auto", Secure::Auto),
        ("always", Secure::Always),
        ("never", Secure::Never),
    ];
    let samesite = table
        .choice("samesite", &samesite, notes)
        .unwrap_or_default();
    let secure = table.choice("secure", &secure, notes).unwrap_or_default();
    if samesite == SameSite::None && secure == Secure::Never {
        notes.add(
            place,
            "samesite = \"none\" does not go with secure = \"never\": browsers drop such a cookie",
        );
    }
    (samesite, secure)
}

/// In seconds.
pub(super) fn session_duration(table: &Table<'_>, notes: &mut Notes) -> Option<u32> {
    let minutes = table.number("session_duration", (1, 30), notes);
    let seconds = table.number("session_duration_seconds", (1, 86_400), notes);
    if table.has("session_duration") && table.has("session_duration_seconds") {
        notes.add(
            table.at("session_duration_seconds"),
            "does not go with session_duration (minutes): both say how long a session lasts",
        );
    }
    seconds.or(minutes.map(|minutes| minutes * 60))
}

/// A visitor gets the session that they were promised.
fn session_fits(room: &Room, table: &Table<'_>, notes: &mut Notes) {
    let session = room.session_duration_seconds;
    let is_short = |minutes: u32| u64::from(minutes) * 60 < u64::from(session);
    if room.session_max_minutes.is_some_and(is_short) {
        let message = format!("must not be shorter than a session, which lasts {session} seconds");
        notes.add(table.at("session_max_minutes"), message);
    }
}

pub(super) fn queueing_method(table: &Table<'_>, notes: &mut Notes) -> QueueingMethod {
    let methods = [
        ("fifo", QueueingMethod::Fifo),
        ("random", QueueingMethod::Random),
        ("passthrough", QueueingMethod::Passthrough),
        ("reject", QueueingMethod::Reject),
    ];
    table
        .choice("queueing_method", &methods, notes)
        .unwrap_or_default()
}

/// One line of plain text, which pages escape.
fn message(table: &Table<'_>, notes: &mut Notes) -> String {
    let text = table.text("queue_all_message", notes).unwrap_or_default();
    if text.chars().count() > LONGEST_MESSAGE || text.chars().any(char::is_control) {
        notes.add(
            table.at("queue_all_message"),
            format!("must be at most {LONGEST_MESSAGE} characters on one line"),
        );
    }
    text.to_owned()
}

fn status_code(table: &Table<'_>, notes: &mut Notes) -> u16 {
    let Some(value) = table.get("queueing_status_code") else {
        return 200;
    };
    let code = [200, 202, 429].into_iter().find(|code| value == code);
    code.unwrap_or_else(|| {
        notes.add(table.at("queueing_status_code"), "must be 200, 202 or 429");
        200
    })
}

/// The name of the page's file. Empty, as at Cloudflare, is the default page.
pub(super) fn page(table: &Table<'_>, notes: &mut Notes) -> Option<String> {
    let name = table
        .text("custom_page_html", notes)
        .filter(|name| !name.is_empty())?;
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    if !name.bytes().all(plain) || name.starts_with('.') {
        notes.add(
            table.at("custom_page_html"),
            "must be the name of a file in templates/: letters, digits, - _ and . alone",
        );
        return None;
    }
    Some(name.to_owned())
}

fn page_language(table: &Table<'_>, translated: &[String], notes: &mut Notes) -> String {
    let declared = table.text("default_template_language", notes);
    let declared = declared.unwrap_or(language::DEFAULT);
    if let Some(refusal) = language::refusal(declared, translated) {
        notes.add(table.at("default_template_language"), refusal);
    }
    declared.to_owned()
}

/// Whether `revoke`, the only command there is, is allowed.
fn origin_commands(table: &Table<'_>, notes: &mut Notes) -> bool {
    let mut revoke = false;
    for (place, command) in table.texts("enabled_origin_commands", notes) {
        match command {
            "revoke" => revoke = true,
            _ => notes.add(place, format!("must be \"revoke\", not {command:?}")),
        }
    }
    revoke
}

fn allowed_origins(table: &Table<'_>, names: Names<'_>, notes: &mut Notes) -> Vec<String> {
    let mut origins: Vec<String> = Vec::new();
    for (place, text) in table.texts("allowed_origins", notes) {
        if let Err(fault) = origin::check(text, names) {
            notes.add(place, fault);
        } else if origins.iter().any(|origin| origin == text) {
            notes.add(place, "is listed twice");
        } else {
            origins.push(text.to_owned());
        }
    }
    origins
}
