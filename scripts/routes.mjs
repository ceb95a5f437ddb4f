// Whether the routes of wrangler.toml bring every request of the rooms' hosts to the Worker.
//
// Pure: takes the two parsed files, gives back what is to be said.

/** Hosts that no zone route can name, because no zone has them. */
function isLocal(host) {
  return (
    host === "localhost" ||
    host.endsWith(".localhost") ||
    /^127\.\d+\.\d+\.\d+$/.test(host) ||
    host === "[::1]" ||
    host === "::1"
  );
}

/** A host as routes and rooms are compared: lower case, punycode, no port, no trailing dot. */
function canonical(host) {
  let text = host.trim().toLowerCase();
  if (!text.startsWith("[") && !/:.*:/.test(text)) text = text.replace(/:\d+$/, "");
  text = text.replace(/\.$/, "");
  // The URL parser knows IDNA; it leaves what it cannot read to the build to refuse.
  if (/[^\x00-\x7f]/.test(text) && URL.canParse(`http://${text}`)) return new URL(`http://${text}`).hostname;
  return text;
}

/** Every host of a rooms.toml, each with the rooms that name it. */
function hostsOf(rooms) {
  const hosts = new Map();
  for (const room of rooms.rooms ?? []) {
    if (typeof room.host !== "string") continue;
    const named = [room.host, ...(room.additional_routes ?? []).map((route) => route.host ?? room.host)];
    for (const host of new Set(named.map(canonical))) {
      hosts.set(host, [...(hosts.get(host) ?? []), room.name]);
    }
  }
  return hosts;
}

/** `shop.example.com/*` as host, path and whether it is a custom domain, which has no path. */
function parse(route) {
  const pattern = typeof route === "string" ? route : route.pattern;
  const text = String(pattern ?? "").replace(/^[a-z]+:\/\//i, "");
  const slash = text.indexOf("/");
  return {
    text: String(pattern),
    host: canonical(slash < 0 ? text : text.slice(0, slash)),
    path: slash < 0 ? "" : text.slice(slash),
    customDomain: route?.custom_domain === true,
  };
}

/**
 * Whether a route's host names this one. A star is any text, so `*.example.com` is every subdomain and
 * `*example.com` the domain itself too.
 */
function namesHost(pattern, host) {
  return pattern.startsWith("*") ? host.endsWith(pattern.slice(1)) : host === pattern;
}

const isWhole = (route) => route.customDomain || route.path === "/*" || route.path === "*";

/** The path in front of the final `*`: `/shop` for `/shop/*` and for `/shop*`. */
const stem = (path) => path.replace(/\/?\*$/, "");

function explain(host, rooms, partial) {
  const of = `${host} (${rooms.length > 1 ? "rooms" : "room"} ${rooms.join(", ")})`;
  if (partial.length === 0) {
    return `${of} is not routed. Add { pattern = "${host}/*", zone_name = "..." } to routes in wrangler.toml.`;
  }
  const [route] = partial;
  const path = route.path || "/";
  const missed = path.endsWith("/*")
    ? `a zone route ${route.text} would miss ${stem(path)}`
    : `a zone route ${route.text} brings only a part of the host`;
  return (
    `${of} is routed as ${partial.map((each) => each.text).join(", ")}: ${missed}, and zone routes match before the ` +
    `Worker, which alone knows every spelling of a covered path. Route the host whole: "${host}/*".`
  );
}

/**
 * Checks the routes of a parsed wrangler.toml against the hosts of a parsed rooms.toml.
 *
 * @returns {{faults: string[], notes: string[]}} `faults` have to be mended before a deploy; `notes`
 *   are worth reading.
 */
export function checkRoutes(wrangler, rooms) {
  const declared = [wrangler.route, ...(wrangler.routes ?? [])].filter((route) => route !== undefined);
  const routes = declared.map(parse);
  const faults = [];
  const notes = [];
  for (const [host, names] of hostsOf(rooms)) {
    if (isLocal(host)) {
      notes.push(`${host} is this machine and needs no route.`);
      continue;
    }
    const here = routes.filter((route) => namesHost(route.host, host));
    const whole = here.filter(isWhole);
    if (whole.length === 0) faults.push(explain(host, names, here));
    else notes.push(`${host} is routed by ${whole[0].text}.`);
  }
  return { faults, notes };
}
