// A visitor: opens the page, waits as the waiting page's script does (templates/default.js), comes in
// when it is told to, looks around, and goes. Some lose patience and some just vanish.

import { setTimeout as pause } from 'node:timers/promises';

import { between, whole } from './random.mjs';

/** The longest that the page's script waits after failures. */
const LONGEST_PAUSE_S = 60;

/** The longest before somebody who sees an error loads the page again. */
const LONGEST_RELOAD_S = 5;

/**
 * What a visitor is going to do, drawn from chance.
 *
 * @param {() => number} random
 * @param {object} habits
 * @param {number} habits.spanSeconds All arrive within this time.
 * @param {number} habits.noShow The share who close the page while they wait.
 * @param {number} habits.leave The share who give their place in line up by the page's button.
 * @param {number} habits.vanish The share of those inside who end without leaving.
 * @param {number} habits.pages How many pages are looked at inside, on average.
 * @param {number} habits.thinkSeconds The pause between two of them, on average.
 */
export function draw(random, habits) {
  const fate = random();
  const { pages, thinkSeconds } = habits;
  return {
    arrival: between(random, 0, habits.spanSeconds),
    gone: fate < habits.noShow ? 'closes' : fate < habits.noShow + habits.leave ? 'leaves' : undefined,
    patience: whole(random, 1, 6),
    pages: whole(random, 1, 2 * pages - 1),
    vanishes: random() < habits.vanish,
    pause: () => between(random, 0.5, 1.5) * thinkSeconds,
    jitter: () => between(random, 0.9, 1.1),
  };
}

/** Where the button of the page for `url` sends its form. */
export function leaveUrl(url) {
  const { origin, pathname } = new URL(url);
  return `${origin}${pathname.replace(/\/$/, '')}/.anteroom/leave`;
}

export class Visitor {
  #url;
  #browser;
  #plan;
  #record;
  #signal;
  #rough;
  #id;
  #visit;
  #level;
  #lostSince;

  /**
   * @param {object} options
   * @param {number} options.id
   * @param {string} options.url The page that the visitor wants.
   * @param {import('./browser.mjs').Browser} options.browser
   * @param {ReturnType<typeof draw>} options.plan
   * @param {import('./record.mjs').Record} options.record
   * @param {AbortSignal} options.signal The end of the run.
   * @param {{sessionMs: number} | false} [options.rough] Things are made to fail: then an error, a lost
   *   answer or a failing site is no fault of the room's. A pass whose answer was lost ends unused
   *   after `sessionMs`, and the number with it.
   */
  constructor({ id, url, browser, plan, record, signal, rough = false }) {
    this.#id = id;
    this.#url = url;
    this.#browser = browser;
    this.#plan = plan;
    this.#record = record;
    this.#signal = signal;
    this.#rough = rough;
  }

  /** The pass that the visitor holds or has held last. */
  get token() {
    return this.#browser.token;
  }

  /** The current or last visit. */
  get visit() {
    return this.#visit;
  }

