//! How busy the room is, and so whether edges shall come through relays.
//!
//! One object hears about a thousand requests a second. Once edges send so many that it could become
//! too much, snapshots tell them to go through relays, which gather what arrives within a window
//! into one request. How many relays there are the room cannot know, but it hears how often they
//! come, and chooses the window by that. Not stored: after a restart it is measured anew.

use crate::room::policy::RelayPolicy;
use crate::room::snapshot::Relays;
use crate::time::{Instant, Span};

/// Relays are given up when edges have sent so little for so long: three eighths of what has called
/// for them.
const QUIET_EIGHTHS: u32 = 3;
const QUIET_FOR: Span = Span::from_secs(60);

/// The window that relays begin with, and its bounds.
const FIRST_WINDOW: Span = Span::from_millis(200);
const SHORTEST_WINDOW: Span = Span::from_millis(20);
const LONGEST_WINDOW: Span = Span::from_millis(1_000);

/// The room wants to hear relays no more and no less often than this, per second. 300 data centres
/// then come about twice a second each.
const MOST_HEARD: u32 = 700;
const WANTED_HEARD: u32 = 500;
const LEAST_HEARD: u32 = 250;

/// The requests of one second.
#[derive(Clone, Copy, Debug, Default)]
struct Second {
    number: u64,
    /// Requests that have arrived here.
    heard: u32,
    /// Those of edges that they stand for.
    sent: u32,
}

/// The load of a room.
#[derive(Clone, Debug, Default)]
pub(super) struct Load {
    present: Second,
    window: Option<Span>,
    last_busy: Instant,
}

impl Load {
    /// Counts a request that stands for `gathered` ones of edges; for itself if that is 0.
    pub(super) fn hear(&mut self, gathered: u32) {
        self.present.heard = self.present.heard.saturating_add(1);
        self.present.sent = self.present.sent.saturating_add(gathered.max(1));
    }

    /// Judges the second that has ended, if one has.
    pub(super) fn advance(&mut self, now: Instant, policy: RelayPolicy) {
        if now.as_secs() == self.present.number {
            return;
        }
        let Second { heard, sent, .. } = std::mem::take(&mut self.present);
        self.present.number = now.as_secs();
        let quiet = u64::from(policy.above) * u64::from(QUIET_EIGHTHS) / 8;
        if u64::from(sent) >= quiet {
            self.last_busy = now;
        }
        self.window = match self.window {
            None if sent >= policy.above => Some(FIRST_WINDOW),
            Some(_) if now.since(self.last_busy) >= QUIET_FOR => None,
            Some(window) => Some(adjusted(window, heard)),
            None => None,
        };
    }

    /// What snapshots tell.
    pub(super) fn relays(&self, policy: RelayPolicy) -> Option<Relays> {
        let shards = policy.shards;
        self.window.map(|window| Relays { shards, window })
    }
}

/// The window for the next second, when relays with this one have come `heard` times in the last.
fn adjusted(window: Span, heard: u32) -> Span {
    let millis = window.as_millis();
    let next = if heard > MOST_HEARD {
        millis * u64::from(heard) / u64::from(WANTED_HEARD)
    } else if heard < LEAST_HEARD {
        millis * 3 / 4
    } else {
        millis
    };
    Span::from_millis(next).clamp(SHORTEST_WINDOW, LONGEST_WINDOW)
}

#[cfg(test)]
mod tests {
    use super::*;

    const POLICY: RelayPolicy = RelayPolicy {
        above: 800,
        shards: 2,
    };

    /// Lets `seconds` pass, in each of which `requests` arrive that stand for `gathered` each.
    fn run(load: &mut Load, from: u64, seconds: u64, requests: u32, gathered: u32) -> u64 {
        for second in from..from + seconds {
            load.advance(Instant::from_secs(second), POLICY);
            for _ in 0..requests {
                load.hear(gathered);
            }
        }
        from + seconds
    }

    #[test]
    fn relays_come_with_load_and_go_after_a_quiet_minute() {
        let mut load = Load::default();
        let now = run(&mut load, 1_000, 10, 799, 0);
        assert_eq!(load.relays(POLICY), None);
        let now = run(&mut load, now, 2, 800, 0);
        let relays = load.relays(POLICY).unwrap();
        assert_eq!((relays.shards, relays.window), (2, FIRST_WINDOW));
        // Few requests, but for many of edges.
        let now = run(&mut load, now, 600, 5, 60);
        assert!(load.relays(POLICY).is_some());
        let now = run(&mut load, now, 60, 5, 59);
        assert!(load.relays(POLICY).is_some());
        run(&mut load, now, 2, 5, 59);
        assert_eq!(load.relays(POLICY), None);
    }

    #[test]
    fn the_window_follows_the_number_of_relays() {
        for relays in [1, 10, 300, 700] {
            let mut load = Load::default();
            let mut now = run(&mut load, 1_000, 2, 5_000, 0);
            for _ in 0..30 {
                let window = load.relays(POLICY).unwrap().window;
                let heard = relays * 1_000 / window.as_millis();
                now = run(&mut load, now, 1, heard as u32, 100);
            }
            let window = load.relays(POLICY).unwrap().window;
            let heard = relays * 1_000 / window.as_millis();
            assert!(heard < 1_000, "{relays} relays come {heard} times a second");
            assert!(window == SHORTEST_WINDOW || heard > 150, "{window:?}");
        }
    }
}
