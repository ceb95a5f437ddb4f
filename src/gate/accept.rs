//! Content negotiation between the waiting page and its JSON (RFC 9110 section 12.5.1).

use mediatype::{MediaType, MediaTypeList, Name, ReadParams, names};

/// How many media ranges are read.
const MOST_RANGES: usize = 64;

/// What a header says about one representation.
#[derive(Clone, Copy, Default)]
struct Weight {
    /// How exactly the range that counts names the type: 0 for `*/*`, 1 for `type/*`, 2 for the
    /// type itself.
    precision: u8,
    /// The range's q-value in thousandths; 0 when the type is not wanted or not mentioned.
    quality: u16,
    /// Where the range stands.
    place: usize,
}

/// Whether a client that sends this `Accept` header would rather have JSON than HTML: when it gives
/// JSON the higher quality or, quality being equal, names it more exactly or earlier. A client that
/// does not mind gets HTML.
///
/// A type with the suffix `+json` (RFC 6839), such as `application/problem+json`, counts as JSON:
/// its client reads JSON and has no use for a page. What cannot be read of the header is passed
/// over.
pub fn prefers_json(accept: Option<&str>) -> bool {
    let accept = accept.unwrap_or_default();
    let json = weight(
        accept,
        |range| {
            let plain = range.subty == names::JSON && range.suffix.is_none();
            range.ty == names::APPLICATION && (plain || range.suffix == Some(names::JSON))
        },
        names::APPLICATION,
    );
    let html = weight(accept, is_html, names::TEXT);
    if json.quality != html.quality {
        return json.quality > html.quality;
    }
    json.quality > 0
        && (json.precision > html.precision
            || json.precision == html.precision && json.place < html.place)
}

/// Whether the `Accept` header mentions HTML by its name, as browsers' navigations do.
pub fn names_html(accept: Option<&str>) -> bool {
    let html = weight(accept.unwrap_or_default(), is_html, names::TEXT);
    html.precision == 2 && html.quality > 0
}

fn is_html(range: &MediaType<'_>) -> bool {
    range.ty == names::TEXT && range.subty == names::HTML && range.suffix.is_none()
}

/// What `accept` says about the type that `exactly` recognises and whose top level is `top`.
fn weight(accept: &str, exactly: impl Fn(&MediaType<'_>) -> bool, top: Name<'_>) -> Weight {
    let mut weight = Weight::default();
    let mut mentioned = false;
    for (place, range) in MediaTypeList::new(accept).take(MOST_RANGES).enumerate() {
        let Ok(range) = range else { continue };
        let precision = if exactly(&range) {
            2
        } else if range.subty != names::_STAR {
            continue;
        } else if range.ty == top {
            1
        } else if range.ty == names::_STAR {
            0
        } else {
            continue;
        };
        let quality = quality(&range);
        let better = (precision, quality) > (weight.precision, weight.quality);
        if better || !mentioned {
            weight = Weight {
                precision,
                quality,
                place,
            };
            mentioned = true;
        }
    }
    weight
}

/// The range's q-value in thousandths. One that is unreadable counts as absent, which means 1.
fn quality(range: &MediaType<'_>) -> u16 {
    let q = range
        .get_param(names::Q)
        .and_then(|q| q.as_str().parse::<f32>().ok());
    match q {
        // Lies between 0 and 1000, so nothing is cut off but the fraction.
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        Some(q) if (0.0..=1.0).contains(&q) => (q * 1000.0) as u16,
        _ => 1000,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_better_named_wins() {
        for (accept, expected) in [
            ("application/json", true),
            ("Application/JSON", true),
            ("application/json; charset=utf-8", true),
            ("application/json, */*", true),
            ("application/json, text/plain, */*", true),
            ("application/json, text/javascript, */*; q=0.01", true),
            ("*/*, application/json", true),
            ("application/json, text/html", true),
            ("text/html, application/json", false),
            ("text/html;q=0.9, application/json", true),
            ("application/json;q=0.9, text/html", false),
            ("application/json;q=0.5, */*", false),
            ("application/json;q=0.5, */*;q=0.4", true),
            ("application/json , text/html ; q=0.5", true),
            ("application/*", true),
            ("application/*, */*", true),
            ("application/*, text/html", false),
            ("text/*, application/*", false),
            ("application/json;q=0", false),
            ("application/json;q=0, */*;q=0", false),
            (
                "application/*, application/json;q=0, text/html;q=0.1",
                false,
            ),
            ("text/html;q=0, */*", true),
            ("application/problem+json", true),
            ("application/vnd.api+json, */*;q=0.5", true),
            ("text/html, application/ld+json", false),
            ("image/*", false),
            ("text/event-stream", false),
            ("*/*", false),
            ("", false),
            // Chromium, Firefox, and Chromium's images.
            (
                "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,\
                 image/apng,*/*;q=0.8,application/signed-exchange;v=b3;q=0.7",
                false,
            ),
            (
                "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
                false,
            ),
            (
                "image/avif,image/webp,image/apng,image/svg+xml,image/*,*/*;q=0.8",
                false,
            ),
        ] {
            assert_eq!(prefers_json(Some(accept)), expected, "{accept}");
        }
        assert!(!prefers_json(None));
    }

    #[test]
    fn junk_is_passed_over() {
        for (accept, expected) in [
            (",,, application/json ,", true),
            ("json, application/json", true),
            ("application/json;q=high", true),
            ("application/json;q=7", true),
            ("application/json;q=NaN, text/html;q=0.9", true),
            ("application/json/x, text/html", false),
            ("\"", false),
            ("ä/ö;ü=\"", false),
            (";q=1", false),
        ] {
            assert_eq!(prefers_json(Some(accept)), expected, "{accept}");
        }
        assert!(!prefers_json(Some(&"a/b;c=\"\\".repeat(100_000))));
        assert!(!prefers_json(Some(&format!(
            "{}application/json",
            "a/b,".repeat(MOST_RANGES)
        ))));
    }

    #[test]
    fn html_is_asked_for_by_name() {
        assert!(names_html(Some(
            "text/html,application/xhtml+xml,*/*;q=0.8"
        )));
        assert!(names_html(Some("application/json, TEXT/HTML;q=0.1")));
        for accept in [
            None,
            Some("*/*"),
            Some("text/*"),
            Some("text/html;q=0"),
            Some("text/htmlx"),
        ] {
            assert!(!names_html(accept), "{accept:?}");
        }
    }

    proptest! {
        #[test]
        fn no_header_crashes_the_reader(accept in "[ -~äö]{0,60}") {
            prefers_json(Some(&accept));
        }
    }
}
