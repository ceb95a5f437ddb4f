// The module that the runtime loads. worker-build would generate one that puts proxies around every
// entry point and object; this one does the same for two known ones with plain calls.
//
// A panic unwinds and costs its request alone. A trap (the stack or the memory is at its end) leaves the
// instance in an unknown state: it is replaced before the next call, and every object is made anew,
// which reads its storage as after an eviction.
import { DurableObject } from "cloudflare:workers";
import * as anteroom from "./index.js";

Error.stackTraceLimit = 100;
// The panic hook of the `worker` crate writes to this as well.
const state = anteroom.__worker_init_state();

function note(error) {
  if (error instanceof WebAssembly.RuntimeError) {
    console.error("critical", error);
    state.criticalError = true;
  }
}

// A trap in a task has no caller who would see it.
addEventListener("error", (event) => note(event.error));

function renewIfBroken() {
  if (!state.criticalError) return;
  console.log("a new instance is made");
  anteroom.__wbg_reset_state();
  state.criticalError = false;
  state.instanceId += 1;
}

export default {
  fetch(request, env, ctx) {
    renewIfBroken();
    try {
      return anteroom.fetch(request, env, ctx);
    } catch (error) {
      note(error);
      throw error;
    }
  },
};

/** An object of the runtime around one of ours. */
class Guarded extends DurableObject {
  #object;
  #instance;

  constructor(ctx, env) {
    super(ctx, env);
    this.#call(() => {});
  }

  /** By RPC: text in, text out. */
  hear(body) {
    return this.#call((object) => object.hear(body));
  }

  fetch(request) {
    return this.#call((object) => object.fetch(request));
  }

  #call(method) {
    renewIfBroken();
    try {
      if (this.#instance !== state.instanceId) {
        this.#object = new this.constructor.of(this.ctx, this.env);
        this.#instance = state.instanceId;
      }
      return method(this.#object);
    } catch (error) {
      note(error);
      throw error;
    }
  }
}

export class Room extends Guarded {
  static of = anteroom.Room;
}

export class Relay extends Guarded {
  static of = anteroom.Relay;
}
