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

/**
 * Status and header fields of an answer, each on a line.
 *
 * @param {Response} response
 */
export function describe(response) {
  let lines = `${response.status}\n`;
  for (const [name, value] of response.headers) lines += `${name}:${value}\n`;
  return lines;
}

/**
 * An answer of this status and these fields, with a body that goes along as it is.
 *
 * @param {number} status
 * @param {string} head Lines of `name:value`.
 * @param {ReadableStream | null} body
 */
export function compose(status, head, body) {
  const headers = new Headers();
  for (const line of head.split("\n")) {
    const colon = line.indexOf(":");
    if (colon > 0) headers.append(line.slice(0, colon), line.slice(colon + 1));
  }
  return new Response(body, { status, headers, encodeBody: "manual" });
}

/**
 * The same answer with a field set. The body goes along as the stream it is.
 *
 * @param {Response} response
 * @param {string} name
 * @param {string} value
 */
export function withField(response, name, value) {
  const changed = new Response(response.body, response);
  changed.headers.set(name, value);
  return changed;
}
