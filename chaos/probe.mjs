// Which passes are honoured, asked of the Worker itself: a copy of a pass is sent as a prefetch, which
// takes no place and renews nothing, and is refused without a pass.

import { Browser, Connections } from '../crowd/browser.mjs';

/** So long a pass that was given back may still be honoured: until the edge's next snapshot. */
const REVOKED_WITHIN_MS = 3_000;

/** A pass that is over is refused at once; so much is for the clocks' seconds. */
const SECOND_MS = 1_000;

/** As many passes are looked at: all that may be good, and the latest of those that are over. */
const MOST_OVER = 200;

/**
 * Sends a copy of every pass that may be good, and of some that are not.
 *
 * @returns {Promise<{honoured: number, faults: string[]}>} `honoured`: how many passes were
 *   honoured that are all still good, neither over nor given back, when the last answer has come.
 */
export async function probe({ port, url, visits, cookieName }) {
  const connections = new Connections(`http://127.0.0.1:${port}`, 16);
  const browser = new Browser({ connections, host: new URL(url).host, visitor: '', cookieName });
  const given = visits.filter((visit) => visit.pass);
  const begin = performance.now();
  const good = given.filter((visit) => visit.until > begin);
  const over = given.filter((visit) => visit.until <= begin).slice(-MOST_OVER);
  try {
    const answers = await Promise.all(
      [...good, ...over].map(async (visit) => {
        const wasOver = begin > visit.expires + SECOND_MS;
        const wasLeft = visit.left !== undefined && begin > visit.left + REVOKED_WITHIN_MS;
        const answer = await browser.probe(url, visit.pass);
        return { visit, wasOver, wasLeft, refused: answer.lost !== undefined || answer.state === 'speculative' };
      }),
    );
    const end = performance.now();
    const honoured = answers.filter(({ refused }) => !refused);
    const faults = honoured
      .filter(({ wasOver, wasLeft }) => wasOver || wasLeft)
      .map(({ visit, wasOver }) => `number ${visit.number}: a pass that ${wasOver ? 'is over' : 'was given back'} is honoured`);
    return { honoured: honoured.filter(({ visit }) => visit.until > end).length, faults };
  } finally {
    await connections.close();
  }
}
