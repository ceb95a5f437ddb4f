// What a run has seen, in memory that does not grow with its requests: counts, latencies, a figure for
// every second, and one small object for every visit.

import { createHistogram } from 'node:perf_hooks';

/** The kind of the times that visitors wait for a connection of this program. */
export const OWN_WAIT = 'here: a free connection';

/** So many faults are kept with their words; all are counted. */
const TOLD = 20;

export class Record {
  #begin = performance.now();
  #visits = [];
  #counts = new Map();
  #latencies = new Map();
  #series = new Map();
  #levels = new Map();
  #sampled = 0;
  #faults = new Map();
  #told = [];

  /** The milliseconds since the run began. */
  get age() {
    return performance.now() - this.#begin;
  }

  /** When the run began, on `performance.now()`. */
  get begin() {
    return this.#begin;
  }

  get visits() {
    return this.#visits;
  }

  /** Begins a visit; docs of its fields are in visits.mjs. */
  visit(visitor) {
    const visit = { visitor };
    this.#visits.push(visit);
    return visit;
  }

  /** Counts one more of `name`, over the run and in this second. */
  count(name, at = performance.now()) {
    this.#counts.set(name, this.counted(name) + 1);
    const series = this.series(name);
    const second = Math.max(0, Math.floor((at - this.#begin) / 1000));
    series[second] = (series[second] ?? 0) + 1;
  }

  /** How many of `name` were counted. */
  counted(name) {
    return this.#counts.get(name) ?? 0;
  }

  /** The counts of every second; seconds without any may be missing. */
  series(name) {
    if (!this.#series.has(name)) this.#series.set(name, []);
    return this.#series.get(name);
  }

  /** A level that goes up and down, such as how many wait. */
  move(name, by) {
    this.#levels.set(name, this.level(name) + by);
  }

  level(name) {
    return this.#levels.get(name) ?? 0;
  }

  /** Notes the levels as the figures of the seconds since the last sample. */
  sample(now = performance.now()) {
    const second = Math.floor((now - this.#begin) / 1000);
    for (const [name, value] of this.#levels) {
      const series = this.series(name);
      for (let i = this.#sampled; i <= second; i += 1) series[i] = value;
    }
    this.#sampled = second + 1;
  }

  /** Notes how long an answer took, by what it needed. */
  took(kind, milliseconds) {
    if (!this.#latencies.has(kind)) this.#latencies.set(kind, createHistogram());
    this.#latencies.get(kind).record(Math.max(1, Math.round(milliseconds * 1000)));
  }

  /** The latencies of a kind: `{count, p50, p99, max}` in milliseconds. */
  latency(kind) {
    const histogram = this.#latencies.get(kind);
    if (!histogram) return { count: 0, p50: 0, p99: 0, max: 0 };
    const milliseconds = (value) => value / 1000;
    return {
      count: histogram.count,
      p50: milliseconds(histogram.percentile(50)),
      p99: milliseconds(histogram.percentile(99)),
      max: milliseconds(histogram.max),
    };
  }

  /** The kinds that latencies were noted of. */
  get kinds() {
    return [...this.#latencies.keys()];
  }

  /** Something that must not be. */
  fault(kind, detail) {
    this.#faults.set(kind, (this.#faults.get(kind) ?? 0) + 1);
    if (this.#told.length < TOLD) this.#told.push(`${(this.age / 1000).toFixed(1)} s: ${kind}: ${detail}`);
  }

  /** How many faults of each kind. */
  get faults() {
    return Object.fromEntries(this.#faults);
  }

  /** The first faults, in words. */
  get told() {
    return this.#told;
  }
}
