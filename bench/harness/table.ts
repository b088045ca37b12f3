// A result as text: one table per case, figures to three significant digits, verdicts below.

import { chooseRatio } from './judge.js';
import type { Ratio } from './stats.js';
import type { CaseResult, Row, SuiteResult, Verdict } from './types.js';

const HEAD = ['contender', 'median', 'q1 – q3', 'cpu µs/op', 'ratio', 'q1 – q3', ''];
const LEFT_COLUMNS = new Set([0, HEAD.length - 1]);

export function formatResult(result: SuiteResult): string {
  const { cpus, node, loadBefore } = result.machine;
  const head = `${result.suite}: ${result.summary}\n${result.rounds} rounds, ${cpus} CPUs, node ${node}, load ${loadBefore}`;
  return [head, ...result.cases.map(formatCase)].join('\n\n');
}

function formatCase(result: CaseResult): string {
  const rows = result.rows.map(cellsOf);
  return [
    `  ${result.name} (${result.unit}; ratio to the limit)`,
    ...indent(layOut([HEAD, ...rows])),
    ...indent(result.verdicts.map((verdict) => formatVerdict(verdict, result))),
  ].join('\n');
}

function cellsOf(row: Row): string[] {
  const chosen = row.ratio === undefined ? undefined : chooseRatio(row.ratio);
  const ours =
    row.oursToThis === undefined
      ? undefined
      : `ours is ${formatRatio(chooseRatio(row.oursToThis).ratio)} this`;
  const tags = [
    row.role === 'ours' ? undefined : row.role,
    chosen?.by === 'cpu' ? 'by cpu time' : undefined,
    row.delivered === undefined ? undefined : formatDelivered(row.delivered),
    row.memoryMiB === undefined ? undefined : `${formatFigure(row.memoryMiB)} MiB`,
    row.growthMiB === undefined ? undefined : formatGrowth(row.growthMiB),
    ours,
  ];
  return [
    row.name,
    formatFigure(row.wall.median),
    `${formatFigure(row.wall.q1)} – ${formatFigure(row.wall.q3)}`,
    formatFigure(row.cpuUs.median),
    chosen === undefined ? '1.00×' : formatRatio(chosen.ratio),
    chosen === undefined ? '' : `${formatTimes(chosen.ratio.q1)} – ${formatTimes(chosen.ratio.q3)}`,
    tags.filter((tag) => tag !== undefined).join(', '),
  ];
}

function formatVerdict(verdict: Verdict, { measure, unit }: Pick<CaseResult, 'measure' | 'unit'>): string {
  const { contender, to, bound, got, by, pass } = verdict;
  const head = `${pass ? 'PASS' : 'FAIL'}  ${contender}`;
  if (by === 'memory') return `${head}: ${formatFigure(got)} MiB at its peak, target ≤ ${bound} MiB`;
  if (by === 'growth') return `${head}: ${formatGrowth(got)}, target ≤ ${bound} MiB`;
  const sign = measure === 'rate' ? '≥' : '≤';
  if (by === 'figure') return `${head}: ${formatFigure(got)} ${unit}, target ${sign} ${formatFigure(bound)}`;
  return `${head}: ${formatTimes(got)}× of ${to}${by === 'cpu' ? ' (cpu time)' : ''}, target ${sign} ${bound}×`;
}

function formatGrowth(growthMiB: number): string {
  return `${growthMiB < 0 ? '−' : '+'}${formatFigure(Math.abs(growthMiB))} MiB in a turn`;
}

/** A share below a percent is still not nothing. */
export function formatDelivered(share: number): string {
  return `${share > 0.99 || share < 0.01 ? Number((share * 100).toPrecision(3)) : Math.round(share * 100)} % delivered`;
}

/** Pads every column to its widest cell; text to the left, figures to the right. */
export function layOut(rows: readonly (readonly string[])[]): string[] {
  const widths = rows.reduce<number[]>(
    (widest, row) => row.map((cell, i) => Math.max(widest[i] ?? 0, cell.length)),
    [],
  );
  return rows.map((row) =>
    row
      .map((cell, i) => (LEFT_COLUMNS.has(i) ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0)))
      .join('  ')
      .trimEnd(),
  );
}

/** Three significant digits, thousands kept apart: 0.0123, 4.56, 12 300. */
export function formatFigure(value: number): string {
  if (value === 0) return '0';
  if (Math.abs(value) < 1000) return String(Number(value.toPrecision(3)));
  return String(Math.round(Number(value.toPrecision(3)))).replaceAll(/\B(?=(?:\d{3})+$)/g, ' ');
}

export function formatRatio(ratio: Pick<Ratio, 'value'>): string {
  return `${formatTimes(ratio.value)}×`;
}

/** Two decimals, or two digits where that would say nothing: 0.52, 12.40, 0.0031. */
function formatTimes(value: number): string {
  return value === 0 || value >= 0.1 ? value.toFixed(2) : String(Number(value.toPrecision(2)));
}

function indent(lines: readonly string[]): string[] {
  return lines.map((line) => `    ${line}`);
}
