// Chance that can be repeated: everything a run draws comes from one seed.

/** Numbers in [0, 1) from a 32-bit seed: mulberry32 by Tommy Ettinger (public domain). */
export function seeded(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** A number in [low, high). */
export const between = (random, low, high) => low + random() * (high - low);

/** A whole number from `low` to `high`, both included. */
export const whole = (random, low, high) => Math.floor(between(random, low, high + 1));
