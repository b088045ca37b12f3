// Every cap in the code stands in docs/limits.md, with its value and a test that reaches it.

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ROOT, readSources } from './sources.js';

/** Exported numbers that bound something: `MAX_…`, or anything in bytes or milliseconds. */
const CAP = /^export const (?<name>MAX_[A-Z0-9_]+|[A-Z0-9_]+_(?:BYTES|MS))\b[^=]*=\s*(?<value>[^;]+);/gm;

const caps = readSources('src').flatMap(({ file, text }) =>
  [...text.matchAll(CAP)].map(({ groups }) => ({
    name: groups?.['name'] ?? '',
    value: groups?.['value'] ?? '',
    file,
  })),
);

interface Row {
  readonly name: string;
  readonly value: string;
  readonly file: string;
  readonly test: string;
}

const rows: Row[] = [
  ...readFileSync(join(ROOT, 'docs/limits.md'), 'utf8').matchAll(
    /^\| `([A-Z0-9_]+)` \| `([^`]+)` \| .* \| `([^`]+)` \| `([^`]+)` \|$/gm,
  ),
].map(([, name = '', value = '', file = '', tested = '']) => ({ name, value, file, test: tested }));

const key = ({ name, file }: { name: string; file: string }): string => `${file} ${name}`;

test('every cap of the code has a row, and every row a cap', () => {
  expect(rows.map(key).sort()).toEqual(caps.map(key).sort());
});

test('the values in the table are those of the code', () => {
  const inCode = new Map(caps.map((cap) => [key(cap), cap.value.replaceAll(/\s+/g, ' ')]));
  expect(rows.filter((row) => inCode.get(key(row)) !== row.value).map(key)).toEqual([]);
});

test('every row names a test file that is there', () => {
  expect(
    rows.filter((row) => !existsSync(join(ROOT, row.test))).map((row) => `${row.name}: ${row.test}`),
  ).toEqual([]);
});
