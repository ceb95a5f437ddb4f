// What is published of the atlas in KV.

/** As long as the runtime may keep what it has read, in seconds: its least. */
const KEPT = 60;

/**
 * Reads hints, findings and, if they are wanted, ranges of addresses.
 *
 * @param {KVNamespace | undefined} namespace
 * @param {boolean} ranges
 * @returns {Promise<[string | null, string | null, Uint8Array | null]>}
 */
export async function readKnowledge(namespace, ranges) {
  if (!namespace) return [null, null, null];
  const [hints, findings, bytes] = await Promise.all([
    namespace.get("hints", { cacheTtl: KEPT }),
    namespace.get("atlas", { cacheTtl: KEPT }),
    ranges ? namespace.get("ranges", { cacheTtl: KEPT, type: "arrayBuffer" }) : null,
  ]);
  return [hints, findings, bytes && new Uint8Array(bytes)];
}
