//! What is stored and sent keeps its form, and is left out where it is known.

use super::*;

#[test]
fn stored_records_keep_their_form() {
    // A running object and its successor must read the same bytes: this pins them.
    let row = Row {
        sequence: 3,
        at: Instant::from_millis(1_000),
        silence: Span::ZERO,
        effects: vec![
            Effect::Issued {
                number: number(7),
                ticket: TicketId::new(0xab),
            },
            Effect::Admitted {
                number: number(7),
                expires: Instant::from_millis(301_000),
                provisional: false,
            },
        ],
    };
    let bytes = journal::encode_row(&row).unwrap();
    let expected = [
        2, 3, 0xe8, 7, 0, 2, 0, 7, 2, b'a', b'b', 3, 7, 0xc8, 0xaf, 0x12, 0,
    ];
    assert_eq!(bytes, expected);
    assert_eq!(journal::decode_row(&bytes), Ok(row));
    let mut newer = bytes.clone();
    newer[0] = 3;
    assert_eq!(
        journal::decode_row(&newer),
        Err(journal::Unreadable::Format(3))
    );
    let mut older = bytes.clone();
    older[0] = 1;
    assert_eq!(journal::decode_row(&older), journal::decode_row(&bytes));
    assert!(matches!(
        journal::decode_row(&bytes[..5]),
        Err(journal::Unreadable::Damaged(_))
    ));
    assert!(matches!(
        journal::decode_row(&[]),
        Err(journal::Unreadable::Damaged(_))
    ));
}

/// A checkpoint as format 1 wrote it: one of three visitors is in, on the one slot there is.
const FORMAT_1: &str = "010b31613331383563353030300180a0f1c2b134030100010180a0f1c2b134e0c783c3b1\
    340000000180a0f1c2b13401010301310180a0f1c2b13401320280a0f1c2b13401330380a0f1c2b1340380a0f1c2b1\
    34013180a0f1c2b134013280a0f1c2b1340133010180a0f1c2b1340000";

#[test]
fn a_checkpoint_of_an_older_format_is_migrated_and_loses_nothing() {
    let digits: Vec<u8> = FORMAT_1
        .bytes()
        .map(|digit| char::from(digit).to_digit(16).unwrap() as u8)
        .collect();
    let bytes: Vec<u8> = digits
        .chunks(2)
        .map(|pair| pair[0] << 4 | pair[1])
        .collect();
    let book = journal::decode_book(&bytes, SEED).unwrap();
    let mut room = Watched::new(policy(1, 10));
    room.send(&[
        Message::Arrive {
            ticket: TicketId::new(1),
            returning: false,
        },
        Message::Arrive {
            ticket: TicketId::new(2),
            returning: true,
        },
        Message::Arrive {
            ticket: TicketId::new(3),
            returning: true,
        },
    ]);
    let today = journal::encode_book(room.ledger.book()).unwrap();
    assert_eq!(journal::encode_book(&book).unwrap(), today);
    let mut newer = today;
    newer[0] = journal::FORMAT + 1;
    assert!(matches!(
        journal::decode_book(&newer, SEED),
        Err(journal::Unreadable::Format(_))
    ));
}

#[test]
fn a_snapshot_is_left_out_for_those_who_know_a_recent_one_until_the_room_queues() {
    let mut room = Watched::new(policy(2, 1_000));
    room.arrive(1);
    let knows = Some(room.snapshot.stamp());
    let mut ask = |ticket, millis| {
        let now = room.clock + Span::from_millis(millis);
        let arrive = Request::of(Message::Arrive {
            ticket: TicketId::new(ticket),
            returning: false,
        });
        let unknowing = arrive.clone();
        let knowing = Request { knows, ..arrive };
        let batch = room.ledger.batch(now, &room.policy, &[knowing, unknowing]);
        assert!(batch.responses[1].snapshot.is_some());
        assert_eq!(batch.responses[0].life(), batch.responses[1].life());
        batch.responses[0].snapshot.is_some()
    };
    assert!(!ask(1, 10));
    assert!(ask(1, 1_000), "theirs is old");
    assert!(ask(2, 20), "now newcomers wait, and every edge is to know");
}
