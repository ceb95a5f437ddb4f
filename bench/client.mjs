// HTTP as the tests need it: any host, any header twice, any path that the wire can carry, and nothing
// done behind one's back. On top of it a visitor, who keeps cookies as a browser does.
import { Agent, request as httpRequest } from "node:http";
import { CookieJar } from "tough-cookie";

/** No answer of a local Worker takes this long; what does, hangs. */
const ANSWER_WITHIN_MS = 30_000;

const agent = new Agent({ keepAlive: true, maxSockets: 1024 });

/** Closes the connections that are kept for reuse, so that a test's process can end. */
export function closeConnections() {
  agent.destroy();
}

/** An answer as it came. */
export class Answer {
  constructor(message, body) {
    this.status = message.statusCode;
    this.rawHeaders = [];
    for (let at = 0; at < message.rawHeaders.length; at += 2) {
      this.rawHeaders.push([message.rawHeaders[at], message.rawHeaders[at + 1]]);
    }
    this.body = body;
  }

  /** All values of a header, one for each line. */
  headers(name) {
    return this.rawHeaders.filter(([key]) => key.toLowerCase() === name.toLowerCase()).map(([, value]) => value);
  }

  /** The value of a header, or undefined. */
  header(name) {
    const values = this.headers(name);
    return values.length ? values.join(", ") : undefined;
  }

  get text() {
    return this.body.toString("utf8");
  }

  get json() {
    return JSON.parse(this.text);
  }
}

/**
 * One request to 127.0.0.1.
 *
 * @param {object} options
 * @param {number} options.port
 * @param {string} [options.method]
 * @param {string} [options.target] The target of the request line, as it is; one byte per character.
 * @param {string} [options.host] The Host header.
 * @param {[string, string][]} [options.headers] Sent in this order; a name may come twice.
 * @param {string | Uint8Array} [options.body]
 * @param {boolean} [options.https] Says that the visitor came over https.
 * @returns {Promise<Answer>}
 */
export function request({ port, method = "GET", target = "/", host, headers = [], body, https = false }) {
  const lines = [["Host", host ?? `127.0.0.1:${port}`], ...headers];
  if (https) lines.push(["X-Forwarded-Proto", "https"]);
  if (body !== undefined) lines.push(["Content-Length", String(Buffer.byteLength(body))]);
  return new Promise((resolve, reject) => {
    const options = { host: "127.0.0.1", port, method, path: target, headers: lines.flat(), agent };
    const outgoing = httpRequest({ ...options, signal: AbortSignal.timeout(ANSWER_WITHIN_MS) });
    outgoing.once("error", reject);
    outgoing.once("response", (message) => {
      const chunks = [];
      message.on("data", (chunk) => chunks.push(chunk));
      message.once("error", reject);
      message.once("end", () => resolve(new Answer(message, Buffer.concat(chunks))));
    });
    outgoing.end(body);
  });
}

/** Somebody with a cookie jar. */
export class Visitor {
  #port;
  #jar;
  #headers;

  /**
   * @param {number} port Of the Worker.
   * @param {object} [options]
   * @param {[string, string][]} [options.headers] Sent with every request.
   */
  constructor(port, { headers = [], jar } = {}) {
    this.#port = port;
    this.#headers = headers;
    // `.test`, `.example` and `localhost` are sites here.
    this.#jar = jar ?? new CookieJar(undefined, { allowSpecialUseDomain: true, rejectPublicSuffixes: true });
  }

  /** The Cookie header for a URL, or undefined. */
  cookieHeader(url) {
    return this.#jar.getCookieStringSync(url) || undefined;
  }

  /**
   * One request. Redirects are not followed. `Set-Cookie` lines that a browser would refuse are
   * refused, without a word.
   *
   * @param {string} url Its host and scheme are what the Worker sees; where it goes is the Worker.
   */
  async fetch(url, { method = "GET", headers = [], body } = {}) {
    const { host, protocol, pathname, search } = new URL(url);
    const cookie = this.cookieHeader(url);
    const answer = await request({
      port: this.#port,
      method,
      target: pathname + search,
      host,
      https: protocol === "https:",
      headers: [...this.#headers, ...headers, ...(cookie ? [["Cookie", cookie]] : [])],
      body,
    });
    for (const line of answer.headers("set-cookie")) this.#jar.setCookieSync(line, url, { ignoreError: true });
    return answer;
  }

  /** A page, as a browser asks for it. */
  get(url, headers = []) {
    return this.fetch(url, { headers: [["Accept", "text/html,application/xhtml+xml,*/*;q=0.8"], ...headers] });
  }

  /** What the waiting page's script does. */
  poll(url, headers = []) {
    return this.fetch(url, { headers: [["Accept", "application/json"], ["Anteroom-Poll", "1"], ...headers] });
  }
}
