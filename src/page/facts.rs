//! What a page says: the facts that the gate hands to the page, whatever its form.

use crate::room::draw::{Commitment, DrawKey};
use crate::site::room::QueueingMethod;
use crate::time::Instant;

/// What a waiting visitor is told. The HTML page, a custom template and the JSON answer are all
/// written from this.
#[derive(Clone, Debug, PartialEq)]
pub struct Facts {
    /// Why the visitor waits.
    pub state: State,
    /// The visitor's place in line, from 1; none before a number was given.
    pub position: Option<u64>,
    /// How many waiting visitors come before this one.
    pub users_ahead: Option<u64>,
    /// How far the visitor has come since they joined, in percent: 0 to 100.
    pub progress_percent: Option<u8>,
    /// The expected wait in minutes, rounded up; none where it cannot be told. In a room that admits
    /// at random the median.
    pub wait_minutes: Option<u32>,
    /// Where a wait in order is expected to lie, in minutes: rounded down and up. None in a room that
    /// admits at random.
    pub wait_range: Option<[u32; 2]>,
    /// How long the luckiest quarter, half and three quarters wait at most, in minutes, rounded up; in
    /// a room that admits at random alone.
    pub wait_quartiles: Option<[u32; 3]>,
    /// Whether the visitor holds a place that can be given up.
    pub has_place: bool,
    /// The visitor's last counted attempt.
    pub last_updated: Instant,
    /// Seconds until the visitor should ask again; 0 under plain `reject`.
    pub refresh_interval_seconds: u32,
    /// The room's method.
    pub queueing_method: QueueingMethod,
    /// Something the page must add to the state.
    pub notice: Option<Notice>,
    /// What the operator has to say, or nothing: plain text.
    pub message: String,
    /// The event that is under way, its pre-queue included.
    pub event: Option<Event>,
    /// The visitor's number, where a draw decides about its place.
    pub number: Option<u64>,
    /// What is known of that draw.
    pub draw: Option<Draw>,
}

/// An event that is under way.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// Its name.
    pub name: String,
    /// Whether it has not started yet.
    pub prequeueing: bool,
    /// Whether the places of the pre-queue are drawn at the start.
    pub shuffle: bool,
    /// When it starts.
    pub start: Instant,
    /// When it ends.
    pub end: Instant,
    /// The time of these facts.
    pub now: Instant,
}

/// What is known of the draw of a pre-queue.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Draw {
    /// The SHA-256 of the key.
    pub commitment: Commitment,
    /// The start of the event when the key was committed to.
    pub start: Instant,
    /// The first number of the pre-queue.
    pub first: u64,
    /// How it ended, once it was held.
    pub held: Option<Held>,
}

/// A draw that was held.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Held {
    /// The key.
    pub key: DrawKey,
    /// How many numbers took part.
    pub count: u64,
    /// The place that the visitor's number got.
    pub place: Option<u64>,
}

/// Why a visitor waits.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum State {
    /// First contact while the room queues: the client shall come back at once for its number.
    Joining,
    /// In line.
    Queueing,
    /// In line, and the turn has come: the client shall come back at once and enter.
    Called,
    /// `queue_all`: in line, nobody is admitted for now.
    QueueAll,
    /// In the pre-queue of an event: nobody is admitted before it starts.
    Prequeueing,
    /// The line is so long that nobody gets a number; the client shall come back later.
    Full,
    /// The method is `reject`.
    Rejecting,
    /// The room cannot be reached; the place, if any, is kept.
    Unavailable,
    /// The visitor left the line or the site by their own wish.
    Left,
}

/// Something the page adds to the state.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Notice {
    /// The request carried a form or another body: nothing of it was sent on.
    NothingSent,
    /// The place in line had lapsed; this is a new one.
    PlaceLapsed,
    /// The session had ended; this is a new place.
    SessionOver,
}
