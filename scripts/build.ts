// Builds dist/: the library by tsc, every executable of src/bin bundled by esbuild into one file.

import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { bundleBeginning, bundleExecutable, bundleIntoOne, PARTS_SUFFIX } from './bundle.js';
import { keepCompiledCode } from './code-cache.js';
import { embedAddons, embeddable, missingAddons } from './embed-addons.js';
import { DIST, ROOT } from './paths.js';
import { report, runStep } from './step.js';

const STAMP = join(DIST, '.built');
const REXD_TO_COPY = join(DIST, 'rexd.cjs');

/** Executables of two files: one for the shortest way, and one with all the rest. */
const RESTS: Readonly<Record<string, { readonly module: string; readonly file: string }>> = {
  rex: { module: 'cli/rex/program.js', file: 'rex-program.js' },
};

export async function build(): Promise<void> {
  const started = new Date();
  rmSync(DIST, { recursive: true, force: true });
  const [library] = await Promise.all([
    runStep({ name: 'library', command: ['tsc', '-p', 'tsconfig.build.json'] }),
    bundleExecutables(),
    bundleToCopy(),
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
  mkdirSync(outdir, { recursive: true });
  writeFileSync(join(outdir, 'package.json'), '{ "type": "commonjs" }\n');
  await Promise.all(
    entries.map(async (name) => {
      const file = join(outdir, `${basename(name, '.ts')}.js`);
      const entry = join(ROOT, 'src/bin', name);
      const rest = RESTS[basename(name, '.ts')];
      if (rest === undefined) await writeExecutable(file, entry);
      else {
        writeFileSync(file, withFront(await bundleBeginning(entry, rest), 'rex-front.pl'));
        copyFileSync(join(ROOT, 'src/bin/rex-front.pl'), join(outdir, 'rex-front.pl'));
        await writeExecutable(
          join(outdir, rest.file),
          join(ROOT, 'src', rest.module.replace(/\.js$/, '.ts')),
        );
      }
      chmodSync(file, 0o755);
    }),
  );
  // When all are there: rex is rehearsed with the rexd beside it.
  for (const name of entries) {
    const program = basename(name, '.ts');
    keepCompiledCode(
      program,
      join(outdir, `${program}.js`),
      join(outdir, RESTS[program]?.file ?? `${program}.js`),
    );
  }
}

/**
 * A program that is both: for a shell, which starts in a millisecond, a line that runs the front where there is Perl and a
 * plain `exec` to be done; for Node a string and a comment. Links to it, as npm makes them, are followed by Perl.
 */
function withFront(program: string, front: string): string {
  const follow =
    '$f=$ARGV[0];while(defined($l=readlink $f)){$f=~s{[^/]*\\z}{};$f=$l=~m{^/}?$l:$f.$l}' +
    `$f=~s{[^/]*\\z}{${front}};do $f;exec "node",@ARGV`;
  const line = [
    `":" //; if [ "$1" = exec ] && [ "$3" = -- ] && command -v perl >/dev/null 2>&1; then`,
    `exec perl -e '${follow}' "$0" "$@"; fi; exec node "$0" "$@"`,
  ].join(' ');
  return program.replace(/^#![^\n]*\n/, () => `#!/usr/bin/env sh\n${line}\n`);
}

async function writeExecutable(file: string, entry: string): Promise<void> {
  const { program, parts } = await bundleExecutable(entry);
  writeFileSync(file, program);
  writeFileSync(`${file}${PARTS_SUFFIX}`, parts);
}

/** `rexd` for a host that has nothing of ours: one file, the terminal add-on inside. */
async function bundleToCopy(): Promise<void> {
  mkdirSync(DIST, { recursive: true });
  writeFileSync(
    REXD_TO_COPY,
    await bundleIntoOne(join(ROOT, 'src/bin/rexd.ts'), [embedAddons(embeddable())]),
  );
  chmodSync(REXD_TO_COPY, 0o755);
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
  // For whoever builds to copy: a newcomer's first start has no use for it.
  const lacking = missingAddons();
  if (lacking !== undefined) console.warn(`rexd.cjs: ${lacking}`);
}
