// Writes a result where the next reader looks for it: figures as JSON, a plot as SVG.

import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { drawResult } from './svg.js';
import type { SuiteResult } from './types.js';

export async function storeResult(directory: string, result: SuiteResult): Promise<void> {
  await mkdir(directory, { recursive: true });
  await writeFile(join(directory, `${result.suite}.json`), formatJson(result));
  await writeFile(join(directory, `${result.suite}.svg`), drawResult(result));
}

/** Six significant digits: what is beyond them is noise, and noise makes every diff long. */
export function formatJson(value: unknown): string {
  const short = (_key: string, each: unknown): unknown =>
    typeof each === 'number' && !Number.isInteger(each) ? Number(each.toPrecision(6)) : each;
  return `${JSON.stringify(value, short, 2)}\n`;
}
