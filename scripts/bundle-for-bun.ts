// The text that Bun compiles into a binary: one module of many functions, without what is there for Node alone.

import { join } from 'node:path';
import type { Plugin } from 'esbuild';
import { asRecord, cutIntoParts, MAIN } from './bundle.js';
import { ROOT } from './paths.js';

/** Never loaded in a binary: a terminal comes from the system's own library, and rexd has no database. */
const EXTERNAL = ['@lydell/node-pty', 'libsql', 'bun:*'];

/** The parts of the bundle for Node. Here they are functions: the bytecode of one that is never called is never read. */
export async function bundleForBun(entry: string, plugins: Plugin[]): Promise<string> {
  const { parts } = await cutIntoParts(entry, EXTERNAL, [...plugins, pathsAsText]);
  // node:fs needs it anyway, and takes a millisecond less when it is there already.
  return `require("node:events");
const __parts = ${asRecord(parts)};
const __loaded = new Map();
function __load(name) {
  const part = __parts[name];
  if (part === undefined) return require(name);
  let module = __loaded.get(name);
  if (module !== undefined) return module.exports;
  __loaded.set(name, (module = { exports: {} }));
  part(__load, module, module.exports, __dirname, __filename);
  return module.exports;
}
__load("${MAIN}");
`;
}

/** A name that it lacks ends the build. */
const pathsAsText: Plugin = {
  name: 'paths-as-text',
  setup(bundler) {
    const path = join(ROOT, 'src/host/runtime/bun-path.ts');
    bundler.onResolve({ filter: /^(node:)?path(\/posix)?$/ }, () => ({ path }));
  },
};
