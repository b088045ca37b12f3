// Numbers and ranges as people write them on the command line.

import { UsageError } from '../../flags.js';

export interface LineRange {
  /** Both count from 1 and belong to it. */
  readonly first: number;
  readonly last: number;
}

/** `3`, `3-7`, `3-`, `-7`; `:` does as well as `-`. */
export function parseLines(text: string): LineRange {
  const [, from, dash, to] = /^(\d*)([-:]?)(\d*)$/.exec(text) ?? [];
  const bad = (): UsageError =>
    new UsageError(`"${text}" are no lines: write 3, 3-7, 3- or -7, counted from 1`);
  if (from === undefined || (from === '' && (to ?? '') === '')) throw bad();
  const first = from === '' ? 1 : Number(from);
  const last = dash === '' ? first : to === '' ? Number.MAX_SAFE_INTEGER : Number(to);
  if (first < 1 || last < first || !Number.isSafeInteger(first) || !Number.isSafeInteger(last)) throw bad();
  return { first, last };
}

const UNIT_BYTES: Readonly<Record<string, number>> = { '': 1, k: 1024, m: 1024 ** 2, g: 1024 ** 3 };

/** `100`, `64k`, `1M`, `2G`. */
export function parseBytes(text: string): number {
  const [, digits = '', unit = ''] = /^(\d+)([kmg]?)(?:i?b)?$/i.exec(text) ?? [];
  const bytes = Number(digits) * (UNIT_BYTES[unit.toLowerCase()] ?? 1);
  if (digits === '' || !Number.isSafeInteger(bytes))
    throw new UsageError(`"${text}" is no number of bytes: write 100, 64k, 1M or 2G`);
  return bytes;
}

export function parseCount(text: string): number {
  const count = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (!Number.isSafeInteger(count)) throw new UsageError(`"${text}" is no whole number`);
  return count;
}

/** `644`, `0755`. */
export function parseMode(text: string): number {
  if (!/^0?[0-7]{3,4}$/.test(text)) throw new UsageError(`"${text}" are no permissions: write 644 or 0755`);
  return Number.parseInt(text, 8);
}
