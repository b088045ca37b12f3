// What a package could do, told before it is there.

import type { Page } from '../document/page.js';
import { actionsOf } from './action-page.js';
import type { PackageFiles } from '../packages/package-files.js';
import { hashOf } from '../packages/package-files.js';

/** Of one line of the list: its beginning and its end, where something may be hidden behind a long middle. */
const SHOWN_CHARS = 400;
/** Of each list. */
const SHOWN_LINES = 50;

export function describePackage(page: Page, source: string, files: PackageFiles): string {
  const { all } = actionsOf(page);
  const { requires, env } = page.frontmatter;
  const needs = [...new Set([...requires, ...env.map(({ name }) => name)])];
  const commands = all.filter(({ method }) => method === 'CLI');
  const requests = all.filter(({ method }) => method !== 'CLI');
  return [
    `  Source: ${source}`,
    `  Files: ${files.size} (${files.bytes} bytes)`,
    `  sha256: ${hashOf(page.source)} (string.md)`,
    ...section(
      'Runs commands',
      commands.map(({ id, target }) => `${id}: ${cut(target)}`),
    ),
    ...section(
      'Makes requests',
      requests.map(({ id, method, target }) => `${id}: ${method} ${cut(target)}`),
    ),
    `  Runs when it is opened: ${page.frontmatter.default ?? '(nothing)'}`,
    `  Asks for: ${needs.length === 0 ? '(nothing)' : needs.map((name) => `$${name}`).join(', ')}`,
    ...section('Programs of its own', programsOf(files)),
  ].join('\n');
}

function section(title: string, rows: readonly string[]): string[] {
  if (rows.length === 0) return [`  ${title}: (none)`];
  const shown = rows.slice(0, SHOWN_LINES).map((row) => `    ${row}`);
  if (rows.length > shown.length) shown.push(`    … and ${rows.length - shown.length} more`);
  return [`  ${title} (${rows.length}):`, ...shown];
}

function programsOf(files: PackageFiles): string[] {
  return [...files.entries()]
    .filter(([path, { executable }]) => executable || /\.(?:sh|py|js|mjs|cjs|ts|rb|pl|php)$/iu.test(path))
    .map(([path]) => path);
}

function cut(text: string): string {
  const plain = text.replaceAll(/\s+/gu, ' ');
  const left = plain.length - SHOWN_CHARS;
  const half = SHOWN_CHARS / 2;
  return left > 0 ? `${plain.slice(0, half)} [… ${left} characters …] ${plain.slice(-half)}` : plain;
}
