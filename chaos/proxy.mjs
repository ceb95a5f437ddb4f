// A bad line: a TCP proxy that loses requests before they arrive, and answers after the request was
// delivered and done.

import { once } from 'node:events';
import { connect, createServer } from 'node:net';

export class Proxy {
  #server;
  #random;
  #sockets = new Set();

  /** Where to: a port on 127.0.0.1, or undefined while there is nothing; then connections are cut. */
  target;

  /** How likely a request, and an answer, is lost. The connection is cut with it. */
  losses = { requests: 0, answers: 0 };

  /** How many were lost. */
  lost = { requests: 0, answers: 0 };

  /** Starts one on a free port. `random` decides what is lost. */
  static async start(random) {
    const proxy = new Proxy();
    proxy.#random = random;
    proxy.#server = createServer((client) => proxy.#serve(client));
    proxy.#server.listen(0, '127.0.0.1');
    await once(proxy.#server, 'listening');
    proxy.port = proxy.#server.address().port;
    return proxy;
  }

  stop() {
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
  }

  #serve(client) {
    if (this.target === undefined) {
      client.destroy();
      return;
    }
    const upstream = connect(this.target, '127.0.0.1');
    const cut = () => {
      client.destroy();
      upstream.destroy();
      this.#sockets.delete(client);
      this.#sockets.delete(upstream);
    };
    for (const socket of [client, upstream]) {
      this.#sockets.add(socket);
      socket.setNoDelay(true);
      socket.on('error', cut);
      socket.on('close', cut);
    }
    // One request at a time: what the client sends before an answer has begun belongs to it.
    let underWay = false;
    let loses = false;
    client.on('data', (data) => {
      if (!underWay) {
        underWay = true;
        if (this.#random() < this.losses.requests) {
          this.lost.requests += 1;
          cut();
          return;
        }
        loses = this.#random() < this.losses.answers;
      }
      upstream.write(data);
    });
    upstream.on('data', (data) => {
      underWay = false;
      if (loses) {
        this.lost.answers += 1;
        cut();
        return;
      }
      client.write(data);
    });
  }
}
