//! What the attacks on the API share: an API with a room, a token to read and one to write.

use anteroom::atlas::Knowledge;
use anteroom::control::access::Access;
use anteroom::control::api::{Answer, Moment, Outcome, Request, answer, cloud_regions};
use anteroom::control::audit::Trail;
use anteroom::control::rate::Buckets;
use anteroom::control::{Configuration, Surroundings};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::support::NOW;

pub(crate) const READ: &str = "read-0123456789abcdef0123456789abcdef";
pub(crate) const WRITE: &str = "write-0123456789abcdef0123456789abcdef";
pub(crate) const ROOMS: &str = "/client/v4/zones/0000000000000000000000000000000a/waiting_rooms";

pub(crate) struct Api {
    pub(crate) configuration: Configuration,
    access: Access,
    buckets: Buckets,
    calls: u8,
}

impl Api {
    pub(crate) fn new() -> Self {
        let token = |scope: &str, token: &str| {
            let digest = Sha256::digest(token);
            let hash: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
            json!({ "name": scope, "scope": scope, "sha256": hash })
        };
        let secret = json!({
            "zone_id": "0000000000000000000000000000000a",
            "account_id": "0000000000000000000000000000000b",
            "zone_names": ["example.com"],
            "tokens": [token("read", READ), token("write", WRITE)],
        });
        let mut api = Self {
            configuration: Configuration::default(),
            access: Access::parse(&secret.to_string()).unwrap(),
            buckets: Buckets::default(),
            calls: 0,
        };
        assert_eq!(api.send(&request("POST", ROOMS, room())).status, 200);
        api
    }

    /// The path of the room.
    pub(crate) fn room(&self) -> String {
        format!("{ROOMS}/{}", self.configuration.rooms[0].id)
    }

    /// Sends a request and gives the answer, whatever it leaves to be done.
    pub(crate) fn send(&mut self, request: &Request) -> Answer {
        self.calls = self.calls.wrapping_add(1);
        let languages = ["en-US".to_owned()];
        let zones = self.access.zone_names().to_vec();
        let moment = Moment {
            now: NOW,
            random: [self.calls; 32],
            around: Surroundings {
                zones: &zones,
                languages: &languages,
            },
            keys: &[],
            site: None,
        };
        let (configuration, buckets) = (&mut self.configuration, &mut self.buckets);
        match answer(configuration, &self.access, buckets, request, moment) {
            Outcome::Answer(answer) | Outcome::KeepPreview { answer, .. } => answer,
            Outcome::Room(call) => call.answer(None),
            Outcome::Metrics(call) => call.answer(Vec::new()),
            Outcome::Audit(call) => call.answer(None),
            Outcome::ShowPreview { show, .. } => show.answer(None),
            Outcome::CloudRegions(call) => {
                let (mut knowledge, mut trail) = (Knowledge::default(), Trail::default());
                cloud_regions::answer(&mut knowledge, &mut trail, call, NOW)
            }
        }
    }
}

pub(crate) fn room() -> Value {
    json!({
        "name": "sale", "host": "shop.example.com",
        "total_active_users": 300, "new_users_per_minute": 200,
    })
}

/// A request as an official client sends it, with the token that may write.
pub(crate) fn request(method: &str, path: &str, body: Value) -> Request {
    Request {
        method: method.into(),
        origin: "https://api.example.com".into(),
        path: path.into(),
        authorization: Some(format!("Bearer {WRITE}")),
        content_type: Some("application/json".into()),
        body: body.to_string().into_bytes(),
        ..Request::default()
    }
}
