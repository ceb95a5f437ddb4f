// What the shell wants of the runtime, each in one crossing: a crossing costs about a microsecond where
// the code is warm and several where it is not, and most of what is done here would take ten.

/**
 * Several header fields at once. Each is a line: empty for a field that is absent, else `=` and the
 * value, which can hold no line feed (Fetch standard, "header value").
 *
 * @param {Request} request
 * @param {string[]} names
 */
export function readFields(request, names) {
  const { headers } = request;
  let lines = "";
  for (const name of names) {
    const value = headers.get(name);
    lines += value === null ? "\n" : `=${value}\n`;
  }
  return lines;
}

/**
 * What bypass rules need of a request, in the same form. A name is that of a header field, or the way to
 * a property: `["cf", "country"]`.
 *
 * @param {Request} request
 * @param {(string | string[])[]} names
 */
export function readFacts(request, names) {
  const { headers } = request;
  // The runtime makes it when it is asked for, from a text of several kilobytes.
  let cf;
  let lines = "";
  for (const name of names) {
    let value;
    if (typeof name === "string") value = headers.get(name);
    else if (name[0] === "cf") value = oneLine(within((cf ??= request.cf ?? {}), name));
    else value = request[name[0]];
    lines += value === null || value === undefined ? "\n" : `=${value}\n`;
  }
  return lines;
}

/** What the way after its first step leads to. */
function within(value, way) {
  for (let step = 1; step < way.length; step += 1) value = value?.[way[step]];
  return value;
}

/** A value with a line feed in it, which no header field can hold, would be taken for two. */
const oneLine = (value) => (value === null || value === undefined ? value : String(value).replaceAll("\n", " "));

/**
 * All header fields, each a line of `name:value`; names are in lower case.
 *
 * @param {Request | Response} message
 */
export function allFields(message) {
  let lines = "";
  for (const [name, value] of message.headers) lines += `${name}:${value}\n`;
  return lines;
}

/**
 * Fetches, and leaves the body of the answer as it came: compressed, if it was. Else the runtime would
 * unpack it wherever it is read, and pack it anew.
 *
 * @param {Request} request
 */
export function fetchAsItComes(request) {
  return fetch(request, { encodeResponseBody: "manual" });
}

/** Answers have few different heads; more than these are forgotten. */
const MOST_HEADS = 256;
const heads = new Map();

/** Header fields from lines of `name:value`. */
function parsed(head) {
  const headers = new Headers();
  for (const line of head.split("\n")) {
    const colon = line.indexOf(":");
    if (colon > 0) headers.append(line.slice(0, colon), line.slice(colon + 1));
  }
  return headers;
}

/** The same of a head that comes again. Copying such an object is cheaper than making one. */
function headersOf(head) {
  let headers = heads.get(head);
  if (!headers) {
    headers = parsed(head);
    if (heads.size >= MOST_HEADS) heads.clear();
    heads.set(head, headers);
  }
  return headers;
}

/**
 * An answer of ours.
 *
 * @param {number} status
 * @param {string} head Lines of `name:value`.
 * @param {string} [cookie] The value of `Set-Cookie`, which is another for each visitor.
 * @param {string | Uint8Array} [body]
 */
export function respond(status, head, cookie, body) {
  const response = new Response(body ?? null, { status, headers: headersOf(head) });
  if (cookie !== undefined) response.headers.append("Set-Cookie", cookie);
  return response;
}

/**
 * The origin's answer with a cookie of ours. The body goes along as the stream it is.
 *
 * @param {Response} response
 * @param {string} cookie
 * @param {string} cacheControl
 * @param {string[]} removed Fields that are taken out.
 */
export function withCookie(response, cookie, cacheControl, removed) {
  const changed = new Response(response.body, response);
  const { headers } = changed;
  headers.append("Set-Cookie", cookie);
  headers.set("Cache-Control", cacheControl);
  for (const name of removed) headers.delete(name);
  return changed;
}

/**
 * An answer of this status and these fields, with a body that goes along as it is.
 *
 * @param {number} status
 * @param {string} head Lines of `name:value`.
 * @param {ReadableStream | null} body
 */
export function compose(status, head, body) {
  return new Response(body, { status, headers: parsed(head), encodeBody: "manual" });
}
