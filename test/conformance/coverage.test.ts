// Every clause that is listed is cited by a test: what we say we meet, we prove.

import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Clause } from './clauses/clause.js';
import { clauses, joinTables } from './kit/verifies.js';
import { peerFaults } from './peer-faults.js';

const here = fileURLToPath(new URL('.', import.meta.url));
const cited = new Set(
  readdirSync(here, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.test.ts'))
    .flatMap((name) => [
      ...readFileSync(join(here, name), 'utf8').matchAll(/^\s*verifies\(\s*('[^']+'|\[[^\]]*\])/gm),
    ])
    .flatMap(([, ids = '']) => [...ids.matchAll(/'([^']+)'/g)])
    .map(([, id]) => id),
);

test('every clause is cited by at least one test', () => {
  expect(Object.keys(clauses).filter((id) => !cited.has(id))).toEqual([]);
});

test('two clauses with one id are refused', () => {
  const clause = { text: 'x', source: 'rexd-v1 "x"' };
  expect(() => joinTables([{ a: clause }, { b: clause, a: clause }])).toThrow('a is defined twice');
  expect(joinTables([{ a: clause }, { b: clause }])).toEqual({ a: clause, b: clause });
});

test('every clause says what must hold and where that is written', () => {
  const silent = Object.entries<Clause>(clauses).filter(
    ([, clause]) => clause.text === '' || !/^[a-z0-9-]+ ".+"/.test(clause.source),
  );
  expect(silent).toEqual([]);
});

test('every fault seen in another server has a test that ours has it not', () => {
  const faults = Object.values(peerFaults).flat();
  expect(faults.length).toBeGreaterThan(30);
  const unproved = faults.filter(
    ({ clauses: named }) => named.length === 0 || !named.every((id) => cited.has(id)),
  );
  expect(unproved).toEqual([]);
  const said = faults.map(({ what }) => what);
  expect(said.filter((what, i) => said.indexOf(what) !== i)).toEqual([]);
});
