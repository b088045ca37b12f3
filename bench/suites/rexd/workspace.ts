// Where the rexd suite works: a folder that is the only allowed root, files of known content, and a configuration for any rexd.

import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Cleanup } from '../../harness/cleanup.js';

/** 25 × 40 folders with 50 files each; every second file is a `.ts`. */
const TREE = { outer: 25, inner: 40, files: 50 };
export const TREE_FILES = TREE.outer * TREE.inner * TREE.files;
export const TREE_ENTRIES = TREE_FILES + TREE.outer * TREE.inner + TREE.outer;
export const TREE_MATCHES = TREE_FILES / 2;
/** Three levels and no `**`: what every rexd can do. */
export const TREE_PATTERN = '*/*/*.ts';

export interface Workspace {
  /** Real path of the allowed root. */
  readonly root: string;
  /** Of a configuration in the TOML of the specification, with that root. */
  readonly config: string;
}

export function makeWorkspace(cleanup: Cleanup): Workspace {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'hawser-bench-rexd-')));
  const remove = (): void => rmSync(base, { recursive: true, force: true });
  process.once('exit', remove); // also when the run is interrupted
  cleanup.use({
    async [Symbol.asyncDispose]() {
      process.off('exit', remove);
      remove();
    },
  });
  const root = join(base, 'root');
  const config = join(base, 'config.toml');
  mkdirSync(root);
  writeFileSync(config, configText(root));
  return { root, config };
}

/** `{config}` and `{root}` in a peer's command stand for this workspace's. */
export function inWorkspace(argv: readonly string[], { root, config }: Workspace): string[] {
  return argv.map((word) => word.replaceAll('{config}', config).replaceAll('{root}', root));
}

/** Lines of `lineBytes` each, newline included, of plain letters: nothing but newlines has to be escaped. */
export function makeLines(path: string, lineBytes: number, totalBytes: number): string {
  writeFileSync(path, Buffer.alloc(totalBytes, `${'x'.repeat(lineBytes - 1)}\n`));
  return path;
}

/** Text as source code has it: short lines, indentation, quotes. */
export function sourceText(bytes: number): Buffer {
  const line = `  if (name !== "other") {\n    return \`\${name}: a line as source code has it\`;\n  }\n`;
  return Buffer.alloc(bytes, line);
}

export function makeTree(root: string): string {
  const top = join(root, 'tree');
  for (let outer = 0; outer < TREE.outer; outer++) {
    for (let inner = 0; inner < TREE.inner; inner++) {
      const directory = join(top, `package-${outer}`, `module-${inner}`);
      mkdirSync(directory, { recursive: true });
      for (let file = 0; file < TREE.files; file++) {
        writeFileSync(join(directory, `file-${file}.${file % 2 === 0 ? 'ts' : 'md'}`), '');
      }
    }
  }
  return top;
}

/** The limits of the specification, except those that would cut a stream short. */
function configText(root: string): string {
  return `[server]
stdio = true

[limits]
default_timeout_ms = 600000
hard_timeout_ms = 600000
max_output_bytes = 4294967296
max_processes_per_session = 64

[security]
allow_shell = true

[[security.allowed_roots]]
path = ${JSON.stringify(root)}

[audit]
enabled = false
`;
}
