//! The programs in `examples/` that check a draw, in other languages, against the room's own code.
#![cfg(not(target_arch = "wasm32"))]
// clippy.toml allows these in tests, but does not know the functions that tests share.
#![allow(clippy::panic, clippy::unwrap_used)]

use std::path::Path;
use std::process::{Command, Output};

use anteroom::room::draw::DrawKey;
use anteroom::room::number::TicketNumber;
use anteroom::room::place::{Draw, Draws};
use anteroom::time::Instant;

const PROGRAMS: [(&str, &str); 2] = [("python3", "verify_draw.py"), ("node", "verify_draw.mjs")];

fn draw(key: [u8; 32], first: u64, count: u64) -> Draw {
    Draw {
        start: Instant::from_secs(1_800_000_000),
        first,
        count,
        key: DrawKey::new(key),
        held: Instant::from_secs(1_800_000_000),
    }
}

fn run(
    (language, program): (&str, &str),
    draw: &Draw,
    commitment: &str,
    numbers: &[u64],
) -> Output {
    let program = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("examples")
        .join(program);
    let numbers = numbers.iter().map(u64::to_string);
    let output = Command::new(interpreter(language))
        .arg(program)
        .args(["--commitment", commitment])
        .args(["--key", &draw.key.to_string()])
        .args(["--count", &draw.count.to_string()])
        .args(["--first", &draw.first.to_string()])
        .args(numbers)
        .output();
    output.unwrap_or_else(|error| panic!("{language}: {error}"))
}

/// The project brings a Node of its own.
fn interpreter(language: &str) -> String {
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("node_modules/.bin/node");
    match language {
        "node" if own.exists() => own.to_string_lossy().into_owned(),
        other => other.to_owned(),
    }
}

#[test]
fn anybody_can_work_out_a_place() {
    for (n, count) in [
        (1_u8, 1),
        (2, 2),
        (3, 3),
        (4, 100_000),
        (5, 99_999),
        (6, 1 << 40),
    ] {
        let draw = draw([n; 32], 1_000, count);
        let numbers: Vec<u64> = (0..8)
            .map(|share| draw.first + (count - 1) / 7 * share)
            .filter(|number| *number <= draw.last())
            .collect();
        let mut draws = Draws::default();
        draws.push(draw.clone());
        let expected: String = numbers
            .iter()
            .map(|number| draws.place_of(TicketNumber::new(*number).unwrap()))
            .map(|place| format!("{place}\n"))
            .collect();
        for program in PROGRAMS {
            let output = run(program, &draw, &draw.key.commitment().to_string(), &numbers);
            let said = String::from_utf8_lossy(&output.stdout).replace('\r', "");
            assert_eq!(said, expected, "{program:?} {count}: {output:?}");
        }
    }
}

#[test]
fn a_key_that_was_changed_after_the_commitment_is_seen() {
    let announced = DrawKey::new([1; 32]).commitment().to_string();
    let draw = draw([2; 32], 1, 10);
    for program in PROGRAMS {
        let output = run(program, &draw, &announced, &[1]);
        assert!(!output.status.success(), "{program:?}");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(said.contains("not the one that was committed to"), "{said}");
    }
}
