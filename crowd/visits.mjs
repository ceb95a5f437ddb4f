// What visits say about a room, seen from the outside alone: the promises of docs/room.md, checked on
// what visitors were given and when. Plain functions of plain data.
//
// A moment is `{sent, received}`: what a request did happened between the two. Nothing is counted
// against a room that could have happened in time: a promise is broken when it is broken for every
// moment that is possible.

/** An edge may know a snapshot that is so much older than what the room knows. */
const SNAPSHOT_AGE_MS = 3_000;

/**
 * One visitor's way from arriving to the end of the session. A visitor whose session is over and who
 * comes again makes another visit.
 *
 * @typedef {object} Visit
 * @property {number} visitor Who.
 * @property {number} [number] The number in line.
 * @property {boolean} [waited] Whether a waiting page was seen.
 * @property {number} [queueing] When the last request left that was answered "your turn has not come".
 * @property {number} [door] When the answer came since which the visitor stands at the door.
 * @property {number} [sentAway] When the visitor asked there for the last time in vain.
 * @property {{sent: number, received: number}} [admission] When the pass was given.
 * @property {number} [until] Up to when the pass was good in any case.
 * @property {number} [expires] When it was over in any case.
 * @property {string} [pass] The pass as it came last.
 * @property {number} [left] When it was acknowledged that the visitor has left.
 * @property {number} [entered] When the site answered first.
 * @property {string} [end] How it ended: `left`, `vanished`, `closes`, `leaves` (the line),
 *   `refused`, `over`, `time is up`.
 */

/**
 * The most of the intervals `{from, until}` that overlap at one moment.
 * @returns {{most: number, at: number}}
 */
export function mostAtOnce(intervals) {
  const changes = intervals
    .filter(({ from, until }) => until > from)
    .flatMap(({ from, until }) => [[from, 1], [until, -1]]);
  // What ends at a moment is over before what begins at it.
  changes.sort(([a, up], [b, more]) => a - b || up - more);
  let now = 0;
  let most = 0;
  let at = 0;
  for (const [moment, change] of changes) {
    now += change;
    if (now > most) [most, at] = [now, moment];
  }
  return { most, at };
}

/** The most moments that lie wholly within one window of `span` milliseconds. */
export function mostWithin(moments, span) {
  const sent = moments.map((moment) => moment.sent).toSorted((a, b) => a - b);
  const received = moments.map((moment) => moment.received).toSorted((a, b) => a - b);
  let most = 0;
  let ended = 0;
  sent.forEach((begin, before) => {
    while (ended < received.length && received[ended] < begin + span) ended += 1;
    // Those received before the window's end, without those sent before its begin: exact as long as
    // no request takes longer than the window.
    most = Math.max(most, ended - before);
  });
  return most;
}

/** The passes as intervals: from when the visitor had it to when it was surely still good. */
export function passes(visits) {
  return visits
    .filter((visit) => visit.admission)
    .map((visit) => ({ from: visit.admission.received, until: visit.until }));
}

/** The numbers that two visits were given. */
export function doubles(visits) {
  const owners = new Map();
  const doubled = [];
  for (const { number, visitor } of visits) {
    if (number === undefined) continue;
    if (owners.has(number)) doubled.push({ number, visitors: [owners.get(number), visitor] });
    owners.set(number, visitor);
  }
  return doubled;
}

/**
 * Who was overtaken though they came when they were told to. A called visitor comes with the next
 * poll, and until then others who were called may pass; that is documented and no fault. It is one
 *
 * - when a later number was let in, and an earlier one was told afterwards that its turn has not come;
 * - when a later number was let in while an earlier one stood at the door, and the earlier one then asked in vain:
 *   where two slots are free, the room keeps the first in line theirs and need not wait until they ask.
 *   Unless somebody with a still earlier number came late in between, in their right, and took what was kept.
 */
export function overtaken(visits) {
  const admitted = visits.filter((visit) => visit.admission && visit.number !== undefined);
  const byReceived = admitted.toSorted((a, b) => a.admission.received - b.admission.received);
  const highest = [];
  for (const visit of byReceived) highest.push(Math.max(highest.at(-1) ?? 0, visit.number));
  const times = byReceived.map((visit) => visit.admission.received);
  const faults = [];
  for (const visit of visits) {
    if (visit.number === undefined) continue;
    if (visit.queueing !== undefined) {
      const before = countBefore(times, visit.queueing - SNAPSHOT_AGE_MS);
      if (before > 0 && highest[before - 1] > visit.number) {
        faults.push({ number: visit.number, by: highest[before - 1], where: 'in line' });
      }
    }
    if (visit.door !== undefined && visit.admission) {
      const end = countBefore(times, visit.sentAway);
      for (let i = countBefore(times, visit.door); i < end; i += 1) {
        const other = byReceived[i];
        if (other.number > visit.number && other.admission.sent > visit.door && !someoneCameLate(byReceived, visit, other)) {
          faults.push({ number: visit.number, by: other.number, where: 'at the door' });
          break;
        }
      }
    }
  }
  return faults;
}

/**
 * Whether an earlier number than `visit`'s was let in after `other`, before `visit` asked for the last time
 * in vain, and had not stood at the door when `other` came in: a slot was kept for no one of that number.
 */
function someoneCameLate(admitted, visit, other) {
  return admitted.some(
    ({ number, admission, door }) =>
      number < visit.number &&
      admission.received > other.admission.sent &&
      admission.sent < visit.sentAway &&
      (door === undefined || door > other.admission.sent),
  );
}

/** Of every thousand admissions, how many came after that of a later number: called, but slower. */
export function inversions(visits) {
  const admitted = visits
    .filter((visit) => visit.admission && visit.number !== undefined)
    .toSorted((a, b) => a.admission.received - b.admission.received);
  if (admitted.length === 0) return 0;
  let highest = 0;
  let behind = 0;
  for (const { number } of admitted) {
    if (number < highest) behind += 1;
    highest = Math.max(highest, number);
  }
  return (behind * 1000) / admitted.length;
}

/** How many of the sorted `times` are before `moment`. */
function countBefore(times, moment) {
  let [low, high] = [0, times.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (times[middle] < moment) low = middle + 1;
    else high = middle;
  }
  return low;
}
