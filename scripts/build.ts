// Builds dist/: the library by tsc, every executable of src/bin bundled by esbuild into one file.

import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build as bundle } from 'esbuild';
import { DIST, ROOT } from './paths.js';
import { report, runStep } from './step.js';

const STAMP = join(DIST, '.built');

/** Native add-ons stay outside the bundle: they are loaded from node_modules, and only when they are needed. */
const EXTERNAL = ['@lydell/node-pty', 'libsql'];

export async function build(): Promise<void> {
  const started = new Date();
  rmSync(DIST, { recursive: true, force: true });
  const [library] = await Promise.all([
    runStep({ name: 'library', command: ['tsc', '-p', 'tsconfig.build.json'] }),
    bundleExecutables(),
  ]);
  if (!library.ok) {
    report(library);
    throw new Error('the library does not compile');
  }
  writeFileSync(STAMP, started.toISOString());
}

export async function buildIfStale(): Promise<void> {
  if (builtAt() < newest([join(ROOT, 'src'), join(ROOT, 'scripts'), join(ROOT, 'package.json')]))
    await build();
}

/**
 * CommonJS, although the package is ESM: Node starts a CommonJS entry 6 to 10 ms sooner (docs/decisions/0002), and a
 * package.json beside the bundles is all it takes.
 */
async function bundleExecutables(): Promise<void> {
  const outdir = join(DIST, 'bin');
  const entries = readdirSync(join(ROOT, 'src/bin')).filter((name) => name.endsWith('.ts'));
  await bundle({
    entryPoints: entries.map((name) => join(ROOT, 'src/bin', name)),
    outdir,
    bundle: true,
    platform: 'node',
    target: 'node20',
    format: 'cjs',
    minifySyntax: true,
    minifyWhitespace: true,
    legalComments: 'none',
    external: EXTERNAL,
    // CommonJS has no import.meta; add-ons are looked for from where the bundle lies.
    define: { 'import.meta.url': '__bundleUrl' },
    banner: {
      js: '#!/usr/bin/env node\n"use strict";const __bundleUrl = require("node:url").pathToFileURL(__filename).href;',
    },
    logLevel: 'warning',
  });
  writeFileSync(join(outdir, 'package.json'), '{ "type": "commonjs" }\n');
  for (const name of entries) chmodSync(join(outdir, `${basename(name, '.ts')}.js`), 0o755);
}

function builtAt(): number {
  try {
    return Date.parse(readFileSync(STAMP, 'utf8'));
  } catch {
    return 0;
  }
}

function newest(paths: readonly string[]): number {
  return Math.max(
    0,
    ...paths.map((path) => {
      const found = statSync(path);
      if (!found.isDirectory()) return found.mtimeMs;
      return Math.max(found.mtimeMs, newest(readdirSync(path).map((name) => join(path, name))));
    }),
  );
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  mkdirSync(DIST, { recursive: true });
  await build();
}
