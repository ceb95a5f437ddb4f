//! A room's bypass rules, asked of the runtime's request.

use std::borrow::Cow;
use std::cell::OnceCell;

use js_sys::Array;
use wasm_bindgen::JsValue;
use web_sys::Request;

use super::headers::{FIRST, Fields, names};
use super::url::{authority, host_of};
use super::{binding, clock, log};
use crate::gate::route::Match;
use crate::log::{Entry, clean};
use crate::rules::{Facts, Need, Ruleset, Target, Verdict};
use crate::site::room::Site;

/// The rules of one room, ready for use.
pub(super) struct Rules {
    set: Ruleset,
    /// What each request is asked for in one crossing: [`FIRST`], then what the rules need. Reading what the
    /// platform says is dear, so it is among that only if every request is asked it anyway.
    first: Array,
    /// What the platform is asked for else, once a rule comes so far; none if it is in `first`.
    platform: Option<Array>,
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
                (!set.is_empty()).then(|| Self::new(set))
            })
            .collect()
    }

    fn new(set: Ruleset) -> Self {
        let first = names(&FIRST);
        set.needs().iter().filter_map(of_request).for_each(|name| {
            first.push(&name);
        });
        let platform: Array = set.needs().iter().filter_map(of_platform).collect();
        let platform = if set.begins_with_platform() {
            platform.iter().for_each(|way| {
                first.push(&way);
            });
            None
        } else {
            Some(platform)
        };
        Self {
            set,
            first,
            platform,
        }
    }

    /// The first look at a request.
    pub(super) fn look(&self, request: Request) -> Fields {
        let lines = binding::read_facts(&request, &self.first).unwrap_or_default();
        Fields::with(request, lines)
    }

    /// Whether a request passes by the room, of which [`Self::look`] has told `fields`. One whose path leads
    /// elsewhere for other readers never does: it might pass by with one path and reach another.
    pub(super) fn bypass(&self, fields: &Fields, url: &str, matched: &Match<'_>) -> bool {
        if matched.is_ambiguous() || matched.leave {
            return false;
        }
        let asked = Asked {
            rules: self,
            fields,
            url,
            matched,
            path: matched.spelled_path(),
            platform: OnceCell::new(),
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

/// A header field's name, or the way to a property of the request; none for what the platform says, and for
/// the cookies, which every first look has.
fn of_request(need: &Need) -> Option<JsValue> {
    match need {
        Need::Header(_) if need.is_cookie() => None,
        Need::Header(name) => Some(JsValue::from_str(name)),
        Need::Method => Some(way(["method"])),
        Need::Platform(_) => None,
    }
}

/// The way to what the platform says.
fn of_platform(need: &Need) -> Option<JsValue> {
    match need {
        Need::Platform(path) => Some(way(std::iter::once("cf").chain(path.split('.')))),
        Need::Header(_) | Need::Method => None,
    }
}

fn way<'a>(steps: impl IntoIterator<Item = &'a str>) -> JsValue {
    let steps = steps.into_iter().map(JsValue::from_str);
    steps.collect::<Array>().into()
}

/// The runtime's request, as rules see it.
struct Asked<'a> {
    rules: &'a Rules,
    fields: &'a Fields,
    url: &'a str,
    matched: &'a Match<'a>,
    path: Cow<'a, str>,
    /// What the platform has said, if it was asked apart.
    platform: OnceCell<String>,
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

    fn fields(&self, needs: &[Need]) -> Vec<Option<&str>> {
        let mut lines = self.fields.more();
        let needs = needs.iter().map(|need| match need {
            Need::Platform(_) => None,
            _ if need.is_cookie() => self.fields.cookie(),
            _ => lines.next().flatten(),
        });
        needs.collect()
    }

    fn platform(&self, needs: &[Need]) -> Vec<Option<&str>> {
        let of_platform = |need: &&Need| matches!(need, Need::Platform(_));
        let Some(names) = &self.rules.platform else {
            // Behind the others.
            let others = needs.iter().filter(|need| !of_platform(need));
            let others = others.filter(|need| !need.is_cookie()).count();
            return spread(needs, self.fields.more().skip(others));
        };
        let read = || binding::read_facts(self.fields.request(), names).unwrap_or_default();
        let lines = self.platform.get_or_init(read).split('\n');
        spread(needs, lines.map(|line| line.strip_prefix('=')))
    }

    fn headers(&self) -> Vec<(String, String)> {
        let lines = binding::all_fields(self.fields.request()).unwrap_or_default();
        let pairs = lines.lines().filter_map(|line| line.split_once(':'));
        pairs
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect()
    }

    fn now(&self) -> u64 {
        clock::now().as_millis()
    }
}

/// What the platform has said, each in the place of its need.
fn spread<'a>(
    needs: &[Need],
    mut said: impl Iterator<Item = Option<&'a str>>,
) -> Vec<Option<&'a str>> {
    let needs = needs.iter().map(|need| match need {
        Need::Platform(_) => said.next().flatten(),
        Need::Header(_) | Need::Method => None,
    });
    needs.collect()
}
