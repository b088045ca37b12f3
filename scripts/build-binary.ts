// Compiles rexd into a single binary, by Bun from npm: the same source as dist/rexd.cjs, with its runtime inside.

import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { bundleForBun } from './bundle-for-bun.js';
import { embedAddons } from './embed-addons.js';
import { DIST, LOCAL_BIN, ROOT } from './paths.js';

/** What npm calls a processor, and what Bun does. */
const PROCESSORS = { x64: 'x64', arm64: 'aarch64' } as const;

export type BinaryProcessor = keyof typeof PROCESSORS;

export const binaryFor = (processor: BinaryProcessor): string => join(DIST, `rexd-linux-${processor}`);

/** Why there can be no binary for this processor here; undefined when there can. */
export function whyNoBinary(processor: BinaryProcessor): string | undefined {
  if (!existsSync(join(LOCAL_BIN, 'bun'))) return 'bun is not installed: npm install bun';
  try {
    execFileSync(join(LOCAL_BIN, 'bun'), ['--version'], { stdio: 'pipe' });
  } catch (thrown) {
    return `bun does not run here: ${(thrown as Error).message}`;
  }
  if (processor === process.arch || existsSync(runtimeFor(processor))) return undefined;
  return `there is no runtime for ${processor}: npm install --no-save --force @oven/bun-linux-${PROCESSORS[processor]}`;
}

export async function buildBinary(processor: BinaryProcessor): Promise<string> {
  const out = binaryFor(processor);
  mkdirSync(DIST, { recursive: true });
  const folder = mkdtempSync(join(DIST, '.binary-'));
  try {
    const source = join(folder, 'rexd.cjs');
    writeFileSync(source, await bundleForBun(join(ROOT, 'src/bin/rexd.ts'), [embedAddons([])]));
    compileByBun(source, out, processor);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  return out;
}

/** One CommonJS file into one executable, which takes nothing from the folder it is started in. */
export function compileByBun(source: string, out: string, processor: BinaryProcessor): void {
  const runtime = processor === process.arch ? [] : [`--compile-executable-path=${runtimeFor(processor)}`];
  const options = [
    '--minify',
    '--bytecode',
    '--format=cjs',
    '--no-compile-autoload-dotenv',
    '--no-compile-autoload-bunfig',
    '--external=@lydell/node-pty',
    '--external=libsql',
    `--target=bun-linux-${PROCESSORS[processor]}`,
    ...runtime,
  ];
  execFileSync(join(LOCAL_BIN, 'bun'), ['build', '--compile', ...options, source, '--outfile', out], {
    cwd: dirname(source),
    stdio: ['ignore', 'ignore', 'inherit'],
  });
}

function runtimeFor(processor: BinaryProcessor): string {
  return join(ROOT, `node_modules/@oven/bun-linux-${PROCESSORS[processor]}/bin/bun`);
}

async function main(asked: readonly string[]): Promise<void> {
  const processors = asked.length === 0 ? [process.arch] : asked;
  for (const processor of processors) {
    if (!(processor in PROCESSORS)) throw new Error(`no such processor: ${processor}; x64 or arm64`);
    const problem = whyNoBinary(processor as BinaryProcessor);
    if (problem !== undefined) throw new Error(problem);
    const file = await buildBinary(processor as BinaryProcessor);
    console.log(`${file}: ${(statSync(file).size / 1e6).toFixed(0)} MB`);
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  await main(process.argv.slice(2)).catch((error: unknown) => {
    console.error(`build:rexd-binary: ${(error as Error).message}`);
    process.exitCode = 1;
  });
}
