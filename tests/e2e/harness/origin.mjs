// An origin that remembers every request as it came, and answers as the test says.
import { EventEmitter, once } from "node:events";
import { createServer } from "node:http";
import { WebSocketServer } from "ws";

/** Headers in the order and the spelling in which they came: [name, value] pairs. */
function pairs(raw) {
  const list = [];
  for (let at = 0; at < raw.length; at += 2) list.push([raw[at], raw[at + 1]]);
  return list;
}

/** One request as the origin received it. */
class Recorded {
  constructor(request, body) {
    this.method = request.method;
    /** The target of the request line, byte for byte. */
    this.target = request.url;
    this.path = request.url.split("?", 1)[0];
    this.rawHeaders = pairs(request.rawHeaders);
    this.body = body;
  }

  /** All values of a header. */
  headers(name) {
    return this.rawHeaders.filter(([key]) => key.toLowerCase() === name.toLowerCase()).map(([, value]) => value);
  }

  /** The value of a header, or undefined. */
  header(name) {
    const values = this.headers(name);
    return values.length ? values.join(", ") : undefined;
  }
}

/** An answer that waits until the test releases it. */
class Gate {
  #open;
  opened = new Promise((resolve) => {
    this.#open = resolve;
  });

  release() {
    this.#open();
  }
}

/**
 * An HTTP origin on 127.0.0.1. Every path answers 200 `origin` until `respond` says otherwise.
 */
export class Origin {
  #server = createServer({ keepAliveTimeout: 60_000 });
  #sockets = new WebSocketServer({ noServer: true });
  #answers = new Map();
  #news = new EventEmitter().setMaxListeners(0);
  /** @type {Recorded[]} Everything that arrived, in order, each as soon as its body was complete. */
  requests = [];

  static async start() {
    const origin = new Origin();
    origin.#server.on("request", (request, response) => {
      origin.#serve(request, response).catch(() => response.destroy());
    });
    origin.#server.on("upgrade", (request, socket, head) => origin.#upgrade(request, socket, head));
    origin.#server.listen(0, "127.0.0.1");
    await once(origin.#server, "listening");
    return origin;
  }

  /** `127.0.0.1:1234` */
  get address() {
    return `127.0.0.1:${this.#server.address().port}`;
  }

  /** Requests for a path, without regard to the query. */
  to(path) {
    return this.requests.filter((request) => request.path === path);
  }

  /** Forgets what arrived and what was scripted. */
  reset() {
    this.requests = [];
    this.#answers.clear();
  }

  /**
   * Scripts the answers of a path.
   *
   * @param {string} path Compared with the request's path as it came, without the query.
   * @param {object} answer
   * @param {number} [answer.status]
   * @param {[string, string][]} [answer.headers] A name may come twice.
   * @param {string | Uint8Array | AsyncIterable<Uint8Array>} [answer.body] Iterables are streamed.
   * @param {boolean} [answer.hold] Wait with the answer until `release()` of what is returned.
   */
  respond(path, { status = 200, headers = [], body = "", hold = false } = {}) {
    const gate = new Gate();
    if (!hold) gate.release();
    this.#answers.set(path, { status, headers, body, gate });
    return gate;
  }

  /** The next request, or an earlier one since `reset`, that the test is looking for. */
  async waitFor(matches) {
    for (let from = 0; ; ) {
      const found = this.requests.slice(from).find(matches);
      if (found) return found;
      from = this.requests.length;
      await once(this.#news, "request");
    }
  }

  async #serve(request, response) {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const recorded = this.#record(new Recorded(request, Buffer.concat(chunks)));
    const answer = this.#answers.get(recorded.path) ?? this.#answers.get("*") ?? { body: "origin" };
    await answer.gate?.opened;
    response.writeHead(answer.status ?? 200, answer.headers?.flat() ?? []);
    if (request.method === "HEAD") return response.end();
    if (typeof answer.body === "string" || answer.body instanceof Uint8Array) return response.end(answer.body);
    for await (const chunk of answer.body) {
      if (!response.write(chunk)) await once(response, "drain");
    }
    response.end();
  }

  /** WebSockets come back what they send, on every path. */
  #upgrade(request, socket, head) {
    this.#record(new Recorded(request, Buffer.alloc(0)));
    this.#sockets.handleUpgrade(request, socket, head, (webSocket) => {
      webSocket.on("message", (data, isBinary) => webSocket.send(data, { binary: isBinary }));
    });
  }

  #record(recorded) {
    this.requests.push(recorded);
    this.#news.emit("request");
    return recorded;
  }

  async stop() {
    for (const client of this.#sockets.clients) client.terminate();
    const closed = once(this.#server, "close");
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
  }

  async [Symbol.asyncDispose]() {
    await this.stop();
  }
}
