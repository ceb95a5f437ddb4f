//! The API on localhost, without a Worker: the same code, with an empty configuration in memory, rooms
//! that nobody visits, and nothing published. To try clients with, and for their tests.
//!
//!     cargo run --example api -- 8790
//!
//! The token `write-0123456789abcdef0123456789abcdef` may write, `read-0123456789abcdef0123456789abcdef`
//! may read; the zone is 0000000000000000000000000000000a, the account 0000000000000000000000000000000b.
#![cfg(not(target_arch = "wasm32"))]

use std::collections::HashMap;
use std::error::Error;
use std::io::Read as _;
use std::time::{SystemTime, UNIX_EPOCH};

use anteroom::atlas::Knowledge;
use anteroom::atlas::region_places::RegionPlaces;
use anteroom::control::access::Access;
use anteroom::control::api::{
    self, Answer, MOST_BODY, Moment, Outcome, Request, Sent, cloud_regions,
};
use anteroom::control::audit::Trail;
use anteroom::control::rate::Buckets;
use anteroom::control::{Configuration, Surroundings};
use anteroom::page::language;
use anteroom::room::figures::told::{self, Question};
use anteroom::room::message;
use anteroom::room::position::Position;
use anteroom::room::snapshot::Snapshot;
use anteroom::time::Instant;
use sha2::{Digest, Sha256};
use tiny_http::{Header, Server};

fn main() -> Result<(), Box<dyn Error>> {
    let port = std::env::args().nth(1).unwrap_or_else(|| "8790".into());
    let server = Server::http(format!("127.0.0.1:{port}")).map_err(|error| error.to_string())?;
    println!("listening on http://{}", server.server_addr());
    let access = Access::parse(&secret())?;
    let languages: Vec<String> = language::all()
        .iter()
        .map(|one| one.tag.to_owned())
        .collect();
    let around = Surroundings {
        zones: access.zone_names(),
        languages: &languages,
    };
    let keys = ["k2".to_owned(), "k1".to_owned()];
    let mut configuration = Configuration::default();
    let mut buckets = Buckets::default();
    let mut previews = HashMap::new();
    let mut of_hints = Trail::default();
    let mut atlas = Knowledge {
        places: RegionPlaces::packed()?.into(),
        ..Knowledge::default()
    };
    for mut incoming in server.incoming_requests() {
        let request = read(&mut incoming)?;
        let now = now()?;
        let mut random = [0; 32];
        fastrand::fill(&mut random);
        let moment = Moment {
            now,
            random,
            around,
            keys: &keys,
            site: None,
        };
        // A test sends more in a minute than a person does in an hour.
        if std::env::var_os("WITHOUT_LIMIT").is_some() {
            buckets = Buckets::default();
        }
        let outcome = api::answer(&mut configuration, &access, &mut buckets, &request, moment);
        let answer = match outcome {
            Outcome::Answer(answer) => answer,
            Outcome::Room(call) => match call.sent() {
                Sent::Request(request) => call.answer(Some(&unvisited(&request, now))),
                Sent::Question(Question::Series(window)) => {
                    call.told(Some(&told::Answer::Series(window.answer([]))))
                }
                Sent::Question(_) => call.told(None),
            },
            Outcome::Metrics(call) => call.answer(call.rooms.iter().map(|_| None).collect()),
            Outcome::KeepPreview {
                id, html, answer, ..
            } => {
                previews.insert(id, html);
                answer
            }
            Outcome::CloudRegions(call) => {
                cloud_regions::answer(&mut atlas, &mut of_hints, call, now)
            }
            Outcome::Audit(call) => call.answer(Some(&of_hints)),
            Outcome::ShowPreview { id, show } => show.answer(previews.get(&id).map(String::as_str)),
        };
        // A client that has gone is no concern of the others.
        drop(incoming.respond(written(answer)));
    }
    Ok(())
}

/// What a room answers that nobody has visited.
fn unvisited(request: &message::Request, now: Instant) -> message::Response {
    let snapshot = Snapshot {
        taken: now,
        ..Snapshot::default()
    };
    message::Response {
        version: message::VERSION,
        replies: vec![message::Reply::Found(Position::NeverGiven); request.messages.len()],
        life: None,
        snapshot: Some(snapshot.into()),
    }
}

fn secret() -> String {
    let token = |scope: &str| {
        let token = format!("{scope}-0123456789abcdef0123456789abcdef");
        let digest = Sha256::digest(token);
        let hash: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
        serde_json::json!({ "name": scope, "scope": scope, "sha256": hash })
    };
    serde_json::json!({
        "zone_id": "0000000000000000000000000000000a",
        "account_id": "0000000000000000000000000000000b",
        "zone_names": ["example.com"],
        "tokens": [token("read"), token("write")],
    })
    .to_string()
}

fn read(incoming: &mut tiny_http::Request) -> Result<Request, Box<dyn Error>> {
    let header = |name: &'static str| {
        let mut headers = incoming.headers().iter();
        let found = headers.find(|header| header.field.equiv(name));
        found.map(|header| header.value.to_string())
    };
    let (authorization, content_type) = (header("Authorization"), header("Content-Type"));
    let origin = format!("http://{}", header("Host").unwrap_or_default());
    let url = incoming.url().to_owned();
    let (path, query) = url.split_once('?').unwrap_or((&url, ""));
    let mut body = Vec::new();
    let most = u64::try_from(MOST_BODY)? + 1;
    incoming.as_reader().take(most).read_to_end(&mut body)?;
    Ok(Request {
        method: incoming.method().to_string(),
        origin,
        path: path.to_owned(),
        query: query.to_owned(),
        authorization,
        content_type,
        body,
    })
}

fn written(answer: Answer) -> tiny_http::Response<std::io::Cursor<Vec<u8>>> {
    let mut response = tiny_http::Response::from_string(answer.body);
    response = response.with_status_code(answer.status);
    for (name, value) in answer.headers {
        if let Ok(header) = Header::from_bytes(name, value) {
            response.add_header(header);
        }
    }
    response
}

fn now() -> Result<Instant, Box<dyn Error>> {
    let since = SystemTime::now().duration_since(UNIX_EPOCH)?;
    Ok(Instant::from_millis(u64::try_from(since.as_millis())?))
}
