//! What the attacks share: a room, its key, a visitor who was let in.

use anteroom::gate::keys::Keys;
use anteroom::gate::token::{Standing, Token};
use anteroom::room::number::{Incarnation, TicketNumber};
use anteroom::site::host::Names;
use anteroom::site::room::{Room, RoomId};
use anteroom::site::{Context, validate};
use anteroom::time::{Instant, Span};

pub(crate) const NOW: Instant = Instant::from_secs(1_767_225_600);

/// The bytes of the room's secret, and the text from which it is read.
pub(crate) const SECRET: [u8; 32] = *b"0123456789abcdef0123456789abcdef";
pub(crate) const SECRET_TEXT: &str = "k1:MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=";

pub(crate) fn keys() -> Keys {
    Keys::parse(SECRET_TEXT).unwrap()
}

pub(crate) fn room(digit: char) -> RoomId {
    let id = digit.to_string().repeat(32);
    serde_json::from_value(serde_json::Value::String(id)).unwrap()
}

/// A room as it is declared, whose cookie is `__cfwaitingroom`.
pub(crate) fn declared() -> Room {
    let declaration = serde_json::json!({ "rooms": [{
        "name": "a", "host": "a.test", "total_active_users": 1, "new_users_per_minute": 1,
    }] });
    let names = Names {
        to_ascii: &|name| Some(name.to_owned()),
        is_public_suffix: &|_| false,
    };
    let languages = &["en-US".to_owned()];
    let site = validate(&declaration, Context { names, languages });
    site.unwrap().rooms.remove(0)
}

pub(crate) fn admitted() -> Token {
    token(|number, incarnation| Standing::Admitted {
        number,
        incarnation,
        issued: NOW,
        expires: NOW + Span::from_secs(300),
        provisional: false,
    })
}

pub(crate) fn waiting() -> Token {
    token(|number, incarnation| Standing::Waiting {
        number,
        incarnation,
        last_poll: NOW,
        expires: NOW + Span::from_secs(300),
        joined: NOW,
        ahead_at_join: 977,
        promise: None,
    })
}

fn token(standing: impl Fn(TicketNumber, Incarnation) -> Standing) -> Token {
    let number = TicketNumber::new(1042).unwrap();
    Token {
        standing: standing(number, Incarnation::new(1)),
        binding: None,
        embedded: false,
    }
}
