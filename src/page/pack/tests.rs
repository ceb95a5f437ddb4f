use std::path::PathBuf;

use serde_json::{Value, json};

use super::*;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("templates")
}

fn language(tag: &str) -> Value {
    let file = folder().join("languages").join(tag).with_extension("json");
    serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap()
}

/// The faults of a language after a change.
fn faults(tag: &str, change: impl Fn(&mut Value)) -> Vec<String> {
    let mut changed = language(tag);
    change(&mut changed);
    let mut faults = Vec::new();
    languages::check(&changed, &language("en-US"), &mut faults);
    faults
}

#[test]
fn our_templates_have_neither_fault_nor_oddity() {
    let packed = pack(&folder()).unwrap();
    assert_eq!(packed.warnings, Vec::<String>::new());
}

#[test]
fn faults_of_languages_are_told_with_their_place() {
    let none: Vec<String> = Vec::new();
    assert_eq!(faults("ar-EG", |_| {}), none);
    for (tag, change, expected) in [
        (
            "de-DE",
            (|file: &mut Value| drop(file.as_object_mut().unwrap().remove("leave")))
                as fn(&mut Value),
            "leave: is missing",
        ),
        (
            "de-DE",
            |file| file["extra"] = json!("x"),
            "extra: is not a key",
        ),
        (
            "de-DE",
            |file| file["called"]["headline"] = json!("x"),
            "called.headline: is not a key",
        ),
        (
            "de-DE",
            |file| file["about"] = json!("etwa"),
            "about: must have {time}",
        ),
        (
            "de-DE",
            |file| file["next"] = json!("{count}"),
            "next: must have no placeholder",
        ),
        ("de-DE", |file| file["next"] = json!(" "), "next: is empty"),
        (
            "de-DE",
            |file| file["next"] = json!(1),
            "next: is not of the type that en-US has",
        ),
        (
            "de-DE",
            |file| file["digits"] = json!("012"),
            "digits: must be the ten digits, from zero",
        ),
        (
            "de-DE",
            |file| file["ahead"]["other"] = json!("Viele"),
            "ahead.other: must have {count} and nothing else",
        ),
        (
            "ja-JP",
            |file| file["ahead"]["one"] = json!("{count}"),
            "ahead.one: is not a plural form of this language",
        ),
        (
            "ar-EG",
            |file| drop(file["ahead"].as_object_mut().unwrap().remove("few")),
            "ahead.few: is missing",
        ),
        (
            "fr-FR",
            |file| file["plural"]["one"] = json!("n is 1"),
            "plural.one: \"n is 1\" is not a plural rule of CLDR",
        ),
    ] {
        assert_eq!(faults(tag, change), [expected], "{tag}");
    }
}

#[test]
fn templates_are_checked() {
    assert_eq!(templates::check_one("{{waitTime}}"), Ok(vec![]));
    assert_eq!(
        templates::check_one("\n{{waittime}}{{colour}}"),
        Ok(vec![
            "line 2, column 1: there is no variable waittime, it prints nothing; did you mean waitTime?".into(),
            "line 2, column 13: there is no variable colour, it prints nothing".into(),
        ])
    );
    assert!(templates::check_one("{{#waitTime}}").is_err());
    // A fault that shows only when the section is written.
    assert!(templates::check_one("{{#waitTimeKnown}}{{eq waitTime}}{{/waitTimeKnown}}").is_err());
}

#[test]
fn comments_and_indentation_are_dropped() {
    assert_eq!(compact("// a\n  b  // c\n\n/* d */\n\te\n"), "b  // c\ne\n");
}

/// RFC 6234's "abc".
#[test]
fn hashes_are_sources_of_a_policy() {
    assert_eq!(
        source_hash("abc"),
        "'sha256-ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0='"
    );
}
