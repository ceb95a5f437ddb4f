//! Why an origin's answers come by the tier that they come by, in plain words.

use serde::Serialize;

use super::choice::{self, Because, Choice};
use super::evidence::Evidence;
use super::fleet::{Fleet, Upper};
use crate::atlas::anycast::Verdict;
use crate::atlas::cloud::Region;
use crate::atlas::knowledge::Knowledge;
use crate::atlas::origin_name::OriginName;
use crate::atlas::region_places::Place;
use crate::site::cached_host::CachedHost;
use crate::site::tier::Transport;

/// A tier that is so much further from an origin than another one could be is worth a word, in
/// kilometres: 10 ms there and back.
const WORTH_A_WORD_KM: f64 = 1_000.0;

/// All of it. Every text is a sentence.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub struct Explanation {
    /// The origin.
    pub origin: String,
    /// Whether it is in one place.
    pub verdict: String,
    /// What is known, the weightiest first.
    pub evidence: Vec<String>,
    /// What is chosen for each host that has the origin.
    pub choices: Vec<Chosen>,
    /// What could be better.
    pub advice: Vec<String>,
}

/// The choice for a host.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub struct Chosen {
    /// The host.
    pub host: String,
    /// The name of the tier that is asked; none if there is none, or each key has its own.
    pub primary: Option<String>,
    /// The name of the one that is asked if that fails.
    pub fallback: Option<String>,
    /// In a sentence.
    pub text: String,
}

/// Explains an origin.
pub fn explain<'a>(
    origin: &OriginName,
    hosts: impl Iterator<Item = &'a CachedHost>,
    fleet: &Fleet,
    knowledge: &Knowledge,
) -> Explanation {
    let known = Evidence::of(origin, knowledge);
    let hosts: Vec<&CachedHost> = hosts.filter(|host| host.origins.contains(origin)).collect();
    let mut choices: Vec<Chosen> = Vec::new();
    for host in &hosts {
        choices.push(chosen(host, fleet, knowledge));
    }
    Explanation {
        origin: origin.to_string(),
        verdict: verdict(origin, knowledge),
        evidence: evidence(&known, knowledge),
        advice: advice(&known, &hosts, fleet, knowledge),
        choices,
    }
}

impl Explanation {
    /// The whole as text, a sentence on each line.
    pub fn text(&self) -> String {
        let mut text = format!("{}\n", self.verdict);
        let choices = self.choices.iter().map(|choice| &choice.text);
        for line in self.evidence.iter().chain(choices).chain(&self.advice) {
            text += &format!("{line}\n");
        }
        text
    }
}

fn verdict(origin: &OriginName, knowledge: &Knowledge) -> String {
    let finding = knowledge.finding(origin);
    let from = finding.map_or(0, |finding| finding.times.len());
    match finding.map(|finding| finding.verdict) {
        Some(Verdict::Anycast { places }) => format!(
            "{origin} answers from at least {places} places (anycast): light is too slow for one place \
             to have given all answers that {from} checkpoints got."
        ),
        Some(Verdict::Unicast { .. }) => format!(
            "{origin} answers from one place (unicast): one place explains the answers that {from} \
             checkpoints got."
        ),
        Some(Verdict::Unknown) | None => format!(
            "Whether {origin} answers from one place is not known: {from} checkpoints have measured it."
        ),
    }
}

fn evidence(known: &Evidence, knowledge: &Knowledge) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(hint) = &known.hint {
        lines.push(format!(
            "A hint says that it is in {}.",
            region(&hint.region, knowledge)
        ));
    }
    if let Some(finding) = knowledge.finding(&known.origin)
        && !finding.times.is_empty()
    {
        let mut times: Vec<(&String, &f64)> = finding.times.iter().collect();
        times.sort_by(|a, b| a.1.total_cmp(b.1));
        let nearest = times.iter().take(3).map(|(code, time)| {
            let city = knowledge
                .places
                .place(code)
                .map_or(code.as_str(), |place| &place.city);
            format!("{city} {time:.1} ms")
        });
        let nearest = nearest.collect::<Vec<_>>().join(", ");
        lines.push(format!("The shortest ways there and back: {nearest}."));
    }
    if let Some(prefix) = &known.prefix {
        let region = region(&prefix.region, knowledge);
        lines.push(format!("By its address or name it is in {region}."));
    }
    let located = known.hint.as_ref().or(known.prefix.as_ref());
    if let Some(located) = located
        && let Some(voted) = &located.voted
    {
        let city = |code: &str| {
            let place = knowledge.places.place(code);
            place.map_or_else(|| code.to_owned(), |place| place.city.clone())
        };
        let source = if voted.measured {
            "by measurement"
        } else {
            "on the map"
        };
        let fallback = voted
            .fallback
            .as_deref()
            .map_or_else(String::new, |code| format!(", and then {}", city(code)));
        let primary = city(&voted.primary);
        let region = &located.region;
        lines.push(format!(
            "The place nearest to {region} is {primary}{fallback}, {source}."
        ));
    }
    if lines.is_empty() {
        lines.push("Nothing is known of where it is.".to_owned());
    }
    lines
}

