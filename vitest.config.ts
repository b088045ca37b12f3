import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

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
    testTimeout: 30_000,
    hookTimeout: 30_000,
    setupFiles: ['test/helpers/leak-check.ts'],
    coverage: { provider: 'v8', include: ['src/**'], reporter: ['text-summary', 'html'] },
    projects: [
      // One process for many files: starting one for each would take as long as the tests themselves.
      project('unit', ['test/unit/**/*.test.ts'], { exclude: SLOW, isolate: false }),
      project('soak', [...SLOW, 'test/soak/**/*.test.ts'], { needsBuild: true, testTimeout: 300_000 }),
      project('architecture', ['test/architecture/**/*.test.ts']),
      project('conformance', ['test/conformance/**/*.test.ts'], { needsBuild: true }),
      project('e2e', ['test/e2e/**/*.test.ts'], { needsBuild: true, testTimeout: 120_000 }),
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
  /** Projects of a higher number wait for those of a lower. */
  readonly order?: number;
}

function project(name: string, include: string[], options: ProjectOptions = {}) {
  const { needsBuild = false, order = 0, ...test } = options;
  const globalSetup = [
    'test/helpers/orphan-census.ts',
    ...(needsBuild ? ['test/helpers/fresh-build.ts'] : []),
  ];
  return {
    extends: true as const,
    test: { name, include, globalSetup, sequence: { groupOrder: order }, ...test },
  };
}
