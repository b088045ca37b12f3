import { spawnSync } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import { LOCAL_BIN, ROOT } from './scripts/paths.js';

/** As test/conformance/kit/target.ts has it, which is for tests alone. */
const TARGET_VARIABLE = 'HAWSER_CONFORMANCE_TARGET';

/**
 * Hundreds of kills, thousands of races and files: too long for every save, so a project of their own. The ones that put
 * stand-ins for system calls are here too, because they need a process of their own.
 */
const SLOW = [
  'base/log',
  'bus/embedding',
  'bench/run',
  'guard/{audit,command-policy,redact}*',
  'host/files/{glob,ignore,list,path-policy,race,search,write-calls}',
  'host/process/*',
  'host/pty/*',
  'host/store/{database,file-lock,json-store}',
  'host/supervisor/{supervisor,unkillable}',
  'rexd/spool-dir',
  'wire/http/{body,event-stream,limits}',
  'wire/jsonrpc/{peer-life,peer-properties}',
  'wire/sse/decode',
  'wire/transport/{socket,stdio}',
].map((name) => `test/unit/${name}.test.ts`);

export default defineConfig({
  test: {
    pool: 'forks', // signals, umask and cwd are per process: tests of real processes need a process of their own
    maxWorkers: availableParallelism() + 1, // many tests wait: for a grace to end, for a program to start
    testTimeout: 120_000, // what hangs is ended; what is slow on a busy machine is not
    hookTimeout: 120_000,
    setupFiles: ['test/helpers/leak-check.ts', 'test/helpers/one-seed.ts'],
    coverage: { provider: 'v8', include: ['src/**'], reporter: ['text-summary', 'html'] },
    projects: [
      // One process for many files: starting one for each would take as long as the tests themselves.
      project('unit', ['test/unit/**/*.test.ts'], { exclude: SLOW, isolate: false }),
      project('soak', [...SLOW, 'test/soak/**/*.test.ts'], { needsBuild: true, testTimeout: 300_000 }),
      project('architecture', ['test/architecture/**/*.test.ts']),
      project('conformance', ['test/conformance/**/*.test.ts'], { needsBuild: true }),
      project('e2e', ['test/e2e/**/*.test.ts'], {
        exclude: ['test/e2e/rexd-binary.test.ts'],
        needsBuild: true,
        testTimeout: 120_000,
      }),
      // What a client notices first, by the two that are copied alone. All of it: CONTRIBUTING.md.
      project('conformance-cjs', clausesOf('session', 'exec-start', 'pty-open'), {
        needsBuild: true,
        target: [process.execPath, 'dist/rexd.cjs'],
      }),
      project(
        'binary',
        [
          'test/e2e/rexd-binary.test.ts',
          ...(canRunBun()
            ? clausesOf('session', 'encoding', 'exec-calls', 'exec-start', 'fs-read', 'fs-write', 'pty-open')
            : []),
        ],
        {
          needsBuild: true, // a build clears the folder, so that the binary is made after it
          setup: ['test/helpers/fresh-binary.ts'],
          testTimeout: 120_000,
          target: [`dist/rexd-linux-${process.arch}`],
        },
      ),
      // Changes the machine itself (a package is installed, and with it a configuration that every rexd reads): alone, at the end.
      project('system', ['test/system/**/*.test.ts'], { needsBuild: true, testTimeout: 300_000, order: 1 }),
    ],
  },
});

interface ProjectOptions {
  readonly exclude?: string[];
  readonly isolate?: boolean;
  readonly testTimeout?: number;
  readonly needsBuild?: boolean;
  readonly setup?: readonly string[];
  /** The server that clauses are asked of, by its command. */
  readonly target?: readonly string[];
  /** Projects of a higher number wait for those of a lower. */
  readonly order?: number;
}

function project(name: string, include: string[], options: ProjectOptions = {}) {
  const { needsBuild = false, order = 0, setup = [], target, ...test } = options;
  const globalSetup = [
    'test/helpers/orphan-census.ts',
    ...(needsBuild ? ['test/helpers/fresh-build.ts'] : []),
    ...setup,
  ];
  const env = target === undefined ? {} : { [TARGET_VARIABLE]: commandOf(target) };
  return {
    extends: true as const,
    test: { name, include, globalSetup, sequence: { groupOrder: order }, env, ...test },
  };
}

function commandOf(words: readonly string[]): string {
  const found = words.map((word) => (word.startsWith('dist/') ? join(ROOT, word) : word));
  return JSON.stringify([...found, '--stdio', '--config', '{config}']);
}

function clausesOf(...names: readonly string[]): string[] {
  return names.map((name) => `test/conformance/rexd/${name}.test.ts`);
}

/** It comes from npm, but not for every machine. */
function canRunBun(): boolean {
  return spawnSync(join(LOCAL_BIN, 'bun'), ['--version']).status === 0;
}
