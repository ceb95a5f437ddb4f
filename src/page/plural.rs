//! Plural rules: the integer part of CLDR's.
//!
//! A rule is a condition of UTS #35 part 3, section 5.1.1, without its samples. The page counts
//! people and minutes, so only whole numbers occur: `n` and `i` are the number, and the operands of
//! fractions and exponents (`v w f t c e`) are 0. `build.rs` compiles this file too.

/// Whether the rule holds for the number; none where the rule is not one.
pub(super) fn holds(rule: &str, number: u64) -> Option<bool> {
    let mut any = false;
    for condition in rule.split(" or ") {
        let mut all = true;
        for relation in condition.split(" and ") {
            all &= related(relation, number)?;
        }
        any |= all;
    }
    Some(any)
}

/// `n % 100 = 3..10,13`, or the same with `!=`.
fn related(relation: &str, number: u64) -> Option<bool> {
    let (left, right) = relation.split_once('=')?;
    let (left, negated) = match left.strip_suffix('!') {
        Some(left) => (left, true),
        None => (left, false),
    };
    let (operand, modulus) = match left.split_once('%') {
        Some((operand, modulus)) => (operand, Some(modulus.trim().parse::<u64>().ok()?)),
        None => (left, None),
    };
    let value = match operand.trim() {
        "n" | "i" => number,
        "v" | "w" | "f" | "t" | "c" | "e" => 0,
        _ => return None,
    };
    let value = match modulus {
        Some(modulus) => value.checked_rem(modulus)?,
        None => value,
    };
    let mut listed = false;
    for range in right.split(',') {
        let (first, last) = range.split_once("..").unwrap_or((range, range));
        let (first, last) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
        listed |= (first..=last).contains(&value);
    }
    Some(listed != negated)
}

#[cfg(test)]
mod tests {
    use super::holds;

    #[test]
    fn rules_of_cldr_are_read() {
        let polish_few = "v = 0 and i % 10 = 2..4 and i % 100 != 12..14";
        for (rule, number, expected) in [
            ("n = 1", 1, true),
            ("n = 1", 11, false),
            ("n != 1", 1, false),
            ("i = 0,1", 1, true),
            ("n % 100 = 3..10", 103, true),
            ("n % 100 = 3..10", 111, false),
            (polish_few, 22, true),
            (polish_few, 12, false),
            ("n = 1 or t != 0 and i = 0,1", 0, false),
            (
                "e = 0 and i != 0 and i % 1000000 = 0 and v = 0 or e != 0..5",
                2_000_000,
                true,
            ),
        ] {
            assert_eq!(holds(rule, number), Some(expected), "{rule} for {number}");
        }
    }

    #[test]
    fn what_is_no_rule_is_told() {
        for rule in [
            "",
            "n",
            "x = 1",
            "n = a",
            "n % 0 = 1",
            "n = 1..",
            "n = 1 and",
        ] {
            assert_eq!(holds(rule, 1), None, "{rule:?}");
        }
    }
}
