// Calls to upper tiers. A body is a stream that this code never looks into.

/** Whatever answers for a Durable Object: one of this name, made near the hint if it is new. */
export function objectOf(namespace, name, locationHint) {
  return namespace.getByName(name, { locationHint });
}

/** A request to a tier, which can be given up. */
export class TierCall {
  #controller = new AbortController();

  /**
   * @param {{fetch: typeof fetch} | undefined} target A service binding or the stub of an object.
   * @param {Request} request
   * @param {string} marker What shows the tier who asks.
   */
  constructor(target, request, marker) {
    this.response = this.#send(target, request, marker);
    // Who has given up does not listen any more.
    this.response.catch(() => {});
  }

  async #send(target, request, marker) {
    if (!target) throw new Error("there is no such binding");
    const call = new Request(request, { signal: this.#controller.signal });
    call.headers.set("Anteroom-Tier", marker);
    // Compressed bodies stay compressed.
    return target.fetch(call, { encodeResponseBody: "manual" });
  }

  /** Gives up. */
  stop() {
    this.#controller.abort();
  }
}
