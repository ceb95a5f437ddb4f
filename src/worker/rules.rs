//! A room's bypass rules, asked of the runtime's request.

use std::borrow::Cow;

use js_sys::Array;
use wasm_bindgen::JsValue;
use web_sys::Request;

use super::url::{authority, host_of};
use super::{binding, clock, log};
use crate::gate::route::Match;
use crate::log::{Entry, clean};
use crate::rules::{Facts, Need, Ruleset, Target, Verdict};
use crate::site::room::Site;

/// The rules of one room, ready for use.
pub(super) struct Rules {
    set: Ruleset,
    /// What they need, as the runtime is asked for it.
    names: Array,
}

impl Rules {
    /// The rules of each room of a site, in its order; none for a room that has none, so that it does
    /// not pay for them.
    pub(super) fn of(site: &Site) -> Vec<Option<Self>> {
        let lists = site.lists();
        let rooms = site.rooms.iter();
        rooms
            .map(|room| {
                let (set, faults) = site.ruleset(room, &lists);
                for fault in faults {
                    let (room, reason) = (room.name.as_str(), clean(&fault.to_string()));
                    log::write(&Entry::RuleLeftOut { room, reason });
                }
                let names = set.needs().iter().map(name).collect();
                (!set.is_empty()).then_some(Self { set, names })
            })
            .collect()
    }

    /// Whether a request passes by the room. One whose path leads elsewhere for other readers never
    /// does: it might pass by with one path and reach another.
    pub(super) fn bypass(&self, request: &Request, url: &str, matched: &Match<'_>) -> bool {
        if matched.is_ambiguous() || matched.leave {
            return false;
        }
        let asked = Asked {
            request,
            url,
            matched,
            path: matched.spelled_path(),
            names: &self.names,
        };
        match self.set.ask(&asked) {
            Verdict::Bypass => true,
            Verdict::Room => false,
            Verdict::Exhausted => {
                log::write(&Entry::RulesTooCostly);
                false
            }
        }
    }
}

/// A header field's name, or the way to a property of the request.
fn name(need: &Need) -> JsValue {
    let way = |steps: &mut dyn Iterator<Item = &str>| -> JsValue {
        steps.map(JsValue::from_str).collect::<Array>().into()
    };
    match need {
        Need::Header(name) => JsValue::from_str(name),
        Need::Platform(path) => way(&mut std::iter::once("cf").chain(path.split('.'))),
        Need::Method => way(&mut std::iter::once("method")),
    }
}

/// The runtime's request, as rules see it.
struct Asked<'a> {
    request: &'a Request,
    url: &'a str,
    matched: &'a Match<'a>,
    path: Cow<'a, str>,
    names: &'a Array,
}

impl Facts for Asked<'_> {
    fn target(&self) -> Target<'_> {
        Target {
            https: self.matched.https,
            host: host_of(self.url),
            authority: authority(self.url),
            path: &self.path,
            raw_path: self.matched.raw_path(),
            query: self.matched.query(),
        }
    }

    fn read(&self, _needs: &[Need]) -> Vec<Option<String>> {
        let lines = binding::read_facts(self.request, self.names).unwrap_or_default();
        let values = lines.split('\n');
        values
            .map(|line| line.strip_prefix('=').map(str::to_owned))
            .collect()
    }

    fn headers(&self) -> Vec<(String, String)> {
        let lines = binding::all_fields(self.request).unwrap_or_default();
        let pairs = lines.lines().filter_map(|line| line.split_once(':'));
        pairs
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect()
    }

    fn now(&self) -> u64 {
        clock::now().as_millis()
    }
}
