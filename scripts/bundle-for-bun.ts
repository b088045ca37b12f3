// The text that Bun compiles into a binary: one module of many functions, without what is there for Node alone.

import { join } from 'node:path';
import { build, type Plugin } from 'esbuild';
import { type Chunk, cutIntoChunks, escapeNonAscii, MAIN, toPart } from './bundle.js';
import { ROOT } from './paths.js';

/** Never loaded in a binary: a terminal comes from the system's own library, and rexd has no database. */
const EXTERNAL = ['@lydell/node-pty', 'libsql', 'bun:*'];

/**
 * All that a start comes to is one scope: in parts, each with its own, it takes 2 ms more of CPU time. The others are
 * functions: the bytecode of one that is never called is never read. Modules of the runtime are asked for by `require` of
 * their names as they stand: Bun takes longer to find one whose name it is told at run time.
 */
export async function bundleForBun(entry: string, plugins: Plugin[]): Promise<string> {
  const { chunks, ofStart } = await cutIntoChunks(entry, EXTERNAL, [...plugins, pathsAsText]);
  const start = await joinChunks(chunks.filter(({ name }) => ofStart.has(name)));
  const parts = await Promise.all(chunks.filter(({ name }) => !ofStart.has(name)).map(toPart));
  const late = parts.map(
    ({ name, code }) => `${JSON.stringify(name)}:function(module,exports){${byLoader(code, chunks)}\n}`,
  );
  // node:fs needs it anyway, and takes a millisecond less when it is there already.
  return `require("node:events");
const __bundleUrl = __filename;
const __parts = {${late.join(',')}};
const __loaded = new Map();
function __load(name) {
  let module = __loaded.get(name);
  if (module !== undefined) return module.exports;
  const part = __parts[name];
  __loaded.set(name, (module = { exports: {} }));
  if (part === undefined) module.exports = ${SHARE}(name);
  else part(module, module.exports);
  return module.exports;
}
${byLoader(start, chunks)}
`;
}

function byLoader(code: string, chunks: readonly Chunk[]): string {
  const names = new Set(chunks.map(({ name }) => name));
  return code.replaceAll(/\brequire\("(\.\/\w+\.js)"\)/g, (whole, name: string) =>
    names.has(name) ? `__load("${name}")` : whole,
  );
}

/** What gives the others the exports of those that have been joined. */
const SHARE = '__share';

/** The chunks as one, which exports what SHARE is the name of. */
async function joinChunks(chunks: readonly Chunk[]): Promise<string> {
  const { outputFiles } = await build({
    stdin: { contents: entryOf(chunks), resolveDir: '/' },
    write: false,
    bundle: true,
    format: 'cjs',
    platform: 'node',
    target: 'node20',
    minifySyntax: true,
    minifyWhitespace: true,
    legalComments: 'none',
    external: EXTERNAL,
    // `import()` of a part becomes a promise of `require`, which is ours.
    supported: { 'dynamic-import': false },
    plugins: [chunksInMemory(chunks)],
    logLevel: 'warning',
  });
  return escapeNonAscii(outputFiles[0]?.text ?? '');
}

function entryOf(chunks: readonly Chunk[]): string {
  const shared = chunks.filter(({ exports }) => exports.length > 0);
  const imports = shared.map(({ name, exports }, i) => {
    const names = exports.map((each) => `${each} as _${i}_${each}`);
    return `import {${names.join()}} from "${name}";`;
  });
  const cases = shared.map(({ name, exports }, i) => {
    const getters = exports.map((each) => `get ${each}(){return _${i}_${each}}`);
    return `case "${name}": return {__esModule: true, ${getters.join()}};`;
  });
  return `import "${MAIN}";
${imports.join('\n')}
export function ${SHARE}(name) { switch (name) { ${cases.join('\n')} } }`;
}

/** What one of them import()s of the others is there already. */
function chunksInMemory(chunks: readonly Chunk[]): Plugin {
  const byName = new Map(chunks.map((chunk) => [chunk.name, chunk]));
  const namespace = 'chunk';
  return {
    name: 'chunks-in-memory',
    setup(bundler) {
      bundler.onResolve({ filter: /^\.\// }, ({ path }) =>
        byName.has(path) ? { path, namespace } : { path, external: true },
      );
      bundler.onLoad({ filter: /./, namespace }, ({ path }) => {
        const code = byName.get(path)?.code ?? '';
        const imports: string[] = [];
        const contents = code.replaceAll(/\bimport\("(\.\/\w+\.js)"\)/g, (whole, name: string) => {
          if (!byName.has(name)) return whole;
          const local = `__all${imports.length}`;
          imports.push(`import * as ${local} from "${name}";`);
          return `Promise.resolve(${local})`;
        });
        return { contents: imports.join('') + contents, loader: 'js' };
      });
    },
  };
}

/** A name that it lacks ends the build. Who asks by `require` has a copy, or everybody would have to wait for it. */
const pathsAsText: Plugin = {
  name: 'paths-as-text',
  setup(bundler) {
    const path = join(ROOT, 'src/host/runtime/bun-path.ts');
    bundler.onResolve({ filter: /^(node:)?path(\/posix)?$/ }, ({ kind }) =>
      kind === 'require-call' ? { path, suffix: '?required' } : { path },
    );
  },
};
