import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    pool: 'forks', // signals, umask and cwd are per process: tests of real processes need a process of their own
    maxWorkers: 2,
    testTimeout: 30_000,
    hookTimeout: 30_000,
    globalSetup: ['test/helpers/orphan-census.ts'],
    setupFiles: ['test/helpers/leak-check.ts'],
    coverage: { provider: 'v8', include: ['src/**'], reporter: ['text-summary', 'html'] },
    projects: ['unit', 'architecture', 'conformance', 'e2e'].map((name) => ({
      extends: true as const,
      test: { name, include: [`test/${name}/**/*.test.ts`] },
    })),
  },
});
