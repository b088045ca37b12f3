// Whether children can be put into a sandbox here: found out by putting one there.

import { execFile } from 'node:child_process';
import { accessSync, constants, statSync } from 'node:fs';
import { delimiter } from 'node:path';
import { toError } from '../base/errors.js';
import { Sandbox, type SandboxRules } from './sandbox.js';

/** `true` in a sandbox takes some milliseconds; a machine that needs this long would make every command wait. */
export const PROBE_MS = 10_000;
const MAX_PROBE_BYTES = 64 * 1024;

export interface SandboxProblem {
  readonly problem: string;
}

export interface ProbeOptions {
  /** Where the tools are looked for before the usual places. */
  readonly path?: string;
  readonly probeMs?: number;
}

/** A sandbox that has been seen to work with these rules, or why there is none. */
export async function openSandbox(
  rules: SandboxRules,
  { path = process.env['PATH'] ?? '', probeMs = PROBE_MS }: ProbeOptions = {},
): Promise<Sandbox | SandboxProblem> {
  const missing = [...rules.readWrite, ...rules.readOnly].find((place) => !exists(place));
  if (missing !== undefined) return { problem: `${missing} does not exist` };
  const bwrap = findTool('bwrap', path);
  if (bwrap === undefined) return { problem: 'bwrap is not installed (package bubblewrap)' };
  const env = findTool('env', path);
  if (env === undefined) return { problem: 'env is not installed' };
  const sandbox = new Sandbox({ bwrap, env }, rules);
  const problem = await tryOut(sandbox, probeMs);
  return problem === undefined ? sandbox : { problem };
}

async function tryOut(sandbox: Sandbox, probeMs: number): Promise<string | undefined> {
  const [program = '', ...args] = sandbox.commandLine([], { roots: [], detach: false }, ['true']);
  return await new Promise((resolve) => {
    const options = { timeout: probeMs, killSignal: 'SIGKILL' as const, maxBuffer: MAX_PROBE_BYTES };
    execFile(program, args, options, (error, _stdout, stderr) => {
      if (error === null) resolve(undefined);
      else if (error.killed === true) resolve(`bwrap did not end within ${probeMs} ms`);
      else resolve(`bwrap does not work here: ${firstLine(stderr) ?? firstLine(toError(error).message)}`);
    });
  });
}

function firstLine(text: string): string | undefined {
  return text.split('\n').find((line) => line.trim() !== '');
}

function findTool(name: string, path: string): string | undefined {
  const folders = `${path}${delimiter}/usr/bin${delimiter}/bin`.split(delimiter);
  return folders
    .filter((folder) => folder.startsWith('/'))
    .map((folder) => `${folder}/${name}`)
    .find(isProgram);
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}

function exists(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false }) !== undefined;
}
