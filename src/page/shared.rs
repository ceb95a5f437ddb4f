//! Pages that many visitors get.
//!
//! Who has no number yet is told nothing that is about them: in a flood almost every answer is the same
//! page, and writing it is most of what the answer costs. So the last few of such pages are kept.

use std::cell::RefCell;
use std::ops::Deref;
use std::rc::Rc;

use super::facts::{Event, Facts, State};
use super::language::Language;
use crate::time::Instant;

/// The body of an answer.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Body {
    /// A text of its own.
    Text(String),
    /// A page that many visitors get: one text, however many they are.
    Shared(Rc<str>),
}

impl Body {
    /// No body.
    pub const NONE: Self = Self::Text(String::new());
}

impl Deref for Body {
    type Target = str;

    fn deref(&self) -> &str {
        match self {
            Self::Text(text) => text,
            Self::Shared(page) => page,
        }
    }
}

/// So many pages are kept: states, notices and languages that are met at the same time. With the
/// default page it is 300 KB.
const MOST: usize = 32;

/// What a page was written from.
#[derive(Debug)]
struct Source {
    template: Box<str>,
    language: &'static str,
    facts: Facts,
}

/// The pages of late, the oldest first. None stands for one that is another at each instant.
#[derive(Debug, Default)]
pub(super) struct Shared {
    pages: RefCell<Vec<(Source, Option<Rc<str>>)>>,
}

impl Shared {
    /// The page that `template` makes of the facts: the one that is kept, or a new one from `write`.
    /// None where visitors have each their own: because of their place, or because the page shows the
    /// time of their last attempt in whatever way a template can.
    pub(super) fn page(
        &self,
        template: &str,
        facts: &Facts,
        language: &Language,
        write: impl Fn(&Facts) -> String,
    ) -> Option<Rc<str>> {
        let is_ones_own =
            facts.position.is_some() || facts.number.is_some() || facts.state == State::Prequeueing;
        if is_ones_own {
            return None;
        }
        let event = facts.event.clone();
        let timeless = Facts {
            last_updated: Instant::default(),
            // What is left until an event starts or ends is told in whole seconds.
            event: event.map(|event| Event {
                now: Instant::from_secs(event.now.as_secs()),
                ..event
            }),
            ..facts.clone()
        };
        let mut pages = self.pages.try_borrow_mut().ok()?;
        let known = pages.iter().find(|(source, _)| {
            source.facts == timeless
                && source.language == language.tag
                && *source.template == *template
        });
        if let Some((_, page)) = known {
            return page.clone();
        }
        let page = write(facts);
        let page = (page == write(&timeless)).then(|| Rc::from(page));
        if pages.len() >= MOST {
            pages.remove(0);
        }
        let source = Source {
            template: template.into(),
            language: language.tag,
            facts: timeless,
        };
        pages.push((source, page.clone()));
        page
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::language::language;
    use crate::page::samples;

    fn joining() -> Facts {
        Facts {
            state: State::Joining,
            position: None,
            ..samples::queueing()
        }
    }

    fn asked(shared: &Shared, template: &str, facts: &Facts, tag: &str, text: &str) -> String {
        let page = shared.page(template, facts, language(tag).unwrap(), |_| text.into());
        page.unwrap().to_string()
    }

    #[test]
    fn a_page_is_written_once_whenever_it_is_asked_for() {
        let shared = Shared::default();
        assert_eq!(asked(&shared, "a", &joining(), "de-DE", "first"), "first");
        let later = Facts {
            last_updated: Instant::from_secs(1),
            ..joining()
        };
        assert_eq!(asked(&shared, "a", &later, "de-DE", "second"), "first");
    }

    #[test]
    fn during_an_event_a_page_is_good_for_a_second() {
        let shared = Shared::default();
        let at = |millis| Facts {
            event: Some(Event {
                name: "sale".into(),
                prequeueing: false,
                shuffle: true,
                start: Instant::from_secs(50),
                end: Instant::from_secs(500),
                now: Instant::from_millis(millis),
            }),
            ..joining()
        };
        let first = asked(&shared, "a", &at(100_001), "de-DE", "first");
        assert_eq!(asked(&shared, "a", &at(100_999), "de-DE", "second"), first);
        let next = asked(&shared, "a", &at(101_000), "de-DE", "second");
        assert_eq!(next, "second");
    }

    #[test]
    fn another_template_language_or_fact_is_another_page() {
        let shared = Shared::default();
        asked(&shared, "a", &joining(), "de-DE", "first");
        assert_eq!(asked(&shared, "b", &joining(), "de-DE", "second"), "second");
        assert_eq!(asked(&shared, "a", &joining(), "en-US", "third"), "third");
        let called = Facts {
            state: State::QueueAll,
            ..joining()
        };
        assert_eq!(asked(&shared, "a", &called, "de-DE", "fourth"), "fourth");
    }

    #[test]
    fn what_is_about_one_visitor_is_not_shared() {
        let shared = Shared::default();
        let german = language("de-DE").unwrap();
        let placed = shared.page("a", &samples::queueing(), german, |_| "page".into());
        assert_eq!(placed, None);
        let drawn = shared.page("a", &samples::prequeueing(), german, |_| "page".into());
        assert_eq!(drawn, None);
        for _ in 0..2 {
            let timed = shared.page("a", &joining(), german, |facts| {
                facts.last_updated.as_millis().to_string()
            });
            assert_eq!(timed, None);
        }
    }

    #[test]
    fn the_oldest_is_forgotten() {
        let shared = Shared::default();
        for n in 0..=MOST {
            asked(&shared, &n.to_string(), &joining(), "de-DE", "first");
        }
        assert_eq!(asked(&shared, "1", &joining(), "de-DE", "second"), "first");
        assert_eq!(asked(&shared, "0", &joining(), "de-DE", "second"), "second");
    }
}
