use serde_json::json;

use super::*;
use crate::control::configuration::RoomEntry;
use crate::time::Instant;

const ZONES: &[String] = &[];

fn around(languages: &[String]) -> Surroundings<'_> {
    Surroundings {
        zones: ZONES,
        languages,
    }
}

fn languages() -> Vec<String> {
    vec!["en-US".to_owned()]
}

fn id(digit: char) -> String {
    digit.to_string().repeat(32)
}

fn room(digit: char, limit: u32) -> RoomEntry {
    let at = Instant::from_secs(1_800_000_000);
    let declared = json!({
        "name": format!("room-{digit}"), "host": format!("{digit}.test"),
        "total_active_users": limit, "new_users_per_minute": 5,
    });
    serde_json::from_value(json!({
        "id": id(digit), "created": at, "modified": at, "declared": declared,
    }))
    .unwrap()
}

fn embedded() -> Configuration {
    Configuration {
        rooms: vec![room('a', 1), room('b', 2)],
        ..Configuration::default()
    }
}

/// The object's table, and a keeper over it.
struct Stand {
    rows: Rows,
    keeper: Keeper,
}

impl Stand {
    fn open(mut rows: Rows, life: u64) -> (Self, Effects) {
        let languages = languages();
        let opened = Keeper::open(rows.clone(), || Ok(embedded()), life, around(&languages));
        let (keeper, effects) = opened.unwrap();
        store(&mut rows, &effects);
        (Self { rows, keeper }, effects)
    }

    fn change(&mut self, change: impl FnOnce(&mut Configuration)) -> Result<Effects, Failure> {
        let languages = languages();
        let (_, effects) = self.keeper.change(
            around(&languages),
            "rooms of the build",
            |configuration, _| {
                configuration.version += 1;
                change(configuration);
            },
        )?;
        store(&mut self.rows, &effects);
        Ok(effects)
    }

    fn published(&self, knows: Version) -> (Version, Option<Publication>) {
        Publication::read(self.keeper.look(knows)).unwrap()
    }
}

fn store(rows: &mut Rows, effects: &Effects) {
    rows.extend(effects.put.clone());
    for key in &effects.deleted {
        assert!(rows.remove(key).is_some(), "{key}");
    }
}

fn limit(configuration: &mut Configuration, room: usize, limit: u32) {
    let declared = &mut configuration.rooms[room].declared;
    declared.insert("total_active_users".into(), limit.into());
}

#[test]
fn before_the_first_change_nothing_is_published_or_stored() {
    let (mut stand, effects) = Stand::open(Rows::new(), 7);
    assert_eq!(effects, Effects::default());
    assert_eq!(
        stand.published(Version::EMBEDDED),
        (Version::EMBEDDED, None)
    );
    let languages = languages();
    let looked = stand
        .keeper
        .change(around(&languages), "", |configuration, _| {
            configuration.rooms.len()
        });
    assert_eq!(
        looked.unwrap(),
        (2, Effects::default()),
        "a look is no change"
    );
    let standing = stand.keeper.standing("rooms of the build");
    assert!(standing.embedded && !standing.differs);
    let policy = stand
        .keeper
        .policy(&serde_json::from_value(json!(id('a'))).unwrap());
    assert_eq!(policy, Policy::default());
}

#[test]
fn what_was_changed_is_published_and_outlives_the_object() {
    let (mut stand, _) = Stand::open(Rows::new(), 7);
    stand
        .change(|configuration| limit(configuration, 0, 50))
        .unwrap();
    let (version, publication) = stand.published(Version::EMBEDDED);
    let publication = publication.unwrap();
    assert_eq!(version, Version(7, 1));
    assert_eq!(publication.published.site.rooms[0].total_active_users, 50);
    assert_eq!(
        stand.published(version),
        (version, None),
        "who knows it gets no more"
    );

    let (again, effects) = Stand::open(stand.rows.clone(), 9_999);
    assert_eq!(
        again.published(Version::EMBEDDED),
        (version, Some(publication))
    );
    assert_eq!(again.keeper.configuration(), stand.keeper.configuration());
    assert_eq!(effects, Effects::default(), "there is nothing to do");
}

#[test]
fn the_rooms_that_a_change_is_about_are_told() {
    let (mut stand, _) = Stand::open(Rows::new(), 7);
    let told = |effects: &Effects| -> Vec<(String, Option<u32>)> {
        let policies = effects.policies.iter();
        let limit = |policy: &Policy| policy.room.as_ref().map(|room| room.total_active_users);
        policies
            .map(|(id, policy)| (id.to_string(), limit(policy)))
            .collect()
    };
    let first = stand
        .change(|configuration| limit(configuration, 0, 50))
        .unwrap();
    assert_eq!(
        told(&first),
        [(id('a'), Some(50)), (id('b'), Some(2))],
        "the first publication is news to all"
    );
    let second = stand
        .change(|configuration| limit(configuration, 1, 60))
        .unwrap();
    assert_eq!(told(&second), [(id('b'), Some(60))]);
    let third = stand
        .change(|configuration| {
            configuration.rooms.remove(0);
            configuration.rooms.push(room('c', 3));
        })
        .unwrap();
    assert_eq!(told(&third), [(id('c'), Some(3)), (id('a'), None)]);
    assert_eq!(third.deleted, [format!("rooms/{}", id('a'))]);
    assert!(
        third
            .policies
            .iter()
            .all(|(_, policy)| policy.version == Version(7, 3))
    );
}

