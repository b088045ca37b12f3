// What V8 has compiled of a bundle, kept beside it, so that the next start need not compile it again.
//
// It belongs to this version of Node: any other refuses it and compiles as if it were not there.

import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ROOT } from './paths.js';

/** A run that comes to what most runs come to. */
const REHEARSALS: Readonly<Record<string, (folder: string) => { args: string[]; input: string }>> = {
  rexd: (folder) => {
    const config = join(folder, 'config.toml');
    writeFileSync(
      config,
      `[limits]\ndefault_timeout_ms = 30000\n[[security.allowed_roots]]\npath = ${JSON.stringify(folder)}\n`,
    );
    const open = { client_name: 'rehearsal', client_version: '1', workspace_roots: [folder] };
    return {
      args: ['--stdio', '--config', config],
      input: `${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'session.open', params: open })}\n`,
    };
  },
};

/** Never fatal: without it the executable is the same, and a few milliseconds slower to start. */
export function keepCompiledCode(name: string, bundle: string): void {
  const rehearse = REHEARSALS[name];
  if (rehearse === undefined) return;
  const folder = mkdtempSync(join(tmpdir(), 'hawser-rehearsal-'));
  try {
    const { args, input } = rehearse(folder);
    const { NODE_OPTIONS: _options, ...env } = process.env;
    const run = spawnSync(
      process.execPath,
      ['--require', join(ROOT, 'scripts/record-code.cjs'), bundle, ...args],
      {
        env: { ...env, HAWSER_CODE_CACHE: `${bundle}.v8`, XDG_CONFIG_HOME: folder },
        input,
        timeout: 30_000,
      },
    );
    if (run.status !== 0)
      console.warn(`${name}: no compiled code is kept: its rehearsal failed\n${String(run.stderr)}`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
