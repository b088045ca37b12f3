// A step of a longer job: one command, its output kept until it is known whether anybody wants to read it.

import { spawn } from 'node:child_process';
import { LOCAL_BIN, ROOT } from './paths.js';

export interface Step {
  readonly name: string;
  readonly command: readonly [string, ...string[]];
}

export interface StepResult {
  readonly name: string;
  readonly ok: boolean;
  readonly output: string;
  readonly seconds: number;
}

export async function runStep(step: Step): Promise<StepResult> {
  const started = Date.now();
  const [program, ...args] = step.command;
  const chunks: Buffer[] = [];
  const child = spawn(program, args, { cwd: ROOT, stdio: ['ignore', 'pipe', 'pipe'], env: localEnv() });
  child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
  child.stderr.on('data', (chunk: Buffer) => chunks.push(chunk));
  const code = await exitCode(child);
  const output = Buffer.concat(chunks).toString('utf8');
  return { name: step.name, ok: code === 0, output, seconds: (Date.now() - started) / 1000 };
}

/** The same, with the command's output shown as it comes. */
export async function runLive(command: readonly [string, ...string[]]): Promise<number> {
  const [program, ...args] = command;
  return await exitCode(
    spawn(program, args, { cwd: ROOT, stdio: ['ignore', 'inherit', 'inherit'], env: localEnv() }),
  );
}

export function report(result: StepResult): void {
  console.log(`${result.ok ? '✓' : '✗'} ${result.name} (${result.seconds.toFixed(1)} s)`);
  if (!result.ok) console.log(result.output.trimEnd().replaceAll(/^/gm, '    '));
}

function exitCode(child: ReturnType<typeof spawn>): Promise<number> {
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve(code ?? 1));
  });
}

function localEnv(): NodeJS.ProcessEnv {
  return { ...process.env, PATH: `${LOCAL_BIN}:${process.env['PATH'] ?? ''}` };
}
