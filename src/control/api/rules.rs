//! The bypass rules of a room. Every call gives back the whole list.

use serde_json::{Value, json};

use super::super::configuration::{Configuration, Declared, RuleEntry};
use super::super::fields::{RULE, filled};
use super::change::{Call, Draft, Target, differences, merged, settable};
use super::envelope::{Fault, Refusal, Success};
use super::stamp;

/// What only anteroom sets.
const READ_ONLY: &[&str] = &["id", "version", "last_updated"];

/// The rule as the API shows it.
fn view(rule: &RuleEntry) -> Declared {
    let mut view = filled(RULE, &rule.declared);
    view.insert("id".into(), rule.id.as_str().into());
    view.insert("version".into(), rule.version.to_string().into());
    view.insert("last_updated".into(), stamp(rule.modified));
    view
}

pub(super) fn get(configuration: &Configuration, room: &str) -> Result<Success, Refusal> {
    let room = configuration.room(room).ok_or_else(Refusal::not_found)?;
    let rules = room.rules.iter();
    Ok(Success::of(
        rules.map(|rule| Value::Object(view(rule))).collect(),
    ))
}

/// POST: appends one rule, or each of a list.
pub(super) fn append(
    configuration: &mut Configuration,
    call: &mut Call<'_>,
    room: &str,
    body: Value,
) -> Result<Success, Refusal> {
    let rules = &configuration
        .room(room)
        .ok_or_else(Refusal::not_found)?
        .rules;
    let first = rules.len();
    let (sent, target) = match body {
        Value::Object(rule) => (vec![rule], Target::Rule(room, first)),
        body => (objects(body)?, Target::Rules(room, first)),
    };
    let mut rules = rules.clone();
    for declared in sent {
        let declared = settable(declared, READ_ONLY, &Declared::new())?;
        rules.push(entry(call.id(), call, declared));
    }
    replace_with(configuration, call, target, rules)
}

/// PUT: the list becomes this one. A rule that was there stays as it is, with its id, whether the body
/// names the id or not.
pub(super) fn replace(
    configuration: &mut Configuration,
    call: &mut Call<'_>,
    room: &str,
    body: Value,
) -> Result<Success, Refusal> {
    let present = configuration.room(room).ok_or_else(Refusal::not_found)?;
    let mut left = present.rules.clone();
    let sent = objects(body)?;
    // Who is named is taken by nobody who only says the same.
    let named: Vec<Option<RuleEntry>> = sent
        .iter()
        .map(|sent| {
            let id = sent.get("id").and_then(Value::as_str)?;
            let index = left.iter().position(|rule| rule.id == id)?;
            Some(left.remove(index))
        })
        .collect();
    let mut rules = Vec::new();
    for (sent, named) in sent.into_iter().zip(named) {
        let plain = filled(RULE, &without_read_only(&sent));
        let mut equal = || {
            let says_the_same = |rule: &RuleEntry| filled(RULE, &rule.declared) == plain;
            let index = left.iter().position(says_the_same)?;
            Some(left.remove(index))
        };
        rules.push(match named.or_else(&mut equal) {
            Some(rule) => {
                let declared = settable(sent, READ_ONLY, &view(&rule))?;
                rewritten(rule, call, declared)
            }
            None => {
                let declared = settable(sent, READ_ONLY, &Declared::new())?;
                entry(call.id(), call, declared)
            }
        });
    }
    replace_with(configuration, call, Target::Rules(room, 0), rules)
}

/// PATCH: changes fields of one rule, and moves it if there is a `position`.
pub(super) fn update(
    configuration: &mut Configuration,
    call: &mut Call<'_>,
    (room, id): (&str, &str),
    mut body: Declared,
) -> Result<Success, Refusal> {
    let (mut rules, index) = find(configuration, room, id)?;
    let position = body.remove("position");
    let rule = rules.remove(index);
    let sent = settable(body, READ_ONLY, &view(&rule))?;
    let declared = merged(&rule.declared, sent);
    let rule = rewritten(rule, call, declared);
    let to = match position {
        None => index,
        Some(position) => place(&position, &rules).map_err(|message| {
            Refusal::invalid(vec![Fault::invalid(
                "/position",
                format!("position {message}"),
            )])
        })?,
    };
    rules.insert(to.min(rules.len()), rule);
    replace_with(configuration, call, Target::Rule(room, to), rules)
}

