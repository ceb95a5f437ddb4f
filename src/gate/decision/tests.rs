//! Every kind of visitor with every kind of request, as `docs/methods.md` has it.

mod methods;

use super::*;
use crate::gate::token::Token;
use crate::page::facts::Notice;
use crate::room::ledger::PLACE_KEPT;
use crate::room::snapshot::Ahead;
use crate::room::wait::{Pace, Promise};
use crate::site::room::{BindPass, Cookie, FirstPass, Room, RoomId, SameSite, Secure};

pub(super) const NOW: Instant = Instant::from_secs(1_800_000_000);
const LIFE: Incarnation = Incarnation::new(0x1a2b);
const EVERY: [Intent; 10] = [
    Intent::Poll,
    Intent::Leave,
    Intent::Preflight,
    Intent::Options,
    Intent::Prefetch,
    Intent::WebSocket,
    Intent::Head,
    Intent::Navigation,
    Intent::Form,
    Intent::Api,
];

pub(super) fn room() -> Room {
    let id: RoomId = serde_json::from_str("\"0123456789abcdef0123456789abcdef\"").unwrap();
    Room {
        id,
        name: "shop".to_owned(),
        description: String::new(),
        routes: Vec::new(),
        path_case_sensitive: true,
        cookie: Cookie {
            name: "__cfwaitingroom".to_owned(),
            domain: None,
            path: "/".to_owned(),
            samesite: SameSite::Auto,
            secure: Secure::Auto,
        },
        total_active_users: 10,
        new_users_per_minute: 10,
        session_max_minutes: None,
        queue_full_after_minutes: 1_440,
        session_duration_seconds: 300,
        disable_session_renewal: false,
        drain_over_limit: false,
        queue_all: false,
        queueing_method: QueueingMethod::Fifo,
        queueing_status_code: 200,
        custom_page_html: None,
        default_template_language: "en-US".to_owned(),
        json_response_enabled: false,
        suspended: false,
        revoke_enabled: false,
        fail_mode: FailMode::Closed,
        allowed_origins: Vec::new(),
        bind_pass: BindPass::None,
        first_pass: FirstPass::Auto,
        origin_assertion: false,
        strip_cookie: false,
        poll_far_seconds: 20,
        relay_above: 800,
        relay_shards: 1,
        poll_near_seconds: 5,
        queue_all_message: String::new(),
        rules: Vec::new(),
        events: Vec::new(),
        event: None,
    }
}

pub(super) fn number(value: u64) -> TicketNumber {
    TicketNumber::new(value).unwrap()
}

pub(super) fn visitor(standing: Standing) -> Visitor {
    let token = Token {
        standing,
        binding: None,
        embedded: false,
    };
    Visitor {
        token: Some(token),
        notice: None,
    }
}

fn admitted(age: u64) -> Standing {
    Standing::Admitted {
        number: number(5),
        incarnation: LIFE,
        issued: NOW - Span::from_secs(age),
        expires: NOW - Span::from_secs(age) + Span::from_secs(300),
        provisional: false,
    }
}

pub(super) fn waiting(value: u64, polled_ago: u64) -> Standing {
    Standing::Waiting {
        number: number(value),
        incarnation: LIFE,
        last_poll: NOW - Span::from_secs(polled_ago),
        expires: NOW - Span::from_secs(polled_ago) + PLACE_KEPT,
        joined: NOW - Span::from_secs(100),
        ahead_at_join: 9,
        promise: None,
    }
}

fn ticket() -> Standing {
    let issued = NOW - Span::from_secs(2);
    Standing::Ticket {
        id: TicketId::new(77),
        issued,
        expires: issued + TICKET_LIFE,
    }
}

/// Serving up to 20, somebody at every number up to 120.
pub(super) fn queueing() -> Snapshot {
    Snapshot {
        incarnation: LIFE,
        serving: 20,
        issued: 120,
        queueing: true,
        called: 0,
        ahead: vec![Ahead(21, 0), Ahead(121, 100)],
        admissions_per_minute: Some(10.0),
        ..Snapshot::default()
    }
}

fn open() -> Snapshot {
    Snapshot {
        incarnation: LIFE,
        serving: 4,
        issued: 4,
        ..Snapshot::default()
    }
}

