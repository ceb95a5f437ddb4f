// Copies of the configuration: one in each data centre (the Cache API) and one for bad times (KV).
//
// A text is a line with the version, and the publication after it. The cache holds two: the newest
// version, for two seconds, and the last publication that anybody here has seen, for as long as the
// cache likes. Only this Worker opens the cache of this name, and no host is called so: neither can a
// visitor read the copies by a URL, nor can an origin's answer come to lie in their place.

const CACHE = "anteroom";
const HEAD = "https://anteroom.invalid/configuration/version";
const LATEST = "https://anteroom.invalid/configuration/publication";

/** The name of the copy in KV. */
const COPY = "configuration";

/** How long a version that the object has told is good for the data centre, in milliseconds. */
const GOOD_FOR = 2000;

/**
 * Who looks shortly before a version ends may take it for ended, the sooner the likelier: so one isolate
 * of many asks while the others still find it, and not all of them at its end (A. Vattani et al.,
 * "Optimal Probabilistic Cache Stampede Prevention", VLDB 2015). In milliseconds, about what asking takes.
 */
const ASKING_TAKES = 50;

/** None where the runtime has no cache. */
async function opened() {
  try {
    return await caches.open(CACHE);
  } catch {
    return undefined;
  }
}

async function read(cache, url) {
  try {
    return await (await cache.match(url))?.text();
  } catch {
    return undefined;
  }
}

function put(cache, url, text, seconds) {
  const headers = { "Cache-Control": `max-age=${seconds}` };
  return cache.put(url, new Response(text, { headers })).catch(() => {});
}

/**
 * What the data centre knows.
 *
 * @param {string} known The version that the caller has.
 * @returns {Promise<string>} `=`: that is the newest. `+` and a text: this is. `?` and a text: this was
 *   the newest some time ago; the version alone if it is the caller's. Empty: nothing is known here.
 */
export async function cached(known) {
  const cache = await opened();
  if (!cache) return "";
  const [version, until] = ((await read(cache, HEAD)) ?? "").split("\n");
  const isGood = Date.now() - ASKING_TAKES * Math.log(Math.random()) < Number(until);
  if (isGood && version === known) return "=";
  const latest = await read(cache, LATEST);
  if (latest === undefined) return "";
  if (latest.startsWith(`${known}\n`)) return `?${known}`;
  return (isGood && latest.startsWith(`${version}\n`) ? "+" : "?") + latest;
}

/**
 * Keeps what the object has told for the data centre.
 *
 * @param {string} version
 * @param {string} [text] If the object has told the publication too.
 * @param {number} asked When the object was asked: from then on the version is good for a while.
 */
export async function keep(version, text, asked) {
  const until = asked + GOOD_FOR;
  const cache = await opened();
  if (!cache) return;
  if (text !== undefined) await put(cache, LATEST, text, 30 * 24 * 60 * 60);
  if (Date.now() < until) await put(cache, HEAD, `${version}\n${until}`, GOOD_FOR / 1000);
}

/**
 * The copy for bad times; undefined where there is none.
 *
 * @param {KVNamespace} [namespace]
 */
export async function readCopy(namespace) {
  return (await namespace?.get(COPY)) ?? undefined;
}

/** Writes it. */
export async function writeCopy(namespace, text) {
  await namespace.put(COPY, text);
}
