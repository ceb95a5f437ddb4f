//! Points on the earth and the distance between them.

use serde::{Deserialize, Serialize};

/// The mean radius of the earth in kilometres (IUGG, R1).
const EARTH_RADIUS_KM: f64 = 6_371.008_8;

/// A point on the earth, in degrees.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
pub struct Point {
    latitude: f64,
    longitude: f64,
}

impl Point {
    /// Latitude from -90 (south) to 90, longitude from -180 (west) to 180. None for what is no such
    /// pair.
    pub fn new(latitude: f64, longitude: f64) -> Option<Self> {
        let is_there = latitude.abs() <= 90.0 && longitude.abs() <= 180.0;
        is_there.then_some(Self {
            latitude,
            longitude,
        })
    }

    /// The latitude.
    pub const fn latitude(&self) -> f64 {
        self.latitude
    }

    /// The longitude.
    pub const fn longitude(&self) -> f64 {
        self.longitude
    }

    /// The great-circle distance in kilometres, by the haversine formula. The earth is flatter than
    /// a sphere, so it is off by 0.5 % at most.
    pub fn km_to(&self, other: &Self) -> f64 {
        let half = |from: f64, to: f64| ((to - from).to_radians() / 2.0).sin().powi(2);
        let across = half(self.longitude, other.longitude)
            * self.latitude.to_radians().cos()
            * other.latitude.to_radians().cos();
        let chord = half(self.latitude, other.latitude) + across;
        2.0 * EARTH_RADIUS_KM * chord.clamp(0.0, 1.0).sqrt().asin()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn point(latitude: f64, longitude: f64) -> Point {
        Point::new(latitude, longitude).unwrap()
    }

    #[test]
    fn known_distances() {
        let singapore = point(1.3521, 103.8198);
        let chicago = point(41.8781, -87.6298);
        let tokyo = point(35.6895, 139.6917);
        for (a, b, km) in [
            (singapore, chicago, 15_060.0),
            (singapore, tokyo, 5_310.0),
            (tokyo, chicago, 10_140.0),
            (point(90.0, 0.0), point(-90.0, 0.0), 20_015.0),
            (point(0.0, 179.9), point(0.0, -179.9), 22.2),
        ] {
            let found = a.km_to(&b);
            assert!(
                (found - km).abs() < km * 0.005 + 0.1,
                "{found} km, not {km}"
            );
        }
    }

    #[test]
    fn what_is_no_point_is_refused() {
        for (latitude, longitude) in [(90.1, 0.0), (0.0, -180.1), (f64::NAN, 0.0), (0.0, f64::NAN)]
        {
            assert_eq!(Point::new(latitude, longitude), None);
        }
    }

    proptest! {
        #[test]
        fn a_distance_is_a_metric(points in prop::collection::vec((-90.0..90.0, -180.0..180.0), 3)) {
            let points: Vec<Point> = points.into_iter().map(|(a, b)| point(a, b)).collect();
            let [a, b, c] = points[..] else { unreachable!() };
            prop_assert!(a.km_to(&a) < 1e-6);
            prop_assert!((a.km_to(&b) - b.km_to(&a)).abs() < 1e-6);
            prop_assert!(a.km_to(&b) <= 20_016.0);
            prop_assert!(a.km_to(&c) <= a.km_to(&b) + b.km_to(&c) + 1e-6);
        }
    }
}