pub(super) fn request<'a>(
    room: &'a Room,
    intent: Intent,
    visitor: Visitor,
    snapshot: Option<&'a Snapshot>,
) -> Request<'a> {
    Request {
        room,
        bypassed: false,
        intent,
        is_listed_origin: false,
        visitor,
        snapshot,
        reachable: true,
        now: NOW,
        new_ticket: TicketId::new(99),
        reserved: None,
    }
}

fn state(step: &Step) -> Option<State> {
    match step {
        Step::Answer(Answer {
            kind: Kind::Waits(state),
            ..
        }) => Some(*state),
        _ => None,
    }
}

fn answer(step: Step) -> Answer {
    match step {
        Step::Answer(answer) => answer,
        other => panic!("{other:?}"),
    }
}

#[test]
fn an_admitted_visitor_goes_through_whatever_they_want() {
    let (room, snapshot) = (room(), queueing());
    for intent in EVERY {
        let step = request(&room, intent, visitor(admitted(10)), Some(&snapshot)).decide();
        match intent {
            Intent::Poll => assert_eq!(answer(step).kind, Kind::MayEnter),
            Intent::Leave => assert!(matches!(step, Step::Ask(Message::Leave { .. }))),
            _ => assert_eq!(step, Step::Pass, "{intent:?}"),
        }
    }
}

#[test]
fn a_quarter_of_the_session_is_renewed_by_requests_that_count() {
    let (mut room, snapshot) = (room(), queueing());
    for intent in EVERY {
        let step = request(&room, intent, visitor(admitted(75)), Some(&snapshot)).decide();
        let renews = matches!(step, Step::PassAndRenew(..));
        let counts = matches!(intent, Intent::Navigation | Intent::Form | Intent::Api);
        assert_eq!(renews, counts, "{intent:?}");
    }
    let due = |room: &Room, age| renewal_is_due(room, &admitted(age), NOW);
    assert!(!due(&room, 74));
    assert!(due(&room, 75));
    room.disable_session_renewal = true;
    assert!(!due(&room, 299));
    let provisional = Standing::Admitted {
        number: number(5),
        incarnation: LIFE,
        issued: NOW,
        expires: NOW + Span::from_secs(60),
        provisional: true,
    };
    assert!(
        renewal_is_due(&room, &provisional, NOW),
        "a first pass is made whole even so"
    );
}

#[test]
fn a_newcomer_asks_for_a_slot_while_the_room_is_open() {
    let room = room();
    let open = open();
    for snapshot in [None, Some(&open)] {
        for intent in EVERY {
            let step = request(&room, intent, Visitor::NEWCOMER, snapshot).decide();
            match intent {
                Intent::Poll | Intent::Navigation | Intent::Form | Intent::Api => {
                    let ticket = TicketId::new(99);
                    let arrive = Message::Arrive {
                        ticket,
                        returning: false,
                    };
                    assert_eq!(step, Step::Ask(arrive), "{intent:?}");
                }
                Intent::Leave => assert_eq!(state(&step), Some(State::Left)),
                Intent::Prefetch => assert_eq!(answer(step).kind, Kind::Speculative),
                Intent::WebSocket => assert_eq!(answer(step).kind, Kind::NoSocket),
                Intent::Head | Intent::Options | Intent::Preflight => {
                    assert_eq!(step, Step::Pass, "{intent:?}");
                }
            }
        }
    }
}

#[test]
fn a_newcomer_alone_gets_a_reserved_pass_and_only_to_go_to_the_site() {
    let (room, open) = (room(), open());
    let queueing = Snapshot {
        queueing: true,
        ..open.clone()
    };
    let pass = admitted(0);
    let with = |intent, visitor, snapshot| {
        let request = Request {
            reserved: Some(pass),
            ..request(&room, intent, visitor, snapshot)
        };
        request.decide()
    };
    for intent in [Intent::Navigation, Intent::Form, Intent::Api] {
        let step = with(intent, Visitor::NEWCOMER, Some(&open));
        assert_eq!(step, Step::Admit(pass), "{intent:?}");
    }
    for intent in EVERY {
        if !intent.counts() || intent == Intent::Poll {
            let step = with(intent, Visitor::NEWCOMER, Some(&open));
            assert_ne!(step, Step::Admit(pass), "{intent:?}");
        }
        for held in [ticket(), waiting(5, 20), admitted(0)] {
            let step = with(intent, visitor(held), Some(&open));
            assert_ne!(step, Step::Admit(pass), "{intent:?} with {held:?}");
        }
        let step = with(intent, Visitor::NEWCOMER, Some(&queueing));
        assert_ne!(step, Step::Admit(pass), "{intent:?} while others wait");
    }
}

