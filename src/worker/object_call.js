// Both ends of a call between the Worker and its objects, each in one crossing: text out, text back.

/** Whether objects have the method `hear`. One that keeps older code for minutes after a deploy has not. */
let hears = true;

/**
 * Asks an object.
 *
 * @param {DurableObjectNamespace} namespace
 * @param {string} name Of the object.
 * @param {string} body
 * @param {number} patience In milliseconds.
 * @param {string} [locationHint] Where the object is made, if it is new.
 * @returns {Promise<string | undefined>} The answer; undefined if there is none in time.
 */
export async function ask(namespace, name, body, patience, locationHint) {
  let timer;
  const late = new Promise((resolve) => {
    timer = setTimeout(resolve, patience);
  });
  try {
    return await Promise.race([say(namespace.getByName(name, locationHint && { locationHint }), body), late]);
  } finally {
    clearTimeout(timer);
  }
}

async function say(stub, body) {
  if (hears) {
    try {
      return await stub.hear(body);
    } catch (error) {
      if (!(error instanceof TypeError && error.message.includes("RPC"))) throw error;
      hears = false;
    }
  }
  // The host says nothing, but a URL has one.
  const response = await stub.fetch("https://object/", { method: "POST", body });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`${response.status}: ${text}`);
  return text;
}

/**
 * Does all of what `write` does to the storage of an object, or, if it gives an error, nothing.
 *
 * @param {DurableObjectStorage} storage
 * @param {() => string | undefined} write
 */
export function atomically(storage, write) {
  storage.transactionSync(() => {
    const error = write();
    if (error !== undefined) throw new Error(error);
  });
}

/** What an object owes a caller. */
export class Answer {
  constructor() {
    this.promise = new Promise((resolve, reject) => {
      this.give = resolve;
      this.fail = (message) => reject(new Error(message));
    });
  }
}

/**
 * Answers a caller who comes by HTTP.
 *
 * @param {Request} request
 * @param {Answer} body Is given the body.
 * @param {Answer} answer Gives the answer.
 */
export async function answerByHttp(request, body, answer) {
  try {
    body.give(await request.text());
    return new Response(await answer.promise);
  } catch (error) {
    return new Response(error.message, { status: 503 });
  }
}
