// The fast part of the tests, for every save: what the code says about itself, the architecture, the quick unit tests.

import { report, runStep } from './step.js';
import { STATIC_STEPS } from './static-steps.js';

const steps = [
  ...STATIC_STEPS,
  {
    name: 'architecture and unit tests',
    command: ['vitest', 'run', '--project', 'unit', '--project', 'architecture'] as const,
  },
];
const results = await Promise.all(
  steps.map(async (step) => {
    const result = await runStep(step);
    report(result);
    return result;
  }),
);
process.exitCode = results.every((result) => result.ok) ? 0 : 1;
