// A result as a picture: a group of bars per case, whiskers for the spread, a line at the limit and one at the target.

import { chooseRatio } from './judge.js';
import { formatDelivered, formatFigure, formatRatio } from './table.js';
import type { CaseResult, Row, SuiteResult } from './types.js';

const WIDTH = 800;
const MARGIN = 24;
const BARS_LEFT = 236;
const BARS_RIGHT = 580;
const BAR_HEIGHT = 20;
const ROW_HEIGHT = 30;
const HEAD_HEIGHT = 66;
const CASE_HEAD_HEIGHT = 42;
const FOOT_HEIGHT = 34;
/** What fits between the margin and the bars. */
const MAX_LABEL_CHARS = 29;

const STYLE = `
text{font:13px system-ui,-apple-system,'Segoe UI',Roboto,'DejaVu Sans',sans-serif;fill:#1f2328}
.title{font-size:17px;font-weight:600}.case{font-size:14px;font-weight:600}.muted{font-size:12px;fill:#59636e}.end{text-anchor:end}
.page{fill:#ffffff}.limit{fill:#9aa4af}.ours{fill:#2f6fde}.peer{fill:#d0691f}.reference{fill:#c3cbd4}
.whisker{stroke:#1f2328;stroke-width:1.5}.at-limit{stroke:#59636e;stroke-dasharray:5 4}.at-target{stroke:#1a7f37;stroke-width:2;stroke-dasharray:2 3}
.pass{fill:#1a7f37}.fail{fill:#cf222e}
@media (prefers-color-scheme: dark){text{fill:#e6edf3}.muted{fill:#9198a1}.page{fill:#0d1117}.limit{fill:#6e7681}.ours{fill:#4f8ff7}
.peer{fill:#e8894a}.reference{fill:#444c56}.whisker{stroke:#e6edf3}.at-limit{stroke:#9198a1}.at-target{stroke:#3fb950}.pass{fill:#3fb950}.fail{fill:#f85149}}
`;

export function drawResult(result: SuiteResult): string {
  const parts: string[] = [];
  let top = HEAD_HEIGHT;
  for (const each of result.cases) {
    parts.push(drawCase(each, top));
    top += caseHeight(each);
  }
  const height = top + FOOT_HEIGHT;
  const { cpus, node, platform, arch, loadBefore } = result.machine;
  const foot = `${result.rounds} interleaved rounds, medians; whiskers: middle half. ${cpus} CPUs, ${platform} ${arch}, node ${node}, load ${loadBefore}, ${result.measuredAt.slice(0, 10)}`;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}" viewBox="0 0 ${WIDTH} ${height}" role="img">`,
    `<title>${escapeXml(`${result.suite}: ${result.summary}`)}</title><style>${STYLE}</style>`,
    `<rect class="page" width="${WIDTH}" height="${height}"/>`,
    text('title', MARGIN, 30, result.suite),
    text('muted', MARGIN, 50, result.summary),
    ...parts,
    text('muted', MARGIN, height - 14, foot),
    '</svg>\n',
  ].join('\n');
}

function drawCase(result: CaseResult, top: number): string {
  const widest = Math.max(...result.rows.map((row) => Math.max(row.wall.q3, row.wall.median)));
  const x = (value: number): number =>
    round(BARS_LEFT + (BARS_RIGHT - BARS_LEFT) * Math.min(1, value / widest));
  const bottom = top + CASE_HEAD_HEIGHT + result.rows.length * ROW_HEIGHT - (ROW_HEIGHT - BAR_HEIGHT) / 2;
  const better = result.measure === 'rate' ? 'more is better' : 'less is better';
  return [
    text('case', MARGIN, top + 26, result.name),
    text('muted end', WIDTH - MARGIN, top + 26, `${result.unit}, ${better}`),
    ...result.rows.map((row, i) => drawRow(row, result, top + CASE_HEAD_HEIGHT + i * ROW_HEIGHT, x)),
    ...drawLines(result, top + CASE_HEAD_HEIGHT - 4, bottom, x),
  ].join('\n');
}

