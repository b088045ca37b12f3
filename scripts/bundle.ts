// One file for each executable, of which Node compiles only what a run comes to.
//
// Compiling half a megabyte takes longer than Node itself takes to start, and most runs need a third of it. So every
// part that is reached by `import()` alone lies in the file as a comment, which V8 skips at a hundredth of the price,
// and is compiled when it is asked for (docs/decisions/0009).

import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { build, type OutputFile, transform } from 'esbuild';

/** Native add-ons stay outside the bundle: they are loaded from node_modules, and only when they are needed. */
const EXTERNAL = ['@lydell/node-pty', 'libsql'];

/** The text of an executable, from its entry in the sources. */
export async function bundleExecutable(entry: string): Promise<string> {
  const outdir = join('/', 'bundle'); // never written: names of parts, and nothing of this machine
  const { outputFiles } = await build({
    entryPoints: [entry],
    outdir,
    write: false,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    minifySyntax: true,
    minifyWhitespace: true,
    legalComments: 'none',
    external: EXTERNAL,
    // CommonJS has no import.meta; add-ons are looked for from where the bundle lies.
    define: { 'import.meta.url': '__bundleUrl' },
    entryNames: 'main',
    chunkNames: '[hash]',
    logLevel: 'warning',
  });
  const parts = await Promise.all(outputFiles.map((file) => toPart(file, outdir)));
  return pack(parts);
}

interface Part {
  readonly name: string;
  readonly code: string;
}

async function toPart(file: OutputFile, outdir: string): Promise<Part> {
  const { code } = await transform(file.text, {
    format: 'cjs',
    platform: 'node',
    target: 'node20',
    minifySyntax: true,
    minifyWhitespace: true,
    // `import()` of a part becomes a promise of `require`, which is ours.
    supported: { 'dynamic-import': false },
  });
  return { name: `.${file.path.slice(outdir.length)}`, code };
}

/** Stands for the end of a comment; no source has it. */
const COMMENT_END = '*\u0001/';

/**
 * A comment may hold anything but its own end. V8 keeps the source of a function for as long as it keeps the function,
 * so a part is read back from the running program: the file may be replaced by a newer one meanwhile.
 */
function pack(parts: readonly Part[]): string {
  const lines = parts.map(
    ({ name, code }) => `${JSON.stringify(name)}: () => {/*${code.replaceAll('*/', COMMENT_END)}*/},`,
  );
  const build = createHash('sha256').update(lines.join('\n')).digest('hex').slice(0, 32);
  return `#!/usr/bin/env node
"use strict";
const __bundleUrl = "file://" + __filename.split("/").map(encodeURIComponent).join("/");
const __parts = {
${lines.join('\n')}
};
${LOADER.replaceAll('__BUILD__', build).replace('__COMMENT_END__', JSON.stringify(COMMENT_END))}
__load("./main.js");
`;
}

/**
 * Compiles a part when it is first asked for, from V8's own memory of it if that lies beside the bundle and was made
 * from this very bundle (see code-cache.ts). V8 itself refuses what another version of it has made.
 */
const LOADER = `
const __vm = require("node:vm");
const __loaded = new Map();
const __cache = (() => {
  try {
    const file = require("node:fs").readFileSync(__filename + ".v8");
    const end = file.indexOf(10);
    const { build, parts } = JSON.parse(file.latin1Slice(0, end));
    if (build !== "__BUILD__") return new Map();
    return new Map(parts.map(([name, from, to]) => [name, file.subarray(end + 1 + from, end + 1 + to)]));
  } catch {
    return new Map();
  }
})();
function __load(name) {
  const part = __parts[name];
  if (part === undefined) return require(name);
  let module = __loaded.get(name);
  if (module !== undefined) return module.exports;
  __loaded.set(name, (module = { exports: {} }));
  const text = part.toString();
  const code = text.slice(text.indexOf("/*") + 2, -3).replaceAll(__COMMENT_END__, "*" + "/");
  const script = new __vm.Script("(function(require,module,exports,__filename,__bundleUrl){" + code + "\\n})", {
    filename: __filename + "#" + name.slice(2),
    cachedData: __cache.get(name),
  });
  globalThis[Symbol.for("hawser.compiled")]?.("__BUILD__", name, script);
  script.runInThisContext()(__load, module, module.exports, __filename, __bundleUrl);
  return module.exports;
}
`;
