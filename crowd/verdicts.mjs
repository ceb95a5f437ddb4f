// The four questions to ask before a waiting room goes live, answered from what a run has seen.

import { doubles, inversions, mostAtOnce, mostWithin, overtaken, passes } from './visits.mjs';

/** Lurching: some seconds in a row with more than so many times the mean load. */
const LURCH = 2;
const LURCH_SECONDS = 5;

/** What needs the room is answered within this, in 99 of 100 cases. */
const ROOM_P99_MS = 1_000;

/** A visitor who waits and does not go by themselves gets in: so many of a hundred. */
const COMPLETED = 0.99;

const MINUTE_MS = 60_000;

/**
 * @param {object} run
 * @param {import('./record.mjs').Record} run.record
 * @param {{active?: number, minute?: number}} run.limits The room's limits, as far as they are known.
 * @param {{requests: number[], sessions: number}} [run.site] What the site itself has counted.
 * @returns {Array<{question: string, holds: boolean | undefined, figures: string[]}>} `holds` is
 *   undefined where nothing was there to judge.
 */
export function verdicts({ record, limits, site }) {
  return [decisions(record, limits, site), origin(record, site), completion(record), store(record)];
}

/** The most passes at once and within a minute, and what else the promises come to. */
export function admissions(record) {
  const { visits } = record;
  const given = visits.filter((visit) => visit.admission).map((visit) => visit.admission);
  return {
    active: mostAtOnce(passes(visits)).most,
    minute: mostWithin(given, MINUTE_MS),
    total: given.length,
    doubles: doubles(visits),
    overtaken: overtaken(visits),
    inversions: inversions(visits),
  };
}

function decisions(record, limits, site) {
  const seen = admissions(record);
  const faults = { ...record.faults };
  if (seen.doubles.length) faults['a number given twice'] = seen.doubles.length;
  if (seen.overtaken.length) faults['overtaken in line'] = seen.overtaken.length;
  if (limits.active < seen.active) faults['passes over the limit'] = seen.active - limits.active;
  if (limits.minute < seen.minute) faults['admissions in a minute over the limit'] = seen.minute - limits.minute;
  if (site && limits.active < site.sessions) faults['sessions at the site over the limit'] = site.sessions - limits.active;
  const of = (limit) => (limit === undefined ? '(limit not told)' : `of ${limit}`);
  return {
    question: 'Is everybody treated as intended?',
    holds: Object.keys(faults).length === 0,
    figures: [
      `at most ${seen.active} valid passes at once ${of(limits.active)}`,
      `at most ${seen.minute} admissions within 60 s ${of(limits.minute)}`,
      ...(site ? [`at most ${site.sessions} sessions at once by the site's own count`] : []),
      `of 1,000 admissions ${(seen.total ? (1000 * seen.overtaken.length) / seen.total : 0).toFixed(1)} overtook an earlier number that asked in time`,
      `${seen.inversions.toFixed(1)} of 1,000 came after a later number's: called, but slower, or with a slot kept at the door`,
      ...seen.overtaken.slice(0, 3).map(({ number, by, where }) => `number ${number} was overtaken by ${by} ${where}`),
      ...Object.entries(faults).map(([kind, count]) => `WRONG: ${kind}: ${count}`),
    ],
  };
}

/** Means over some seconds in a row, and the mean of all. */
function load(series, from, to) {
  const figures = Array.from({ length: Math.max(0, to - from) }, (_, i) => series[from + i] ?? 0);
  const mean = figures.reduce((sum, figure) => sum + figure, 0) / figures.length;
  let peak = 0;
  for (let i = 0; i + LURCH_SECONDS <= figures.length; i += 1) {
    const sum = figures.slice(i, i + LURCH_SECONDS).reduce((total, figure) => total + figure, 0);
    peak = Math.max(peak, sum / LURCH_SECONDS);
  }
  return { mean, peak, seconds: figures.length };
}

function origin(record, site) {
  const waiting = record.series('waiting');
  const entered = record.series('entered after waiting');
  const from = waiting.findIndex((count) => count > 0);
  const to = entered.length;
  const { mean, peak, seconds } = load(site?.requests ?? record.series('site'), from, to);
  const question = "Is the site's load smooth when people come in?";
  if (from < 0 || seconds < 4 * LURCH_SECONDS) {
    return { question, holds: undefined, figures: ['too few waited, or not for long enough'] };
  }
  return {
    question,
    holds: peak <= LURCH * mean,
    figures: [
      `while people waited: ${mean.toFixed(1)} requests/s on average, ${peak.toFixed(1)} in the busiest ${LURCH_SECONDS} s`,
      `that is ${(peak / mean).toFixed(2)} times the average; up to ${LURCH} is smooth`,
    ],
  };
}

function completion(record) {
  const waited = record.visits.filter((visit) => visit.waited);
  const stayed = waited.filter((visit) => visit.entered || !['closes', 'leaves'].includes(visit.end));
  const entered = stayed.filter((visit) => visit.entered);
  const late = stayed.filter((visit) => !visit.entered && visit.end === 'time is up');
  const share = entered.length / stayed.length;
  return {
    question: 'Does everybody who waits get in?',
    holds: stayed.length ? share >= COMPLETED : undefined,
    figures: [
      `${entered.length} of ${stayed.length} who waited and stayed came in${stayed.length ? ` (${(100 * share).toFixed(1)} %)` : ''}`,
      `${waited.length - stayed.length} gave up by themselves, as planned`,
      ...(late.length ? [`${late.length} still waited when the time was up`] : []),
    ],
  };
}

function store(record) {
  const kinds = record.kinds.filter((kind) => kind.startsWith('the room:'));
  const slowest = kinds.map((kind) => [kind, record.latency(kind)]).toSorted(([, a], [, b]) => b.p99 - a.p99)[0];
  const unavailable = record.counted('unavailable');
  return {
    question: 'Does the store keep up, without a hot spot?',
    holds: slowest && slowest[1].p99 <= ROOM_P99_MS && unavailable === 0,
    figures: [
      ...(slowest ? [`99 of 100 answers that need the room within ${slowest[1].p99.toFixed(0)} ms (${slowest[0]})`] : []),
      `${unavailable} times the room was not reached`,
    ],
  };
}
