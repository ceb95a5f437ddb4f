//! Whether an address answers from one place or from several, by the speed of light.
//!
//! An answer that takes `t` milliseconds to come back has been no further away than light in fibre
//! gets in half of that. Draw that disc around each vantage point: if two discs do not meet, no
//! single place can have given both answers, so there are two (the test of iGreedy: Cicalese,
//! Augé, Joumblatt, Friedman, Rossi, "Characterizing IPv4 Anycast Adoption and Deployment", CoNEXT
//! 2015).
//!
//! One vantage point that stands elsewhere than it says, or behind a proxy that answers in the
//! server's stead, contradicts many others. So a contradiction counts only if no single vantage
//! point explains all of them.

use serde::{Deserialize, Serialize};

use super::place::Point;

/// How far light gets in fibre in a millisecond: 299,792.458 km/s over the refractive index 1.52 of
/// iGreedy.
pub const FIBRE_KM_PER_MS: f64 = 299.792_458 / 1.52;

/// So much further apart must two discs be. Places are those of airports and cities, and times are
/// rounded: 3 ms on both sides are 300 km.
pub const SLACK_KM: f64 = 300.0;

/// What one vantage point has measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Measurement {
    /// Where the vantage point stands.
    pub from: Point,
    /// The least of several round-trip times, in milliseconds.
    pub rtt_ms: f64,
}

impl Measurement {
    /// How far away the answer may come from.
    fn reach_km(&self) -> f64 {
        self.rtt_ms.max(0.0) / 2.0 * FIBRE_KM_PER_MS
    }

    /// Whether no single place can have given both answers.
    fn contradicts(&self, other: &Self) -> bool {
        self.from.km_to(&other.from) > self.reach_km() + other.reach_km() + SLACK_KM
    }
}

/// What the measurements say.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", tag = "verdict")]
pub enum Verdict {
    /// Too few measurements to say anything: see [`LEAST_MEASUREMENTS`].
    Unknown,
    /// One place explains all answers, or all but those of one vantage point, whose index in the
    /// measurements is told.
    Unicast {
        /// The vantage point that is contradicted by others.
        disbelieved: Option<usize>,
    },
    /// At least so many places answer.
    Anycast {
        /// Answers that exclude each other, as many as were found.
        places: usize,
    },
}

impl Verdict {
    /// Whether one place answers.
    pub const fn is_unicast(&self) -> bool {
        matches!(self, Self::Unicast { .. })
    }

    /// Whether several do.
    pub const fn is_anycast(&self) -> bool {
        matches!(self, Self::Anycast { .. })
    }
}

/// With fewer vantage points one that errs cannot be told from one that is right.
pub const LEAST_MEASUREMENTS: usize = 4;

/// Judges an address by the measurements of it.
pub fn judge(measurements: &[Measurement]) -> Verdict {
    if measurements.len() < LEAST_MEASUREMENTS {
        return Verdict::Unknown;
    }
    let mut suspects: Option<[Option<usize>; 2]> = None;
    for (second, measurement) in measurements.iter().enumerate() {
        for (first, other) in measurements.iter().take(second).enumerate() {
            if !measurement.contradicts(other) {
                continue;
            }
            // Who takes part in every contradiction so far.
            let found = match suspects {
                None => [Some(first), Some(second)],
                Some(known) => {
                    known.map(|suspect| suspect.filter(|suspect| [first, second].contains(suspect)))
                }
            };
            if found == [None, None] {
                return Verdict::Anycast {
                    places: places(measurements),
                };
            }
            suspects = Some(found);
        }
    }
    let disbelieved = suspects.map(|pair| disbelieved(measurements, pair));
    Verdict::Unicast {
        disbelieved: disbelieved.flatten(),
    }
}

/// Of two who contradict each other alone, the one who claims to be nearer: an answer can come too
/// late by many causes, but not too early.
fn disbelieved(measurements: &[Measurement], pair: [Option<usize>; 2]) -> Option<usize> {
    let rtt = |index: &usize| measurements.get(*index).map_or(f64::MAX, |one| one.rtt_ms);
    let suspects = pair.into_iter().flatten();
    suspects.min_by(|a, b| rtt(a).total_cmp(&rtt(b)))
}

