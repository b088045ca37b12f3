// Measured code runs as it ships: bundled to plain JavaScript, not through a loader that rewrites it on the way.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { UnavailableError } from './errors.js';

let directory: string | undefined;

/** Bundles one TypeScript file of the project and returns the path of the result, which lives as long as this process. */
export async function bundle(entry: URL): Promise<string> {
  const name = basename(entry.pathname, '.ts');
  const outfile = join(outputDirectory(), `${name}.mjs`);
  try {
    await build({
      entryPoints: [fileURLToPath(entry)],
      outfile,
      bundle: true,
      platform: 'node',
      format: 'esm',
      target: 'node20',
      logLevel: 'silent',
    });
  } catch (error) {
    throw new UnavailableError(`${name}.ts cannot be bundled: ${String(error)}`, error);
  }
  return outfile;
}

function outputDirectory(): string {
  if (directory === undefined) {
    const made = mkdtempSync(join(tmpdir(), 'hawser-bench-'));
    process.on('exit', () => rmSync(made, { recursive: true, force: true }));
    directory = made;
  }
  return directory;
}