function drawRow(row: Row, result: CaseResult, y: number, x: (value: number) => number): string {
  const middle = y + BAR_HEIGHT / 2;
  const [q1, q3] = [x(row.wall.q1), x(row.wall.q3)];
  const verdicts = result.verdicts.filter((each) => each.contender === row.name);
  const pass = verdicts.every((verdict) => verdict.pass);
  const chosen = row.ratio === undefined ? undefined : chooseRatio(row.ratio);
  const ratio =
    chosen === undefined ? 'the limit' : `${formatRatio(chosen.ratio)}${chosen.by === 'cpu' ? ' cpu' : ''}`;
  const mark = verdicts.length === 0 ? '' : pass ? ' ✓' : ' ✗';
  const kind = verdicts.length === 0 ? 'end' : `end ${pass ? 'pass' : 'fail'}`;
  const label = row.delivered === undefined ? row.name : `${row.name}, ${formatDelivered(row.delivered)}`;
  return [
    text('end', BARS_LEFT - 12, middle + 4, shorten(label)),
    `<rect class="${row.role}" x="${BARS_LEFT}" y="${y}" width="${round(x(row.wall.median) - BARS_LEFT)}" height="${BAR_HEIGHT}" rx="3"/>`,
    `<path class="whisker" d="M${q1} ${middle}H${q3}M${q1} ${middle - 4}v8M${q3} ${middle - 4}v8"/>`,
    text('end', 684, middle + 4, formatFigure(row.wall.median)),
    text(kind, WIDTH - MARGIN, middle + 4, ratio + mark),
  ].join('\n');
}

/** The limit across the whole group, and the nearest thing to it that a target allows. */
function drawLines(result: CaseResult, top: number, bottom: number, x: (value: number) => number): string[] {
  const limit = result.rows.find((row) => row.role === 'limit')?.wall.median;
  if (limit === undefined) return [];
  const lines = [`<path class="at-limit" d="M${x(limit)} ${top}V${bottom}"/>`];
  for (const [bound, to] of targetsOf(result)) {
    const base = result.rows.find((row) => row.name === to)?.wall.median ?? limit;
    lines.push(`<path class="at-target" d="M${x(base * bound)} ${top}V${bottom}"/>`);
    lines.push(
      `<text class="muted" x="${x(base * bound)}" y="${top - 4}" text-anchor="middle">${escapeXml(`${bound}× ${shorten(to)}`)}</text>`,
    );
  }
  return lines;
}

/** Each line once, however many are held to it. Beside a peer it is the peer that counts. */
function targetsOf({ verdicts, rows }: CaseResult): Map<number, string> {
  const ratios = verdicts.filter(({ by }) => by === 'wall' || by === 'cpu');
  const besidePeers = ratios.filter(({ to }) => rows.some((row) => row.role === 'peer' && row.name === to));
  const shown = besidePeers.length > 0 ? besidePeers : ratios;
  return new Map(shown.map(({ bound, to }) => [bound, to ?? 'target']));
}

function caseHeight(result: CaseResult): number {
  return CASE_HEAD_HEIGHT + result.rows.length * ROW_HEIGHT + 14;
}

function text(kind: string, x: number, y: number, content: string): string {
  return `<text class="${kind}" x="${x}" y="${y}">${escapeXml(content)}</text>`;
}

function shorten(label: string): string {
  return label.length <= MAX_LABEL_CHARS ? label : `${label.slice(0, MAX_LABEL_CHARS - 1)}…`;
}

export function escapeXml(content: string): string {
  // Control characters are not allowed in XML even when escaped.
  // oxlint-disable-next-line no-control-regex -- naming them is the point
  const clean = content.replaceAll(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, '�');
  return clean
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