/// Whoever a rule lets pass has left the page to poll: it is called in, and the room does not hear of it.
#[test]
fn the_page_of_who_passes_by_is_called_in() {
    let (room, snapshot) = (room(), queueing());
    for held in [
        None,
        Some(ticket()),
        Some(waiting(5, 20)),
        Some(admitted(0)),
    ] {
        let visitor = held.map_or(Visitor::NEWCOMER, visitor);
        let request = Request {
            bypassed: true,
            ..request(&room, Intent::Poll, visitor, Some(&snapshot))
        };
        let answer = answer(request.decide());
        assert_eq!(answer.kind, Kind::MayEnter, "{held:?}");
        assert_eq!(answer.cookie, Change::Keep, "{held:?}");
    }
}

#[test]
fn a_newcomer_gets_a_ticket_without_a_call_while_the_room_queues() {
    let (room, snapshot) = (room(), queueing());
    for intent in EVERY {
        let step = request(&room, intent, Visitor::NEWCOMER, Some(&snapshot)).decide();
        match intent {
            Intent::Poll | Intent::Navigation | Intent::Form | Intent::Api => {
                let answer = answer(step);
                assert_eq!(answer.kind, Kind::Waits(State::Joining), "{intent:?}");
                assert!(
                    matches!(answer.cookie, Change::Set(Standing::Ticket { id, expires, .. })
                    if id == TicketId::new(99) && expires == NOW + TICKET_LIFE)
                );
                assert_eq!(answer.refresh_seconds, 2);
                let sent = (intent == Intent::Form).then_some(Notice::NothingSent);
                assert_eq!(answer.notice, sent);
            }
            Intent::Head => {
                let answer = answer(step);
                assert_eq!(answer.kind, Kind::Waits(State::Joining));
                assert_eq!(answer.cookie, Change::Keep, "HEAD takes no place");
            }
            Intent::Leave => assert_eq!(state(&step), Some(State::Left)),
            Intent::Prefetch => assert_eq!(answer(step).kind, Kind::Speculative),
            Intent::WebSocket => assert_eq!(answer(step).kind, Kind::NoSocket),
            Intent::Options | Intent::Preflight => assert_eq!(step, Step::Pass),
        }
    }
    let mut preflight = request(&room, Intent::Preflight, Visitor::NEWCOMER, Some(&snapshot));
    preflight.is_listed_origin = true;
    assert_eq!(preflight.decide(), Step::Preflight);
}

#[test]
fn a_ticket_is_brought_back_for_a_number_whatever_the_snapshot_says() {
    let room = room();
    let queueing = queueing();
    for snapshot in [None, Some(&queueing)] {
        let step = request(&room, Intent::Navigation, visitor(ticket()), snapshot).decide();
        let arrive = Message::Arrive {
            ticket: TicketId::new(77),
            returning: true,
        };
        assert_eq!(step, Step::Ask(arrive));
        let head = request(&room, Intent::Head, visitor(ticket()), snapshot).decide();
        assert_eq!(answer(head).cookie, Change::Keep);
    }
}

#[test]
fn a_poll_counts_once_an_interval_and_an_early_one_changes_nothing() {
    let (room, snapshot) = (room(), queueing());
    // 121 has 100 ahead at 10 a minute: far, so every 20 seconds.
    for (ago, counts) in [(0, false), (5, false), (17, false), (18, true), (200, true)] {
        let step = request(
            &room,
            Intent::Poll,
            visitor(waiting(121, ago)),
            Some(&snapshot),
        )
        .decide();
        let answer = answer(step);
        assert_eq!(answer.kind, Kind::Waits(State::Queueing));
        assert_eq!(answer.users_ahead, Some(100));
        assert_eq!(answer.refresh_seconds, 20);
        if counts {
            assert_eq!(answer.last_updated, NOW);
            assert_eq!(
                told(answer.cookie, 121),
                Some(Span::from_secs(606)),
                "{ago} s"
            );
        } else {
            assert_eq!(answer.cookie, Change::Keep, "{ago} s");
            assert_eq!(answer.last_updated, NOW - Span::from_secs(ago));
        }
    }
    // 23 has two ahead: near.
    let near = request(
        &room,
        Intent::Poll,
        visitor(waiting(23, 5)),
        Some(&snapshot),
    )
    .decide();
    let near = answer(near);
    assert_eq!(near.refresh_seconds, 5);
    assert_eq!(told(near.cookie, 23), Some(Span::from_secs(18)));
}

