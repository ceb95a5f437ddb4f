//! A scenario: the room, who comes, how they behave, and the network between. One TOML file.

use anteroom::room::policy::{Policy, RelayPolicy};
use anteroom::site::room::FirstPass;
use anteroom::time::Span;
use serde::Deserialize;

/// A scenario. Shares lie between 0 and 1; times are in seconds unless the name says otherwise.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Scenario {
    /// The headline of the report.
    pub(crate) title: String,
    /// What is simulated, at the most: it ends earlier when everybody has been served.
    pub(crate) minutes: u32,
    /// The same seed gives the same run.
    #[serde(default)]
    pub(crate) seed: u64,
    /// The room decides in batches of so many milliseconds.
    #[serde(default = "Scenario::batch_ms")]
    pub(crate) batch_ms: u32,
    /// Use of the room is measured from here on, while people wait.
    #[serde(default)]
    pub(crate) steady_after_minutes: u32,
    pub(crate) room: Limits,
    pub(crate) arrivals: Vec<Arrivals>,
    #[serde(default)]
    pub(crate) visitors: Visitors,
    #[serde(default)]
    pub(crate) network: Network,
    #[serde(default)]
    pub(crate) outage: Option<Outage>,
}

/// The room's settings.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Limits {
    pub(crate) total_active_users: u32,
    pub(crate) new_users_per_minute: u32,
    #[serde(default = "Limits::session")]
    pub(crate) session_seconds: u32,
    #[serde(default)]
    pub(crate) disable_session_renewal: bool,
    #[serde(default = "Limits::far")]
    pub(crate) poll_far_seconds: u32,
    #[serde(default = "Limits::near")]
    pub(crate) poll_near_seconds: u32,
}

/// One flow of arrivals.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arrivals {
    pub(crate) curve: Curve,
    pub(crate) visitors: u32,
    #[serde(default)]
    pub(crate) start_seconds: u32,
    pub(crate) over_seconds: u32,
    /// Clients that keep no cookies: each request is a stranger's.
    #[serde(default)]
    pub(crate) bots: bool,
}

/// How arrivals spread over their time.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Curve {
    /// Evenly.
    Steady,
    /// Ever more.
    Ramp,
    /// Most of them at once, then ever fewer.
    Flash,
}

/// What visitors do.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Visitors {
    /// How long they use the site: exponentially distributed above the shortest time.
    pub(crate) stay_seconds: f64,
    pub(crate) shortest_stay_seconds: f64,
    /// Of those who are done, so many say so (the site's check-out revokes the pass).
    pub(crate) leave_share: f64,
    /// Never come when called.
    pub(crate) gone_when_called: f64,
    /// Close the tab at a random moment within `patience_seconds` of joining.
    pub(crate) gone_while_waiting: f64,
    pub(crate) patience_seconds: f64,
    /// Come to the door and are not seen again.
    pub(crate) gone_at_door: f64,
    /// Have the page in a hidden tab, which polls once a minute.
    pub(crate) hidden: f64,
}

/// Where they come from.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Network {
    pub(crate) pops: u16,
    /// Isolates of a PoP that have traffic; each refreshes its snapshot once a second.
    pub(crate) isolates_per_pop: u32,
    /// One way from the edge to the room: PoPs are spread evenly between the two.
    pub(crate) nearest_ms: u32,
    pub(crate) farthest_ms: u32,
    /// Of all messages to the room and replies, so many are lost.
    pub(crate) loss: f64,
    /// Whether edges go through relays once the room asks for it.
    pub(crate) relays: bool,
}

/// The PoP with the most visitors is cut off.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Outage {
    pub(crate) start_seconds: u32,
    pub(crate) seconds: u32,
}

impl Scenario {
    const fn batch_ms() -> u32 {
        50
    }