/// How many answers exclude each other, found greedily by growing reach (iGreedy): a lower bound
/// of the number of places.
fn places(measurements: &[Measurement]) -> usize {
    let mut by_reach: Vec<&Measurement> = measurements.iter().collect();
    by_reach.sort_by(|a, b| a.rtt_ms.total_cmp(&b.rtt_ms));
    let mut apart: Vec<&Measurement> = Vec::new();
    for measurement in by_reach {
        if apart.iter().all(|other| other.contradicts(measurement)) {
            apart.push(measurement);
        }
    }
    apart.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const CITIES: [(f64, f64); 8] = [
        (1.35, 103.82),
        (41.88, -87.63),
        (35.69, 139.69),
        (51.51, -0.13),
        (-33.87, 151.21),
        (-23.55, -46.63),
        (50.11, 8.68),
        (19.08, 72.88),
    ];

    fn cities() -> impl Iterator<Item = Point> {
        CITIES.iter().filter_map(|(a, b)| Point::new(*a, *b))
    }

    /// The quickest answer that can come from `to`.
    fn quickest(from: Point, to: Point) -> f64 {
        from.km_to(&to) * 2.0 / FIBRE_KM_PER_MS
    }

    fn measured_from_everywhere(servers: &[Point]) -> Vec<Measurement> {
        let measure = |from: Point| {
            let times = servers.iter().map(|server| quickest(from, *server));
            let rtt_ms = times.fold(f64::MAX, f64::min) + 1.0;
            Measurement { from, rtt_ms }
        };
        cities().map(measure).collect()
    }

    #[test]
    fn two_places_are_told_from_one() {
        let cities: Vec<Point> = cities().collect();
        let one = measured_from_everywhere(&cities[..1]);
        assert_eq!(judge(&one), Verdict::Unicast { disbelieved: None });
        let five = measured_from_everywhere(&cities[..5]);
        assert_eq!(judge(&five), Verdict::Anycast { places: 5 });
    }

    #[test]
    fn one_who_errs_is_not_believed() {
        let singapore = cities().next().unwrap();
        let mut measured = measured_from_everywhere(&[singapore]);
        // Somebody in Frankfurt says that he is at the server's door.
        measured[6].rtt_ms = 0.4;
        let disbelieved = Some(6);
        assert_eq!(judge(&measured), Verdict::Unicast { disbelieved });
        // A second one does, too.
        measured[1].rtt_ms = 0.4;
        assert!(matches!(judge(&measured), Verdict::Anycast { .. }));
    }

    #[test]
    fn a_triangle_of_contradictions_is_nobodys_error() {
        let cities: Vec<Point> = cities().collect();
        let near = |from| Measurement { from, rtt_ms: 1.0 };
        let far = Measurement {
            from: cities[6],
            rtt_ms: 400.0,
        };
        let all = [near(cities[0]), near(cities[1]), near(cities[5]), far];
        assert_eq!(judge(&all), Verdict::Anycast { places: 3 });
        assert_eq!(judge(&all[1..]), Verdict::Unknown);
    }

    proptest! {
        #[test]
        fn one_place_is_never_taken_for_several(
            server in (-90.0..90.0, -180.0..180.0),
            vantage in prop::collection::vec(((-90.0..90.0, -180.0..180.0), 0.0..200.0), 4..40),
            wrong in any::<prop::sample::Index>(),
            claimed in 0.0..400.0,
        ) {
            let point = |(a, b)| Point::new(a, b).unwrap();
            let server = point(server);
            let measure = |(from, late): ((f64, f64), f64)| {
                let from = point(from);
                Measurement { from, rtt_ms: quickest(from, server) + late }
            };
            let mut all: Vec<Measurement> = vantage.into_iter().map(measure).collect();
            prop_assert_eq!(judge(&all), Verdict::Unicast { disbelieved: None });
            // Nor if one of them errs, however much.
            let index = wrong.index(all.len());
            all[index].rtt_ms = claimed;
            let verdict = judge(&all);
            prop_assert!(matches!(verdict, Verdict::Unicast { .. }), "{:?}", verdict);
        }
    }
}
