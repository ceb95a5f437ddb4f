// What a run may be told on the command line, and the bounds of a run against somebody's site.

import { parseArgs } from 'node:util';

/** What is told wrongly; the message is for the operator. */
export class Misuse extends Error {}

/** A run against a target is no larger and no longer than this. */
const MOST_VISITORS = 20_000;
const MOST_VISITORS_PER_SECOND = 200;
const MOST_MINUTES = 30;
const MOST_CONNECTIONS = 200;

/** name: [default on this machine, default against a target, least, most, what it is]. */
const NUMBERS = {
  visitors: [10_000, 200, 1, MOST_VISITORS, 'how many come'],
  span: [60, 30, 0, 3_600, 'the seconds within which they come'],
  pages: [3, 3, 1, 100, 'the pages that each looks at, on average'],
  think: [3, 3, 0.1, 600, 'the seconds between two pages, on average'],
  'no-show': [0.1, 0.1, 0, 1, 'the share who close the page while they wait'],
  leave: [0.02, 0.02, 0, 1, 'the share who leave the line'],
  vanish: [0.1, 0.1, 0, 1, 'the share who end without leaving'],
  minutes: [10, 10, 0.1, MOST_MINUTES, 'the run ends after so many at the latest'],
  connections: [200, 50, 1, MOST_CONNECTIONS, 'connections, kept alive'],
  seed: [undefined, undefined, 0, 2 ** 32 - 1, 'repeats what chance drew'],
  'active-limit': [undefined, undefined, 1, 2 ** 31 - 1, "the room's total_active_users"],
  'minute-limit': [undefined, undefined, 1, 2 ** 31 - 1, "the room's new_users_per_minute"],
};

const TEXTS = {
  url: 'the page that visitors want, https://preview.example.com/sale; none: the Worker on this machine',
  host: "the host that requests name, where it is not the URL's: shop.example.com",
  cookie: "the name of the room's cookie; __cfwaitingroom",
  out: 'the page with the plots; target/crowd.html',
};

/** All options, to read. */
export function help() {
  const numbers = Object.entries(NUMBERS).map(([name, [here, there, , , meaning]]) => {
    const defaults = here === undefined ? '' : here === there ? ` (${here})` : ` (${here}; with --url ${there})`;
    return `  --${name.padEnd(14)} ${meaning}${defaults}`;
  });
  const texts = Object.entries(TEXTS).map(([name, meaning]) => `  --${name.padEnd(14)} ${meaning}`);
  return ['node crowd/run.mjs [options]', ...texts, ...numbers].join('\n');
}

/**
 * Reads the arguments.
 *
 * @throws {Misuse} If one is unknown, out of its bounds, or more would come a second than a target is sent.
 */
export function read(args) {
  const names = [...Object.keys(NUMBERS), ...Object.keys(TEXTS)];
  let values;
  try {
    ({ values } = parseArgs({ args, options: Object.fromEntries(names.map((name) => [name, { type: 'string' }])) }));
  } catch (error) {
    throw new Misuse(error.message);
  }
  const target = values.url === undefined ? undefined : site(values.url);
  const options = { cookie: '__cfwaitingroom', out: 'target/crowd.html', ...values, url: target };
  for (const [name, [here, there, least, most]] of Object.entries(NUMBERS)) {
    const value = values[name] === undefined ? (target ? there : here) : Number(values[name]);
    if (value !== undefined && !(value >= least && value <= most)) {
      throw new Misuse(`--${name} must be ${least} to ${most}, not ${values[name]}`);
    }
    options[name] = value;
  }
  options.seed ??= Math.floor(Math.random() * 2 ** 32);
  if (!Number.isInteger(options.visitors)) throw new Misuse('--visitors must be whole');
  if (options.host !== undefined && !/^[a-z0-9.-]+(:\d+)?$/i.test(options.host)) throw new Misuse(`--host: not a host: ${options.host}`);
  if (target && options.visitors > Math.max(1, options.span) * MOST_VISITORS_PER_SECOND) {
    throw new Misuse(`no more than ${MOST_VISITORS_PER_SECOND} visitors a second are sent at a target: a longer --span`);
  }
  return options;
}

function site(text) {
  let url;
  try {
    url = new URL(text);
  } catch {
    throw new Misuse(`--url: not a URL: ${text || '(nothing)'}`);
  }
  if (!['http:', 'https:'].includes(url.protocol)) throw new Misuse('--url must begin with http:// or https://');
  if (url.search || url.hash || url.username) throw new Misuse('--url: host and path only');
  return url.href;
}