  /** Everything, from the arrival on. Ends early, without an error, when the run does. */
  async run() {
    try {
      await this.#sleep(this.#plan.arrival);
      this.#record.count('arrived');
      this.#arrive();
      if (await this.#comeIn()) await this.#lookAround();
    } catch (error) {
      if (!this.#signal.aborted) throw error;
      if (this.#visit) this.#visit.end ??= 'time is up';
    } finally {
      this.#be(undefined);
    }
  }

  #arrive() {
    this.#visit = this.#record.visit(this.#id);
    this.#lostSince = undefined;
  }

  /** Whether this is the answer to somebody whose session has come to its end. */
  #isOver(answer) {
    const { admission, until, number } = this.#visit;
    if (!admission) return this.#lapsed(answer);
    if (answer.received < until) return false;
    const other = answer.token && answer.token.state !== 'ticket' && Number(answer.token.sub) !== number;
    return other || !['admitted', 'left', 'error', undefined].includes(answer.state);
  }

  /** Whether a pass was given in an answer that was lost, so long ago that it is over. */
  #lapsed(answer) {
    const { number } = this.#visit;
    if (!this.#rough || this.#lostSince === undefined || number === undefined || !answer.token) return false;
    return answer.token.sub !== String(number) && answer.received - this.#lostSince > this.#rough.sessionMs - 2_000;
  }

  /** Opens the page until the site answers. False if the visitor goes before. */
  async #comeIn() {
    for (let failures = 0; ; ) {
      const answer = await this.#ask('page', this.#url);
      if (this.#isSite(answer)) {
        this.#entered(answer);
        return true;
      }
      if (answer.state === 'rejecting') return this.#end('refused');
      if (answer.lost || answer.state === 'error' || !answer.state) {
        failures += 1;
        await this.#sleep(Math.min(LONGEST_RELOAD_S, 2 ** failures) * this.#plan.jitter());
        continue;
      }
      failures = 0;
      this.#visit.waited = true;
      this.#be('waiting');
      if (!(await this.#wait(answer.retryAfter || 2))) return false;
    }
  }

  /** Polls until it is said to come in. False if the visitor goes before, or is refused. */
  async #wait(seconds) {
    const { gone, patience, jitter } = this.#plan;
    let failures = 0;
    for (let polls = 0; ; polls += 1) {
      if (gone && polls === patience) {
        if (gone === 'leaves') await this.#leave();
        return this.#end(gone);
      }
      await this.#sleep(failures ? Math.min(LONGEST_PAUSE_S, Math.max(seconds, 2) * 2 ** failures) : seconds * jitter());
      const answer = await this.#ask('poll', this.#url);
      let room;
      try {
        room = JSON.parse(answer.body).cfWaitingRoom;
      } catch {
        // No answer of a waiting room.
      }
      if (answer.lost || (!room && (answer.status >= 500 || answer.status === 429))) {
        failures += 1;
        continue;
      }
      failures = 0;
      if (!room || room.admitted) return true;
      seconds = room.refreshIntervalSeconds;
      if (!(seconds > 0)) return this.#end('refused');
    }
  }

  /** Looks at some pages, and goes. */
  async #lookAround() {
    const { pages, vanishes, pause: think } = this.#plan;
    for (let page = 1; page < pages; page += 1) {
      await this.#sleep(think());
      const visit = this.#visit;
      const answer = await this.#ask('page', `${this.#url}?page=${page}`);
      if (answer.lost || answer.state === 'error') continue;
      if (!this.#isSite(answer)) {
        // The session is over, or else `#judge` has noted a fault. The visitor waits anew.
        if (!(await this.#comeIn())) return;
      } else if (visit !== this.#visit) this.#entered(answer);
    }
    await this.#sleep(think());
    if (!vanishes) await this.#leave();
    this.#end(vanishes ? 'vanished' : 'left');
  }

  async #leave() {
    const visit = this.#visit;
    const answer = await this.#ask('leave', leaveUrl(this.#url), { method: 'POST' });
    if (visit.admission) {
      // From when it was sent on the pass may be over. That it is, only the answer tells.
      visit.until = Math.min(visit.until, answer.sent);
      if (answer.state === 'left') visit.left = answer.received;
    }
  }

  /** Sends a request, and notes what comes back. */
  async #ask(kind, url, options) {
    this.#record.move('in flight', 1);
    const held = this.#browser.token;
    const answer = await this.#browser.ask(kind, url, options);
    this.#record.move('in flight', -1);
    this.#record.count('requests', answer.received);
    if (answer.lost) {
      this.#lostSince ??= answer.sent;
      this.#record.count('lost', answer.received);
      if (!this.#rough) this.#record.fault('no answer', `${kind} ${url}: ${answer.lost}`);
    } else {
      this.#judge(answer, kind, held);
      this.#lostSince = undefined;
    }
    return answer;
  }

  /** Whether the answer is one that the room must give, as far as can be told from here. */
  #judge(answer, kind, held) {
    if (this.#isOver(answer)) {
      this.#record.count('session over', answer.received);
      this.#end('over');
      this.#arrive();
    }
    const visit = this.#visit;
    const holdsPass = visit.admission !== undefined && visit.until !== undefined;
    if (answer.token) this.#note(answer, visit);
    this.#time(answer, kind, holdsPass);
    if (answer.state === undefined || answer.state === 'error') {
      const isFine = answer.status < 400 || (answer.status < 500 && answer.state === undefined);
      this.#record.count(isFine ? 'site' : 'failed', answer.received);
      if (!isFine && !this.#rough) this.#record.fault('an error', `${kind}: ${answer.status} ${answer.state ?? 'of the site'}`);
      if (kind === 'page' && isFine && !visit.admission) {
        this.#record.fault('let in without a pass', `visitor ${this.#id} holds ${held?.claims.state ?? 'nothing'}`);
      }
      return;
    }
    if (answer.state === 'unavailable') this.#record.count('unavailable', answer.received);
    if (kind !== 'page' && kind !== 'poll') return;
    if (answer.state === 'queueing') visit.queueing = answer.sent;
    if (answer.state === 'called') visit.door ??= answer.received;
    else if (answer.state !== 'admitted') visit.door = undefined;
    if (holdsPass && answer.state !== 'admitted' && answer.received < visit.until) {
      this.#record.fault('a pass refused', `number ${visit.number}, good for ${((visit.until - answer.received) / 1000).toFixed(1)} s more: ${answer.state}`);
    }
  }

  /** What the new token says. */
  #note(answer, visit) {
    const { state, sub, iat, exp } = answer.token;
    if (state === 'ticket') {
      if (visit.number !== undefined && !visit.admission) {
        this.#record.fault('a place lost', `number ${visit.number}: a ticket again`);
        visit.number = undefined;
      }
      return;
    }
    const number = Number(sub);
    if (visit.number === undefined) visit.number = number;
    else if (visit.number !== number) {
      this.#record.fault('a place lost', `number ${visit.number} became ${number}`);
      visit.number = number;
    }
    if (state === 'waiting') return;
    // Seconds are cut off in a token: so much it is good in any case, whatever clock it goes by.
    const until = answer.sent + (exp - iat - 1) * 1000;
    visit.pass = this.#browser.token.text;
    visit.expires = answer.received + (exp - iat + 1) * 1000;
    if (visit.admission === undefined) {
      visit.admission = { sent: this.#lostSince ?? answer.sent, received: answer.received };
      visit.until = until;
      this.#record.count('admitted', answer.received);
      if (visit.waited) this.#record.count('admitted after waiting', answer.received);
    } else {
      visit.until = Math.max(visit.until, until);
      this.#record.count('renewed', answer.received);
    }
  }

  /** Latencies, by where an answer comes from. */
  #time(answer, kind, heldPass) {
    const passed = answer.token?.state === 'admitted' || answer.token?.state === 'provisional';
    let what = 'the edge: page or place';
    if (kind === 'leave') what = 'the room: leave';
    else if (passed && !heldPass) what = answer.state ? 'the room: claim' : 'the room and the site: newcomer let in';
    else if (passed) what = 'the room and the site: renewal';
    else if (answer.state === undefined) what = 'the site: page';
    else if (answer.token?.state === 'waiting' && kind === 'poll' && this.#visit.queueing === undefined) what = 'the room: number';
    else if (answer.state === 'called') what = 'the room: at the door';
    this.#record.took(what, answer.received - answer.sent);
  }

  #isSite(answer) {
    return !answer.lost && answer.state === undefined && answer.status < 500;
  }

  #entered(answer) {
    const visit = this.#visit;
    visit.entered = answer.received;
    this.#be('inside');
    this.#record.count('entered', answer.received);
    if (visit.waited) this.#record.count('entered after waiting', answer.received);
  }

  #end(how) {
    this.#visit.end = how;
    this.#record.count(`end: ${how}`);
    this.#be(undefined);
    return false;
  }

  /** Where the visitor is: waiting, inside, or neither. */
  #be(level) {
    if (this.#level) this.#record.move(this.#level, -1);
    this.#level = level;
    if (level) this.#record.move(level, 1);
  }

  async #sleep(seconds) {
    await pause(seconds * 1000, undefined, { signal: this.#signal });
  }
}