fn minutes(minutes: u64) -> Span {
    Span::from_secs(60 * minutes)
}

/// The wait that the cookie of a place at `number` remembers, which was polled for now and is else as
/// it was.
fn told(cookie: Change, value: u64) -> Option<Span> {
    let Change::Set(Standing::Waiting { promise, .. }) = cookie else {
        panic!("{cookie:?}");
    };
    assert_eq!(cookie, Change::Set(remembering(waiting(value, 0), promise)));
    promise.map(|promise| promise.likely)
}

fn remembering(place: Standing, promise: Option<Promise>) -> Standing {
    let mut place = place;
    if let Standing::Waiting { promise: held, .. } = &mut place {
        *held = promise;
    }
    place
}

#[test]
fn a_wait_that_was_told_does_not_rise_until_it_is_clearly_longer() {
    let room = room();
    let first = Promise {
        likely: minutes(8),
        most: minutes(9),
    };
    let asks = |snapshot: &Snapshot, ago| {
        let place = remembering(waiting(121, ago), Some(first));
        answer(request(&room, Intent::Poll, visitor(place), Some(snapshot)).decide())
    };
    // 100 people at so many calls a minute.
    let paced = |calls: u32| Snapshot {
        pace: Some(Pace {
            calls_per_hour: 60 * calls,
            ..Pace::default()
        }),
        ..queueing()
    };
    let wait = |snapshot: &Snapshot| told(asks(snapshot, 20).cookie, 121);
    // 551 seconds are no more than eight minutes, an eighth of them, and one; 673 are.
    assert_eq!(wait(&paced(11)), Some(minutes(8)));
    assert_eq!(wait(&paced(9)).map(Span::as_secs), Some(673));
    assert_eq!(wait(&paced(202)), Some(Span::from_secs(30)));
    let early = asks(&paced(9), 5);
    assert_eq!(early.cookie, Change::Keep);
    let held = early.holds;
    assert_eq!(
        held,
        Some(remembering(waiting(121, 5), Some(first))),
        "told again"
    );
}

#[test]
fn a_called_visitor_claims_and_not_more_than_once_a_second() {
    let (room, snapshot) = (room(), queueing());
    for intent in [Intent::Poll, Intent::Navigation, Intent::Form, Intent::Api] {
        let step = request(&room, intent, visitor(waiting(20, 5)), Some(&snapshot)).decide();
        assert!(
            matches!(step, Step::Ask(Message::Claim { .. })),
            "{intent:?}"
        );
        let step = request(&room, intent, visitor(waiting(20, 0)), Some(&snapshot)).decide();
        assert_eq!(state(&step), Some(State::Called), "{intent:?}");
    }
    let head = request(
        &room,
        Intent::Head,
        visitor(waiting(20, 5)),
        Some(&snapshot),
    )
    .decide();
    assert_eq!(answer(head).cookie, Change::Keep);
}

