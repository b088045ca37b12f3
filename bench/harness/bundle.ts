// Measured code runs as it ships: bundled to plain JavaScript, not through a loader that rewrites it on the way.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { build } from 'esbuild';
import { UnavailableError } from './errors.js';

let directory: string | undefined;

/** Bundles one TypeScript file of the project and returns the path of the result, which lives as long as this process. */
export async function bundle(root: string, entry: string): Promise<string> {
  const outfile = join(outputDirectory(), `${basename(entry, '.ts')}.mjs`);
  try {
    await build({
      entryPoints: [join(root, entry)],
      outfile,
      bundle: true,
      platform: 'node',
      format: 'esm',
      target: 'node20',
      logLevel: 'silent',
    });
  } catch (error) {
    throw new UnavailableError(`${entry} cannot be bundled: ${String(error)}`, error);
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
