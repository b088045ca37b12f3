import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    pool: 'forks', // signals, umask and cwd are per process: tests of real processes need a process of their own
    maxWorkers: 2,
    testTimeout: 30_000,
    hookTimeout: 30_000,
    setupFiles: ['test/helpers/leak-check.ts'],
    coverage: { provider: 'v8', include: ['src/**'], reporter: ['text-summary', 'html'] },
    projects: [
      project('unit', ['test/unit/**/*.test.ts'], { exclude: ['**/*.soak.test.ts'] }),
      // Hundreds of kills, thousands of races: too long for every save, so a project of their own.
      project('soak', ['test/**/*.soak.test.ts'], { testTimeout: 180_000 }),
      project('architecture', ['test/architecture/**/*.test.ts']),
      project('conformance', ['test/conformance/**/*.test.ts'], { needsBuild: true }),
      project('e2e', ['test/e2e/**/*.test.ts'], { needsBuild: true, testTimeout: 120_000 }),
    ],
  },
});

interface ProjectOptions {
  readonly exclude?: string[];
  readonly testTimeout?: number;
  readonly needsBuild?: boolean;
}

function project(name: string, include: string[], options: ProjectOptions = {}) {
  const { needsBuild = false, ...test } = options;
  const globalSetup = ['test/helpers/orphan-census.ts', ...(needsBuild ? ['test/helpers/fresh-build.ts'] : [])];
  return { extends: true as const, test: { name, include, globalSetup, ...test } };
}
