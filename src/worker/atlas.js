// What the objects of the atlas want of the runtime: files of the providers, handshakes, and KV.

/** A provider's file may take so long, in milliseconds. */
const FILE_TAKES = 30_000;

/**
 * Asks for a file, conditionally if the last one is known.
 *
 * @param {string} url
 * @param {string} [etag]
 * @param {string} [lastModified]
 * @param {number} most The longest file that is read, in bytes.
 * @returns {Promise<{status: number, text?: string, etag?: string, lastModified?: string}>}
 */
export async function fetchFile(url, etag, lastModified, most) {
  const headers = { Accept: "application/json, text/csv, text/plain" };
  if (etag !== undefined) headers["If-None-Match"] = etag;
  if (lastModified !== undefined) headers["If-Modified-Since"] = lastModified;
  const signal = AbortSignal.timeout(FILE_TAKES);
  const response = await fetch(url, { headers, signal });
  const { status } = response;
  if (status !== 200) {
    await response.body?.cancel();
    return { status };
  }
  const text = await upTo(response, most);
  const field = (name) => response.headers.get(name) ?? undefined;
  return { status, text, etag: field("ETag"), lastModified: field("Last-Modified") };
}

/** The body as text, if it is not longer than that. */
async function upTo(response, most) {
  const decoder = new TextDecoder();
  let text = "";
  let length = 0;
  for await (const chunk of response.body) {
    length += chunk.byteLength;
    if (length > most) throw new Error(`longer than ${most} bytes`);
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}

/**
 * The least time of several TCP handshakes, one after the other, in milliseconds.
 *
 * @param {string} hostname
 * @param {number} port
 * @param {number} times
 * @param {number} patience For each, in milliseconds.
 * @returns {Promise<[number, number] | undefined>} The time, and how many handshakes there were.
 */
export async function timeHandshakes(hostname, port, times, patience) {
  // Only the runtime has this module; it is named where it is needed.
  const { connect } = await import("cloudflare:sockets");
  let least = Infinity;
  let done = 0;
  for (let n = 0; n < times; n += 1) {
    const took = await handshake(connect, { hostname, port }, patience).catch(() => undefined);
    // Who does not answer once will not answer five times either.
    if (took === undefined && done === 0) return undefined;
    if (took === undefined) continue;
    done += 1;
    least = Math.min(least, took);
  }
  return [least, done];
}

async function handshake(connect, address, patience) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error("late")), patience);
  });
  const begin = performance.now();
  const socket = connect(address);
  // Whoever has given up does not listen any more.
  socket.opened.catch(() => {});
  socket.closed.catch(() => {});
  try {
    await Promise.race([socket.opened, late]);
    return performance.now() - begin;
  } finally {
    clearTimeout(timer);
    socket.close().catch(() => {});
  }
}

/** How long asking for the own data centre may take, in milliseconds. */
const TRACE_TAKES = 3_000;

/** The code of the data centre that this code runs in, as Cloudflare tells those that ask it. */
export async function ownColo() {
  const signal = AbortSignal.timeout(TRACE_TAKES);
  const response = await fetch("https://www.cloudflare.com/cdn-cgi/trace", { signal });
  return /^colo=([A-Z]{3})$/m.exec(await response.text())?.[1];
}

/** Publishes a value. */
export async function publish(namespace, key, value) {
  await namespace.put(key, value);
}