pub(super) fn delete(
    configuration: &mut Configuration,
    call: &mut Call<'_>,
    room: &str,
    id: &str,
) -> Result<Success, Refusal> {
    let (mut rules, index) = find(configuration, room, id)?;
    rules.remove(index);
    replace_with(configuration, call, Target::Rules(room, 0), rules)
}

/// The rules of a room, and which of them has the id.
fn find(
    configuration: &Configuration,
    room: &str,
    id: &str,
) -> Result<(Vec<RuleEntry>, usize), Refusal> {
    let room = configuration.room(room).ok_or_else(Refusal::not_found)?;
    let index = room.rules.iter().position(|rule| rule.id == id);
    Ok((room.rules.clone(), index.ok_or_else(Refusal::not_found)?))
}

/// Where a `position` puts a rule among the others.
fn place(position: &Value, others: &[RuleEntry]) -> Result<usize, String> {
    let of = |id: &str| {
        let index = others.iter().position(|rule| rule.id == id);
        index.ok_or_else(|| format!("names {id:?}, which is no other rule of the room"))
    };
    let fields = position.as_object().filter(|fields| fields.len() == 1);
    let field = fields.and_then(|fields| fields.iter().next());
    let field = field.map(|(name, value)| (name.as_str(), value));
    match field {
        Some(("index", value)) => {
            let index = value.as_u64().and_then(|index| usize::try_from(index).ok());
            let index = index.and_then(|index| index.checked_sub(1));
            index
                .filter(|index| *index <= others.len())
                .ok_or_else(|| format!("index must be from 1 to {}", others.len() + 1))
        }
        Some(("before", Value::String(id))) if id.is_empty() => Ok(0),
        Some(("before", Value::String(id))) => of(id),
        Some(("after", Value::String(id))) if id.is_empty() => Ok(others.len()),
        Some(("after", Value::String(id))) => of(id).map(|index| index + 1),
        _ => Err("must be {\"index\": n}, {\"before\": id} or {\"after\": id}".into()),
    }
}

fn entry(id: String, call: &Call<'_>, declared: Declared) -> RuleEntry {
    RuleEntry {
        id,
        version: 1,
        modified: call.now,
        declared,
    }
}

fn rewritten(rule: RuleEntry, call: &Call<'_>, declared: Declared) -> RuleEntry {
    if filled(RULE, &rule.declared) == filled(RULE, &declared) {
        return rule;
    }
    RuleEntry {
        version: rule.version.saturating_add(1),
        modified: call.now,
        declared,
        id: rule.id,
    }
}

fn replace_with(
    configuration: &mut Configuration,
    call: &Call<'_>,
    target: Target<'_>,
    rules: Vec<RuleEntry>,
) -> Result<Success, Refusal> {
    let (Target::Rules(room, _) | Target::Rule(room, _)) = target else {
        return Err(Refusal::not_found());
    };
    let mut draft = configuration.clone();
    let entry = draft.room_mut(room).ok_or_else(Refusal::not_found)?;
    if entry.rules == rules {
        return get(configuration, room);
    }
    let list = |rules: &[RuleEntry]| {
        let list: Vec<Value> = rules.iter().map(|rule| json!(rule.declared)).collect();
        Declared::from_iter([("rules".to_owned(), Value::Array(list))])
    };
    let fields = differences(&list(&entry.rules), &list(&rules));
    entry.rules = rules;
    let draft = Draft {
        configuration: draft,
        target,
        action: "update",
        fields,
    };
    draft.commit(configuration, call)?;
    get(configuration, room)
}

fn objects(body: Value) -> Result<Vec<Declared>, Refusal> {
    let wrong = |pointer: &str, message: &str| {
        Refusal::invalid(vec![Fault::invalid(pointer, message.to_owned())])
    };
    let Value::Array(list) = body else {
        return Err(wrong("", "must be a list of rules"));
    };
    let each = list.into_iter().enumerate().map(|(n, rule)| match rule {
        Value::Object(rule) => Ok(rule),
        _ => Err(wrong(&format!("/{n}"), "must be a rule: an object")),
    });
    each.collect()
}

fn without_read_only(sent: &Declared) -> Declared {
    let mut declared = sent.clone();
    declared.retain(|name, _| !READ_ONLY.contains(&name.as_str()));
    declared
}
