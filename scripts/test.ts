// Everything: the static checks, the build, the package, and every test. Ends in `N passed, M failed`.

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { report, runLive, runStep } from './step.js';
import { STATIC_STEPS } from './static-steps.js';

interface VitestReport {
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly numPendingTests: number;
  readonly numTodoTests: number;
  readonly success: boolean;
}

let passed = 0;
let failed = 0;
let skipped = 0;

for (const step of [
  { name: 'build', command: ['tsx', 'scripts/build.ts'] as const },
  ...STATIC_STEPS,
  { name: 'package (publint)', command: ['publint', '--strict'] as const },
]) {
  const result = await runStep(step);
  report(result);
  if (result.ok) passed += 1;
  else failed += 1;
}

const folder = mkdtempSync(join(tmpdir(), 'hawser-test-'));
const file = join(folder, 'vitest.json');
const code = await runLive([
  'vitest',
  'run',
  '--reporter=default',
  '--reporter=json',
  `--outputFile.json=${file}`,
  ...process.argv.slice(2),
]);
try {
  const tests = JSON.parse(readFileSync(file, 'utf8')) as VitestReport;
  passed += tests.numPassedTests;
  failed += tests.numFailedTests;
  skipped = tests.numPendingTests + tests.numTodoTests;
  // A run can fail without a failed test: an unhandled error, a file that does not load, an orphan found at the end.
  if (code !== 0 && tests.numFailedTests === 0) failed += 1;
} catch {
  failed += 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}

console.log(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`);
process.exitCode = failed === 0 && code === 0 ? 0 : 1;