#[test]
fn a_change_that_cannot_be_published_is_none() {
    let (mut stand, _) = Stand::open(Rows::new(), 7);
    stand
        .change(|configuration| limit(configuration, 0, 50))
        .unwrap();
    let before = (stand.keeper.configuration().clone(), stand.rows.clone());
    let failure = stand
        .change(|configuration| limit(configuration, 0, 0))
        .unwrap_err();
    assert!(
        failure.to_string().contains("total_active_users"),
        "{failure}"
    );
    assert_eq!(
        before,
        (stand.keeper.configuration().clone(), stand.rows.clone())
    );
    assert_eq!(stand.keeper.version(), Version(7, 1));
    let (version, publication) = stand.published(Version::EMBEDDED);
    assert_eq!(version, Version(7, 1));
    assert_eq!(
        publication.unwrap().published.site.rooms[0].total_active_users,
        50
    );
}

#[test]
fn what_newer_code_makes_of_it_is_a_new_version() {
    let (mut stand, _) = Stand::open(Rows::new(), 7);
    stand.change(|_| {}).unwrap();
    // As if the code of then had worked out something else.
    let site = stand.rows[SITE].replace(r#""poll_far_seconds":20"#, r#""poll_far_seconds":21"#);
    assert_ne!(site, stand.rows[SITE]);
    stand.rows.insert(SITE.to_owned(), site);
    let (again, effects) = Stand::open(stand.rows, 7);
    assert_eq!(again.keeper.version(), Version(7, 2));
    assert!(effects.put.contains_key(SITE) && effects.put.contains_key("configuration"));
    let (third, effects) = Stand::open(again.rows, 7);
    assert_eq!(third.keeper.version(), Version(7, 2), "once");
    assert!(effects.put.is_empty());
}

#[test]
fn what_newer_code_refuses_stays_in_force_as_it_was() {
    let (mut stand, _) = Stand::open(Rows::new(), 7);
    stand.change(|_| {}).unwrap();
    let key = format!("rooms/{}", id('a'));
    let row =
        stand.rows[&key].replace(r#""new_users_per_minute":5"#, r#""new_users_per_minute":0"#);
    stand.rows.insert(key, row);
    let (again, _) = Stand::open(stand.rows, 7);
    let (version, publication) = again.published(Version::EMBEDDED);
    assert_eq!(version, Version(7, 1));
    assert_eq!(
        publication.unwrap().published.site.rooms[0].new_users_per_minute,
        5
    );
}

#[test]
fn a_build_with_other_rooms_is_noticed_and_not_taken() {
    let (mut stand, _) = Stand::open(Rows::new(), 7);
    stand
        .change(|configuration| limit(configuration, 0, 50))
        .unwrap();
    let same = stand.keeper.standing("rooms of the build");
    assert!(!same.embedded && !same.differs);
    assert!(stand.keeper.standing("rooms of the next build").differs);
    stand
        .change(|configuration| limit(configuration, 0, 51))
        .unwrap();
    assert!(
        stand.keeper.standing("rooms of the next build").differs,
        "still"
    );
}

#[test]
fn what_is_exported_builds_the_same_rooms() {
    let at = Instant::from_secs(1_800_000_000);
    let configuration = Configuration::embedded(at).unwrap();
    assert!(!configuration.rooms.is_empty());
    let site = |declaration: &serde_json::Value| {
        // A zone that has every host of rooms.toml.
        let zones = ["com", "test", "localhost"].map(String::from);
        let languages = crate::page::language::all().iter();
        let languages: Vec<String> = languages.map(|language| language.tag.to_owned()).collect();
        let around = Surroundings {
            zones: &zones,
            languages: &languages,
        };
        let mut site = crate::control::compile::check(declaration, around).unwrap();
        // A page's name is that of its text in the one and of its file in the other.
        for room in &mut site.rooms {
            room.custom_page_html.take();
            for event in &mut room.events {
                event.custom_page_html.take();
            }
        }
        site
    };
    let (text, _) = crate::control::export::export(&configuration);
    let exported: serde_json::Value = toml::from_str(&text).unwrap();
    let running = site(&configuration.declaration());
    assert_eq!(site(&exported), running);
    assert_eq!(
        running.rooms.len(),
        crate::packed::site().unwrap().rooms.len()
    );
}
