use std::sync::Arc;

use serde_json::{Value, json};

use super::*;
use crate::cache::purge::Purges;
use crate::control::Published;
use crate::room::number::TicketNumber;
use crate::site::host::Names;
use crate::site::{Context, validate};
use crate::time::Instant;

fn site(rooms: &[(&str, &str, Value)]) -> Site {
    let rooms: Vec<_> = rooms
        .iter()
        .map(|(name, host, more)| {
            let mut room = json!({
                "name": name, "host": host, "total_active_users": 1, "new_users_per_minute": 1,
            });
            let Value::Object(more) = more.clone() else {
                unreachable!()
            };
            room.as_object_mut().unwrap().extend(more);
            room
        })
        .collect();
    let names = Names {
        to_ascii: &|name| Some(name.to_owned()),
        is_public_suffix: &|_| false,
    };
    let languages = ["en-US".to_owned()];
    let context = Context {
        names,
        languages: &languages,
    };
    validate(&json!({ "rooms": rooms }), context).unwrap()
}

fn publication(version: Version, site: Site, pages: &[(&str, &str)]) -> Publication {
    let own = |(name, source): &(&str, &str)| ((*name).to_owned(), (*source).to_owned());
    Publication {
        life: version.0,
        published: Published {
            version: version.1,
            site,
            pages: pages.iter().map(own).collect(),
            purges: Purges::default(),
        },
    }
}

fn of(edition: &Edition, url: &str) -> Option<String> {
    let matched = edition.routes.find(url)?;
    Some(edition.name(matched.room).to_owned())
}

fn now() -> Moment {
    panic!("no room here has events")
}

#[test]
fn an_edition_is_followed_by_later_ones_alone() {
    let rooms = || site(&[("a", "a.test", json!({}))]);
    let first = Edition::embedded(&rooms(), []);
    let published = |version| publication(version, rooms(), &[]);
    assert!(first.followed_by(&published(Version::EMBEDDED)).is_none());
    let second = first.followed_by(&published(Version(7, 2))).unwrap();
    for older in [Version(7, 1), Version(7, 2), Version(6, 900), Version(0, 3)] {
        assert!(second.followed_by(&published(older)).is_none(), "{older}");
    }
    for later in [Version(7, 3), Version(8, 1)] {
        assert!(second.followed_by(&published(later)).is_some(), "{later}");
    }
}

#[test]
fn what_is_remembered_goes_along_by_the_rooms_id() {
    let ids = ["1", "2"].map(|digit| json!({ "id": digit.repeat(32) }));
    let [a, b] = &ids;
    let first = Edition::embedded(
        &site(&[("a", "a.test", a.clone()), ("b", "b.test", b.clone())]),
        [],
    );
    let at = Instant::from_secs(1_800_000_000);
    for index in [0, 1] {
        first.memory(index, |memory| memory.fail(at));
    }
    // A goes away, B moves to another name, place and host, and a new room has A's name.
    let c = json!({ "id": "3".repeat(32) });
    let changed = site(&[("B", "c.test", b.clone()), ("a", "a.test", c)]);
    let next = first
        .followed_by(&publication(Version(1, 1), changed, &[]))
        .unwrap();
    assert_eq!(of(&next, "https://c.test/").as_deref(), Some("B"));
    assert_eq!(of(&next, "https://b.test/"), None);
    assert_eq!(next.memory(0, |memory| memory.is_reachable()), Some(false));
    assert_eq!(
        next.memory(1, |memory| memory.is_reachable()),
        Some(true),
        "another room of the same name is another room"
    );
    // A request that is under way tells the edition that it knows, and all hear of it.
    first.memory(1, |memory| {
        memory.note_poll(TicketNumber::FIRST);
    });
    let report = next.memory(0, |memory| {
        memory.start_refresh(at + crate::time::Span::from_secs(60), true)
    });
    assert_eq!(report.flatten().map(|report| report.polled.len()), Some(1));
}

#[test]
fn who_has_begun_with_an_edition_ends_with_it_and_then_it_is_freed() {
    let rooms = |limit: u32| site(&[("a", "a.test", json!({ "total_active_users": limit }))]);
    let mut current = Rc::new(Edition::embedded(&rooms(1), []));
    let under_way = Rc::clone(&current);
    let before = Arc::clone(current.room(0, now).unwrap());
    let mut gone = Vec::new();
    for version in 1..=50_u32 {
        let publication = publication(Version(1, version.into()), rooms(version + 1), &[]);
        gone.push(Rc::downgrade(&current));
        current = Rc::new(current.followed_by(&publication).unwrap());
    }
    assert_eq!(current.room(0, now).unwrap().total_active_users, 51);
    assert_eq!(under_way.room(0, now).unwrap().total_active_users, 1);
    let alive = || {
        gone.iter()
            .filter(|edition| edition.upgrade().is_some())
            .count()
    };
    assert_eq!(alive(), 1, "the one that is still used");
    drop(under_way);
    assert_eq!(alive(), 0);
    assert_eq!(
        (before.total_active_users, Arc::strong_count(&before)),
        (1, 1)
    );
}

#[test]
fn pages_are_compiled_anew_only_when_there_are_others() {
    let rooms = || site(&[("a", "a.test", json!({ "custom_page_html": "p" }))]);
    let embedded = Edition::embedded(&rooms(), [("p", "embedded")]);
    let first = embedded
        .followed_by(&publication(Version(1, 1), rooms(), &[("p", "published")]))
        .unwrap();
    assert!(!Rc::ptr_eq(&embedded.pages, &first.pages));
    let second = first
        .followed_by(&publication(Version(1, 2), rooms(), &[("p", "published")]))
        .unwrap();
    assert!(Rc::ptr_eq(&first.pages, &second.pages));
    let third = second
        .followed_by(&publication(Version(1, 3), rooms(), &[("q", "other")]))
        .unwrap();
    assert!(!Rc::ptr_eq(&second.pages, &third.pages));
}
