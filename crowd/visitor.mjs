// A visitor: opens the page, waits as the waiting page's script does (templates/default.js), comes in
// when it is told to, looks around, and goes. Some lose patience and some just vanish.

import { setTimeout as pause } from 'node:timers/promises';

import { between, whole } from './random.mjs';
import { FAILED, Witness } from './witness.mjs';

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
  #witness;
  #level;

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
    this.#url = url;
    this.#browser = browser;
    this.#plan = plan;
    this.#record = record;
    this.#signal = signal;
    this.#witness = new Witness({ visitor: id, record, rough });
  }

  /** Everything, from the arrival on. Ends early, without an error, when the run does. */
  async run() {
    try {
      await this.#sleep(this.#plan.arrival);
      this.#record.count('arrived');
      this.#witness.arrive();
      if (await this.#comeIn()) await this.#lookAround();
    } catch (error) {
      if (!this.#signal.aborted) throw error;
      this.#witness.interrupted();
    } finally {
      this.#be(undefined);
    }
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
      if (answer.lost || !answer.state || FAILED.includes(answer.state)) {
        failures += 1;
        await this.#sleep(Math.min(LONGEST_RELOAD_S, 2 ** failures) * this.#plan.jitter());
        continue;
      }
      failures = 0;
      this.#witness.visit.waited = true;
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
      const { visit } = this.#witness;
      const answer = await this.#ask('page', `${this.#url}?page=${page}`);
      if (answer.lost || FAILED.includes(answer.state)) continue;
      if (!this.#isSite(answer)) {
        // The session is over, or else a fault is noted. The visitor waits anew.
        if (!(await this.#comeIn())) return;
      } else if (visit !== this.#witness.visit) this.#entered(answer);
    }
    await this.#sleep(think());
    if (!vanishes) await this.#leave();
    this.#end(vanishes ? 'vanished' : 'left');
  }

  async #leave() {
    this.#witness.gone(await this.#ask('leave', leaveUrl(this.#url), { method: 'POST' }));
  }

  /** Sends a request, and has noted what comes back. */
  async #ask(kind, url, options) {
    const answer = await this.#browser.ask(kind, url, options);
    // What the end of the run cut off says nothing.
    if (answer.lost) this.#signal.throwIfAborted();
    if (this.#witness.saw(kind, answer) === 'over') {
      this.#browser.visitor += '+';
      this.#be(undefined);
    }
    return answer;
  }

  #isSite(answer) {
    return !answer.lost && answer.state === undefined && answer.status < 500;
  }

  #entered(answer) {
    this.#be('inside');
    this.#witness.entered(answer);
  }

  #end(how) {
    this.#witness.end(how);
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
