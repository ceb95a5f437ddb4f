//! x
use super::{facts::Facts, language::Language};
/// x
pub fn poll(f: &Facts, admitted: bool, _: &Language) -> String {
    serde_json::json!({"cfWaitingRoom":{"inWaitingRoom": !admitted, "admitted": admitted, "position": f.position, "usersAhead": f.users_ahead, "refreshIntervalSeconds": f.refresh_interval_seconds, "state": format!("{:?}", f.state)}}).to_string()
}
/// x
pub fn waiting(f: &Facts, l: &Language) -> String {
    poll(f, false, l)
}
