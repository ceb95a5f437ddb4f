//! Who asks: what the cookies of a request come to, once checked against what the room has said.

use super::binding::Binding;
use super::cookie;
use super::keys::Keys;
use super::token::{Refusal, Standing, Token};
use crate::page::facts::Notice;
use crate::room::snapshot::Snapshot;
use crate::site::room::Room;
use crate::time::Instant;

/// Who asks.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Visitor {
    /// What they carry; none for a newcomer.
    pub token: Option<Token>,
    /// What a newcomer must be told about what they carried.
    pub notice: Option<Notice>,
}

impl Visitor {
    /// One who carries nothing.
    pub const NEWCOMER: Self = Self {
        token: None,
        notice: None,
    };

    /// The first of the candidates in the `Cookie` header that is a token of this room, good at
    /// `now`. Nothing in the header is an error: whatever does not verify is as good as absent.
    pub fn recognize(
        keys: &Keys,
        room: &Room,
        cookies: Option<&str>,
        binding: Option<&Binding>,
        now: Instant,
    ) -> Self {
        let mut notice = None;
        for candidate in cookies
            .into_iter()
            .flat_map(|header| cookie::candidates(header, &room.cookie.name))
        {
            match keys.verify(&room.id, candidate, binding, now) {
                Ok(token) => {
                    return Self {
                        token: Some(token),
                        notice: None,
                    };
                }
                Err(Refusal::Expired(token)) => notice = notice.or(Notice::of_the_end_of(&token)),
                Err(_) => {}
            }
        }
        Self {
            token: None,
            notice,
        }
    }

    /// The visitor in the light of the room's last snapshot: a token of an earlier life of the
    /// room's storage, or of a session that was ended before its time, is no longer good.
    pub fn checked(self, snapshot: Option<&Snapshot>) -> Self {
        let (Some(token), Some(snapshot)) = (self.token, snapshot) else {
            return self;
        };
        let outlived = token
            .standing
            .incarnation()
            .is_some_and(|of| of < snapshot.incarnation);
        let revoked = match token.standing {
            Standing::Admitted { number, .. } => snapshot.revoked.contains(&number),
            Standing::Ticket { .. } | Standing::Waiting { .. } => false,
        };
        if outlived || revoked {
            Self {
                token: None,
                notice: Notice::of_the_end_of(&token),
            }
        } else {
            self
        }
    }
}

impl Notice {
    /// What to tell the bearer of a token that is over.
    const fn of_the_end_of(token: &Token) -> Option<Self> {
        match token.standing {
            Standing::Ticket { .. } => None,
            Standing::Waiting { .. } => Some(Self::PlaceLapsed),
            Standing::Admitted { .. } => Some(Self::SessionOver),
        }
    }
}
