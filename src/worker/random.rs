//! Random numbers.

use std::cell::RefCell;

use super::clock;

/// So many random numbers are fetched at once: drawing one costs a crossing to the runtime.
const DRAWN: usize = 64;

thread_local! {
    static RANDOM: RefCell<Vec<u64>> = const { RefCell::new(Vec::new()) };
}

/// 64 random bits, given out once. Without a source of them the clock has to do: a ticket's id is no
/// secret, it only has to be no other visitor's.
pub(super) fn random() -> u64 {
    RANDOM.with_borrow_mut(|drawn| {
        if drawn.is_empty() {
            let mut bytes = [0; DRAWN * 8];
            if getrandom::fill(&mut bytes).is_ok() {
                let (numbers, _) = bytes.as_chunks();
                drawn.extend(numbers.iter().copied().map(u64::from_le_bytes));
            }
        }
        drawn
            .pop()
            .unwrap_or_else(|| clock::now().as_millis() << 20)
    })
}
