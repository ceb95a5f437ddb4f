//! What a room tells of itself: where a number stands, and the figures of each minute.

use super::Ledger;
use super::book::Standing;
use super::journal::Row;
use crate::room::figures::recorder::Recorder;
use crate::room::forecast::reaches;
use crate::room::number::TicketNumber;
use crate::room::policy::{Admits, Policy};
use crate::room::position::Position;

impl Ledger {
    /// The recorder of the room's figures.
    pub const fn recorder(&mut self) -> &mut Recorder {
        &mut self.recorder
    }

    /// A row that notes the time alone, to be stored with the figures of a minute whose batch has
    /// none: sessions that have run out since the last row and are counted in those figures would
    /// be counted again after a restart.
    pub fn mark(&mut self) -> Row {
        self.next_row()
    }

    /// Where `number` stands.
    pub(super) fn position(&self, number: TicketNumber) -> Position {
        match self.book.standing(number) {
            Standing::Unknown => Position::NeverGiven,
            Standing::Waiting => Position::Waiting {
                ahead: self.ahead_of(number),
            },
            Standing::Called => Position::Called {
                at_door: self.book.door.contains(self.book.place_of(number)),
            },
            Standing::Active(slot) => Position::Active {
                admitted: slot.admitted,
                expires: slot.expires,
            },
            Standing::Spent => match self.book.slots().get(number) {
                Some(slot) => Position::Ending {
                    expires: slot.expires,
                },
                None => Position::Over,
            },
        }
    }

    /// Counts a session or a place that ends before its time.
    pub(super) fn count_end(&mut self, standing: Standing, revoked: bool) {
        let tally = self.recorder.current();
        let count = match standing {
            Standing::Active(_) if revoked => &mut tally.revoked,
            Standing::Active(_) => &mut tally.left,
            _ => &mut tally.gave_up,
        };
        *count = count.saturating_add(1);
    }

    /// Notes the wait that a visitor with `ahead` others before them is told with the number.
    pub(super) fn foretell(&mut self, policy: &Policy, ahead: u32) {
        let told = self.outlook.told();
        let told = told.filter(|(pace, _)| pace.is_trusted() && policy.admits == Admits::InOrder);
        let wait = told.and_then(|(_, forecast)| reaches(forecast, u64::from(ahead) + 1));
        if let Some(wait) = wait {
            self.recorder.current().foretold.record(wait);
        }
    }

    /// Notes how many there are after a batch, and which sessions have ended in it.
    pub(super) fn note_levels(&mut self, policy: &Policy) {
        self.recorder.level(self.book.active(), self.in_line());
        let tally = self.recorder.current();
        tally.total_active_users = policy.total_active_users;
        tally.new_users_per_minute = policy.new_users_per_minute;
        tally.stayed.merge(&std::mem::take(&mut self.book.stayed));
    }
}
