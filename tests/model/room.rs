//! The room's object: the production ledger, its storage, and the shell between them as
//! `worker/room_object.rs` has it.

use std::sync::Arc;

use anteroom::room::ledger::Ledger;
use anteroom::room::ledger::book::Book;
use anteroom::room::ledger::journal::{self, Row};
use anteroom::room::message::{Request, Response};
use anteroom::room::number::Incarnation;
use anteroom::room::policy::Policy;
use anteroom::room::seed::Seed;
use anteroom::time::Instant;

use super::network::Caller;
use super::printed::Printed;
use super::scenario::Plant;

/// What production draws at random when the storage is made.
const SEED: Seed = Seed::new([7; 32]);

/// An object that may lose its memory at any moment, and what it has stored.
#[derive(Clone, Debug, Hash, PartialEq)]
pub(crate) struct Room {
    memory: Option<Printed<Ledger>>,
    checkpoint: Arc<[u8]>,
    rows: Vec<Arc<[u8]>>,
    /// The batch that is being written.
    pub(crate) pending: Option<Pending>,
}

/// A batch that was decided and is not durable yet.
#[derive(Clone, Debug, Hash, PartialEq)]
pub(crate) struct Pending {
    pub(crate) row: Arc<[u8]>,
    /// The calls that wait for it, and what they will hear.
    pub(crate) answers: Vec<(Caller, Printed<Response>)>,
    pub(crate) counts: Counts,
    /// The limits under which it was decided: sessions, and admissions per minute.
    pub(crate) limits: (u32, u32),
}

/// What the room counts after a batch.
#[derive(Clone, Copy, Debug, Hash, PartialEq)]
pub(crate) struct Counts {
    pub(crate) now: Instant,
    pub(crate) active: u32,
    pub(crate) admitted_last_minute: u32,
}

/// What a batch comes to.
pub(crate) struct Decided {
    pub(crate) row: Option<Arc<[u8]>>,
    pub(crate) responses: Vec<Response>,
    pub(crate) counts: Counts,
}

impl Room {
    /// A room of which only the empty checkpoint is stored.
    pub(crate) fn new(now: Instant) -> Self {
        let ledger = Ledger::new(Incarnation::new(now.as_millis()), SEED, now);
        let checkpoint = journal::encode_book(ledger.book()).unwrap();
        Self {
            memory: Some(Printed::new(ledger)),
            checkpoint: checkpoint.into(),
            rows: Vec::new(),
            pending: None,
        }
    }

    /// Decides a batch. Requests and responses travel as the bytes that production sends.
    pub(crate) fn decide(
        &mut self,
        now: Instant,
        policy: &dyn Fn(Instant) -> Policy,
        requests: &[Request],
        plant: Option<Plant>,
    ) -> Decided {
        let sent: Vec<Request> = requests.iter().map(over_the_wire).collect();
        let ledger = match self.memory.take() {
            Some(ledger) => ledger,
            None => Printed::new(self.load(now, plant)),
        };
        let mut batch = None;
        let policy = policy(ledger.time(now));
        let ledger = ledger.with(|ledger| batch = Some(ledger.batch(now, &policy, &sent)));
        let (batch, book) = (batch.unwrap(), ledger.book());
        let counts = Counts {
            now: book.time,
            active: book.active(),
            admitted_last_minute: book.admitted_last_minute(),
        };
        self.memory = Some(ledger);
        Decided {
            row: batch
                .row
                .map(|row| journal::encode_row(&row).unwrap().into()),
            responses: batch.responses.iter().map(over_the_wire).collect(),
            counts,
        }
    }

    /// The row of a batch has reached the disk.
    pub(crate) fn store(&mut self, row: Arc<[u8]>) {
        self.rows.push(row);
    }

    /// A checkpoint replaces the rows, if there are so many and memory holds what they say.
    pub(crate) fn checkpoint(&mut self, after: usize) {
        if let Some(ledger) = &self.memory
            && self.rows.len() >= after
        {
            self.checkpoint = journal::encode_book(ledger.book()).unwrap().into();
            self.rows.clear();
        }
    }

    /// The object dies. The batch that was being written is lost with it.
    pub(crate) fn crash(&mut self) {
        self.memory = None;
        self.pending = None;
    }

    pub(crate) const fn is_awake(&self) -> bool {
        self.memory.is_some()
    }

    fn load(&self, now: Instant, plant: Option<Plant>) -> Ledger {
        let book = journal::decode_book(&self.checkpoint, SEED).unwrap();
        let book = match plant {
            Some(Plant::ForgetSpent) => without("spent", &book),
            Some(Plant::ForgetEpochs) => without("epochs", &book),
            Some(Plant::ForgetLots) => without("lots", &book),
            _ => book,
        };
        let rows: Vec<Row> = self.rows.iter().map(|row| decoded(row)).collect();
        Ledger::recover(book, rows, now)
    }
}

/// A row as it is read back.
pub(crate) fn decoded(row: &[u8]) -> Row {
    journal::decode_row(row).unwrap()
}

/// A body as the other side reads it.
pub(crate) fn over_the_wire<T: serde::Serialize + serde::de::DeserializeOwned>(body: &T) -> T {
    serde_json::from_str(&serde_json::to_string(body).unwrap()).unwrap()
}

/// The planted bug of a checkpoint that leaves a field out.
fn without(field: &str, book: &Book) -> Book {
    let empty = Ledger::new(book.incarnation, SEED, book.time);
    let empty = serde_json::to_value(empty.book()).unwrap();
    let mut fields = serde_json::to_value(book).unwrap();
    *fields.get_mut(field).unwrap() = empty.get(field).unwrap().clone();
    serde_json::from_value(fields).unwrap()
}
