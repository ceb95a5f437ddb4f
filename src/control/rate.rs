//! How often the API may be called.

use std::collections::HashMap;

use crate::time::{Instant, Span};

/// As many calls as Cloudflare allows a user: 1,200 in five minutes.
const CALLS: Limit = Limit {
    every: Span::from_millis(250),
    burst: Span::from_secs(300),
};
/// Calls without a token that is known, from all the world: 60 in a minute.
const STRANGERS: Limit = Limit {
    every: Span::from_secs(1),
    burst: Span::from_secs(60),
};
/// Looks at previews, which are open to strangers: ten a second.
const PREVIEWS: Limit = Limit {
    every: Span::from_millis(100),
    burst: Span::from_secs(30),
};

struct Limit {
    every: Span,
    burst: Span,
}

/// The calls of the last minutes. Its owner keeps it in memory alone: after a restart all is allowed
/// again.
#[derive(Clone, Debug, Default)]
pub struct Buckets {
    tokens: HashMap<String, Instant>,
    strangers: Instant,
    previews: Instant,
}

impl Buckets {
    /// Counts a call with the token of that name.
    pub(super) fn call(&mut self, token: &str, now: Instant) -> Result<(), Span> {
        // Only tokens that are known get here, so there are no more entries than tokens.
        let bucket = self.tokens.entry(token.to_owned()).or_default();
        take(bucket, CALLS, now)
    }

    /// Counts a call without a token that is known.
    pub(super) fn stranger(&mut self, now: Instant) -> Result<(), Span> {
        take(&mut self.strangers, STRANGERS, now)
    }

    /// Counts a look at a preview.
    pub(super) fn preview(&mut self, now: Instant) -> Result<(), Span> {
        take(&mut self.previews, PREVIEWS, now)
    }
}

/// The generic cell rate algorithm: the bucket is when the calls up to now would be over if they had
/// come evenly. Fails with the time to wait.
fn take(bucket: &mut Instant, limit: Limit, now: Instant) -> Result<(), Span> {
    let over = (*bucket).max(now) + limit.every;
    let ahead = over.since(now);
    if ahead > limit.burst {
        return Err(Span::from_millis(
            ahead.as_millis().saturating_sub(limit.burst.as_millis()),
        ));
    }
    *bucket = over;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_has_1200_calls_in_five_minutes_and_another_its_own() {
        let (mut buckets, now) = (Buckets::default(), Instant::from_secs(1_000_000));
        let passed = (0..2000).filter(|_| buckets.call("a", now).is_ok()).count();
        assert_eq!(passed, 1200);
        assert_eq!(buckets.call("a", now), Err(Span::from_millis(250)));
        assert_eq!(buckets.call("b", now), Ok(()));
        assert_eq!(buckets.call("a", now + Span::from_millis(250)), Ok(()));
    }

    #[test]
    fn guesses_do_not_lock_out_whoever_knows() {
        let (mut buckets, now) = (Buckets::default(), Instant::from_secs(1_000_000));
        let passed = (0..2000).filter(|_| buckets.stranger(now).is_ok()).count();
        assert_eq!(passed, 60);
        assert_eq!(buckets.call("a", now), Ok(()));
    }
}
