// One file for each executable, of which Node compiles only what a run comes to.
//
// Compiling half a megabyte takes longer than Node itself takes to start, and most runs need a third of it. So every
// part that is reached by `import()` alone lies in the file as a comment, which V8 skips at a hundredth of the price,
// and is compiled when it is asked for (docs/decisions/0009).

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

/**
 * A comment may hold anything but its own end. V8 keeps the source of a function for as long as it keeps the function,
 * so a part is read back from the running program: the file may be replaced by a newer one meanwhile.
 */
function pack(parts: readonly Part[]): string {
  const lines = parts.map(
    ({ name, code }) => `${JSON.stringify(name)}: () => {/*${code.replaceAll('*/', COMMENT_END)}*/},`,
  );
  return `#!/usr/bin/env node
"use strict";
const __bundleUrl = "file://" + __filename.split("/").map(encodeURIComponent).join("/");
const __parts = {
${lines.join('\n')}
};
const __loaded = new Map();
function __load(name) {
  const part = __parts[name];
  if (part === undefined) return require(name);
  let module = __loaded.get(name);
  if (module !== undefined) return module.exports;
  __loaded.set(name, (module = { exports: {} }));
  const text = part.toString();
  const code = text.slice(text.indexOf("/*") + 2, -3).replaceAll(${JSON.stringify(COMMENT_END)}, "*" + "/");
  const run = require("node:vm").compileFunction(code, ["require", "module", "exports", "__filename", "__bundleUrl"], {
    filename: __filename + "#" + name.slice(2),
  });
  run(__load, module, module.exports, __filename, __bundleUrl);
  return module.exports;
}
__load("./main.js");
`;
}

/** Stands for the end of a comment; no source has it. */
const COMMENT_END = '*\u0001/';
