// Executables of which Node compiles only what a run comes to.
//
// Compiling half a megabyte takes longer than Node itself takes to start, and most runs need a third of it. So the code is
// in groups: one with all that a start comes to, and one for each part that is reached by a later `import()`, compiled
// when it is asked for. They lie in a file of their own beside the executable, or, where it has to be one file, in it as
// comments, which V8 skips at a hundredth of the price of code (docs/decisions/0010).

import { createHash } from 'node:crypto';
import { build, type Metafile, type Plugin, transform } from 'esbuild';

/** Native add-ons stay outside the bundle: they are loaded from node_modules, and only when they are needed. */
const EXTERNAL = ['@lydell/node-pty', 'libsql'];

/** Where esbuild believes it writes: the names of parts must not depend on the machine. */
const OUTDIR = '/bundle';
export const MAIN = './main.js';
const OLDEST_NODE = 20;
/** Stands for the end of a comment; no source has it. */
const COMMENT_END = '*\u0001/';

interface Part {
  readonly name: string;
  /** The body of a module. */
  readonly code: string;
}

interface Parts {
  readonly parts: readonly Part[];
  /** The names of those that a start comes to. */
  readonly ofStart: ReadonlySet<string>;
}

/** The text of an executable that is one file, from its entry in the sources. */
export async function bundleIntoOne(entry: string, plugins: Plugin[] = []): Promise<string> {
  return packIntoOne(intoGroups(await cutIntoParts(entry, EXTERNAL, plugins)));
}

interface Executable {
  readonly program: string;
  /** What has to lie beside it, under its name with PARTS_SUFFIX. */
  readonly parts: string;
}

/** The same in two files: Node reads and scans the whole of what it is given to run, so that one is short. */
export async function bundleExecutable(entry: string): Promise<Executable> {
  return packBeside(intoGroups(await cutIntoParts(entry, EXTERNAL)));
}

export const PARTS_SUFFIX = '.parts';

/** What is reached by `import()` alone is a part of its own. */
async function cutIntoParts(entry: string, external: string[], plugins: Plugin[] = []): Promise<Parts> {
  const { chunks, ofStart } = await cutIntoChunks(entry, external, plugins);
  return { parts: await Promise.all(chunks.map(toPart)), ofStart };
}

/** A part before it is CommonJS. */
export interface Chunk extends Part {
  /** The names it exports. */
  readonly exports: readonly string[];
}

export async function cutIntoChunks(
  entry: string,
  external: string[],
  plugins: Plugin[] = [],
): Promise<{ readonly chunks: readonly Chunk[]; readonly ofStart: ReadonlySet<string> }> {
  const { outputFiles, metafile } = await build({
    entryPoints: [entry],
    outdir: OUTDIR,
    write: false,
    metafile: true,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    minifySyntax: true,
    minifyWhitespace: true,
    legalComments: 'none',
    external,
    plugins,
    // CommonJS has no import.meta; add-ons are looked for from where the bundle lies.
    define: { 'import.meta.url': '__bundleUrl', 'import.meta.dirname': '__dirname' },
    entryNames: 'main',
    chunkNames: '[hash]',
    logLevel: 'warning',
  });
  const exported = new Map(
    Object.entries(metafile.outputs).map(([path, output]) => [nameOf(path), output.exports]),
  );
  const chunks = outputFiles.map(({ path, text }) => {
    const name = nameOf(path);
    return { name, code: text, exports: exported.get(name) ?? [] };
  });
  return { chunks, ofStart: partsOfStart(metafile) };
}

export async function toPart(chunk: Part): Promise<Part> {
  const { code } = await transform(chunk.code, {
    format: 'cjs',
    platform: 'node',
    target: 'node20',
    minifySyntax: true,
    minifyWhitespace: true,
    // `import()` of a part becomes a promise of `require`, which is ours.
    supported: { 'dynamic-import': false },
  });
  return { name: chunk.name, code: escapeNonAscii(lighten(code)) };
}

