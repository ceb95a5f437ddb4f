//! Attack: a visitor keeps a token and shows it when or where it no longer holds.
//!
//! Defence: a token names its room, the room's incarnation, its end and, where the room says so,
//! its client. (A spent number that is shown in time is the ledger's to refuse.)

use anteroom::gate::binding::bind;
use anteroom::gate::token::{Refusal, Token};
use anteroom::site::room::BindPass;
use anteroom::time::Span;

use crate::support::{NOW, admitted, keys, room, waiting};

#[test]
fn after_its_end() {
    for token in [admitted(), waiting()] {
        let kept = keys().sign(&room('a'), &token);
        assert_eq!(keys().verify(&room('a'), &kept, None, NOW), Ok(token));
        for seconds in [300, 301, 86_400, 1_000_000_000] {
            let late = NOW + Span::from_secs(seconds);
            let read = keys().verify(&room('a'), &kept, None, late);
            assert_eq!(read, Err(Refusal::Expired(token)), "{seconds} s later");
        }
    }
}

#[test]
fn before_its_beginning() {
    let stolen_from_tomorrow = keys().sign(&room('a'), &admitted());
    let early = NOW - Span::from_secs(61);
    let read = keys().verify(&room('a'), &stolen_from_tomorrow, None, early);
    assert_eq!(read, Err(Refusal::IssuedInFuture));
}

#[test]
fn in_another_room() {
    let pass = keys().sign(&room('a'), &admitted());
    assert_eq!(
        keys().verify(&room('b'), &pass, None, NOW),
        Err(Refusal::OtherRoom)
    );
}

#[test]
fn in_the_same_room_begun_anew() {
    let pass = keys().sign(&room('a'), &admitted());
    let read = keys().verify(&room('a'), &pass, None, NOW).unwrap();
    let incarnation = read.standing.incarnation().unwrap();
    assert_eq!(
        incarnation.get(),
        1,
        "the gate can tell which life of the room it was"
    );
}

#[test]
fn by_another_client() {
    let client = |ip| bind(BindPass::IpPrefix, None, Some(ip));
    let bound = Token {
        binding: client("192.0.2.1"),
        ..admitted()
    };
    let pass = keys().sign(&room('a'), &bound);
    let shown_from = |ip| keys().verify(&room('a'), &pass, client(ip).as_ref(), NOW);
    assert_eq!(shown_from("192.0.2.200"), Ok(bound));
    assert_eq!(shown_from("198.51.100.1"), Err(Refusal::Binding));
    assert_eq!(
        shown_from(""),
        Err(Refusal::Binding),
        "hiding the address does not help"
    );
}

#[test]
fn after_its_key_was_removed() {
    let pass = keys().sign(&room('a'), &admitted());
    let text = "k2:ICEiIyQlJicoKSorLC0uLzAxMjM0NTY3ODk6Ozw9Pj8";
    let rotated = anteroom::gate::keys::Keys::parse(text).unwrap();
    assert_eq!(
        rotated.verify(&room('a'), &pass, None, NOW),
        Err(Refusal::Key)
    );
}
