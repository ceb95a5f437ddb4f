// Beside each visitor stands a witness, who notes what the visitor is given, and whether it is what a
// waiting room may give.

import { OWN_WAIT } from './record.mjs';

/** States of answers that are neither the site's nor the waiting room's: a fault, another address. */
export const FAILED = ['error', 'redirect'];

/** A session's last seconds, in which it depends on clocks whether it is over. */
const CLOCKS_MS = 2_000;

const isPass = (token) => token?.state === 'admitted' || token?.state === 'provisional';

export class Witness {
  #visitor;
  #record;
  #rough;
  /** When the first of the requests was sent that no answer has come for since the last answer. */
  #lostSince;

  /** The current visit; see visits.mjs. */
  visit;

  /** As of a `Visitor`. */
  constructor({ visitor, record, rough }) {
    this.#visitor = visitor;
    this.#record = record;
    this.#rough = rough;
  }

  /** A visit begins. */
  arrive() {
    this.visit = this.#record.visit(this.#visitor);
  }

  /** It ends, in one of the ways of visits.mjs. */
  end(how) {
    this.visit.end = how;
    this.#record.count(`end: ${how}`);
  }

  /** The run ends before the visit. */
  interrupted() {
    if (this.visit) this.visit.end ??= 'time is up';
  }

  /** The site has answered for the first time. */
  entered(answer) {
    this.visit.entered = answer.received;
    this.#record.count('entered', answer.received);
    if (this.visit.waited) this.#record.count('entered after waiting', answer.received);
  }

  /** The visitor has left, by the page's button. */
  gone(answer) {
    const { visit } = this;
    if (!visit.admission) return;
    // From when it was sent on the pass may be over. That it is, only the answer tells.
    visit.until = Math.min(visit.until, answer.sent);
    if (answer.state === 'left') visit.left = answer.received;
  }

  /**
   * Notes the answer to a request, or that none came. Says `over` if the session had come to its end:
   * then another visit has begun.
   */
  saw(kind, answer) {
    this.#record.count('requests', answer.received);
    this.#record.took(OWN_WAIT, answer.sent - answer.asked);
    if (answer.lost) {
      this.#lostSince ??= answer.sent;
      this.#record.count('lost', answer.received);
      if (!this.#rough) this.#record.fault('no answer', `${kind}: ${answer.lost}`);
      return undefined;
    }
    const isOver = this.#isOver(answer);
    if (isOver) {
      this.#record.count('session over', answer.received);
      this.end('over');
      this.arrive();
    }
    const heldPass = this.visit.admission !== undefined;
    this.#record.took(this.#answeredBy(kind, answer, heldPass), answer.received - answer.sent);
    if (answer.token) this.#given(answer);
    if (answer.state === undefined || FAILED.includes(answer.state)) this.#passed(kind, answer);
    else this.#held(kind, answer, heldPass);
    this.#lostSince = undefined;
    return isOver ? 'over' : undefined;
  }

  /** Whether this is the answer to somebody whose session has come to its end. */
  #isOver(answer) {
    const { admission, until, number } = this.visit;
    const isOther = answer.token && answer.token.state !== 'ticket' && Number(answer.token.sub) !== number;
    if (admission) {
      const isHeld = answer.state !== undefined && !['admitted', 'left', ...FAILED].includes(answer.state);
      return answer.received >= until && (isOther || isHeld);
    }
    // A pass may have been given in an answer that was lost, so long ago that it is over.
    const unheard = this.#lostSince === undefined ? 0 : answer.received - this.#lostSince;
    return this.#rough && number !== undefined && isOther && unheard > this.#rough.sessionMs - CLOCKS_MS;
  }

  /** What the new token says. */
  #given(answer) {
    const { visit } = this;
    const { state, sub, iat, exp } = answer.token;
    const number = state === 'ticket' ? undefined : Number(sub);
    if (visit.number !== undefined && visit.number !== number && !(state === 'ticket' && visit.admission)) {
      this.#record.fault('a place lost', `number ${visit.number} became ${number ?? 'a ticket'}`);
      visit.number = undefined;
    }
    visit.number ??= number;
    if (!isPass(answer.token)) return;
    visit.pass = answer.pass;
    // Seconds are cut off in a token: so long it is good, and no longer, whatever clock it goes by.
    const until = answer.sent + (exp - iat - 1) * 1000;
    visit.expires = answer.received + (exp - iat + 1) * 1000;
    visit.until = Math.max(visit.until ?? 0, until);
    if (visit.admission) {
      this.#record.count('renewed', answer.received);
      return;
    }
    visit.admission = { sent: this.#lostSince ?? answer.sent, received: answer.received };
    this.#record.count('admitted', answer.received);
    if (visit.waited) this.#record.count('admitted after waiting', answer.received);
  }

  /** The site has answered, or something has failed. */
  #passed(kind, answer) {
    const isFine = answer.state === undefined && answer.status < 500;
    this.#record.count(isFine ? 'site' : 'failed', answer.received);
    if (!isFine && !this.#rough) this.#record.fault('an error', `${kind}: ${answer.status} ${answer.state ?? 'of the site'}`);
    if (isFine && kind === 'page' && !this.visit.admission) {
      this.#record.fault('let in without a pass', `visitor ${this.#visitor}`);
    }
  }

  /** The waiting room has answered. */
  #held(kind, answer, heldPass) {
    const { visit } = this;
    if (answer.state === 'unavailable') this.#record.count('unavailable', answer.received);
    if (kind === 'leave' || answer.state === 'admitted') return;
    if (answer.state === 'queueing') visit.queueing = answer.sent;
    if (answer.state === 'called') {
      visit.door ??= answer.received;
      visit.sentAway = answer.sent;
    } else visit.door = undefined;
    if (heldPass && answer.received < visit.until) {
      const more = ((visit.until - answer.received) / 1000).toFixed(1);
      this.#record.fault('a pass refused', `number ${visit.number}, good for ${more} s more: ${answer.state}`);
    }
  }

  /** Who the answer needed. */
  #answeredBy(kind, answer, heldPass) {
    if (kind === 'leave') return 'the room: leave';
    if (isPass(answer.token)) {
      if (heldPass) return 'the room and the site: renewal';
      return answer.state ? 'the room: claim' : 'the room and the site: newcomer let in';
    }
    if (answer.state === undefined) return 'the site: page';
    if (answer.token?.state === 'waiting' && this.visit.number === undefined) return 'the room: number';
    return answer.state === 'called' ? 'the room: at the door' : 'the edge: page or place';
  }
}