/** esbuild has escaped everything but regular expressions, where two escaped halves of a character are the character too. */
export function escapeNonAscii(code: string): string {
  return code.replaceAll(
    /[\u0080-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/**
 * esbuild builds the exports of a CommonJS module property by property, twice. As one literal with the same getters
 * they cost next to nothing, which counts where twenty parts load before the first answer.
 */
function lighten(code: string): string {
  const found =
    /^(.*?)var stdin_exports=\{\};__export\(stdin_exports,\{(.*?)\}\);module\.exports=__toCommonJS\(stdin_exports\);/s.exec(
      code,
    );
  if (found === null) return code;
  const [whole, helpers = '', exported = ''] = found;
  const body = code.slice(whole.length).replace(/0&&\(module\.exports=\{[^}]*\}\);\s*$/, '');
  const members = exported.split(',').map((each) => /^([\w$]+):\(\)=>([\w$.]+)$/.exec(each));
  if (members.includes(null)) return code; // written in a way that is not known here
  const getters = members.map((member) => `get ${member?.[1]}(){return ${member?.[2]}}`);
  const kept = /__toESM|__copyProps|__create\b/.test(body) ? helpers : '';
  return `${kept}module.exports={__esModule:!0,${getters.join(',')}};${body}`;
}

/** What the entry imports, and what it is going to import() itself, with all that those import in turn. */
function partsOfStart(metafile: Metafile): ReadonlySet<string> {
  const imports = new Map(
    Object.entries(metafile.outputs).map(([path, output]) => [
      nameOf(path),
      output.imports.filter(({ external }) => external !== true),
    ]),
  );
  const start = new Set<string>();
  const add = (name: string): void => {
    if (start.has(name)) return;
    start.add(name);
    for (const { path, kind } of imports.get(name) ?? [])
      if (kind === 'import-statement' || name === MAIN) add(nameOf(path));
  };
  add(MAIN);
  return start;
}

function nameOf(path: string): string {
  return `./${path.split('/').at(-1)}`;
}

interface Groups {
  /** The first is what a start comes to. */
  readonly texts: readonly string[];
  /** The number of the group that has a part. */
  readonly where: Readonly<Record<string, number>>;
}

function intoGroups({ parts, ofStart }: Parts): Groups {
  const start = parts.filter(({ name }) => ofStart.has(name));
  const late = parts.filter(({ name }) => !ofStart.has(name));
  const groups = [start, ...late.map((part) => [part])];
  return {
    texts: groups.map(asRecord),
    where: Object.fromEntries(groups.flatMap((group, i) => group.map(({ name }) => [name, i]))),
  };
}

/**
 * A comment may hold anything but its own end. V8 keeps the source of a function for as long as it keeps the function,
 * so the code is read back from the running program: the file may be replaced by a newer one meanwhile.
 */
function packIntoOne({ texts, where }: Groups): string {
  const comments = texts.map((text) => `() => {/*${text.replaceAll('*/', COMMENT_END)}*/},`);
  const source = `const __groups = [
${comments.join('\n')}
];
${FROM_COMMENTS.replace('__COMMENT_END__', JSON.stringify(COMMENT_END))}`;
  return program(source, where, hashOf(comments));
}

/** The parts begin with the build they belong to. */
function packBeside({ texts, where }: Groups): Executable {
  const build = hashOf(texts);
  if (texts.some((text) => Buffer.byteLength(text) !== text.length))
    throw new Error('a part is not ASCII, and places in the parts are counted in bytes');
  let at = build.length;
  const ranges = texts.map((text) => [at, (at += text.length)]);
  const source = `const __build = "${build}";
const __ranges = ${JSON.stringify(ranges)};
${FROM_BESIDE}`;
  return { program: program(source, where, build), parts: build + texts.join('') };
}

function hashOf(texts: readonly string[]): string {
  return createHash('sha256').update(texts.join('\n')).digest('hex').slice(0, 32);
}

function program(source: string, where: Groups['where'], build: string): string {
  return `#!/usr/bin/env node
"use strict";
${TOO_OLD}
const __bundleUrl = "file://" + __filename.split("/").map(encodeURIComponent).join("/");
const __fs = require("node:fs");
${source}
const __groupOf = ${JSON.stringify(where)};
${LOADER.replaceAll('__BUILD__', build)}
module.exports = __load("${MAIN}");
`;
}

function asRecord(group: readonly Part[]): string {
  const members = group.map(
    ({ name, code }) =>
      `${JSON.stringify(name)}:function(require,module,exports,__dirname,__bundleUrl){${code}\n}`,
  );
  return `({${members.join(',')}})`;
}

/** Where the memory's table of contents ends and its code begins. */
export const HEADER_BYTES = 4096;

/**
 * The beginning of an executable by itself, which brings in the rest when it wants it: a call that does not, has next to
 * nothing to read. `rest` names the module that it imports, and the file of the bundle that this module is in.
 */
export async function bundleBeginning(
  entry: string,
  rest: { readonly module: string; readonly file: string },
): Promise<string> {
  const restAside: Plugin = {
    name: 'the rest lies beside',
    setup: (bundling) =>
      bundling.onResolve({ filter: /./ }, ({ path, kind }) =>
        kind === 'dynamic-import' && path.endsWith(rest.module)
          ? { path: `./${rest.file}`, external: true }
          : undefined,
      ),
  };
  const { outputFiles } = await build({
    entryPoints: [entry],
    write: false,
    bundle: true,
    format: 'cjs',
    platform: 'node',
    target: 'node20',
    supported: { 'dynamic-import': false },
    minifySyntax: true,
    minifyWhitespace: true,
    legalComments: 'none',
    plugins: [restAside],
    define: { 'import.meta.dirname': '__dirname' },
    banner: { js: `"use strict";\n${TOO_OLD}\n${LACKING}` },
    logLevel: 'warning',
  });
  return `#!/usr/bin/env node\n${outputFiles[0]?.text}`;
}

/** In words that any Node understands; what follows it does so too, up to the code in the comments. */
const TOO_OLD = `if (parseInt(process.versions.node, 10) < ${OLDEST_NODE}) {
  console.error(require("path").basename(__filename) + ": needs Node ${OLDEST_NODE} or newer, and this is " + process.version);
  process.exit(2);
}`;

/** What the first releases of Node 20 and 22 do not have. */
const LACKING = `
if (!process.getBuiltinModule) process.getBuiltinModule = require;
for (const name of ["dispose", "asyncDispose"])
  if (!Symbol[name]) Object.defineProperty(Symbol, name, { value: Symbol("Symbol." + name) });
`;

const FROM_COMMENTS = `function __textOf(group) {
  const text = __groups[group].toString();
  return text.slice(text.indexOf("/*") + 2, -3).replaceAll(__COMMENT_END__, "*" + "/");
}`;

/**
 * What a start needs is read first, the rest as soon as that has done its work, and then the file may be replaced by a
 * newer one. Whoever finds another build there, or none, says so instead of running a mixture.
 */
const FROM_BESIDE = `let __parts;
let __fd;
function __read(from, to) {
  const bytes = Buffer.allocUnsafeSlow(to - from);
  for (let at = 0; at < bytes.length; ) {
    const count = __fs.readSync(__fd, bytes, at, bytes.length - at, from + at);
    if (count === 0) break;
    at += count;
  }
  if (bytes.latin1Slice(0, __build.length) !== __build) throw new Error("they are of another build");
  return bytes;
}
function __readAll() {
  if (__parts) return;
  __parts = __read(0, __ranges[__ranges.length - 1][1]);
  __fs.closeSync(__fd);
}
function __textOf(group) {
  try {
    const [from, to] = __ranges[group];
    if (group === 0) {
      __fd = __fs.openSync(__filename + "${PARTS_SUFFIX}");
      setImmediate(__readAll).unref();
      return __read(0, to).latin1Slice(from, to);
    }
    __readAll();
    return __parts.latin1Slice(from, to);
  } catch (error) {
    console.error(__filename + "${PARTS_SUFFIX}: the parts of this program are not there (" + error.message + "); install it again");
    process.exit(2);
  }
}`;

/**
 * Compiles a group when one of its parts is first asked for, from V8's own memory of it if that lies beside the bundle
 * and was made from this very bundle by this very Node (see code-cache.ts). V8 believes what it is given and would crash over
 * the wrong bytes, so a sample of them is summed up first: a block that a disk or a copy has lost is found; to look at
 * every byte would take longer than to compile.
 */
const LOADER = `${LACKING}
const __loaded = new Map();
const __compiled = [];
const __made = "__BUILD__ " + process.version + " " + process.arch;
function __sum(bytes) {
  const words = new Int32Array(bytes.buffer, 0, bytes.length >> 2);
  let sum = bytes.length;
  for (let i = 0; i < words.length; i += 16) sum = (Math.imul(sum, 31) + words[i]) | 0;
  return sum;
}
const __memory = (() => {
  try {
    const fd = __fs.openSync(__filename + ".v8");
    const head = Buffer.allocUnsafeSlow(${HEADER_BYTES});
    __fs.readSync(fd, head, 0, ${HEADER_BYTES}, 0);
    const { made, groups } = JSON.parse(head.latin1Slice(0, head.indexOf(10)));
    if (made === __made) return { fd, groups };
    __fs.closeSync(fd);
  } catch {}
})();
function __recall(group) {
  const range = __memory && __memory.groups[group];
  if (!range) return undefined;
  const bytes = Buffer.allocUnsafeSlow(range[1] - range[0]);
  if (__fs.readSync(__memory.fd, bytes, 0, bytes.length, range[0]) !== bytes.length) return undefined;
  return __sum(bytes) === range[2] ? bytes : undefined;
}
function __load(name) {
  const group = __groupOf[name];
  if (group === undefined) return require(name);
  let module = __loaded.get(name);
  if (module !== undefined) return module.exports;
  __loaded.set(name, (module = { exports: {} }));
  const parts = __compiled[group] || (__compiled[group] = __compile(group));
  parts[name](__load, module, module.exports, __dirname, __bundleUrl);
  return module.exports;
}
function __compile(group) {
  const script = new (require("node:vm").Script)(__textOf(group), {
    filename: __filename + "#" + group,
    cachedData: __recall(group),
  });
  const recorder = global[Symbol.for("hawser.compiled")];
  if (recorder) recorder(__made, __sum, group, script);
  return script.runInThisContext();
}
`;
