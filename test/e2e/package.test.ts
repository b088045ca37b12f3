// The package as its users get it: packed, installed into an empty folder, imported and run.

import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { VERSION } from '../../src/base/version.js';
import { run } from '../helpers/program.js';
import { removeFolder } from '../helpers/remove-folder.js';

const repository = fileURLToPath(new URL('../..', import.meta.url));
const manifest = JSON.parse(readFileSync(join(repository, 'package.json'), 'utf8')) as {
  version: string;
  bin: Record<string, string>;
  exports: Record<string, unknown>;
  dependencies: Record<string, string>;
  devDependencies: Record<string, string>;
};

interface Packed {
  readonly filename: string;
  readonly files: readonly { readonly path: string }[];
}

let folder: string;
let packed: Packed;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'hawser-package-'));
  // prepack would build again; what is tested here was built from the same sources at the start of this run.
  const report = await npm(['pack', '--json', '--ignore-scripts', '--pack-destination', folder], repository);
  [packed] = JSON.parse(report) as [Packed];
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  await npm(
    ['install', '--no-audit', '--no-fund', '--prefer-offline', join(folder, packed.filename)],
    folder,
  );
}, 300_000);

afterAll(() => removeFolder(folder));

test('holds what users need and nothing else', () => {
  const surplus = packed.files
    .map(({ path }) => path)
    .filter(
      (path) =>
        !/^(dist\/(lib|bin)\/.+|dist\/rexd\.cjs|package\.json|README\.md|LICENSE|CHANGELOG\.md)$/.test(path),
    );
  expect(surplus).toEqual([]);
  expect(packed.files.map(({ path }) => path)).toEqual(
    expect.arrayContaining([...Object.values(manifest.bin), 'dist/rexd.cjs']),
  );
});

test('every executable runs from the installed package and tells the version', async () => {
  expect(Object.keys(manifest.bin).length).toBeGreaterThan(0);
  for (const name of Object.keys(manifest.bin)) {
    const result = await run([join(folder, 'node_modules/.bin', name), '--version']);
    const program = name.replace('_', '-'); // stdio_bus is stdio-bus by another name
    expect(result, name).toMatchObject({ code: 0, stdout: `${program} ${manifest.version}\n`, stderr: '' });
  }
});

test('every export can be imported, with types beside it', async () => {
  const names = Object.keys(manifest.exports).filter((name) => name !== './package.json');
  expect(names.length).toBeGreaterThan(0);
  const script = names.map((name) => `await import(${JSON.stringify(join('hawser', name))});`).join('\n');
  writeFileSync(join(folder, 'import.mjs'), `${script}\nconsole.log('imported');\n`);
  expect(await run([process.execPath, join(folder, 'import.mjs')])).toMatchObject({
    code: 0,
    stdout: 'imported\n',
    stderr: '',
  });
});

test('versions are pinned exactly, and the sources know theirs', () => {
  const all = { ...manifest.dependencies, ...manifest.devDependencies };
  expect(Object.entries(all).filter(([, version]) => !/^\d+\.\d+\.\d+$/.test(version))).toEqual([]);
  expect(VERSION).toBe(manifest.version);
});

test('every dependency is justified in docs/dependencies.md', () => {
  const page = readFileSync(join(repository, 'docs/dependencies.md'), 'utf8');
  const all = Object.keys({ ...manifest.dependencies, ...manifest.devDependencies });
  expect(all.filter((name) => !page.includes(`\`${name}\``))).toEqual([]);
});

async function npm(args: readonly string[], cwd: string): Promise<string> {
  const { code, stdout, stderr } = await run(['npm', ...args], { cwd });
  expect(code, stderr).toBe(0);
  return stdout;
}
