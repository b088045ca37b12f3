// What V8 has compiled of a bundle, kept beside it, so that the next start need not compile it again.
//
// It belongs to this version of Node: any other refuses it and compiles as if it were not there.

import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ROOT } from './paths.js';

/** A run that comes to what most runs come to. */
interface Rehearsal {
  readonly args: string[];
  readonly input: string;
}

const REHEARSALS: Readonly<Record<string, (folder: string) => Rehearsal>> = {
  /** A call that has to parse its options and make its connection. */
  rex: () => ({ args: ['--no-keep', 'exec', 'local', '--', 'true'], input: '' }),
  'stdio-bus': (folder) => {
    const config = join(folder, 'bus.json');
    const answer = '{"jsonrpc":"2.0","id":1,"result":null}';
    const args = ['-c', `while read line; do echo '${answer}'; done`];
    const pools = [{ id: 'rehearsal', command: 'sh', args }];
    writeFileSync(config, JSON.stringify({ pools, limits: { drain_timeout_sec: 5 } }));
    const request = { jsonrpc: '2.0', id: 1, method: 'rehearse' };
    return { args: ['--config', config], input: `${JSON.stringify(request)}\n` };
  },
  /** All of a call but the call: there is no daemon to answer it. */
  string: () => ({ args: ['--no-start', 'main'], input: '' }),
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

/** `bundle` is the file whose code is meant, `program` the one that is run. Never fatal: without it the executable is the same, and a few milliseconds slower to start. */
export function keepCompiledCode(name: string, program: string, bundle: string): void {
  const rehearse = REHEARSALS[name];
  if (rehearse === undefined) return;
  const folder = mkdtempSync(join(tmpdir(), 'hawser-rehearsal-'));
  try {
    const { args, input } = rehearse(folder);
    const { NODE_OPTIONS: _options, XDG_RUNTIME_DIR: _runtime, ...own } = process.env;
    const env = { ...own, XDG_CONFIG_HOME: folder, XDG_STATE_HOME: folder, HOME: folder };
    const run = spawnSync(
      process.execPath,
      ['--require', join(ROOT, 'scripts/record-code.cjs'), program, ...args],
      {
        env: { ...env, HAWSER_CODE_CACHE: `${bundle}.v8` },
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
