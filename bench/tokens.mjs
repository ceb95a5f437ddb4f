// Tokens as the Worker signs them (docs/pass.md), so that each request of a row can be another
// visitor's.
import { createHmac } from "node:crypto";
import { TEST_KEYS } from "./workerd.mjs";

const [KID, SECRET] = TEST_KEYS.split(":");
const encode = (value) => Buffer.from(JSON.stringify(value)).toString("base64url");
const HEADER = encode({ alg: "HS256", kid: KID, typ: "JWT" });

/** The claims of a token. */
export function claims(token) {
  return JSON.parse(Buffer.from(token.split(".")[1], "base64url").toString());
}

/** A signed token. */
export function sign(claims) {
  const text = `${HEADER}.${encode(claims)}`;
  const mac = createHmac("sha256", Buffer.from(SECRET, "base64url")).update(text).digest("base64url");
  return `${text}.${mac}`;
}

const seconds = () => Math.floor(Date.now() / 1000);

/** The ticket of a visitor who has no number yet. */
export function ticket(room, id) {
  const iat = seconds();
  const sub = id.toString(16).padStart(16, "0");
  return sign({ iss: "anteroom", aud: room, sub, iat, exp: iat + 60, state: "ticket" });
}

/** The place of a visitor who has polled a moment ago. */
export function place(room, incarnation, number) {
  const iat = seconds() - 3;
  const aud = `${room}.${incarnation.toString(16)}`;
  return sign({ iss: "anteroom", aud, sub: String(number), iat, exp: iat + 300, state: "waiting", joined: iat, from: 0 });
}

/** A pass in the middle of its life, which the next request renews. */
export function pass(room, incarnation, number, session) {
  const iat = seconds() - session / 2;
  const aud = `${room}.${incarnation.toString(16)}`;
  return sign({ iss: "anteroom", aud, sub: String(number), iat, exp: iat + session, state: "admitted" });
}
