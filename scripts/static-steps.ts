// What can be said about the code without running it.

import type { Step } from './step.js';

export const STATIC_STEPS: readonly Step[] = [
  { name: 'types', command: ['tsc', '-p', 'tsconfig.json'] },
  { name: 'lint', command: ['oxlint', '--deny-warnings'] },
  { name: 'format', command: ['biome', 'format', '.'] },
  { name: 'dead code', command: ['knip'] },
  { name: 'generated docs', command: ['tsx', 'scripts/docs.ts', '--check'] },
];
