// The same generated cases in every run, so that a failure is somebody's change; HAWSER_SEED=n gives others.

import fc from 'fast-check';

const SEED = 20_261_116;

fc.configureGlobal({ seed: Number(process.env['HAWSER_SEED'] ?? SEED) });
