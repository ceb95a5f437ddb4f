// The page with the plots: one file that needs nothing else.

const WIDTH = 860;
const HEIGHT = 240;
const LEFT = 64;
const BOTTOM = 34;
const TOP = 12;

const escaped = (text) => String(text).replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);

/** A round number that is at least `value`. */
function roundUp(value) {
  const power = 10 ** Math.floor(Math.log10(Math.max(value, 1)));
  return [1, 2, 2.5, 5, 10].map((step) => step * power).find((bound) => bound >= value);
}

/**
 * A plot over the seconds of a run.
 *
 * @param {object} plot
 * @param {string} plot.title
 * @param {string} plot.unit What the vertical axis counts.
 * @param {number} plot.seconds How long the run was.
 * @param {Array<{name: string, values: number[]}>} plot.lines A value for each second; a missing
 *   one is 0. At most four.
 * @param {Array<{name: string, value: number}>} [plot.limits] Drawn across, dashed.
 */
export function plot({ title, unit, seconds, lines, limits = [] }) {
  const values = (line) => Array.from({ length: seconds }, (_, i) => line.values[i] ?? 0);
  const top = roundUp(Math.max(1, ...lines.map((line) => values(line).reduce((a, b) => Math.max(a, b), 0)), ...limits.map(({ value }) => value)));
  const x = (second) => LEFT + (second * (WIDTH - LEFT - 12)) / Math.max(1, seconds - 1);
  const y = (value) => TOP + (1 - value / top) * (HEIGHT - TOP - BOTTOM);
  const step = [5, 10, 15, 30, 60, 120, 300, 600].find((span) => seconds / span <= 10) ?? 1_200;
  const grid = [0, 0.25, 0.5, 0.75, 1].map((share) => {
    const at = y(share * top).toFixed(1);
    return `<path class="grid" d="M${LEFT} ${at}H${WIDTH - 12}"/><text class="right" x="${LEFT - 8}" y="${at}">${escaped((share * top).toLocaleString('en'))}</text>`;
  });
  const ticks = Array.from({ length: Math.floor(seconds / step) + 1 }, (_, i) => i * step);
  const times = ticks.map(
    (second) => `<text class="middle" x="${x(second).toFixed(1)}" y="${HEIGHT - BOTTOM + 18}">${Math.floor(second / 60)}:${String(second % 60).padStart(2, '0')}</text>`,
  );
  const dashes = limits.map(
    ({ name, value }) => `<path class="limit" d="M${LEFT} ${y(value).toFixed(1)}H${WIDTH - 12}"><title>${escaped(name)}: ${value}</title></path>`,
  );
  const curves = lines.map((line, i) => {
    const points = values(line).map((value, second) => `${x(second).toFixed(1)} ${y(value).toFixed(1)}`);
    return `<path class="line c${i}" d="M${points.join('L')}"><title>${escaped(line.name)}</title></path>`;
  });
  const names = [
    ...lines.map((line, i) => `<span class="k${i}">${escaped(line.name)}</span>`),
    ...limits.map(({ name, value }) => `<span class="dash">${escaped(name)}: ${value.toLocaleString('en')}</span>`),
  ];
  return `<figure><figcaption>${escaped(title)} <small>${escaped(unit)}</small></figcaption>
<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${escaped(title)}">${[...grid, ...times, ...dashes, ...curves].join('')}</svg>
<p class="names">${names.join(' ')}</p></figure>`;
}

/** A sliding sum over `span` seconds. */
export function sliding(series, seconds, span) {
  let sum = 0;
  return Array.from({ length: seconds }, (_, i) => {
    sum += (series[i] ?? 0) - (i >= span ? (series[i - span] ?? 0) : 0);
    return sum;
  });
}

const STYLE = `:root{color-scheme:light dark;--fg:#1c2024;--bg:#fff;--soft:#8b939b;--grid:#e3e6e9;--a:#0b62d6;--b:#c2410c;--c:#15803d;--d:#7e22ce}
@media (prefers-color-scheme:dark){:root{--fg:#e6e8ea;--bg:#15181b;--soft:#8b939b;--grid:#2c3136;--a:#6aa9ff;--b:#ff9b5e;--c:#63d08a;--d:#c798ff}}
body{font:15px/1.5 system-ui,sans-serif;color:var(--fg);background:var(--bg);max-width:900px;margin:2rem auto;padding:0 1rem}
h1{font-size:1.5rem;margin-bottom:.2rem}h2{font-size:1.1rem}figure{margin:1.5rem 0}figcaption{font-weight:600}small,.about{color:var(--soft);font-weight:400}
svg{width:100%;height:auto;font-size:12px}svg text{fill:var(--soft);dominant-baseline:middle}.right{text-anchor:end}.middle{text-anchor:middle}
.grid{stroke:var(--grid)}.line{fill:none;stroke-width:1.6}.limit{stroke:var(--fg);stroke-dasharray:5 4;opacity:.6}
.c0{stroke:var(--a)}.c1{stroke:var(--b)}.c2{stroke:var(--c)}.c3{stroke:var(--d)}
.names span{margin-right:1.2rem}.names span:before{content:"";display:inline-block;width:1.4em;vertical-align:middle;margin-right:.4em;border-top:3px solid currentColor}
.k0:before{color:var(--a)}.k1:before{color:var(--b)}.k2:before{color:var(--c)}.k3:before{color:var(--d)}.names .dash:before{border-top-style:dashed}
table{border-collapse:collapse}td,th{padding:.15rem .9rem .15rem 0;text-align:right;border-bottom:1px solid var(--grid)}td:first-child,th:first-child{text-align:left}
.yes{color:var(--c)}.no{color:var(--b)}pre{overflow:auto}`;

/**
 * The whole page.
 *
 * @param {object} page
 * @param {string} page.title
 * @param {string} page.about What was run.
 * @param {Array<{question: string, holds: boolean | undefined, figures: string[]}>} page.verdicts
 * @param {string[]} page.plots From `plot`.
 * @param {string[][]} page.table The first row is the head.
 * @param {string[]} page.notes Lines to be read as they are.
 */
export function page({ title, about, verdicts, plots, table, notes }) {
  const word = (holds) => (holds === undefined ? '<span>not to be said</span>' : holds ? '<span class="yes">yes</span>' : '<span class="no">no</span>');
  const verdict = ({ question, holds, figures }) =>
    `<li><b>${escaped(question)}</b> ${word(holds)}<ul>${figures.map((figure) => `<li>${escaped(figure)}</li>`).join('')}</ul></li>`;
  const row = (cells, tag) => `<tr>${cells.map((cell) => `<${tag}>${escaped(cell)}</${tag}>`).join('')}</tr>`;
  const [head, ...rows] = table;
  return `<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${escaped(title)}</title><style>${STYLE}</style></head>
<body><h1>${escaped(title)}</h1><p class="about">${escaped(about)}</p>
<ol>${verdicts.map(verdict).join('')}</ol>
${plots.join('\n')}
<h2>Latencies</h2><table>${row(head, 'th')}${rows.map((cells) => row(cells, 'td')).join('')}</table>
${notes.length ? `<h2>Faults</h2><pre>${escaped(notes.join('\n'))}</pre>` : ''}
</body></html>
`;
}
