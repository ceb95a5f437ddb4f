//! What could differ in WASM, where `usize` has 32 bits: signatures, stored bytes, messages.

#![cfg(target_arch = "wasm32")]
#![expect(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "a failed step is a failed test"
)]

use anteroom::gate::keys::Keys;
use anteroom::gate::token::{Standing, Token};
use anteroom::room::ledger::Ledger;
use anteroom::room::ledger::journal;
use anteroom::room::message::{Message, Reply, Request};
use anteroom::room::number::{Incarnation, TicketId, TicketNumber};
use anteroom::room::policy::Policy;
use anteroom::room::seed::Seed;
use anteroom::site::room::RoomId;
use anteroom::time::{Instant, Span};
use wasm_bindgen_test::wasm_bindgen_test;

const NOW: Instant = Instant::from_secs(1_800_000_000);
const SEED: Seed = Seed::new([7; 32]);

fn policy() -> Policy {
    Policy::within(1, 100)
}

#[wasm_bindgen_test]
fn a_token_verifies_and_a_changed_one_does_not() {
    let keys = Keys::parse("k:MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY").unwrap();
    let room: RoomId = serde_json::from_str("\"0123456789abcdef0123456789abcdef\"").unwrap();
    let standing = Standing::Admitted {
        number: TicketNumber::MAX,
        incarnation: Incarnation::new(u64::MAX),
        issued: NOW,
        expires: NOW + Span::from_secs(300),
        provisional: false,
    };
    let token = Token {
        standing,
        binding: None,
        embedded: false,
    };
    let text = keys.sign(&room, &token);
    assert_eq!(keys.verify(&room, &text, None, NOW), Ok(token));
    let forged = text.replace("ey", "eZ");
    assert!(keys.verify(&room, &forged, None, NOW).is_err());
}

#[wasm_bindgen_test]
fn a_room_stores_the_same_bytes_as_elsewhere_and_recovers_from_them() {
    let mut ledger = Ledger::new(Incarnation::new(NOW.as_millis()), SEED, NOW);
    let checkpoint = journal::encode_book(ledger.book()).unwrap();
    let arrive = |ticket| {
        Request::of(Message::Arrive {
            ticket: TicketId::new(ticket),
            returning: true,
        })
    };
    let batch = ledger.batch(NOW, &policy(), &[arrive(1), arrive(u64::MAX >> 1)]);
    let replies: Vec<Reply> = batch
        .responses
        .iter()
        .flat_map(|response| response.replies.clone())
        .collect();
    assert!(matches!(
        replies[..],
        [Reply::Admitted { .. }, Reply::Waiting { .. }]
    ));
    let row = journal::encode_row(&batch.row.unwrap()).unwrap();
    // Format 2, sequence 1, at 1,800,000,000,000 ms, no silence: as native code writes it.
    assert_eq!(row[..10], [2, 1, 0x80, 0xa0, 0xf1, 0xc2, 0xb1, 0x34, 0, 3]);
    let book = journal::decode_book(&checkpoint, SEED).unwrap();
    let rows = [journal::decode_row(&row).unwrap()];
    let mut recovered = Ledger::recover(book, rows, NOW);
    let batch = recovered.batch(NOW, &policy(), &[arrive(2)]);
    let snapshot = batch.responses[0].snapshot.as_ref().unwrap();
    assert_eq!((snapshot.issued, snapshot.active), (3, 1));
}

#[wasm_bindgen_test]
fn messages_keep_numbers_beyond_32_bits() {
    let claim = Message::Claim {
        number: TicketNumber::MAX,
        incarnation: Incarnation::new(u64::MAX),
        last_poll: NOW,
        joined: None,
    };
    let text = serde_json::to_string(&Request::of(claim)).unwrap();
    let read: Request = serde_json::from_str(&text).unwrap();
    assert_eq!(read.messages, [claim]);
}

#[wasm_bindgen_test]
fn the_packed_site_and_page_work() {
    let site = anteroom::packed::site().unwrap();
    let routes = anteroom::gate::route::Routes::new(&site);
    let route = &site.rooms[0].routes[0];
    let url = format!("http://{}{}", route.host, route.path);
    assert!(routes.find(&url).is_some());
}