#[test]
fn what_the_room_replies_becomes_what_the_visitor_holds() {
    let (room, snapshot) = (room(), queueing());
    let asked = |intent, held| request(&room, intent, visitor(held), Some(&snapshot));
    let expires = NOW + Span::from_secs(300);
    let reply = Reply::Admitted {
        number: number(20),
        expires,
        provisional: false,
    };
    let outcome = asked(Intent::Navigation, waiting(20, 5)).settle(reply, &snapshot);
    assert!(
        matches!(outcome, Outcome::Pass(Some(Standing::Admitted { expires: e, .. }))
        if e == expires)
    );
    let Outcome::Answer(told) = asked(Intent::Poll, waiting(20, 5)).settle(reply, &snapshot) else {
        panic!("a poll is never forwarded");
    };
    assert_eq!(told.kind, Kind::MayEnter);
    assert!(matches!(
        told.cookie,
        Change::Set(Standing::Admitted { .. })
    ));

    let reply = Reply::Waiting {
        number: number(130),
        joined: Some(NOW),
        ahead: None,
    };
    let Outcome::Answer(told) = asked(Intent::Navigation, ticket()).settle(reply, &snapshot) else {
        panic!("not let in");
    };
    assert_eq!(told.kind, Kind::Waits(State::Queueing));
    assert!(matches!(
        told.cookie,
        Change::Set(Standing::Waiting {
            ahead_at_join: 109,
            ..
        })
    ));

    let reply = Reply::AtDoor {
        number: number(20),
        ahead: 3,
    };
    let Outcome::Answer(told) = asked(Intent::Poll, waiting(20, 5)).settle(reply, &snapshot) else {
        panic!("not let in");
    };
    assert_eq!(told.kind, Kind::Waits(State::Called));
    assert_eq!((told.users_ahead, told.refresh_seconds), (Some(3), 2));
    assert_eq!(
        told.cookie,
        Change::Set(waiting(20, 0)),
        "joined and ahead then are kept"
    );

    let Outcome::Answer(told) = asked(Intent::Leave, admitted(10)).settle(Reply::Over, &snapshot)
    else {
        panic!("leaving is answered at the edge");
    };
    assert_eq!(
        (told.kind, told.cookie),
        (Kind::Waits(State::Left), Change::Clear)
    );
}

#[test]
fn an_unreachable_room_holds_or_lets_pass_and_keeps_every_place() {
    let (mut room, snapshot) = (room(), queueing());
    let cut_off = |room: &Room, intent, who: Visitor| {
        request(room, intent, who, Some(&snapshot)).unanswered()
    };
    let Outcome::Answer(told) = cut_off(&room, Intent::Navigation, Visitor::NEWCOMER) else {
        panic!("fails closed");
    };
    assert_eq!(told.kind, Kind::Waits(State::Unavailable));
    assert!(matches!(told.cookie, Change::Set(Standing::Ticket { .. })));
    assert_eq!(told.refresh_seconds, 20);
    let Outcome::Answer(told) = cut_off(&room, Intent::Poll, visitor(waiting(20, 30))) else {
        panic!("fails closed");
    };
    assert_eq!(
        told.cookie,
        Change::Set(waiting(20, 0)),
        "the place outlives the outage"
    );

    room.fail_mode = FailMode::Open;
    let outcome = cut_off(&room, Intent::Navigation, Visitor::NEWCOMER);
    assert_eq!(outcome, Outcome::Pass(None), "no pass is given");
    let Outcome::Answer(told) = cut_off(&room, Intent::Poll, visitor(waiting(20, 30))) else {
        panic!("a poll is never forwarded");
    };
    assert_eq!((told.kind, told.cookie), (Kind::MayEnter, Change::Keep));
    let mut waits = request(
        &room,
        Intent::Navigation,
        visitor(waiting(121, 30)),
        Some(&snapshot),
    );
    waits.reachable = false;
    assert_eq!(waits.decide(), Step::Pass);
}

#[test]
fn reject_shows_its_page_without_a_refresh_and_takes_no_place() {
    let mut room = room();
    room.queueing_method = QueueingMethod::Reject;
    let told = answer(request(&room, Intent::Navigation, Visitor::NEWCOMER, None).decide());
    assert_eq!(
        (told.kind, told.cookie),
        (Kind::Waits(State::Rejecting), Change::Keep)
    );
    assert_eq!(told.refresh_seconds, 0);
    let held = visitor(waiting(121, 100));
    let told = answer(request(&room, Intent::Navigation, held, None).decide());
    assert_eq!(
        told.cookie,
        Change::Set(waiting(121, 0)),
        "a place from before is kept"
    );
    let step = request(&room, Intent::Navigation, visitor(admitted(10)), None).decide();
    assert_eq!(step, Step::Pass, "sessions go on");
}

#[test]
fn queue_all_holds_newcomers_whatever_the_method_is() {
    let mut room = room();
    room.queue_all = true;
    let snapshot = queueing();
    for method in [
        QueueingMethod::Fifo,
        QueueingMethod::Passthrough,
        QueueingMethod::Reject,
    ] {
        room.queueing_method = method;
        let step = request(
            &room,
            Intent::Navigation,
            Visitor::NEWCOMER,
            Some(&snapshot),
        )
        .decide();
        let told = answer(step);
        assert_eq!(told.kind, Kind::Waits(State::QueueAll), "{method:?}");
        assert!(matches!(told.cookie, Change::Set(Standing::Ticket { .. })));
    }
}
