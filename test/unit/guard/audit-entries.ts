// Numbered entries of an audit log: written, and read again from its files.

import { readFileSync } from 'node:fs';
import type { AuditLog } from '../../../src/guard/audit.js';

export type Entry = Record<string, unknown> & { result?: { i: number } };

export const record = (audit: AuditLog, i: number): void => audit.record({ method: 'test', result: { i } });

export const upTo = (count: number): number[] => Array.from({ length: count }, (_, i) => i);

export const numbersOf = (file: string): number[] => entriesOf(file).map((entry) => entry.result?.i ?? -1);

export const entriesOf = (file: string): Entry[] =>
  readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Entry);
