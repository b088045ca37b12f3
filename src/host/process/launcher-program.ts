// What launchers are written in.

import { bun } from '../runtime/bun.js';
import { PERL_LAUNCHER } from './launcher-perl.js';
import { PYTHON_LAUNCHER } from './launcher-python.js';

export interface LauncherProgram {
  /** By absolute path: what a PATH finds may be a script that finds the real one. */
  readonly path: string;
  /** So that it reads what it is to do from its standard input, and nothing of its user's. */
  readonly args: readonly string[];
  readonly script: string;
}

/** The best first. */
const PROGRAMS: readonly (LauncherProgram & { readonly name: string })[] = [
  { name: 'python', path: '/usr/bin/python3', args: ['-I', '-S', '-'], script: PYTHON_LAUNCHER },
  { name: 'perl', path: '/usr/bin/perl', args: ['-f', '-'], script: PERL_LAUNCHER },
];

/** `HAWSER_LAUNCHER`: `python` or `perl` for that one alone; anything else, as `none`, for no launcher at all. */
export function chooseLaunchers(
  wanted: string | undefined = process.env['HAWSER_LAUNCHER'],
): readonly LauncherProgram[] {
  if (bun !== undefined) return []; // it starts programs without a fork of itself
  return wanted === undefined ? PROGRAMS : PROGRAMS.filter(({ name }) => name === wanted);
}
