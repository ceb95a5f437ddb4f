// What a run tells on the terminal.

import { OWN_WAIT } from './record.mjs';

const VERDICT = new Map([[true, 'yes'], [false, 'NO'], [undefined, 'not to be said']]);

/** The time as `1:05`. */
const minutes = (milliseconds) => {
  const seconds = Math.round(milliseconds / 1000);
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
};

/** One line on how the run goes. */
export function line(record, visitors) {
  const n = (name) => record.counted(name).toLocaleString('en');
  const gone = [...'closes leaves left vanished refused'.split(' ')].reduce((sum, how) => sum + record.counted(`end: ${how}`), 0);
  const faults = Object.values(record.faults).reduce((sum, count) => sum + count, 0);
  return (
    `${minutes(record.age)}  ${n('arrived')} of ${visitors.toLocaleString('en')} came, ` +
    `${record.level('waiting').toLocaleString('en')} wait, ${record.level('inside').toLocaleString('en')} inside, ` +
    `${gone.toLocaleString('en')} gone; ${n('requests')} requests, ${faults} faults`
  );
}

/** Tells how a run goes: in place on a terminal, else a line every ten seconds. */
export function progress(stream = process.stdout) {
  let last = 0;
  return {
    tell(text) {
      if (stream.isTTY) stream.write(`\r\x1b[K${text}`);
      else if (performance.now() - last >= 10_000) {
        last = performance.now();
        stream.write(`${text}\n`);
      }
    },
    end(text) {
      stream.write(stream.isTTY ? `\r\x1b[K${text}\n` : `${text}\n`);
    },
  };
}

/** The verdicts in words. */
export function told(verdicts) {
  return verdicts
    .map(({ question, holds, figures }, i) => [`${i + 1}. ${question} ${VERDICT.get(holds)}`, ...figures.map((figure) => `   - ${figure}`)])
    .flat()
    .join('\n');
}

/** Visitors who wait for longer than this for a connection do not poll when they would. */
const MOST_OWN_WAIT_MS = 1_000;

/** Why the verdicts are not about the target, if they are not: this program could not keep up. */
export function reservation(record) {
  const { p99 } = record.latency(OWN_WAIT);
  if (p99 <= MOST_OWN_WAIT_MS) return undefined;
  return (
    `Visitors waited up to ${(p99 / 1000).toFixed(1)} s for a free connection of this program, so they came later than they would. ` +
    'The verdicts are about this machine: leave it alone, or take fewer visitors or more connections.'
  );
}

/** The latencies, as rows of text. */
export function latencies(record) {
  const rows = record.kinds.toSorted().map((kind) => {
    const { count, p50, p99, max } = record.latency(kind);
    return [kind, count.toLocaleString('en'), p50.toFixed(1), p99.toFixed(1), max.toFixed(0)];
  });
  return [['answered by', 'answers', 'p50 ms', 'p99 ms', 'max ms'], ...rows];
}

/** Rows as a table: the first column on the left, numbers on the right. */
export function table(rows) {
  const widths = rows[0].map((_, column) => Math.max(...rows.map((row) => row[column].length)));
  const cells = (row) => row.map((cell, i) => (i === 0 ? cell.padEnd(widths[i]) : cell.padStart(widths[i])));
  return rows.map((row) => cells(row).join('  ')).join('\n');
}
