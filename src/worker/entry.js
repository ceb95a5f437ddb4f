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
    console.error(JSON.stringify({ event: "trap", reason: error.message, stack: error.stack }));
    state.criticalError = true;
  }
}

// A trap in a task has no caller who would see it.
addEventListener("error", (event) => note(event.error));

function renewIfBroken() {
  if (!state.criticalError) return;
  console.log(JSON.stringify({ event: "instance_replaced" }));
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

  scheduled(_controller, env) {
    renewIfBroken();
    try {
      return anteroom.scheduled(env);
    } catch (error) {
      note(error);
      throw error;
    }
  },
};

/** The class of an object: what the runtime knows, around what the WASM has under the same name. */
function object(name) {
  return class extends DurableObject {
    #inner;
    #instance;

    #call(method, argument) {
      renewIfBroken();
      try {
        if (this.#instance !== state.instanceId) {
          this.#inner = new anteroom[name](this.ctx, this.env);
          this.#instance = state.instanceId;
        }
        return this.#inner[method](argument);
      } catch (error) {
        note(error);
        throw error;
      }
    }

    /** A message as text, by RPC. */
    hear(body) {
      return this.#call("hear", body);
    }

    /** The same by HTTP. */
    fetch(request) {
      return this.#call("fetch", request);
    }

    /** What the object has set itself. */
    alarm() {
      return this.#call("alarm");
    }
  };
}

export const Room = object("Room");
export const Relay = object("Relay");
export const Control = object("Control");
export const Atlas = object("Atlas");
export const Tier = object("Tier");
export const Lease = object("Lease");
export const Tally = object("Tally");