    /// Reads and checks a scenario.
    ///
    /// # Errors
    /// What is wrong with it, in words.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let scenario: Self = toml::from_str(text).map_err(|error| error.to_string())?;
        scenario.check()?;
        Ok(scenario)
    }

    /// Whether its values make sense.
    ///
    /// # Errors
    /// The first fault.
    pub(crate) fn check(&self) -> Result<(), String> {
        let within = |name: &str, value: f64, least: f64, most: f64| {
            if (least..=most).contains(&value) {
                Ok(())
            } else {
                Err(format!(
                    "{name} is {value} and must lie between {least} and {most}"
                ))
            }
        };
        let visitors = &self.visitors;
        for (name, share) in [
            ("visitors.leave_share", visitors.leave_share),
            ("visitors.gone_when_called", visitors.gone_when_called),
            ("visitors.gone_while_waiting", visitors.gone_while_waiting),
            ("visitors.gone_at_door", visitors.gone_at_door),
            ("visitors.hidden", visitors.hidden),
            ("network.loss", self.network.loss),
        ] {
            within(name, share, 0.0, 1.0)?;
        }
        within("minutes", self.minutes.into(), 1.0, 7.0 * 24.0 * 60.0)?;
        within("batch_ms", self.batch_ms.into(), 5.0, 1000.0)?;
        within("network.pops", self.network.pops.into(), 1.0, 10_000.0)?;
        within(
            "room.poll_near_seconds",
            f64::from(self.room.poll_near_seconds),
            1.0,
            f64::from(self.room.poll_far_seconds),
        )?;
        let everybody: u64 = self
            .arrivals
            .iter()
            .map(|flow| u64::from(flow.visitors))
            .sum();
        within("the sum of arrivals", everybody as f64, 1.0, 100e6)?;
        if self.network.farthest_ms < self.network.nearest_ms {
            return Err("network.farthest_ms is less than network.nearest_ms".to_owned());
        }
        Ok(())
    }

    /// Everybody who comes, bots included.
    pub(crate) fn everybody(&self) -> u32 {
        self.arrivals.iter().map(|flow| flow.visitors).sum()
    }

    /// Lets about `visitors` come, each flow in proportion; bots are left as they are.
    pub(crate) fn scale(&mut self, visitors: u32) {
        let flows = self.arrivals.iter_mut().filter(|flow| !flow.bots);
        let mut flows: Vec<&mut Arrivals> = flows.collect();
        let all: u64 = flows.iter().map(|flow| u64::from(flow.visitors)).sum();
        for flow in &mut flows {
            let share = u64::from(flow.visitors) * u64::from(visitors) / all.max(1);
            flow.visitors = u32::try_from(share).unwrap_or(u32::MAX);
        }
    }

    /// What the ledger is told of the room.
    pub(crate) fn policy(&self) -> Policy {
        let secs = |secs: u32| Span::from_secs(secs.into());
        let room = &self.room;
        Policy {
            session: secs(room.session_seconds),
            renewal: !room.disable_session_renewal,
            first_pass: FirstPass::Auto,
            poll_far: secs(room.poll_far_seconds),
            relays: RelayPolicy {
                above: if self.network.relays { 800 } else { u32::MAX },
                shards: 1,
            },
            ..Policy::within(room.total_active_users, room.new_users_per_minute)
        }
    }
}

impl Limits {
    const fn session() -> u32 {
        300
    }
    const fn far() -> u32 {
        20
    }
    const fn near() -> u32 {
        5
    }
}

impl Default for Visitors {
    fn default() -> Self {
        Self {
            stay_seconds: 180.0,
            shortest_stay_seconds: 20.0,
            leave_share: 0.0,
            gone_when_called: 0.05,
            gone_while_waiting: 0.1,
            patience_seconds: 1800.0,
            gone_at_door: 0.01,
            hidden: 0.05,
        }
    }
}

impl Default for Network {
    fn default() -> Self {
        Self {
            pops: 10,
            isolates_per_pop: 8,
            nearest_ms: 5,
            farthest_ms: 150,
            loss: 0.0005,
            relays: true,
        }
    }
}
