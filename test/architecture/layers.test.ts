// The shape of the code base, held by tests: imports point down only, no cycles, no barrels.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { importsOf, ROOT, readSources, type Source } from './sources.js';

const ROOMS = ['rexd', 'bus', 'string', 'hugind'];
const BELOW_ROOMS = ['base', 'wire', 'host', 'guard', 'mcp', 'client'];

const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  base: [],
  wire: ['base'],
  host: ['base'],
  guard: ['base', 'wire', 'host'],
  mcp: ['base', 'wire'],
  // Of mcp the tool table, which knows nothing of the protocol: the SDK's tools are defined in it.
  client: ['base', 'wire', 'mcp'],
  ...Object.fromEntries(ROOMS.map((room) => [room, BELOW_ROOMS])),
  plane: [...BELOW_ROOMS, ...ROOMS],
  cli: [...BELOW_ROOMS, ...ROOMS, 'plane'],
  bin: ['cli'],
};

/**
 * The room of String is the largest, and has an order of its own, from below: a folder imports what stands before it, also for
 * its types. Files beside the folders are the small values that all of them speak of, unless they are named here.
 */
const STRING_ORDER = (
  'session document web files edit shell command.ts load packages actions view hubs commands bash ' +
  'redirect.ts runtime.ts lint agents events chanflow daemon'
).split(' ');

const sources = readSources('src');
const layerOf = (file: string): string => file.split('/')[1] ?? '';

/** The SDK is typed by the rooms' method tables, so their types (and nothing that runs) may be seen from below. */
function isProtocolType(from: string, target: string, typeOnly: boolean): boolean {
  return from === 'client' && typeOnly && ROOMS.some((room) => target === `src/${room}/protocol.ts`);
}

function upward(source: Source): string[] {
  const from = layerOf(source.file);
  return source.imports
    .filter(({ file, typeOnly }) => {
      if (file === undefined || isProtocolType(from, file, typeOnly)) return false;
      const target = layerOf(file);
      return !file.startsWith('src/') || (target !== from && MAY_IMPORT[from]?.includes(target) !== true);
    })
    .map(({ specifier }) => `${source.file} → ${specifier}`);
}

/** -1: one of the values at the bottom. */
const placeInString = (file: string): number => STRING_ORDER.indexOf(file.split('/')[2] ?? '');

function upwardInString({ file, imports }: Source): string[] {
  if (layerOf(file) !== 'string') return [];
  const own = file.split('/')[2];
  return imports
    .filter((each) => each.file?.startsWith('src/string/') === true && each.file.split('/')[2] !== own)
    .filter((each) => placeInString(each.file ?? '') >= Math.max(placeInString(file), 0))
    .map(({ specifier }) => `${file} → ${specifier}`);
}

test('there are sources to judge, and every folder of src is a layer of the design', () => {
  expect(sources.length).toBeGreaterThan(20);
  expect(Object.keys(MAY_IMPORT)).toEqual(
    expect.arrayContaining([...new Set(sources.map((s) => layerOf(s.file)))]),
  );
});

test('imports point down only', () => {
  expect(sources.flatMap(upward)).toEqual([]);
});

test('the rule sees an upward import in each form it can take', () => {
  for (const statement of [
    `import { serve } from '../rexd/server.js';`,
    `import type { Session } from '../rexd/session.js';`,
    `import {\n  serve,\n} from '../rexd/server.js';`,
    `export { serve } from '../rexd/server.js';`,
    `import '../rexd/server.js';`,
    `const late = await import('../rexd/server.js');`,
  ]) {
    const file = 'src/base/example.ts';
    expect(upward({ file, text: statement, imports: importsOf(file, statement) }), statement).toHaveLength(1);
  }
});

test('inside the room of String imports point down only as well', () => {
  const parts = sources.map(({ file }) => file.split('/')).filter((each) => each[1] === 'string');
  const folders = new Set(parts.filter((each) => each.length > 3).map((each) => each[2] ?? ''));
  expect(folders).toEqual(new Set(STRING_ORDER.filter((name) => !name.endsWith('.ts'))));
  expect(sources.flatMap(upwardInString)).toEqual([]);
});

test('the order inside String sees an upward import, also one for a type, and one by a file of the room', () => {
  for (const [file, statement] of [
    ['src/string/document/example.ts', `import type { Action } from '../actions/action.js';`],
    ['src/string/session/example.ts', `const late = await import('../commands/table.js');`],
    ['src/string/result.ts', `import { Session } from './session/session.js';`],
    ['src/string/shell/example.ts', `import type { CommandCall } from '../command.js';`],
  ] as const) {
    expect(upwardInString({ file, text: statement, imports: importsOf(file, statement) }), file).toHaveLength(
      1,
    );
  }
});

test('every relative import names a file that is there, with its .js ending', () => {
  const bad = sources.flatMap((source) =>
    source.imports
      .filter(({ file }) => file !== undefined && (!file.endsWith('.ts') || !existsSync(join(ROOT, file))))
      .map(({ specifier }) => `${source.file} → ${specifier}`),
  );
  expect(bad).toEqual([]);
});

test('no module imports itself by a round trip', () => {
  const graph = new Map(
    sources.map((s) => [s.file, s.imports.filter((i) => !i.typeOnly).map((i) => i.file)]),
  );
  const done = new Set<string>();
  const cycles: string[] = [];
  const visit = (file: string, path: readonly string[]): void => {
    if (path.includes(file)) cycles.push([...path.slice(path.indexOf(file)), file].join(' → '));
    if (done.has(file) || path.includes(file)) return;
    for (const next of graph.get(file) ?? []) if (next !== undefined) visit(next, [...path, file]);
    done.add(file);
  };
  for (const { file } of sources) visit(file, []);
  expect(cycles).toEqual([]);
});

test('there are no barrel files', () => {
  const barrels = sources.filter(({ file, text }) => {
    const code = text.replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '').trim();
    return (
      file.endsWith('/index.ts') ||
      (code !== '' && code.split(';').every((part) => /^\s*(export\b[\s\S]*\bfrom\b|$)/.test(part)))
    );
  });
  expect(barrels.map(({ file }) => file)).toEqual([]);
});

test('base does no input or output of its own', () => {
  const devices = /^node:(fs|net|http|https|http2|tls|dgram|dns|child_process|worker_threads|cluster)/;
  const bad = sources
    .filter(({ file }) => layerOf(file) === 'base')
    .flatMap(({ file, imports }) =>
      imports.filter((i) => devices.test(i.specifier)).map((i) => `${file} → ${i.specifier}`),
    );
  expect(bad).toEqual([]);
});

test('every module says in its first line what it is for', () => {
  const silent = sources.filter(({ text }) => !/^(#!.*\n)?(\/\/ |\/\*\*)/.test(text));
  expect(silent.map(({ file }) => file)).toEqual([]);
});