fn region(region: &Region, knowledge: &Knowledge) -> String {
    match knowledge.places.place_of(region) {
        Some(place) => format!("{region} ({})", place.city),
        None => format!("{region}, of which nobody knows where it is"),
    }
}

fn chosen(host: &CachedHost, fleet: &Fleet, knowledge: &Knowledge) -> Chosen {
    let choice = choice::with_wanted(host, fleet, knowledge, (None, 0), |wanted| {
        choice::choose(fleet, &knowledge.places, wanted)
    });
    let name = &host.host;
    let (primary, fallback, text) = match choice {
        None => (
            None,
            None,
            format!("{name} asks the origin directly: there are no upper tiers."),
        ),
        Some(Choice {
            because: Because::Several { .. },
            ..
        }) => {
            let all: Vec<&str> = fleet.all().map(Upper::name).collect();
            let text = format!(
                "{name} asks several upper tiers, each for its share of the answers: those on the \
                 continent of who asks, of {}.",
                all.join(", ")
            );
            (None, None, text)
        }
        Some(choice) => {
            let then = choice.fallback.map_or_else(
                || "the origin itself".to_owned(),
                |upper| {
                    format!(
                        "{} ({}) and then the origin",
                        upper.name(),
                        upper.place.city
                    )
                },
            );
            let text = format!(
                "{name} asks the upper tier {} ({}), and if that fails {then}; why: {}.",
                choice.primary.name(),
                choice.primary.place.city,
                choice.because
            );
            let fallback = choice.fallback.map(|upper| upper.name().to_owned());
            (Some(choice.primary.name().to_owned()), fallback, text)
        }
    };
    Chosen {
        host: name.clone(),
        primary,
        fallback,
        text,
    }
}

fn advice(
    known: &Evidence,
    hosts: &[&CachedHost],
    fleet: &Fleet,
    knowledge: &Knowledge,
) -> Vec<String> {
    let origin = &known.origin;
    let mut lines = Vec::new();
    if hosts.is_empty() {
        lines.push(format!(
            "No cached host declares {origin} among its origins."
        ));
    }
    if fleet.is_empty() {
        lines.push("Declare [[tiers]] in rooms.toml for upper tiers.".to_owned());
        return lines;
    }
    let Some(target) = choice::locate(known, &knowledge.places) else {
        lines.push(format!(
            "Set a region hint for {origin}: then one tier near the region is asked for all answers."
        ));
        return lines;
    };
    if known.anycast == Some(false)
        && known.hint.is_some()
        && let Some(measured) = &known.measured
        && let Some(place) = knowledge.places.place(&measured.place)
        && place.point.km_to(&target.place.point) > WORTH_A_WORD_KM
    {
        let there = &place.city;
        lines.push(format!(
            "The hint sends requests far from {there}, where {origin} is nearest: is it right?"
        ));
    }
    if let Some(nearest) = fleet.best(None, |upper| upper.km_to(&target.place.point)) {
        lines.extend(nearer(nearest, target.place, knowledge));
    }
    lines
}

/// A word on a tier that could be nearer.
fn nearer(nearest: &Upper, to: &Place, knowledge: &Knowledge) -> Option<String> {
    let km = nearest.km_to(&to.point);
    if km < WORTH_A_WORD_KM {
        return None;
    }
    let what = match nearest.tier.transport {
        Transport::Placed { .. } => "a placed Worker",
        Transport::Object { .. } => "Durable Objects, which Cloudflare runs in few places",
    };
    let regions = knowledge
        .places
        .regions()
        .filter_map(|region| knowledge.places.placement(region));
    let region = regions.min_by(|a, b| {
        let km =
            |one: &crate::atlas::region_places::Placement<'_>| one.place.point.km_to(&to.point);
        km(a).total_cmp(&km(b))
    })?;
    let rest = region.place.point.km_to(&to.point);
    Some(format!(
        "The nearest upper tier, {} ({what}), is {km:.0} km from {}. A placed Worker with region = \"{}\" \
         would be {rest:.0} km from it.",
        nearest.name(),
        to.city,
        region.region
    ))
}

#[cfg(test)]
mod tests;
