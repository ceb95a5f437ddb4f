//! Line plots and clouds of points as SVG, nothing else needed to look at them.

use std::fmt::Write;

const WIDTH: f64 = 860.0;
const HEIGHT: f64 = 240.0;
const LEFT: f64 = 70.0;
const RIGHT: f64 = 12.0;
const TOP: f64 = 12.0;
const BOTTOM: f64 = 34.0;

/// A line keeps so many points: more could not be told apart.
const POINTS: usize = 400;

/// What is drawn of one quantity.
#[derive(Debug)]
pub(crate) struct Series {
    pub(crate) name: &'static str,
    pub(crate) color: &'static str,
    pub(crate) form: Form,
    pub(crate) points: Vec<(f64, f64)>,
}

/// How it is drawn.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Form {
    Line,
    Dashed,
    Dots,
}

/// A figure with a caption, a legend, axes and the series.
pub(crate) fn figure(caption: &str, x_name: &str, series: &[Series]) -> String {
    let all = || series.iter().flat_map(|series| &series.points);
    let x_end = all().map(|point| point.0).fold(0.0, f64::max).max(1.0);
    let y_end = round_up(all().map(|point| point.1).fold(0.0, f64::max));
    let x = |value: f64| LEFT + value / x_end * (WIDTH - LEFT - RIGHT);
    let y = |value: f64| HEIGHT - BOTTOM - value / y_end * (HEIGHT - TOP - BOTTOM);
    let mut svg = String::new();
    for quarter in 0..=4 {
        let (value, along) = (
            y_end * f64::from(quarter) / 4.0,
            x_end * f64::from(quarter) / 4.0,
        );
        let _ = write!(
            svg,
            "<line class=\"grid\" x1=\"{LEFT}\" x2=\"{:.0}\" y1=\"{1:.1}\" y2=\"{1:.1}\"/>\
             <text class=\"tick\" x=\"{2:.0}\" y=\"{3:.1}\" text-anchor=\"end\">{4}</text>\
             <text class=\"tick\" x=\"{5:.1}\" y=\"{6:.0}\" text-anchor=\"middle\">{7}</text>",
            WIDTH - RIGHT,
            y(value),
            LEFT - 6.0,
            y(value) + 4.0,
            number(value),
            x(along),
            HEIGHT - BOTTOM + 16.0,
            number(along),
        );
    }
    let mut legend = String::new();
    for series in series {
        let points = thinned(&series.points);
        if series.form == Form::Dots {
            for (a, b) in points {
                let _ = write!(
                    svg,
                    "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"1.6\" fill=\"{}\" fill-opacity=\".5\"/>",
                    x(a),
                    y(b),
                    series.color
                );
            }
        } else {
            let path: String = points.iter().fold(String::new(), |mut path, (a, b)| {
                let command = if path.is_empty() { 'M' } else { 'L' };
                let _ = write!(path, "{command}{:.1} {:.1}", x(*a), y(*b));
                path
            });
            let dash = if series.form == Form::Dashed {
                " stroke-dasharray=\"6 4\""
            } else {
                ""
            };
            let _ = write!(
                svg,
                "<path d=\"{path}\" fill=\"none\" stroke=\"{}\" stroke-width=\"1.5\"{dash}/>",
                series.color
            );
        }
        let _ = write!(
            legend,
            " <span style=\"color:{}\">\u{25a0}</span> {}",
            series.color, series.name
        );
    }
    format!(
        "<figure><figcaption><b>{caption}</b>{legend}</figcaption>\
         <svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"{caption}\">{svg}\
         <text class=\"tick\" x=\"{:.0}\" y=\"{:.0}\" text-anchor=\"end\">{x_name}</text></svg></figure>\n",
        WIDTH - RIGHT,
        HEIGHT - 4.0,
    )
}

/// The largest value of each part, so that no peak is lost.
fn thinned(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let part = points.len().div_ceil(POINTS).max(1);
    points
        .chunks(part)
        .filter_map(|part| part.iter().copied().max_by(|a, b| a.1.total_cmp(&b.1)))
        .collect()
}

/// The next of 1, 2, 4, 10 times a power of ten.
fn round_up(value: f64) -> f64 {
    let power = 10_f64.powf(value.max(1.0).log10().floor());
    let steps = [1.0, 2.0, 4.0, 10.0];
    let step = steps.iter().find(|step| **step * power >= value);
    step.unwrap_or(&10.0) * power
}

fn number(value: f64) -> String {
    match value {
        value if value >= 1e6 => format!("{:.1}M", value / 1e6),
        value if value >= 1e4 => format!("{:.0}k", value / 1e3),
        value if value >= 10.0 || value.fract() == 0.0 => format!("{value:.0}"),
        value => format!("{value:.1}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_end_above_the_largest_value_and_peaks_survive() {
        for (value, end) in [
            (0.0, 1.0),
            (1.0, 1.0),
            (3.0, 4.0),
            (41.0, 100.0),
            (199.0, 200.0),
        ] {
            assert_eq!(round_up(value), end);
        }
        let mut points: Vec<_> = (0..10_000).map(|x| (f64::from(x), 1.0)).collect();
        points[5_001].1 = 9.0;
        let thinned = thinned(&points);
        assert!(thinned.len() <= POINTS && thinned.iter().any(|point| point.1 == 9.0));
    }
}
