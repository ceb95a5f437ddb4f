// The data centre's cache, as a store of answers that are judged elsewhere.
//
// What the runtime's cache makes of an answer's own header fields is not what RFC 9111 says: it forgets an
// answer that has become stale, it keeps none with a status of 206, it knows no Vary. So an answer's status
// and fields are put aside into one field of ours, the answer is stored as plain bytes with a lifetime that
// we choose, and what comes back gets its own fields again. Compressed bodies stay compressed.

const CACHE = "anteroom-answers";

/** Holds what is put aside: JSON as Base64, because values may be any bytes. */
const KEPT = "Anteroom-Kept";

/**
 * Finds what lies in a place; undefined if nothing does, or the runtime has no cache.
 *
 * @param {string} place
 * @param {string} [range] A part alone, as `Range` has it.
 */
export async function find(place, range) {
  try {
    const cache = await caches.open(CACHE);
    const headers = range === undefined ? undefined : { Range: range };
    return await cache.match(new Request(place, { headers }));
  } catch {
    return undefined;
  }
}

/**
 * What was put aside of an answer that was found, and the part that it is: `kept`, a line feed, and the
 * `Content-Range` of a part. Empty if it is not ours.
 *
 * @param {Response} response
 */
export function kept(response) {
  const { status, headers } = response;
  if (status !== 200 && status !== 206) return "";
  return `${headers.get(KEPT) ?? ""}\n${(status === 206 && headers.get("Content-Range")) || ""}`;
}

/**
 * Puts an answer into a place.
 *
 * @param {string} place
 * @param {string} kept
 * @param {number} seconds How long it is kept.
 * @param {ReadableStream | null} body
 * @param {number} [length] Of the body. Without it no part can be cut from it later.
 */
export async function put(place, kept, seconds, body, length) {
  const cache = await caches.open(CACHE);
  const headers = { "Cache-Control": `max-age=${seconds}`, "Content-Type": "application/octet-stream", [KEPT]: kept };
  if (body && length !== undefined) body = body.pipeThrough(new FixedLengthStream(length));
  await cache.put(place, new Response(body, { headers, encodeBody: "manual" }));
}

/**
 * Empties places.
 *
 * @param {string[]} places
 */
export async function remove(places) {
  try {
    const cache = await caches.open(CACHE);
    await Promise.all(places.map((place) => cache.delete(place)));
  } catch {
    // Without a cache there is nothing to remove.
  }
}
