// The audit log of a server under test.

import { readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

export type AuditLine = Readonly<Record<string, unknown>>;

/** All of it, also what was rotated, oldest first; as text, for what must not be in it. */
export function auditText(file: string): string {
  return readdirSync(dirname(file))
    .filter((name) => name === basename(file) || name.startsWith(`${basename(file)}.`))
    .sort((a, b) => b.localeCompare(a, 'en', { numeric: true }))
    .map((name) => readFileSync(join(dirname(file), name), 'utf8'))
    .join('');
}

export function auditLines(file: string): AuditLine[] {
  return auditText(file)
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as AuditLine);
}
