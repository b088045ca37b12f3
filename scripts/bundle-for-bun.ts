// The text that Bun compiles into a binary: one module, without what is there for Node alone.

import { join } from 'node:path';
import { build, type Plugin } from 'esbuild';
import { ROOT } from './paths.js';

/** Never loaded in a binary: a terminal comes from the system's own library, and rexd has no database. */
const EXTERNAL = ['@lydell/node-pty', 'libsql', 'bun:*'];

export async function bundleForBun(entry: string, plugins: Plugin[]): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [entry],
    write: false,
    bundle: true,
    // In CommonJS a module of the runtime is loaded where it is asked for; in ESM all of them are, before the first line.
    format: 'cjs',
    define: { 'import.meta.url': '__filename', 'import.meta.dirname': '__dirname' },
    platform: 'node',
    target: 'node20',
    legalComments: 'none',
    external: EXTERNAL,
    plugins: [...plugins, pathsAsText],
    logLevel: 'warning',
  });
  return outputFiles[0]?.text ?? '';
}

/** A name that it lacks ends the build. */
const pathsAsText: Plugin = {
  name: 'paths-as-text',
  setup(bundler) {
    const path = join(ROOT, 'src/host/runtime/bun-path.ts');
    bundler.onResolve({ filter: /^(node:)?path(\/posix)?$/ }, () => ({ path }));
  },
};
